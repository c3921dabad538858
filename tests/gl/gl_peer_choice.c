/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* When the peer transport is chosen and why, what it refuses, and what the probe reports. */
#include "gl_peer.h"

#include <stdio.h>
#include <string.h>

#include <grinterop/publish.h>
#include <grinterop/tensor.h>

#define REGISTER "cuGraphicsGLRegisterBuffer"

#define BOTH (GR_TRANSPORT_INTEROP | GR_TRANSPORT_PEER)

static void assert_chosen(const gr_resource *resource, gr_transport transport, const char *part)
{
    assert_made(resource);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, transport);
    assert_described(resource, part);
}

static gr_resource *by(unsigned transports, GLuint name)
{
    gr_clear_error();
    return gr_from_gl_buffer_with(name, GR_READ_WRITE,
                                  &GR_INIT(gr_gl_options, .transports = transports));
}

/* Checks the bytes in both directions, with any transport. */
static void assert_works(gr_resource *resource, GLuint name, size_t size)
{
    gl_write_pattern(name, size, 1);
    assert_mapped(resource, 1);
    write_mapped(resource, 2);
    assert_gl_pattern(name, size, 2);
}

GROUP("choice", TWO_GPUS)

PEER_TEST(buffers_of_all_sizes_use_peer_between_two_gpus, 6)
{
    static const unsigned allowed[] = {GR_TRANSPORT_ANY, BOTH,
                                       GR_TRANSPORT_PEER | GR_TRANSPORT_COPY};
    const size_t size = _i % 2 ? 8 << 20 : 100;
    GLuint name = gl_buffer_pattern(size, 1);
    GR_AUTO(gr_resource) *peer = by(allowed[_i / 2], name);
    assert_chosen(peer, GR_TRANSPORT_PEER, "transport peer (the fastest between two GPUs");
    assert_calls("cuMemAllocHost", 0);
    assert_calls("cuMemHostRegister", 0);
    assert_works(peer, name, size);
}

PEER_TEST(buffers_use_copy_then_interop_without_peer)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *copy = by(GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY, name);
    assert_chosen(copy, GR_TRANSPORT_COPY, "transport copy (the fastest between two GPUs");
    assert_works(copy, name, SIZE);
    GR_AUTO(gr_resource) *plain = gr_from_gl_buffer(name, GR_READ_WRITE);
    assert_chosen(plain, GR_TRANSPORT_INTEROP, "transport interop");
}

static gr_resource *image_by(unsigned transports, const struct image *image)
{
    gr_clear_error();
    return gr_from_gl_image_with(image->name, GL_TEXTURE_2D, GR_READ_WRITE,
                                 &GR_INIT(gr_gl_options, .transports = transports));
}

PEER_TEST(images_use_peer_then_copy_then_interop)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *any = image_by(GR_TRANSPORT_ANY, &image);
    assert_chosen(any, GR_TRANSPORT_PEER, "transport peer (the fastest between two GPUs)");
    GR_AUTO(gr_resource) *either = image_by(BOTH, &image);
    assert_chosen(either, GR_TRANSPORT_PEER, "transport peer (the fastest between two GPUs)");
    GR_AUTO(gr_resource) *only = image_by(GR_TRANSPORT_PEER, &image);
    assert_chosen(only, GR_TRANSPORT_PEER, "transport peer");
    assert_calls("cuMemAllocHost", 0);
    assert_calls("cuMemHostRegister", 0);
    GR_AUTO(gr_resource) *without = image_by(GR_TRANSPORT_COPY | GR_TRANSPORT_INTEROP, &image);
    assert_chosen(without, GR_TRANSPORT_COPY, "transport copy (the fastest between two GPUs");
}

