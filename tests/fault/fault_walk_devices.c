/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Scenarios of test_fault_devices: OpenGL renders on one device, and CUDA computes on another. */
#include "fault_walk.h"
#include "tests/support/support_image.h"

#include <grinterop/image.h>
#include <grinterop/tensor.h>

#define SIZE 256
#define SIDE 8

/* The device that does not render, with its context and stream. */
static struct {
    CUcontext context;
    CUstream stream, other;
} second;

/* Finds the second device. Called before the first fault. */
static const char *no_second(void)
{
    int count = 0;
    CU(DeviceGetCount(&count));
    if (count < 2)
        return "there is only one CUDA device";
    if (second.context)
        return NULL;
    CU(DevicePrimaryCtxRetain(&second.context, 1));
    CU(CtxSetCurrent(second.context));
    CU(StreamCreate(&second.stream, CU_STREAM_NON_BLOCKING));
    CU(StreamCreate(&second.other, CU_STREAM_NON_BLOCKING));
    CU(CtxSetCurrent(fx.context));
    return NULL;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static bool write_and_look(gr_resource *resource, CUstream stream, int value)
{
    unsigned char bytes[SIZE];
    gr_buffer *buffer = gr_map(resource, stream);
    if (!done(buffer))
        return false;
    CU(MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value, SIZE, stream));
    if (!walk_release(buffer))
        return false;
    gl_read(gr_gl_name(resource), bytes, SIZE);
    return bytes_are(bytes[0] == value && bytes[SIZE - 1] == value);
}

static const gr_gl_options by_peer = {.struct_size = sizeof(by_peer),
                                      .transports = GR_TRANSPORT_PEER};

static bool run_buffer(void)
{
    static int value;
    value = value % 200 + 1;
    GLuint name = gl_buffer_filled(SIZE, 1);
    CU(CtxSetCurrent(second.context));
    gr_resource *resource = gr_from_gl_buffer_with(name, scenario->flags, scenario->options);
    bool good = done(resource);
    if (good && !(scenario->flags & GR_READ_ONLY))
        good = write_and_look(resource, second.stream, value) &&
               write_and_look(resource, second.other, value + 1);
    else if (good)
        good = walk_release(gr_map(resource, second.stream));
    good = good && ok(gr_resource_wait(resource, WALK_SOON));
    gr_resource_free(resource);
    glDeleteBuffers(1, &name);
    return good;
}

static bool run_image(void)
{
    struct image image = image_make("RGBA8", "2D_ARRAY", SIDE, SIDE, 2);
    CU(CtxSetCurrent(second.context));
    gr_resource *resource =
        gr_from_gl_image_with(image.name, image.target->target, scenario->flags, scenario->options);
    gr_buffer *buffer = done(resource) ? gr_map(resource, second.stream) : NULL;
    bool good = done(buffer) && done(gr_buffer_array(buffer, 1, 2));
    good = walk_release(buffer) && good && ok(gr_resource_wait(resource, WALK_SOON));
    gr_resource_free(resource);
    image_delete(&image);
    return good;
}

static bool run_shared(void)
{
    CU(CtxSetCurrent(second.context));
    GR_AUTO(gr_resource) *resource = gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing);
    return done(resource) && write_and_look(resource, second.stream, 7);
}

static const char *no_sharing(void)
{
    const char *missing = no_second();
    if (missing)
        return missing;
    bool good = run_shared();
    CU(CtxSetCurrent(fx.context));
    return good ? NULL : gr_last_error()->message;
}

static bool run_many(void)
{
    GLuint names[2] = {gl_buffer_filled(SIZE, 1), gl_buffer_filled(SIZE, 2)};
    gr_resource *both[2];
    gr_buffer *buffers[2] = {NULL, NULL};
    CU(CtxSetCurrent(second.context));
    for (int i = 0; i < 2; i++)
        both[i] = gr_from_gl_buffer_with(names[i], i ? GR_READ_WRITE : GR_READ_ONLY, &by_peer);
    bool good = done(both[0] && both[1]) &&
                ok(gr_map_many(both, 2, second.stream, NULL, buffers)) &&
                ok(gr_buffer_release_many(buffers, 2, second.other, NULL));
    for (int i = 0; i < 2; i++) {
        if (buffers[i])
            gr_buffer_release_later(buffers[i]);
        gr_resource_free(both[i]);
        glDeleteBuffers(1, &names[i]);
    }
    return good;
}

