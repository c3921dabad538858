/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Freeing an object twice is reported as an error and accesses no freed memory, which
 * AddressSanitizer would detect. Also tests the report about the objects that are open when a
 * process exits.
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/support_vulkan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/ring.h>
#include <grinterop/tensor.h>

#define SIZE 4096

/* A call that returns nothing must fail with this message. */
#define assert_refused(call, text)                                                                 \
    do {                                                                                           \
        gr_clear_error();                                                                          \
        call;                                                                                      \
        assert_error(GR_ERR_INVALID_VALUE, 0, text);                                               \
    } while (0)

GROUP("freeing twice", add_resource_case)

/* Catches: a second free, while a buffer was mapped, ended the registration under the mapping. */
TEST(a_second_free_of_a_mapped_resource_is_refused)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = must_register(name);
    gr_buffer *buffer = must_map(resource);
    gr_resource_free(resource);
    assert_refused(gr_resource_free(resource), "freed already");
    assert_invalid(gr_resource_close(resource, fx.stream), "freed already");
    fill_and_release(buffer, 0x33);
    assert_gl_bytes(name, SIZE, 0x33);
    assert_invalid(gr_buffer_release(buffer), "not a live buffer");
}

TEST(a_second_release_of_a_buffer_is_refused)
{
    gr_buffer *buffer = must_map(fx.resource);
    assert_ok(gr_buffer_release(buffer));
    assert_invalid(gr_buffer_release(buffer), "released already");
    assert_invalid(release_on(buffer, fx.other), "released already");
    assert_not_mapped(fx.resource);
    gr_buffer *next = must_map(fx.resource);
    assert_invalid(gr_buffer_release(buffer), "released already");
    ck_assert_uint_ne(gr_buffer_ptr(next), 0);
    assert_ok(gr_buffer_release(next));
    assert_ok(gr_resource_close(fx.resource, fx.stream));
    assert_invalid(gr_buffer_release(buffer), "released already");
    gr_resource_free(fx.resource);
    fx.resource = NULL;
    assert_invalid(gr_buffer_release(buffer), "gr_buffer_release was given");
}

/* Handles are passed as void pointers, as from other languages. */
TEST(the_message_names_the_kind_of_a_wrong_object)
{
    gr_buffer *buffer = must_map(fx.resource);
    assert_refused(gr_resource_free((gr_resource *)(void *)buffer),
                   "not a live resource: it is a buffer, which gr_buffer_release() ends");
    assert_invalid(gr_buffer_release((gr_buffer *)(void *)fx.resource),
                   "not a live buffer: it is a resource, which gr_resource_free() ends");
    assert_ok(gr_buffer_release(buffer));
}

TEST(release_many_reports_invalid_entries_and_releases_the_others)
{
    gr_resource *gone = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *of_gone = must_map(gone);
    assert_ok(gr_buffer_release(of_gone));
    gr_resource_free(gone);
    int nothing = 0;
    gr_buffer *buffers[] = {must_map(fx.resource), of_gone, (gr_buffer *)(void *)&nothing};
    CUevent event;
    CU(EventCreate(&event, 0));
    assert_fails(gr_buffer_release_many(buffers, 3, GR_STREAM_OF_MAP,
                                        &GR_INIT(gr_release_options, .wait_event = event)),
                 GR_ERR_PARTIAL, 0, "gr_buffer_release_many was given");
    CU(EventDestroy(event));
    ck_assert_ptr_null(buffers[0]);
    ck_assert_ptr_eq(buffers[1], of_gone);
    assert_not_mapped(fx.resource);
}

/* The buffers of a resource take turns, whether its earlier buffers were released or not. */
TEST(a_second_release_does_not_end_a_new_mapping, 2)
{
    gr_buffer *ended = NULL, *freed[3];
    if (_i) {
        ended = must_map(fx.resource);
        assert_ok(gr_resource_unmap(fx.resource, fx.stream));
    }
    const int turns = _i ? 2 : 3;
    for (int i = 0; i < 20; i++) {
        gr_buffer *mapped = must_map(fx.resource);
        for (int k = 1; k <= turns && k <= i; k++)
            assert_invalid(gr_buffer_release(freed[(i - k) % 3]), "released already");
        ck_assert_uint_ne(gr_buffer_ptr(mapped), 0);
        assert_ok(gr_buffer_release(freed[i % 3] = mapped));
    }
    assert_ok(gr_buffer_release(ended));
}

TEST(the_end_of_a_scope_reports_an_already_freed_object)
{
    gr_clear_error();
    {
        GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(SIZE, 1));
        gr_resource_free(resource);
    }
    assert_error(GR_ERR_INVALID_VALUE, 0, "gr_resource_free was given");
}

/*
 * Creates more resources than the initial size of the table, so that the table grows, and then
 * frees half of them.
 */
TEST(live_and_freed_objects_are_distinguished_after_the_table_grew)
{
    enum { COUNT = 700 };
    static gr_resource *resources[COUNT];
    static GLuint names[COUNT];
    glGenBuffers(COUNT, names);
    for (int i = 0; i < COUNT; i++) {
        glBindBuffer(GL_COPY_WRITE_BUFFER, names[i]);
        glBufferData(GL_COPY_WRITE_BUFFER, 16, NULL, GL_STATIC_DRAW);
        resources[i] = must_register(names[i]);
    }
    gr_clear_error();
    for (int i = 0; i < COUNT; i += 2)
        gr_resource_free(resources[i]);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    for (int i = 0; i < COUNT; i += 2)
        assert_refused(gr_resource_free(resources[i]), "freed already");
    for (int i = 1; i < COUNT; i += 2)
        assert_ok(gr_resource_close(resources[i], fx.stream));
    for (int i = 1; i < COUNT; i += 2)
        gr_resource_free(resources[i]);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    glDeleteBuffers(COUNT, names);
}

