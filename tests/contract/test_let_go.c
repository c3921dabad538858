/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letting go: of a buffer on a thread that can't release it, of a resource whose driver complains,
 * and waiting on the host until CUDA has let go.
 */
#define _GNU_SOURCE
#include "tests/support/support_vulkan.h"

#include <pthread.h>

#define SIZE 4096

static TCase *add_later_case(Suite *suite, const char *name)
{
    return with_sharing(add_resource_case(suite, name));
}

GROUP("releases for later", add_later_case)

static void *release_later(void *buffer)
{
    gr_buffer_release_later(buffer);
    return NULL;
}

static void *free_resource(void *resource)
{
    gr_resource_free(resource);
    return NULL;
}

/* On a thread that has neither an OpenGL nor a CUDA context, as a finalizer's. */
static void elsewhere(void *(*body)(void *), void *object)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, body, object), 0);
    pthread_join(thread, NULL);
}

static gr_resource *make_resource(int kind, GLuint *name)
{
    gr_resource *resource = NULL;
    if (kind == 0) {
        *name = gl_buffer_filled(SIZE, 1);
        resource = must_register(*name);
    } else {
        const gr_gl_options options = GR_INIT(
            gr_gl_options, .transports = kind == 1 ? GR_TRANSPORT_COPY : GR_TRANSPORT_SHARED);
        resource = gr_gl_buffer_create(SIZE, GR_READ_WRITE, &options);
        if (resource)
            *name = gr_gl_name(resource);
    }
    return resource;
}

/* Something that collects what was set aside in the current context. */
static void collect(void)
{
    gr_resource_free(must_register(gl_buffer_filled(16, 0)));
}

TEST(a_buffer_is_released_now_where_it_can_be)
{
    gr_buffer *buffer = must_map(fx.resource);
    cuda_fill(buffer, 0x21);
    gr_buffer_release_later(buffer);
    assert_not_mapped(fx.resource);
    assert_gl_bytes(fx.name, SIZE, 0x21);
    gr_buffer_release_later(NULL);
    gr_clear_error();
    gr_buffer_release_later(buffer);
    assert_error(GR_ERR_INVALID_VALUE, 0, "released already");
}

/* By interop, copy and shared: _i. */
TEST(a_finalizers_buffer_is_released_by_the_next_call, 3)
{
    GLuint name;
    gr_resource *resource = make_resource(_i, &name);
    if (!resource)
        skip("%s", error_text());
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 0x22);
    CU(StreamSynchronize(fx.stream));
    elsewhere(release_later, buffer);
    ck_assert(gr_resource_is_mapped(resource));
    assert_fails(gr_buffer_release(buffer), GR_ERR_INVALID_VALUE, 0, "released already");
    collect();
    ck_assert(!gr_resource_is_mapped(resource));
    assert_gl_bytes(name, SIZE, 0x22);
    gr_resource_free(resource);
}

TEST(a_map_of_the_resource_comes_after_it, 3)
{
    GLuint name;
    gr_resource *resource = make_resource(_i, &name);
    if (!resource)
        skip("%s", error_text());
    gr_buffer *first = must_map(resource);
    cuda_fill(first, 0x23);
    elsewhere(release_later, first);
    gr_buffer *second = must_map(resource);
    assert_cuda_bytes(second, 0x23);
    assert_ok(gr_buffer_release(second));
    assert_gl_bytes(name, SIZE, 0x23);
    gr_resource_free(resource);
}

/* As a collector does: the buffer and its resource, in either order. */
TEST(a_finalizer_lets_go_of_both, 6)
{
    GLuint name;
    gr_resource *resource = make_resource(_i / 2, &name);
    if (!resource)
        skip("%s", error_text());
    void *handle = _i / 2 == 0 ? driver_handle(resource) : NULL;
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 0x24);
    CU(StreamSynchronize(fx.stream));
    if (_i % 2)
        elsewhere(free_resource, resource);
    elsewhere(release_later, buffer);
    if (_i % 2 == 0)
        elsewhere(free_resource, resource);
    collect();
    if (_i / 2 == 0)
        assert_gl_bytes(name, SIZE, 0x24);
    if (handle)
        assert_unregistered(handle);
    collect();
}

TEST(close_and_free_end_what_was_set_aside, 2)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = must_register(name);
    void *handle = driver_handle(resource);
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 0x25);
    elsewhere(release_later, buffer);
    if (_i)
        assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    gr_resource_free(resource);
    assert_unregistered(handle);
    assert_gl_bytes(name, SIZE, 0x25);
}