/*
 * The call is refused by grinterop, or by the driver if the driver does not report the context of
 * the stream.
 */
static bool is_refused(void)
{
    const gr_error *error = gr_last_error();
    return error->domain == GR_DOMAIN_NONE ? error->status == GR_ERR_INVALID_VALUE
                                           : error->code == CUDA_ERROR_INVALID_HANDLE;
}

static bool run_wrong_stream(void)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    bool good = done(resource);
    if (good && gr_map(resource, second.stream))
        complain("a stream of another device was accepted");
    good = good && done(is_refused());
    gr_resource_free(resource);
    glDeleteBuffers(1, &name);
    return good;
}

static bool run_probe(void)
{
    int device = -1;
    CU(CtxSetCurrent(second.context));
    bool good = done(gr_gl_probe(GR_TRANSPORT_PEER)) && done(gr_gl_probe(GR_TRANSPORT_INTEROP));
    return good && ok(gr_gl_cuda_device(&device)) && bytes_are(device == 0);
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static gr_tensor *make(CUcontext context, CUstream stream)
{
    static const int64_t shape[2] = {SIDE, SIDE};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2, .shape = shape);
    CU(CtxSetCurrent(context));
    gr_tensor *made = gr_tensor_create(&desc, stream);
    done(made);
    return made;
}

static gr_tensor *half_of(gr_tensor *tensor)
{
    static const int64_t shape[2] = {SIDE, SIDE / 2}, strides[2] = {SIDE, 1};
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2,
                                        .shape = shape, .strides = strides);
    gr_tensor *view = tensor ? gr_tensor_view(tensor, &desc) : NULL;
    done(view);
    return view;
}

/*
 * Copies contiguous tensors and tensors with gaps between rows, also with kernels that access the
 * memory of the other device.
 */
static bool run_tensors(void)
{
    gr_tensor *here = make(fx.context, fx.stream), *there = make(second.context, second.stream);
    gr_tensor *left = half_of(here), *right = half_of(there);
    bool good = left && right && ok(gr_tensor_copy(there, here, second.stream)) &&
                ok(gr_tensor_copy(left, right, fx.stream)) &&
                ok(gr_tensor_used_on(here, second.stream)) &&
                done(gr_tensor_array_interface(here, second.other)) &&
                ok(gr_tensor_wait(there, fx.stream)) && ok(gr_tensor_used_on(there, fx.other));
    gr_tensor_free(left);
    gr_tensor_free(right);
    gr_tensor_free(there);
    gr_tensor_free(here);
    return ok(gr_tensor_collect(WALK_SOON)) && good;
}

const struct scenario walk_devices[] = {
    {"a buffer by peer", .run = run_buffer, .missing = no_second, .options = &by_peer},
    {"a discarded buffer by peer", .run = run_buffer, .missing = no_second, .options = &by_peer,
     .flags = GR_WRITE_DISCARD},
    {"a read-only buffer by peer", .run = run_buffer, .missing = no_second, .options = &by_peer,
     .flags = GR_READ_ONLY},
    {"two buffers by peer", .run = run_many, .missing = no_second},
    {"an image by peer", .run = run_image, .missing = no_second, .options = &by_peer},
    {"a discarded image by peer", .run = run_image, .missing = no_second, .options = &by_peer,
     .flags = GR_WRITE_DISCARD},
    {"a read-only image by peer", .run = run_image, .missing = no_second, .options = &by_peer,
     .flags = GR_READ_ONLY},
    {"an image by any transport between devices", .run = run_image, .missing = no_second,
     .options = &by_any},
    {"a buffer by interop between devices", .run = run_buffer, .missing = no_second,
     .options = &by_interop},
    {"a buffer by copies between devices", .run = run_buffer, .missing = no_second,
     .options = &by_copy},
    {"a buffer by any transport between devices", .run = run_buffer, .missing = no_second,
     .options = &by_any},
    {"a buffer shared by two devices", .run = run_shared, .missing = no_sharing},
    {"a stream of another device", .run = run_wrong_stream, .missing = no_second},
    {"the probes of two devices", .run = run_probe, .missing = no_second},
    {"tensors of two devices", .run = run_tensors, .missing = no_second},
    {.name = NULL},
};