static void *new_tensor(void)
{
    static float data;
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 1,
                                        .shape = (int64_t[]){1}, .memory = GR_MEMORY_HOST);
    return must_make(gr_tensor_from_memory(&desc, &data, GR_STREAM_NONE, NULL, NULL));
}

static atomic_bool changing;

/* Changes the table of live objects continuously. */
static void *make_and_free_tensors(void *unused)
{
    enum { COUNT = 150 };
    gr_tensor *tensors[COUNT];
    while (atomic_load(&changing)) {
        for (int i = 0; i < COUNT; i++)
            tensors[i] = new_tensor();
        for (int i = 0; i < COUNT; i++)
            gr_tensor_free(tensors[i]);
    }
    return unused;
}

/*
 * Creates tensors while the thread of make_and_free_tensors() also creates some. Returns how often
 * the table did not find one of them.
 */
static unsigned count_missed(void)
{
    enum { COUNT = 100, LOOKS = 20 };
    gr_tensor *tensors[COUNT];
    unsigned missed = 0;
    for (int k = 0; k < COUNT; k++)
        tensors[k] = new_tensor();
    for (int i = 0; i < LOOKS; i++)
        for (int k = 0; k < COUNT; k++)
            missed += !gr_tensor_get_info(tensors[k]);
    for (int k = 0; k < COUNT; k++)
        gr_tensor_free(tensors[k]);
    return missed;
}

/*
 * Lookups take no lock while other threads move the entries. A lookup is repeated after a
 * concurrent change. Without the repetition, some of these 20 million lookups would miss an
 * existing entry in most runs. A sanitizer finds a race in fewer, which take as long.
 */
TEST(live_objects_are_found_while_the_table_changes)
{
    const int rounds = sanitizer() ? 1000 : 10000;
    pthread_t thread;
    atomic_store(&changing, true);
    ck_assert_int_eq(pthread_create(&thread, NULL, make_and_free_tensors, NULL), 0);
    unsigned missed = 0;
    for (int i = 0; i < rounds; i++)
        missed += count_missed();
    atomic_store(&changing, false);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(missed, 0);
}

GROUP("the end of the process", add_bare_case)

CHILD(leaves_much_open)
{
    fixture_setup();
    gr_resource *first = must_register(gl_buffer_filled(48, 1));
    gr_resource *mapped = must_register(gl_buffer_filled(80, 1));
    must_map(mapped);
    gr_resource_free(mapped);
    ck_assert(!gr_resource_get_info(first)->closed);
    return 0;
}

CHILD(leaves_nothing_open)
{
    fixture_setup();
    gr_resource_free(must_register(gl_buffer_filled(48, 1)));
    /*
     * Skips the count of descriptors: the driver of a GPU keeps those that it opened in this
     * process.
     */
    fx.fds = -1;
    fixture_teardown();
    return 0;
}

static const char *logged_by(const char *child, const char *level)
{
    static char text[16384];
    const char *before = getenv("GR_LOG");
    char kept[32] = "";
    strncat(kept, before ? before : "none", sizeof(kept) - 1);
    setenv("GR_LOG", level, 1);
    int status = child_run(child, text, sizeof(text));
    setenv("GR_LOG", kept, 1);
    ck_assert_msg(status == 0, "%s", text);
    return text;
}

TEST(open_objects_are_listed_at_exit)
{
    const char *text = logged_by("leaves_much_open", "info");
    ck_assert_msg(strstr(text, "1 resource open, without gr_resource_free()"), "%s", text);
    ck_assert_msg(strstr(text, "48 bytes"), "%s", text);
    ck_assert_msg(strstr(text, "1 buffer open, without gr_buffer_release()"), "%s", text);
    ck_assert_msg(strstr(text, "80 bytes"), "%s", text);
    ck_assert_msg(strstr(text, "1 EGL context open"), "%s", text);
    ck_assert_ptr_null(strstr(text, "semaphore"));
}

/* Catches: the report at the end was only logged at level info. */
TEST(open_objects_are_counted_at_exit)
{
    const char *text = logged_by("leaves_much_open", "warning");
    ck_assert_msg(strstr(text, "1 resource open, without gr_resource_free(); GR_LOG=info"), "%s",
                  text);
    ck_assert_msg(strstr(text, "1 buffer open, without gr_buffer_release(); GR_LOG=info"), "%s",
                  text);
    ck_assert_msg(!strstr(text, "48 bytes"), "%s", text);
    text = logged_by("leaves_much_open", "error");
    ck_assert_msg(!strstr(text, "the process ends with"), "%s", text);
}

TEST(without_open_objects_nothing_is_printed_at_exit)
{
    const char *text = logged_by("leaves_nothing_open", "info");
    ck_assert_msg(!strstr(text, "the process ends with"), "%s", text);
}

START(resource_case_buffer(SIZE, 1))
