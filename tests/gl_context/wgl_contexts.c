/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The current context: which one is current, on which thread, and contexts that were destroyed. */
#include "wgl.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

enum { BYTES = 64 };

static const char *calls_without_a_context_are_refused(void)
{
    int device;
    GLuint name = wgl_buffer(NULL, BYTES);
    own_wgl_make_current(NULL);
    REQUIRE(!gr_from_gl_buffer(name, GR_READ_WRITE));
    PASS_ON(wgl_refused(GR_ERR_GL, "by wglMakeCurrent"));
    REQUIRE(!gr_create_gl_buffer(BYTES, GR_READ_WRITE, NULL));
    PASS_ON(wgl_refused(GR_ERR_GL, "No OpenGL context is current"));
    REQUIRE(!gr_gl_probe(GR_TRANSPORT_INTEROP));
    PASS_ON(wgl_refused(GR_ERR_GL, "No OpenGL context is current"));
    REQUIRE(gr_gl_cuda_device(&device) == GR_ERR_GL);
    REQUIRE(!follower->nth(0));
    own_wgl_make_current(&own);
    return NULL;
}

/* Without the context a map is refused. Once the context is current again, maps work. */
static const char *map_works_again_once_the_context_is_current(void)
{
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE);
    REQUIRE(resource);
    own_wgl_make_current(NULL);
    REQUIRE(!gr_map(resource, STREAM));
    PASS_ON(wgl_refused(GR_ERR_GL, "(WGL context "));
    own_wgl_make_current(&own);
    gr_buffer *buffer = gr_map(resource, STREAM);
    REQUIRE(buffer);
    own_wgl_make_current(NULL);
    REQUIRE(gr_buffer_release(buffer) == GR_ERR_GL && follower->mapped() == 1);
    own_wgl_make_current(&own);
    REQUIRE(gr_buffer_release(buffer) == GR_OK && follower->mapped() == 0);
    return NULL;
}

static const char *calls_in_another_context_are_refused(void)
{
    struct own_wgl other;
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE);
    REQUIRE(resource && !own_wgl_open(&other));
    REQUIRE(!gr_map(resource, STREAM));
    PASS_ON(wgl_refused(GR_ERR_GL, "was registered in another context (WGL context "));
    /* The other context can have its own resources. */
    gr_resource *second = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE);
    gr_buffer *buffer = second ? gr_map(second, STREAM) : NULL;
    REQUIRE(buffer && gr_buffer_release(buffer) == GR_OK);
    gr_resource_free(second);
    own_wgl_close(&other);
    own_wgl_make_current(&own);
    REQUIRE((buffer = gr_map(resource, STREAM)) && gr_buffer_release(buffer) == GR_OK);
    return NULL;
}

/* A resource freed without its context ends at the next call in that context. */
static const char *a_resource_freed_without_its_context_ends_later(void)
{
    gr_resource *resource = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE);
    REQUIRE(resource);
    own_wgl_make_current(NULL);
    gr_resource_free(resource);
    REQUIRE(follower->registered() == 1);
    own_wgl_make_current(&own);
    REQUIRE((resource = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE)));
    REQUIRE(follower->registered() == 1);
    gr_resource_free(resource);
    return NULL;
}

/* A call on another thread: the resource, and the error text. */
struct there {
    gr_resource *resource;
    const char *wrong;
};

static DWORD WINAPI map_there(void *there)
{
    struct there *t = there;
    own_wgl_make_current(&own);
    gr_buffer *buffer = gr_map(t->resource, STREAM);
    if (!buffer || gr_buffer_release(buffer) != GR_OK)
        t->wrong = "the other thread could not map";
    own_wgl_make_current(NULL);
    return 0;
}

static DWORD WINAPI fail_there(void *there)
{
    struct there *t = there;
    if (gr_map(t->resource, STREAM) || gr_last_error()->status != GR_ERR_GL)
        t->wrong = "a thread without the context was not refused";
    return 0;
}

static const char *on_a_thread(LPTHREAD_START_ROUTINE run, gr_resource *resource)
{
    struct there there = {.resource = resource};
    HANDLE thread = CreateThread(NULL, 0, run, &there, 0, NULL);
    REQUIRE(thread && WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0);
    CloseHandle(thread);
    if (there.wrong)
        FAIL("%s", there.wrong);
    return NULL;
}

static const char *calls_on_another_thread_are_refused(void)
{
    GR_AUTO(gr_resource) *resource = gr_from_gl_buffer(wgl_buffer(NULL, BYTES), GR_READ_WRITE);
    REQUIRE(resource);
    PASS_ON(on_a_thread(fail_there, resource));
    own_wgl_make_current(NULL);
    PASS_ON(on_a_thread(map_there, resource));
    own_wgl_make_current(&own);
    return NULL;
}

/*
 * The next context of the application has a buffer with the same name, which must not be confused
 * with the buffer of the destroyed context. grinterop tells the contexts apart by the handle or, if
 * Windows reuses the handle (Wine does not), by the mark that it leaves in a context.
 */
static const char *a_new_context_is_not_taken_for_a_destroyed_one(void)
{
    GLuint name = wgl_buffer(NULL, BYTES);
    gr_resource *resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    const void *handle = own.context;
    REQUIRE(resource);
    own_wgl_close(&own);
    REQUIRE(!own_wgl_open(&own));
    while (wgl_buffer(NULL, BYTES) < name)
        continue;
    REQUIRE(!gr_map(resource, STREAM));
    PASS_ON(wgl_refused(GR_ERR_GL, own.context == handle ? "which has been destroyed"
                                                         : "was registered in another context"));
    gr_resource_free(resource);
    own_wgl_close(&own);
    return NULL;
}

void wgl_contexts(void)
{
    static const struct {
        const char *name;
        const char *(*run)(void);
    } cases[] = {
        {"calls_without_a_context_are_refused", calls_without_a_context_are_refused},
        {"map_works_again_once_the_context_is_current",
         map_works_again_once_the_context_is_current},
        {"calls_in_another_context_are_refused", calls_in_another_context_are_refused},
        {"a_resource_freed_without_its_context_ends_later",
         a_resource_freed_without_its_context_ends_later},
        {"calls_on_another_thread_are_refused", calls_on_another_thread_are_refused},
        {"a_new_context_is_not_taken_for_a_destroyed_one",
         a_new_context_is_not_taken_for_a_destroyed_one},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        wgl_case("contexts", cases[i].name, cases[i].run);
}
