/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Makes and ends the objects of the rows. */
#include "objects.h"

#include <sys/socket.h>
#include <unistd.h>

struct objects at, made;
const gr_gl_options *transport = &by_interop;

GLuint name, texture, framebuffer;
int sockets[2] = {-1, -1};
const gr_slot *slots[1];

/* Resources that another object uses, and which no row names. */
static gr_resource *hidden[32];
size_t hidden_count;

static gr_resource *hide(gr_resource *resource)
{
    ck_assert_uint_lt(hidden_count, sizeof(hidden) / sizeof(*hidden));
    return hidden[hidden_count++] = resource;
}

void end_hidden(size_t from)
{
    free_resources(hidden + from, hidden_count - from);
    hidden_count = from;
}

static GLuint make_texture(void)
{
    GLuint texture = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 8, 8);
    return texture;
}

void begin_arguments(void)
{
    name = gl_buffer_filled(SIZE, 1);
    texture = make_texture();
    framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
}

void end_arguments(void)
{
    close(sockets[0]);
    close(sockets[1]);
}

gr_resource *make_resource(void)
{
    return must_make(gr_from_gl_buffer_with(gl_buffer_filled(SIZE, 1), GR_READ_WRITE, transport));
}

gr_resource *make_mapped(void)
{
    gr_resource *resource = make_resource();
    must_map(resource);
    return resource;
}

gr_resource *make_image(void)
{
    return must_make(
        gr_from_gl_image_with(make_texture(), GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE, transport));
}

gr_buffer *make_buffer(void)
{
    return must_map(hide(make_resource()));
}

gr_buffer *make_texels(void)
{
    return must_make(gr_map(hide(make_image()), fx.stream));
}

gr_tensor *make_tensor(void)
{
    return must_make(gr_tensor_create(
        &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = (int64_t[]){8, 8, 4}),
        fx.stream));
}

gr_tensor *make_source(void)
{
    return make_tensor();
}

gr_ring *make_ring(void)
{
    gr_resource *slot = hide(make_resource());
    return must_make(gr_ring_create(&slot, 1, NULL));
}

gr_ring *make_writing(void)
{
    gr_ring *ring = make_ring();
    assert_ok(gr_ring_acquire_write(ring, fx.stream, slots, 1, 0));
    return ring;
}

static gr_ring *make_drawn_ring(void)
{
    gr_resource *both[] = {hide(make_resource()), hide(make_resource())};
    gr_ring *ring =
        must_make(gr_ring_create(both, 2, &GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS)));
    assert_ok(gr_ring_acquire_write(ring, GR_STREAM_NONE, slots, 1, 0));
    assert_ok(gr_ring_hand_over(ring, slots, 1));
    return ring;
}

gr_ring *make_ready(void)
{
    return make_drawn_ring();
}

gr_ring *make_reading(void)
{
    gr_ring *ring = make_drawn_ring();
    assert_ok(gr_ring_acquire_read(ring, fx.stream, slots, 1, 0));
    return ring;
}

gr_vk_headless *make_headless(void)
{
    return must_make(gr_vk_headless_create(NULL));
}

gr_vk_device *make_device(void)
{
    return must_make(vulkan_wrap());
}

gr_resource *make_drawn(void)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = SIZE,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    return must_make(gr_create_vk_buffer(vk.wrap, &info, GR_READ_WRITE));
}

gr_semaphore *make_semaphore(void)
{
    return must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
}

gr_submit *make_submit(void)
{
    gr_resource *drawn = hide(make_drawn());
    return must_make(gr_submit_begin(&drawn, 1));
}

gr_egl *make_egl(void)
{
    gr_egl *egl = must_make(gr_egl_create(NULL));
    assert_ok(gr_egl_make_current(fx.egl));
    return egl;
}

gr_cuda_context *make_context(void)
{
    return must_make(gr_cuda_context_create(fx.device));
}

CUstream make_stream(void)
{
    return fx.stream;
}

void end_object(enum kind kind, void *object)
{
    switch (kind) {
    case RESOURCE:
        gr_resource_free(object);
        break;
    case BUFFER:
        gr_buffer_release(object);
        break;
    case TENSOR:
        gr_tensor_free(object);
        break;
    case RING:
        gr_ring_free(object);
        break;
    case SEMAPHORE:
        gr_semaphore_free(object);
        break;
    case SUBMIT:
        gr_submit_free(object);
        break;
    case DEVICE:
        gr_vk_device_free(object);
        break;
    case HEADLESS:
        gr_vk_headless_free(object);
        break;
    case EGL:
        gr_egl_free(object);
        break;
    case CONTEXT:
        gr_cuda_context_free(object);
        break;
    case STREAM:
        break;
    }
}