/* Two mappings of one resource, the first of which had ended otherwise. */
TEST(several_buffers_of_a_resource_are_set_aside)
{
    gr_buffer *first = must_map(fx.resource);
    assert_ok(gr_resource_unmap(fx.resource, GR_STREAM_OF_MAP));
    gr_buffer *second = must_map(fx.resource);
    elsewhere(release_later, second);
    elsewhere(release_later, first);
    assert_ok(gr_resource_unmap(fx.resource, GR_STREAM_OF_MAP) == GR_ERR_STATE ? GR_OK
                                                                               : GR_ERR_STATE);
    assert_not_mapped(fx.resource);
    gr_clear_error();
}

/* ---- At the same time as the resource's thread ----------------------------------------------- */

#define MEETINGS 200

static struct {
    pthread_barrier_t barrier;
    gr_resource *resource;
    gr_buffer *buffer;
    void (*there)(void); /* on the other thread */
} meeting;

static void *do_there(void *unused)
{
    for (int i = 0; i < MEETINGS; i++) {
        pthread_barrier_wait(&meeting.barrier);
        meeting.there();
        pthread_barrier_wait(&meeting.barrier);
    }
    return unused;
}

/* Does `here` and `there` at once, with what `begin` makes for both. */
static void meet(void (*begin)(void), void (*here)(void), void (*there)(void))
{
    pthread_t thread;
    meeting.there = there;
    ck_assert_int_eq(pthread_barrier_init(&meeting.barrier, NULL, 2), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, do_there, NULL), 0);
    for (int i = 0; i < MEETINGS; i++) {
        begin();
        pthread_barrier_wait(&meeting.barrier);
        here();
        pthread_barrier_wait(&meeting.barrier);
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&meeting.barrier);
    collect();
}

static int kind_of_meeting;
static void *last_handle;

static void make_mapped(void)
{
    GLuint name;
    meeting.resource = make_resource(kind_of_meeting, &name);
    ck_assert_msg(meeting.resource, "%s", error_text());
    last_handle = kind_of_meeting == 0 ? driver_handle(meeting.resource) : NULL;
    meeting.buffer = must_map(meeting.resource);
}

static void make_unmapped(void)
{
    make_mapped();
    assert_ok(gr_resource_unmap(meeting.resource, GR_STREAM_OF_MAP));
}

static void release_it(void)
{
    gr_buffer_release_later(meeting.buffer);
}

static void free_it(void)
{
    gr_resource_free(meeting.resource);
}

/* By interop, copy and shared; mapped, or not any more; the resource is freed here, or there. */
TEST(a_finalizer_meets_the_last_hold, 12)
{
    const bool mapped = _i / 3 % 2 == 0, frees_here = _i / 6 == 0;
    GLuint name;
    kind_of_meeting = _i % 3;
    gr_resource *resource = make_resource(kind_of_meeting, &name);
    if (!resource)
        skip("%s", error_text());
    gr_resource_free(resource);
    meet(mapped ? make_mapped : make_unmapped, frees_here ? free_it : release_it,
         frees_here ? release_it : free_it);
    if (last_handle)
        assert_unregistered(last_handle);
}

static void end_a_mapping(void)
{
    meeting.buffer = must_map(fx.resource);
    assert_ok(gr_resource_unmap(fx.resource, GR_STREAM_OF_MAP));
}

static void map_and_release(void)
{
    assert_ok(gr_buffer_release(must_map(fx.resource)));
}

TEST(a_finalizer_meets_the_next_map)
{
    meet(end_a_mapping, map_and_release, release_it);
    assert_not_mapped(fx.resource);
}

GROUP("a CUDA context", add_case)

TEST(a_context_is_current_until_it_is_freed)
{
    CUcontext second = NULL, current = NULL;
    unsigned flags;
    CU(CtxCreate(&second, 0, fx.device));
    CU(CtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++) {
        CUcontext before = i ? second : NULL;
        CU(CtxSetCurrent(before));
        gr_cuda_context *context = gr_cuda_context_create(0);
        assert_made(context);
        CU(CtxGetCurrent(&current));
        ck_assert_ptr_eq(current, gr_cuda_context_context(context));
        ck_assert_ptr_eq(current, fx.context);
        CU(StreamGetFlags(gr_cuda_context_stream(context), &flags));
        ck_assert_uint_eq(flags, CU_STREAM_NON_BLOCKING);
        gr_cuda_context_free(context);
        CU(CtxGetCurrent(&current));
        ck_assert_ptr_eq(current, before);
        gr_clear_error();
        gr_cuda_context_free(context);
        assert_error(GR_ERR_INVALID_VALUE, 0, "gr_cuda_context_free was given");
    }
    CU(CtxDestroy(second));
    CU(CtxSetCurrent(fx.context));
}

