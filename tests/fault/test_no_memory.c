/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory runs out inside grinterop: each allocation of a call fails in turn. The call must then
 * report GR_ERR_NO_MEMORY and change nothing, or succeed without that memory. test_api does this
 * for each function; here a call needs more than the valid call of test_api.
 *
 * The malloc functions of the program replace those of the C library and fail only for calls from
 * grinterop.
 */
#define _GNU_SOURCE
#include "tests/gl/gl_parts_pretend.h"
#include "tests/support/shared_buffer.h"
#include "tests/support/usable.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#define SIZE USABLE_SIZE

/* The number of allocations up to and including the one that fails; 0: none fails. */
static _Thread_local long left;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_MALLOC 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define OTHER_MALLOC 1
#endif

#ifndef OTHER_MALLOC
static void *grinterop; /* the address at which grinterop is loaded */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

/* Allocates nothing itself: dladdr() only reads the list of the loader. */
static bool fails(const void *caller)
{
    Dl_info info;
    if (left == 0 || !dladdr(caller, &info) || info.dli_fbase != grinterop)
        return false;
    if (--left > 0)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}
#endif

/* Returns the reason why allocations cannot be made to fail, or NULL. */
static const char *no_interposer(void)
{
#ifndef OTHER_MALLOC
    Dl_info info;
    void *address = dlsym(RTLD_DEFAULT, "gr_library_version");
    if (!address || !dladdr(address, &info))
        return "grinterop's address is not known";
    grinterop = info.dli_fbase;
    return NULL;
#else
    return "the sanitizer or the C library overrides malloc";
#endif
}

/*
 * Runs the attempt with its first allocation failing, then its second, and so on, until it makes no
 * more allocations. The attempt returns whether it succeeded. Returns how often it failed for lack
 * of memory.
 */
static int try_once_each(bool (*attempt)(void))
{
    int failures = 0;
    for (long n = 1; n < 100; n++) {
        gr_clear_error();
        left = n;
        bool succeeded = attempt();
        bool untouched = left > 0;
        left = 0;
        if (!succeeded) {
            assert_error(GR_ERR_NO_MEMORY, 0, "memory");
            failures++;
        }
        if (untouched) {
            ck_assert(succeeded);
            return failures;
        }
    }
    ck_abort_msg("it never had enough memory");
    return 0;
}

/*
 * Runs all attempts twice, because memory that grinterop keeps for a context is allocated only the
 * first time, which changes the number of allocations.
 */
static int try_each(bool (*attempt)(void))
{
    int failures = try_once_each(attempt);
    return failures + try_once_each(attempt);
}

static GLuint name;
static gr_resource *resource;

enum { IN_TURN = 4 }; /* the number of buffers that a resource has from the start */

/* Keeps buffers whose mappings have ended, so that the next map needs a new buffer. */
static void keep_all(gr_buffer *kept[IN_TURN])
{
    for (int i = 0; i < IN_TURN; i++) {
        kept[i] = must_make(gr_map(resource, fx.stream));
        assert_ok(gr_resource_unmap(resource, GR_STREAM_OF_MAP));
    }
}

static bool try_second_map(void)
{
    gr_buffer *kept[IN_TURN];
    keep_all(kept);
    gr_buffer *next = gr_map(resource, fx.stream);
    bool made = next;
    ck_assert_int_eq(gr_resource_get_info(resource)->mapped, made);
    assert_ok(gr_buffer_release(next));
    assert_ok(gr_buffer_release_many(kept, IN_TURN, GR_STREAM_OF_MAP, NULL));
    return made;
}

/* A failed map must not use up a buffer: the next map must not allocate another one. */
static void assert_maps_without_memory(gr_resource *one)
{
    long before = left;
    left = 1;
    gr_buffer *buffer = gr_map(one, fx.stream);
    ck_assert_int_eq(left, 1);
    left = before;
    assert_made(buffer);
    assert_ok(gr_buffer_release(buffer));
}

/* gr_map_many() must map all resources or none, even if memory for the last one is missing. */
static bool try_many(void)
{
    gr_resource *list[2] = {gr_from_gl_buffer(name, GR_READ_WRITE), resource};
    if (!list[0])
        return false;
    gr_buffer *kept[IN_TURN], *out[2] = {NULL, NULL};
    keep_all(kept);
    bool made = gr_map_many(list, 2, fx.stream, NULL, out) == GR_OK;
    ck_assert_int_eq(gr_resource_get_info(list[0])->mapped, made);
    ck_assert_int_eq(gr_resource_get_info(list[1])->mapped, made);
    ck_assert_int_eq(out[0] != NULL, made);
    ck_assert_int_eq(out[1] != NULL, made);
    assert_ok(gr_buffer_release_many(out, 2, fx.stream, NULL));
    assert_maps_without_memory(list[0]);
    assert_ok(gr_buffer_release_many(kept, IN_TURN, GR_STREAM_OF_MAP, NULL));
    gr_resource_free(list[0]);
    gr_resource_free(resource); /* makes the next attempt need a new buffer again */
    long before = left;
    left = 0;
    resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    left = before;
    assert_made(resource);
    return made;
}

/* Creates a resource in a new context, so that the attempt must allocate the memory for sharing. */
static bool share_elsewhere(bool packed)
{
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED, .packed = packed);
    long before = left;
    left = 0;
    gr_egl *egl = must_make(gr_egl_create(NULL));
    left = before;
    gr_resource *made = gr_create_gl_buffer(SIZE, GR_READ_WRITE, &options);
    before = left;
    left = 0;
    gr_resource_free(made);
    gr_egl_free(egl);
    assert_ok(gr_egl_make_current(fx.egl));
    left = before;
    return made;
}

static bool try_share(void)
{
    return share_elsewhere(false);
}

static bool try_share_packed(void)
{
    pretend_offsets(true);
    bool made = share_elsewhere(true);
    pretend_offsets(false);
    return made;
}

static const struct {
    bool (*attempt)(void);
    int failures; /* the least number of failures */
    bool with_resource;
} attempts[] = {{try_second_map, 1, true},
                {try_many, 2, true},
                {try_share, 6, false},
                {try_share_packed, 8, false}};
#define ATTEMPTS (sizeof(attempts) / sizeof(attempts[0]))

GROUP("no memory", add_case)

TEST(calls_without_memory_leave_everything_usable, ATTEMPTS)
{
    const char *reason = no_interposer();
    if (reason)
        skip("%s", reason);
    bool shares = attempts[_i].attempt == try_share || attempts[_i].attempt == try_share_packed;
    if (shares && (reason = shared_missing()))
        skip("%s", reason);
    name = gl_buffer_filled(SIZE, 1);
    resource = attempts[_i].with_resource ? must_register(name) : NULL;
    ck_assert_int_ge(try_each(attempts[_i].attempt), attempts[_i].failures);
    if (resource)
        assert_resource_usable(resource, name);
    gr_resource_free(resource);
    assert_buffer_usable(name);
}
