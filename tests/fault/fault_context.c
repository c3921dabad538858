/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls with a stream that was destroyed together with its CUDA context. Each call reports the
 * destroyed context and passes the stream to no driver function. The test of semaphores is in
 * test_external_fault.c.
 *
 * Catches: NVIDIA's driver crashed in cuStreamIsCapturing.
 */
#include "fault.h"
#include "tests/support/child_check.h"

#include <grinterop/image.h>
#include <grinterop/publish.h>
#include <grinterop/ring.h>
#include <grinterop/tensor.h>

#include <string.h>

#define SIDE 4

static unsigned char bytes[SIZE];

/* The objects of a destroyed context, and its stream. */
static struct {
    CUcontext context;
    CUstream stream;
    gr_resource *resource, *discards, *mapped, *image;
    gr_buffer *buffer, *texels;
    gr_ring *ring, *of_graphics;
    gr_tensor *tensor, *other;
} gone;

static gr_tensor *make_tensor(void)
{
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (const int64_t[]){SIZE});
    return must_make(gr_tensor_create(&desc, gone.stream));
}

static gr_resource *make_image(void)
{
    GLuint texture = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIDE, SIDE);
    return must_make(gr_from_gl_image(texture, GL_TEXTURE_2D, GR_READ_WRITE));
}

static gr_ring *make_ring(gr_side producer)
{
    gr_resource *list[] = {must_register(gl_buffer_filled(SIZE, 0)),
                           must_register(gl_buffer_filled(SIZE, 0))};
    gr_ring *ring =
        must_make(gr_ring_create(list, 2, &GR_INIT(gr_ring_options, .producer = producer)));
    free_resources(list, 2);
    return ring;
}

static void destroy_context(void)
{
    gone.context = new_context(&gone.stream);
    gone.resource = must_register(gl_buffer_filled(SIZE, 0));
    gone.discards = must_make(gr_from_gl_buffer(gl_buffer_filled(SIZE, 0), GR_WRITE_DISCARD));
    gone.mapped = must_register(gl_buffer_filled(SIZE, 0));
    gone.buffer = must_map_on(gone.mapped, gone.stream);
    gone.image = make_image();
    gone.texels = must_make(gr_map(gone.image, gone.stream));
    gone.ring = make_ring(GR_SIDE_CUDA);
    gone.of_graphics = make_ring(GR_SIDE_GRAPHICS);
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_write(gone.of_graphics, GR_STREAM_NONE, &slot, 1, 0));
    assert_ok(gr_ring_hand_over(gone.of_graphics, &slot, 1));
    gone.tensor = make_tensor();
    gone.other = make_tensor();
    CU(StreamSynchronize(gone.stream));
    end_context(gone.context);
    fault->reset();
    gr_clear_error();
}

static void free_objects(void)
{
    gr_tensor_free(gone.tensor);
    gr_tensor_free(gone.other);
    gr_ring_free(gone.ring);
    gr_ring_free(gone.of_graphics);
    gr_buffer_release(gone.buffer);
    gr_buffer_release(gone.texels);
    gr_resource_free(gone.resource);
    gr_resource_free(gone.discards);
    gr_resource_free(gone.mapped);
    gr_resource_free(gone.image);
    gr_clear_error();
}

static TCase *add_destroyed_case(Suite *suite, const char *title)
{
    return with_fixture(add_case(suite, title), destroy_context, free_objects);
}

static void assert_stream_unused(const char *what)
{
    const gr_error error = *gr_last_error();
    ck_assert_msg(error.status == GR_ERR_CUDA && error.code == CUDA_ERROR_CONTEXT_IS_DESTROYED,
                  "%s: %s", what, error_text());
    ck_assert_msg(strstr(error.message, "was destroyed"), "%s: %s", what, error.message);
    ck_assert_msg(fault->calls("cuStreamIsCapturing") + fault->calls("cuStreamGetCtx") == 0,
                  "%s passed the stream to the driver", what);
    gr_clear_error();
}