/* The NVIDIA driver stores wrong texels in this format from memory of CUDA. */
PEER_TEST(formats_that_peer_refuses_fall_back)
{
    struct image image = image_make("RGB16I", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *any = image_by(GR_TRANSPORT_ANY, &image);
    assert_chosen(any, GR_TRANSPORT_COPY, "GL_RGB16I");
    assert_null(image_by(GR_TRANSPORT_PEER, &image), GR_ERR_UNSUPPORTED, 0,
                "Allow GR_TRANSPORT_COPY");
}

/* Without memory that OpenGL can import there is no peer transport for images. */
PEER_TEST(images_without_memory_for_peer_fall_back)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    let_fail("cuMemCreate", CUDA_ERROR_NOT_SUPPORTED, 0);
    GR_AUTO(gr_resource) *copy = image_by(GR_TRANSPORT_COPY | GR_TRANSPORT_PEER, &image);
    assert_chosen(copy, GR_TRANSPORT_COPY, "transport copy (peer was not chosen: ");
    let_fail("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_DEVICE, 0);
    assert_null(image_by(GR_TRANSPORT_PEER, &image), GR_ERR_UNSUPPORTED, 0,
                "cannot reach the memory");
    let_fail("cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY, 0);
    assert_null(image_by(GR_TRANSPORT_PEER, &image), GR_ERR_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY,
                "");
}

/* If a transport fails, the next one is used, and the description gives the reason. */
PEER_TEST(failed_transports_fall_back_to_the_next_one)
{
    GLuint name = gl_buffer_pattern(LARGE, 1);
    let_fail("cuMemCreate", CUDA_ERROR_NOT_SUPPORTED, 0);
    GR_AUTO(gr_resource) *copy = by(GR_TRANSPORT_ANY, name);
    assert_chosen(copy, GR_TRANSPORT_COPY, "transport copy (peer was not chosen: ");
    assert_works(copy, name, LARGE);
    let_fail("cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY, 0);
    GR_AUTO(gr_resource) *interop = by(BOTH, name);
    assert_chosen(interop, GR_TRANSPORT_INTEROP, "transport interop (peer was not chosen: ");
    assert_works(interop, name, LARGE);
    assert_null_invalid(by(GR_TRANSPORT_ANY, 0), "is 0");
}

PEER_TEST(without_peer_access_copy_comes_before_interop)
{
    static const struct {
        unsigned allowed;
        gr_transport used;
        const char *part;
    } rows[] = {
        {GR_TRANSPORT_ANY, GR_TRANSPORT_COPY, "transport copy (peer was not chosen: "},
        {GR_TRANSPORT_PEER | GR_TRANSPORT_COPY, GR_TRANSPORT_COPY,
         "transport copy (peer was not chosen: "},
        {GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY, GR_TRANSPORT_COPY,
         "transport copy (the fastest between two GPUs)"},
        {BOTH, GR_TRANSPORT_INTEROP, "transport interop (peer was not chosen: "},
    };
    GLuint name = gl_buffer_pattern(SIZE, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        let_fail("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_DEVICE, 0);
        GR_AUTO(gr_resource) *resource = by(rows[i].allowed, name);
        assert_chosen(resource, rows[i].used, rows[i].part);
        assert_works(resource, name, SIZE);
    }
    let_fail("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_DEVICE, 0);
    assert_null(by(GR_TRANSPORT_PEER, name), GR_ERR_UNSUPPORTED, 0, "cannot reach the memory");
    let_fail("cuDeviceCanAccessPeer", CUDA_ERROR_UNKNOWN, 0);
    assert_null(by(GR_TRANSPORT_PEER, name), GR_ERR_UNSUPPORTED, CUDA_ERROR_UNKNOWN,
                "cuDeviceCanAccessPeer");
}

/* A buffer in the memory of a tensor has no other transport, so the way out is a copy. */
PEER_TEST(without_peer_access_a_tensor_is_copied)
{
    const int64_t size = SIZE;
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                        .shape = &size, .exportable = true);
    const GLuint name = gl_buffer_filled(SIZE, 0);
    GR_AUTO(gr_tensor) *tensor = must_make(gr_tensor_create(&desc, fx.stream));
    let_fail("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_DEVICE, 0);
    assert_null(gr_create_gl_buffer_of(tensor, GR_READ_WRITE, NULL), GR_ERR_UNSUPPORTED, 0,
                "(cuDeviceCanAccessPeer; nvidia-smi topo -p2p r). Copy the tensor by gr_publish() "
                "to a buffer of gr_from_gl_buffer_with() that allows GR_TRANSPORT_ANY.");
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 7, SIZE, fx.stream));
    GR_AUTO(gr_resource) *copy = by(GR_TRANSPORT_ANY, name);
    assert_ok(gr_publish(copy, tensor, NULL, fx.stream));
    assert_gl_bytes(name, SIZE, 7);
}

PEER_TEST(the_probe_names_both_gpus)
{
    char draws[64];
    snprintf(draws, sizeof(draws), "the memory of device %d, which draws", (int)drawing.device);
    const gr_transport_info *info = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    ck_assert_msg(info->usable && strstr(info->reason, draws), "%s", info->reason);
    let_fail("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_DEVICE, 0);
    info = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    ck_assert(!info->usable);
    ck_assert_msg(strstr(info->reason, "GR_TRANSPORT_COPY"), "%s", info->reason);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
}

GROUP("one device", add_near_case)

PEER_TEST(one_gpu_uses_interop_then_peer_then_copy)
{
    GLuint name = gl_buffer_pattern(LARGE, 1);
    GR_AUTO(gr_resource) *any = by(GR_TRANSPORT_ANY, name);
    assert_chosen(any, GR_TRANSPORT_INTEROP, "transport interop");
    GR_AUTO(gr_resource) *either = by(GR_TRANSPORT_PEER | GR_TRANSPORT_COPY, name);
    assert_chosen(either, GR_TRANSPORT_PEER, "transport peer");
    assert_works(either, name, LARGE);
    let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM, 0);
    GR_AUTO(gr_resource) *peer = by(GR_TRANSPORT_ANY, name);
    assert_chosen(peer, GR_TRANSPORT_PEER, "transport peer (interop was not chosen: ");
    assert_works(peer, name, LARGE);
    let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM, 0);
    ck_assert(fault->set("cuMemCreate", CUDA_ERROR_NOT_SUPPORTED, 0));
    GR_AUTO(gr_resource) *copy = by(GR_TRANSPORT_ANY, name);
    assert_chosen(copy, GR_TRANSPORT_COPY, "transport copy (interop was not chosen: ");
    assert_works(copy, name, LARGE);
    const gr_transport_info *info = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    ck_assert_msg(info->usable, "%s", info->reason);
}

PEER_TEST(an_image_on_one_gpu_works_by_peer)
{
    static const char *const formats[] = {"RGBA8", "RGB10_A2"}; /* which OpenGL's calls copy */
    for (unsigned i = 0; i < 2; i++) {
        struct image image = image_filled(formats[i], "2D", 8, 8, 1 + i, 1);
        GR_AUTO(gr_resource) *peer = image_by(GR_TRANSPORT_PEER, &image);
        assert_chosen(peer, GR_TRANSPORT_PEER, "transport peer");
        image_both_ways(must_map_image(peer), &image, 1);
    }
    struct image refused = image_make("RGB16I", "2D", 8, 8, 1);
    assert_null(image_by(GR_TRANSPORT_PEER, &refused), GR_ERR_UNSUPPORTED, 0,
                "Allow GR_TRANSPORT_COPY");
}

/* The context of the GPU that draws is used. */
PEER_TEST(peer_works_without_a_cuda_context)
{
    GLuint name = gl_buffer_pattern(LARGE, 1);
    CU(CtxSetCurrent(NULL));
    GR_AUTO(gr_resource) *peer = by(GR_TRANSPORT_PEER, name);
    assert_chosen(peer, GR_TRANSPORT_PEER, "transport peer");
    ck_assert_ptr_null(current_context());
    CU(CtxSetCurrent(fx.context));
    assert_works(peer, name, LARGE);
}
