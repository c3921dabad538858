/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Messages when OpenGL or Vulkan renders on a device that CUDA cannot see. */
#define _GNU_SOURCE
#include "visible.h"

#include "tests/support/own_egl.h"
#include "tests/support/own_vulkan.h"
#include "tests/support/shared_buffer.h"

#include <stdio.h>
#include <stdlib.h>

#include <epoxy/egl.h>

static struct own_egl hidden;

/* Creates a context on this display, and destroys the previous context. */
static bool make_context(EGLDisplay display)
{
    own_egl_close(&hidden);
    return !own_egl_open(&hidden, display);
}

static bool is_the_machines_first(void)
{
    char text[41];
    if (!epoxy_has_gl_extension("GL_EXT_memory_object"))
        return false;
    opengl_uuid(text);
    return strcmp(text, getenv(uuid_names[0])) == 0;
}

/* Makes OpenGL render on the first device of the machine, although CUDA cannot see that device. */
static bool draw_there(void)
{
    EGLDeviceEXT devices[32];
    EGLint count = 0;
    if (gr_cuda_is_software())
        return make_context(
            eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL));
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") ||
        !eglQueryDevicesEXT(32, devices, &count))
        return false;
    for (EGLint i = 0; i < count; i++)
        if (make_context(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL)) &&
            is_the_machines_first())
            return true;
    return false;
}

/* The text must name the rendering device, as OpenGL reports it, and the computing device. */
static void assert_names_both(const char *text)
{
    char drawing[41];
    opengl_uuid(drawing);
    assert_says(text, drawing);
    assert_says(text, seen_uuid(0));
}

static void assert_refused(const gr_resource *resource, const char *advice)
{
    ck_assert_ptr_null(resource);
    assert_names_both(gr_last_error()->message);
    assert_says(gr_last_error()->message, advice);
    gr_clear_error();
}

static void assert_unusable(gr_transport transport)
{
    const gr_transport_info *info = must_make(gr_gl_probe(transport));
    ck_assert_msg(!info->usable, "%s", info->reason);
    assert_names_both(info->reason);
}

/* CUDA may refuse to register the buffer. If it does not, the bytes must be right. */
static void try_interop(GLuint name)
{
    gr_resource *resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    printf("interop: %s\n", resource ? "taken" : gr_last_error()->message);
    if (resource)
        check_bytes(resource);
    else
        assert_refused(resource, "CUDA_VISIBLE_DEVICES");
}

static void use_hidden_opengl(void)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    int number = -1;
    assert_fails(gr_gl_cuda_device(&number), GR_ERR_CUDA, -1, "CUDA_VISIBLE_DEVICES");
    assert_refused(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing), "CUDA_VISIBLE_DEVICES");
    assert_refused(
        gr_from_gl_buffer_with(name, GR_READ_WRITE, &GR_INIT(gr_gl_options, GR_TRANSPORT_PEER)),
        "GR_TRANSPORT_COPY");
    assert_unusable(GR_TRANSPORT_SHARED);
    assert_unusable(GR_TRANSPORT_PEER);
    try_interop(name);
    share_existing(GR_TRANSPORT_COPY);
    assert_gl_clean();
}

/* OpenGL renders on a device that CUDA cannot see. */
CHILD(hidden_opengl)
{
    see_devices();
    if (!draw_there())
        return say_missing("no EGL device renders on the GPU that is hidden from CUDA");
    CU(DevicePrimaryCtxRetain(&fx.context, 0));
    CU(CtxSetCurrent(fx.context));
    CU(StreamCreate(&fx.stream, CU_STREAM_NON_BLOCKING));
    use_hidden_opengl();
    CU(StreamDestroy(fx.stream));
    CU(DevicePrimaryCtxRelease(0));
    own_egl_close(&hidden);
    return 0;
}

static char own_uuid[41];

/* Whether it is the device of the application, which sees all devices. */
static bool is_own(const gr_vk_device_desc *on)
{
    VkPhysicalDeviceType type =
        ask_vulkan(on->get_instance_proc_addr, on->instance, on->physical_device, own_uuid);
    return gr_cuda_is_software() ? type == VK_PHYSICAL_DEVICE_TYPE_CPU
                                 : strcmp(own_uuid, getenv(uuid_names[0])) == 0;
}

CHILD(hidden_vulkan)
{
    gr_vk_device_desc own = GR_INIT(gr_vk_device_desc, .queue_family = 0);
    see_devices();
    if (own_vulkan_open(&own, is_own))
        return say_missing("no Vulkan device is the one that is hidden from CUDA");
    const char *const parts[] = {own_uuid, seen_uuid(0), "CUDA_VISIBLE_DEVICES"};
    for (int i = 0; i < 3; i++)
        assert_null(gr_vk_device_from_vk(&own), GR_ERR_UNSUPPORTED, 0, parts[i]);
    own_vulkan_close(&own);
    return 0;
}