#define assert_refused(call)                                                                       \
    do {                                                                                           \
        ck_assert_msg(!(call), "%s succeeded", #call);                                             \
        assert_stream_unused(#call);                                                               \
    } while (0)
#define assert_destroyed(call) assert_refused((call) == GR_OK)

GROUP("streams of destroyed contexts", add_destroyed_case)

TEST(ring_calls_check_the_context_before_the_stream)
{
    const gr_slot *slot;
    assert_destroyed(gr_ring_acquire_write(gone.ring, gone.stream, &slot, 1, 0));
    assert_destroyed(gr_ring_acquire_write(gone.of_graphics, GR_STREAM_NONE, &slot, 1, 0));
    assert_destroyed(gr_ring_acquire_read(gone.of_graphics, gone.stream, &slot, 1, 0));
    ck_assert_uint_eq(gr_ring_get_info(gone.ring)->free, 2);
    ck_assert_uint_eq(gr_ring_get_info(gone.of_graphics)->ready, 1);
    ck_assert_uint_eq(gr_ring_get_info(gone.of_graphics)->free, 1);
}

TEST(publish_and_fetch_check_the_context_before_the_stream)
{
    assert_destroyed(gr_publish(gone.resource, gone.tensor, NULL, gone.stream));
    assert_destroyed(gr_publish(gone.discards, gone.tensor, NULL, gone.stream));
    assert_destroyed(gr_fetch(gone.resource, gone.tensor, NULL, gone.stream));
    assert_destroyed(gr_buffer_publish(gone.buffer, gone.tensor, NULL, gone.stream));
    assert_destroyed(gr_buffer_publish(gone.buffer, gone.tensor, NULL, GR_STREAM_OF_MAP));
    assert_destroyed(gr_buffer_fetch(gone.buffer, gone.tensor, NULL, gone.stream));
    assert_destroyed(gr_buffer_fetch(gone.buffer, gone.tensor, NULL, GR_STREAM_OF_MAP));
}

TEST(image_copies_check_the_context_before_the_stream)
{
    const gr_linear_desc host = GR_INIT(gr_linear_desc, .host = bytes);
    assert_destroyed(gr_buffer_copy_from_linear(gone.texels, 0, 0, &host, gone.stream));
    assert_destroyed(gr_buffer_copy_from_linear(gone.texels, 0, 0, &host, GR_STREAM_OF_MAP));
    assert_destroyed(gr_buffer_copy_to_linear(gone.texels, 0, 0, &host, gone.stream));
    assert_destroyed(gr_buffer_copy_to_linear(gone.texels, 0, 0, &host, GR_STREAM_OF_MAP));
}

TEST(tensor_calls_check_the_context_before_the_stream)
{
    assert_destroyed(gr_tensor_wait(gone.tensor, gone.stream));
    assert_destroyed(gr_tensor_used_on(gone.tensor, gone.stream));
    assert_destroyed(gr_tensor_copy(gone.other, gone.tensor, gone.stream));
    assert_destroyed(gr_tensor_copy_to_host(gone.tensor, bytes, SIZE, gone.stream));
    assert_destroyed(gr_tensor_copy_from_host(gone.tensor, bytes, SIZE, gone.stream));
    assert_refused(gr_tensor_array_interface(gone.tensor, gone.stream));
    assert_refused(gr_tensor_clone(gone.tensor, GR_MEMORY_DEVICE, gone.stream));
}

/* In a process of its own, in which no other case has objects of the primary context. */
CHILD_TEST(a_context_is_freed_after_its_reset)
{
    gr_cuda_context *context = must_make(gr_cuda_context_create(fixture_cuda_device()));
    child_check(gr_cuda()->DevicePrimaryCtxReset(fixture_cuda_device()) == CUDA_SUCCESS);
    fault->reset();
    gr_cuda_context_free(context);
    child_check(fault->calls("cuStreamQuery") + fault->calls("cuStreamDestroy") == 0);
    child_check(fault->calls("cuDevicePrimaryCtxRelease") == 1);
    return 0;
}
