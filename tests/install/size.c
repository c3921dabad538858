/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Programs whose size check-install reports. The programs are not run. With PART 0 the program does
 * not use grinterop, with 1 it uses OpenGL by interop or copies, with 2 it also uses Vulkan.
 */
#include <epoxy/gl.h>
#include <grinterop/gl.h>
#include <grinterop/vk.h>
#include <stdio.h>

#if PART >= 1
static int use(gr_resource *resource)
{
    gr_buffer *buffer = gr_map(resource, GR_STREAM_NONE);
    return buffer && gr_buffer_ptr(buffer) && gr_buffer_release(buffer) == GR_OK;
}
#endif

int main(void)
{
    GLuint name = 0;
    glGenBuffers(1, &name);
#if PART >= 1
    const gr_gl_options any = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY);
    GR_AUTO(gr_resource) *drawn = gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &any);
    if (!use(drawn))
        gr_error_print(stderr, "OpenGL");
#endif
#if PART >= 2
    const gr_vk_device_desc device = GR_INIT(gr_vk_device_desc);
    const gr_vk_buffer_desc buffer = GR_INIT(gr_vk_buffer_desc);
    gr_vk_device *wrapped = gr_vk_device_from_vk(&device);
    GR_AUTO(gr_resource) *shared = gr_from_vk_buffer(wrapped, &buffer, GR_READ_WRITE);
    if (!use(shared))
        gr_error_print(stderr, "Vulkan");
    gr_vk_device_free(wrapped);
#endif
    return 0;
}