static bool primary_is_active(const gr_cuda_api *cu)
{
    unsigned flags;
    int active = -1;
    ck_assert_int_eq(cu->DevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    return active;
}

static int gives_back_what_it_retained(void)
{
    const gr_cuda_api *cu = gr_cuda();
    assert_made(cu);
    ck_assert(!primary_is_active(cu));
    gr_cuda_context *context = gr_cuda_context_create(0);
    assert_made(context);
    ck_assert(primary_is_active(cu));
    gr_cuda_context_free(context);
    ck_assert(!primary_is_active(cu));
    return 0;
}

/* In a process of its own, where nobody else holds the primary context. */
TEST(a_freed_context_gives_back_what_it_retained)
{
    char text[4096];
    int status = child_run("gives_back_what_it_retained", text, sizeof(text));
    ck_assert_msg(status == 0, "%s", text);
}

TEST(a_device_that_is_not_there_has_no_context)
{
    char text[80];
    int past = device_past_last(text, sizeof(text));
    assert_null(gr_cuda_context_create(past), GR_ERR_INVALID_VALUE, 0, "There is no CUDA device");
    assert_null(gr_cuda_context_create(-1), GR_ERR_INVALID_VALUE, 0, "There is no CUDA device -1");
    assert_null(gr_cuda_context_stream(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_null(gr_cuda_context_context(NULL), GR_ERR_INVALID_VALUE, 0, "NULL");
    gr_cuda_context_free(NULL);
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    assert_made(context);
}

GROUP("parts of a buffer", add_later_case)

static gr_status map_part(gr_resource *resource, size_t offset, size_t size, gr_buffer **buffer)
{
    return gr_map_many(&resource, 1, fx.stream,
                       &GR_INIT(gr_map_options, .offset = offset, .size = size), buffer);
}

/* The other bytes stay as OpenGL has them. */
TEST(a_part_is_mapped, 3)
{
    GLuint name;
    unsigned char bytes[SIZE];
    gr_resource *resource = make_resource(_i, &name);
    if (!resource)
        skip("%s", error_text());
    fill_mapped(resource, 1);
    gr_buffer *buffer = NULL;
    assert_ok(map_part(resource, 1000, 24, &buffer));
    ck_assert_uint_eq(gr_buffer_size(buffer), 24);
    assert_cuda_bytes(buffer, 1);
    cuda_fill(buffer, 0x41);
    assert_ok(gr_buffer_release(buffer));
    assert_ok(map_part(resource, SIZE - 8, 0, &buffer));
    ck_assert_uint_eq(gr_buffer_size(buffer), 8);
    cuda_fill(buffer, 0x42);
    assert_ok(gr_buffer_release(buffer));
    GR_AUTO(gr_buffer) *whole = must_map(resource);
    ck_assert_uint_eq(gr_buffer_size(whole), SIZE);
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(bytes, gr_buffer_ptr(whole), SIZE));
    assert_bytes(bytes, 1000, 1);
    assert_bytes(bytes + 1000, 24, 0x41);
    assert_bytes(bytes + 1024, SIZE - 1024 - 8, 1);
    assert_bytes(bytes + SIZE - 8, 8, 0x42);
    gr_resource_free(resource);
}

/* What OpenGL does to the rest while a part is mapped is not undone by the copy. */
TEST(a_copy_moves_the_part_alone)
{
    GLuint name;
    unsigned char bytes[SIZE];
    gr_resource *resource = make_resource(1, &name);
    assert_made(resource);
    fill_mapped(resource, 1);
    gr_buffer *buffer = NULL;
    assert_ok(map_part(resource, 16, 16, &buffer));
    cuda_fill(buffer, 0x43);
    GLuint other = gl_buffer_filled(SIZE, 0x55);
    gl_copy_buffer(other, name, SIZE);
    assert_ok(gr_buffer_release(buffer));
    gl_read(name, bytes, SIZE);
    assert_bytes(bytes, 16, 0x55);
    assert_bytes(bytes + 16, 16, 0x43);
    assert_bytes(bytes + 32, SIZE - 32, 0x55);
    gr_resource_free(resource);
}

TEST(a_part_past_the_end_is_refused)
{
    static const size_t parts[][2] = {{SIZE, 0},     {SIZE, 1},       {0, SIZE + 1},
                                      {SIZE - 1, 2}, {(size_t)-1, 0}, {1, (size_t)-1}};
    gr_buffer *buffer = NULL;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        assert_fails(map_part(fx.resource, parts[i][0], parts[i][1], &buffer), GR_ERR_INVALID_VALUE,
                     0, "does not lie in the buffer");
    ck_assert_ptr_null(buffer);
    assert_not_mapped(fx.resource);
    GLuint texture;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4);
    GR_AUTO(gr_resource) *image = gr_from_gl_image(texture, GL_TEXTURE_2D, GR_READ_WRITE);
    assert_made(image);
    assert_fails(map_part(image, 0, 4, &buffer), GR_ERR_INVALID_VALUE, 0, "image");
    glDeleteTextures(1, &texture);
}

GROUP("waiting", add_resource_case)

static void assert_waits(gr_resource *resource)
{
    assert_ok(gr_resource_wait(resource, 0));
    assert_ok(gr_resource_wait(resource, GR_WAIT_FOREVER));
    gr_buffer *buffer = must_map(resource);
    assert_fails(gr_resource_wait(resource, 0), GR_ERR_STATE, 0, "mapped");
    struct gate *gate = gate_put(fx.stream);
    cuda_fill(buffer, 0x31);
    assert_ok(gr_buffer_release(buffer));
    assert_fails(gr_resource_wait(resource, 0), GR_ERR_NOT_READY, 0, "not done");
    assert_fails(gr_resource_wait(resource, 30), GR_ERR_TIMEOUT, 0, "30 ms");
    ck_assert(!gate_is_open(gate));
    gate_open_after(gate, 30);
    assert_ok(gr_resource_wait(resource, 20000));
    ck_assert(gate_is_open(gate));
    assert_ok(gr_resource_wait(resource, 0));

    buffer = must_map(resource);
    gate = gate_put(fx.stream);
    assert_ok(gr_buffer_release(buffer));
    gate_open_after(gate, 30);
    assert_ok(gr_resource_wait(resource, GR_WAIT_FOREVER));
    ck_assert(gate_is_open(gate));
}

TEST(the_host_waits_for_a_registered_buffer)
{
    if (gr_cuda_is_software())
        skip("the software driver's unmap waits for its stream, so that no work is left");
    assert_waits(fx.resource);
}

TEST(a_resource_that_has_done_its_work_is_not_waited_for)
{
    assert_ok(gr_resource_wait(fx.resource, 0));
    fill_mapped(fx.resource, 0x32);
    assert_ok(gr_resource_wait(fx.resource, 1000));
    assert_ok(gr_resource_wait(fx.resource, 0));
    assert_gl_bytes(fx.name, SIZE, 0x32);
    GR_AUTO(gr_resource) *copy = gr_gl_buffer_create(
        SIZE, GR_READ_WRITE, &GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_COPY));
    assert_made(copy);
    assert_ok(gr_resource_wait(copy, 0));
    fill_mapped(copy, 0x33);
    assert_ok(gr_resource_wait(copy, 0));
}

