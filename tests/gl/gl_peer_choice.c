/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* When the peer transport is chosen and why, what it refuses, and what the probe reports. */
#include "gl_peer.h"

#include <stdio.h>
#include <string.h>

#define LARGE ((size_t)8 << 20) /* from this size on, peer is preferred to interop */

/* Excludes copy, which is preferred to peer and interop. */
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
    assert_mapped(resource, 1);
    write_mapped(resource, 2);
    assert_gl_pattern(name, size, 2);
}

GROUP("choice", add_peer_case)

PEER_TEST(transport_any_selects_copy_between_two_gpus, 6)
{
    static const unsigned allowed[] = {GR_TRANSPORT_ANY, GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY,
                                       GR_TRANSPORT_PEER | GR_TRANSPORT_COPY};
    static const size_t sizes[] = {100, LARGE};
    size_t size = sizes[_i % 2];
    GLuint name = gl_buffer_pattern(size, 1);
    GR_AUTO(gr_resource) *copy = by(allowed[_i / 2], name);
    assert_chosen(copy, GR_TRANSPORT_COPY, "transport copy (the fastest between two GPUs");
    assert_works(copy, name, size);
}

PEER_TEST(peer_is_preferred_to_interop_from_8_mib_on)
{
    GLuint large = gl_buffer_pattern(LARGE, 1), small = gl_buffer_pattern(LARGE - 1, 1);
    GR_AUTO(gr_resource) *peer = by(BOTH, large);
    assert_chosen(peer, GR_TRANSPORT_PEER, "transport peer (from 8 MiB on faster than");
    assert_works(peer, large, LARGE);
    GR_AUTO(gr_resource) *interop = by(BOTH, small);
    assert_chosen(interop, GR_TRANSPORT_INTEROP, "transport interop (between two GPUs");
    assert_works(interop, small, LARGE - 1);
    GR_AUTO(gr_resource) *plain = gr_from_gl_buffer(large, GR_READ_WRITE);
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
    let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM, 0);
    GR_AUTO(gr_resource) *interop = by(BOTH, name);
    assert_chosen(interop, GR_TRANSPORT_INTEROP, "transport interop (peer was not chosen: ");
    let_fail("cuEventCreate", CUDA_ERROR_OUT_OF_MEMORY, 0);
    GR_AUTO(gr_resource) *without_copy = by(GR_TRANSPORT_ANY, name);
    assert_chosen(without_copy, GR_TRANSPORT_PEER, "transport peer (copy was not chosen: ");
    assert_works(without_copy, name, LARGE);
    let_fail("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_DEVICE, 0);
    GR_AUTO(gr_resource) *unreached = by(GR_TRANSPORT_ANY, name);
    assert_chosen(unreached, GR_TRANSPORT_INTEROP, "transport interop");
    let_fail("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_DEVICE, 0);
    GR_AUTO(gr_resource) *copy = by(GR_TRANSPORT_PEER | GR_TRANSPORT_COPY, name);
    assert_chosen(copy, GR_TRANSPORT_COPY, "transport copy (peer was not chosen: ");
    let_fail("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_DEVICE, 0);
    assert_null(by(GR_TRANSPORT_PEER, name), GR_ERR_UNSUPPORTED, 0, "cannot reach the memory");

    GLuint small = gl_buffer_pattern(SIZE, 1);
    let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM, 0);
    GR_AUTO(gr_resource) *peer = by(BOTH, small);
    assert_chosen(peer, GR_TRANSPORT_PEER, "transport peer (interop was not chosen: ");
    assert_works(peer, small, SIZE);
    assert_null_invalid(by(GR_TRANSPORT_ANY, 0), "is 0");
}

/*
 * The reported error is that of interop. The error of peer, which is not possible here, would
 * advise to allow interop.
 */
PEER_TEST(if_peer_is_impossible_the_error_of_interop_is_reported)
{
    const gr_gl_options both = GR_INIT(gr_gl_options, .transports = BOTH);
    struct image image = image_make("RGBA8", "2D", 16, 16, 1);
    GLuint name = gl_buffer_filled(SIZE, 1);
    CU(CtxSetCurrent(NULL));
    let_fail("cuGraphicsGLRegisterImage", CUDA_ERROR_OPERATING_SYSTEM, 0);
    assert_null(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, &both), GR_ERR_CUDA,
                CUDA_ERROR_OPERATING_SYSTEM, "OpenGL texture");
    let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM, 0);
    assert_null(by(both.transports, name), GR_ERR_CUDA, CUDA_ERROR_OPERATING_SYSTEM, "was refused");
    CU(CtxSetCurrent(fx.context));
}

PEER_TEST(the_probe_names_both_gpus)
{
    char draws[64];
    snprintf(draws, sizeof(draws), "the memory of device %d, which draws", (int)drawing.device);
    const gr_transport_info *info = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    ck_assert_msg(info->usable && strstr(info->reason, draws), "%s", info->reason);
    let_fail(REGISTER, CUDA_ERROR_OPERATING_SYSTEM, 0);
    info = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    ck_assert(!info->usable);
    ck_assert_msg(strstr(info->reason, "CUDA_ERROR_OPERATING_SYSTEM"), "%s", info->reason);
    let_fail("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_DEVICE, 0);
    info = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    ck_assert(!info->usable);
    ck_assert_msg(strstr(info->reason, "GR_TRANSPORT_COPY"), "%s", info->reason);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
}

GROUP("one device", add_image_case)

ONE_DEVICE_TEST(peer_is_refused_if_one_gpu_draws_and_computes)
{
    GLuint name = gl_buffer_pattern(LARGE, 1);
    assert_null(by(GR_TRANSPORT_PEER, name), GR_ERR_UNSUPPORTED, 0, "GR_TRANSPORT_INTEROP");
    GR_AUTO(gr_resource) *any = by(GR_TRANSPORT_ANY, name);
    assert_chosen(any, GR_TRANSPORT_INTEROP, "transport interop");
    GR_AUTO(gr_resource) *copy = by(GR_TRANSPORT_PEER | GR_TRANSPORT_COPY, name);
    assert_chosen(copy, GR_TRANSPORT_COPY, "transport copy (peer was not chosen: ");
    const gr_transport_info *info = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    ck_assert(!info->usable);
    ck_assert_msg(strstr(info->reason, "The same GPU draws and computes"), "%s", info->reason);
}

TEST(without_a_cuda_context_peer_is_refused)
{
    GLuint name = gl_buffer_pattern(LARGE, 1);
    CU(CtxSetCurrent(NULL));
    assert_null(by(GR_TRANSPORT_PEER, name), GR_ERR_UNSUPPORTED, 0, "GR_TRANSPORT_INTEROP");
    GR_AUTO(gr_resource) *any = by(GR_TRANSPORT_ANY, name);
    assert_chosen(any, GR_TRANSPORT_INTEROP, "transport interop");
    CU(CtxSetCurrent(fx.context));
}