TEST(waiting_for_none_or_a_closed_one_is_refused)
{
    assert_fails(gr_resource_wait(NULL, 0), GR_ERR_INVALID_VALUE, 0, "NULL");
    assert_ok(gr_resource_close(fx.resource, GR_STREAM_OF_MAP));
    assert_fails(gr_resource_wait(fx.resource, 0), GR_ERR_STATE, 0, "closed");
}

GROUP("waiting for Vulkan's", add_vulkan_case)

TEST_UNLESS(vk.missing, the_host_waits_for_vulkans_buffer)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    GR_AUTO(gr_resource) *resource = gr_vk_buffer_create(vk.wrap, &info, GR_READ_WRITE);
    assert_made(resource);
    assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
    assert_waits(resource);
}

TEST_UNLESS(vk.missing, the_host_waits_by_vulkans_timelines)
{
    GR_AUTO(gr_semaphore) *acquire = gr_vk_semaphore_create(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_semaphore) *release = gr_vk_semaphore_create(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    GR_AUTO(gr_resource) *resource = gr_vk_buffer_create(vk.wrap, &info, GR_READ_WRITE);
    assert_made(resource);
    assert_ok(gr_resource_set_sync(resource, acquire, release));
    assert_waits(resource);
}

int main(int argc, char **argv)
{
    static const struct child children[] = {
        {"gives_back_what_it_retained", gives_back_what_it_retained}, {0}};
    resource_case_buffer(SIZE, 1);
    return run_tests(argc, argv, "let_go", children);
}
