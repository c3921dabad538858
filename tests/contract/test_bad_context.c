/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls without a current OpenGL context, or in a different context than that of the resource. Each
 * call is refused before it reaches the CUDA driver, changes nothing, and works again in the right
 * context. A resource freed in the wrong context is set aside and closed later in the right one.
 */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "tests/drivers/fault_driver.h"
#include "tests/support/usable.h"

#include <string.h>

#define SIZE USABLE_SIZE

/*
 * In addition to its fixture, each case has a resource, and a second context that shares nothing
 * with the context of the fixture.
 */
static GLuint name;
static gr_resource *resource;
static gr_egl *stranger;

static void make_resource(void)
{
    stranger = must_make(gr_egl_create(NULL));
    assert_ok(gr_egl_make_current(fx.egl));
    name = gl_buffer_filled(SIZE, 0x22);
    resource = must_register(name);
    fault->reset();
}

static void end_resource(void)
{
    assert_ok(gr_egl_make_current(fx.egl));
    gr_resource_free(resource);
    resource = NULL;
    ck_assert_uint_eq(fault->all_refusals(), 0);
    assert_buffer_usable(name);
    gr_egl_free(stranger);
}

/* The wrong contexts, and the part of the error message that each must cause. */
static const struct wrong {
    bool stranger;
    const char *text;
} wrongs[] = {
    {false, "No OpenGL context is current"},
    {true, "another context"},
};

static void enter(const struct wrong *wrong)
{
    assert_ok(gr_egl_make_current(wrong->stranger ? stranger : NULL));
}

static void leave(void)
{
    assert_ok(gr_egl_make_current(fx.egl));
}

#define EACH_WRONG(w) for (const struct wrong *w = wrongs; w < wrongs + 2; w++)

static TCase *add_wrong_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), make_resource, end_resource);
}

GROUP("wrong context", add_wrong_case)

/* Makes the second context current, and creates a resource in it. */
static gr_resource *make_other(GLuint *other_name)
{
    assert_ok(gr_egl_make_current(stranger));
    *other_name = gl_buffer_filled(SIZE, 1);
    return must_register(*other_name);
}

/* The call releases the buffers that it can release; the caller keeps the others. */
TEST(release_many_in_two_contexts_releases_buffers_of_the_current_context)
{
    GLuint other_name;
    GR_AUTO(gr_resource) *other = make_other(&other_name);
    gr_buffer *list[2] = {gr_map(other, fx.stream), NULL};
    assert_made(list[0]);
    gr_buffer *stays = list[0];
    assert_ok(gr_egl_make_current(fx.egl));
    list[1] = must_make(gr_map(resource, fx.stream));
    assert_fails(gr_buffer_release_many(list, 2, fx.stream, NULL), GR_ERR_PARTIAL, 0,
                 "another context");
    ck_assert_ptr_eq(list[0], stays);
    ck_assert_ptr_eq(list[1], NULL);
    ck_assert(!gr_resource_get_info(resource)->mapped && gr_resource_get_info(other)->mapped);
    assert_resource_usable(resource, name);
    assert_ok(gr_egl_make_current(stranger));
    assert_ok(gr_buffer_release(stays));
    assert_resource_usable(other, other_name);
}

/* A context that shares objects with the context of the resource is still a different one. */
TEST(a_sharing_context_counts_as_another_context)
{
    gr_egl *sharing = must_make(gr_egl_create(&GR_INIT(gr_egl_options, .share = fx.egl)));
    assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, "another context");
    assert_fails(gr_resource_close(resource, fx.stream), GR_ERR_GL, 0, "another context");
    assert_buffer_usable(name); /* the same buffer, through a resource of this context */
    gr_egl_free(sharing);
    leave();
    assert_resource_usable(resource, name);
}

/* ---- A destroyed context --------------------------------------------------------------------- */

/*
 * Tested without a current context, in another context, and in a new context that may have the same
 * handle.
 *
 * Catches: for a destroyed context the message was "Call from the thread where that is current".
 */
TEST(calls_after_the_context_was_destroyed_are_refused)
{
    gr_egl *gone = must_make(gr_egl_create(NULL)), *later;
    gr_resource *orphan = must_register(gl_buffer_filled(SIZE, 1));
    GR_AUTO(gr_resource) *mapped = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *buffer = must_map(mapped);
    assert_ok(gr_egl_make_current(NULL));
    assert_null(gr_map(orphan, fx.stream), GR_ERR_GL, 0, "No OpenGL context is current");
    gr_egl_free(gone);
    for (int i = 0; i < 3; i++) {
        later = i == 2 ? gr_egl_create(NULL) : NULL;
        if (i < 2)
            assert_ok(gr_egl_make_current(i ? fx.egl : NULL));
        assert_null(gr_map(orphan, fx.stream), GR_ERR_GL, 0, "which has been destroyed");
        assert_null(gr_map(mapped, fx.stream), GR_ERR_GL, 0, "Free the resource");
        gr_egl_free(later);
    }
    leave();
    assert_fails(gr_resource_close(orphan, fx.stream), GR_ERR_PARTIAL, 0, "Free the resource");
    ck_assert(gr_resource_get_info(orphan)->closed);
    assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, 0, "what CUDA had not handed back");
    gr_resource_free(orphan);
}

/* A new context may get the handle of the destroyed one, but is not the context of the resource. */
TEST(a_new_context_with_the_handle_of_a_destroyed_one_is_another_context)
{
    enum { MOST = 16 };
    gr_egl *gone = must_make(gr_egl_create(NULL)), *later[MOST];
    gr_resource *orphan = must_register(gl_buffer_filled(SIZE, 1));
    void *handle = gone->context;
    gr_egl_free(gone);
    int n = 0;
    bool same = false;
    for (; n < MOST && !same; n++) {
        later[n] = must_make(gr_egl_create(NULL));
        same = later[n]->context == handle;
    }
    if (same) {
        assert_null(gr_map(orphan, fx.stream), GR_ERR_GL, 0, "which has been destroyed");
        assert_buffer_usable(gl_buffer_filled(SIZE, 1));
        leave();
        assert_null(gr_map(orphan, fx.stream), GR_ERR_GL, 0, "which has been destroyed");
    }
    leave();
    while (n > 0)
        gr_egl_free(later[--n]);
    gr_resource_free(orphan);
    if (!same)
        skip("none of %d later contexts got the handle", MOST);
}

GROUP("freed in the wrong context", add_wrong_case)

static unsigned long ended(void)
{
    return fault->calls("cuGraphicsUnregisterResource");
}

/* Freeing cannot return an error, so the log must report it. */
static void free_in(const struct wrong *w)
{
    log_begin(GR_LOG_WARNING);
    gr_clear_error();
    enter(w);
    unsigned long before = ended();
    gr_resource_free(resource);
    resource = NULL;
    log_end();
    ck_assert_uint_eq(ended(), before);
    ck_assert_int_eq(gr_last_error()->status, GR_OK);
    ck_assert_int_eq(log_count(GR_LOG_WARNING, ""), 1);
    ck_assert_msg(strstr(log_text(), "stays registered"), "%s", log_text());
}

TEST(a_registration_ends_resources_freed_in_the_wrong_context)
{
    EACH_WRONG(w)
    {
        free_in(w);
        leave();
        unsigned long before = ended();
        resource = must_register(name);
        ck_assert_uint_eq(ended(), before + 1);
        assert_resource_usable(resource, name);
    }
}

GROUP("wrong context", add_wrong_case)

/* Creates objects of each kind that contexts do not share, so that their names are in use. */
static void use_names(void)
{
    enum { OBJECTS = 300 };
    static GLuint names[OBJECTS];
    glCreateProgramPipelines(OBJECTS, names);
    glCreateVertexArrays(OBJECTS, names);
    glCreateTransformFeedbacks(OBJECTS, names);
    glCreateFramebuffers(OBJECTS, names);
    glCreateQueries(GL_TIMESTAMP, OBJECTS, names);
}

/*
 * grinterop recognises a context by an object in it, however many objects the application has, and
 * also if grinterop meets the other context for the first time.
 *
 * Catches: a context with more than 100 program pipelines was mistaken for another one, and
 * gr_resource_free() deleted the buffer of the same name in it.
 */
TEST(contexts_are_distinguished_if_names_are_in_use, 3)
{
    gr_resource *own = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, NULL));
    const GLuint own_name = gr_gl_name(own);
    if (_i)
        use_names();
    assert_ok(gr_egl_make_current(stranger));
    if (_i < 2)
        use_names();
    GLuint buffers[64];
    glCreateBuffers(64, buffers);
    ck_assert(glIsBuffer(own_name) && glIsBuffer(name));
    assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, "another context");
    gr_resource_free(own);
    ck_assert(glIsBuffer(own_name));
    gr_resource *other = must_register(gl_buffer_filled(SIZE, 1));
    assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, "another context");
    leave();
    assert_null(gr_map(other, fx.stream), GR_ERR_GL, 0, "another context");
    assert_resource_usable(resource, name);
    assert_ok(gr_egl_make_current(stranger));
    gr_resource_free(other);
    leave();
}

GROUP("freed in the wrong context", add_wrong_case)

/*
 * Ending many set-aside resources needs no more stack than ending one.
 *
 * Catches: set-aside resources were ended recursively.
 */
TEST(a_registration_ends_7000_set_aside_resources)
{
    enum { MANY = 7000 };
    static gr_resource *many[MANY];
    for (int i = 0; i < MANY; i++)
        assert_made(many[i] = gr_from_gl_buffer(name, GR_READ_WRITE));
    assert_ok(gr_egl_make_current(NULL));
    free_resources(many, MANY);
    leave();
    unsigned long before = ended();
    gr_resource *next = must_register(name);
    ck_assert_uint_eq(ended(), before + MANY);
    gr_resource_free(next);
}

TEST(a_close_ends_resources_freed_in_the_wrong_context)
{
    GR_AUTO(gr_resource) *second = must_register(name);
    free_in(&wrongs[1]);
    leave();
    unsigned long before = ended();
    assert_ok(gr_resource_close(second, fx.stream));
    ck_assert_uint_eq(ended(), before + 2);
}

/* A registration in another context must not end the set-aside resource. */
TEST(a_registration_in_another_context_leaves_freed_resources_alone)
{
    free_in(&wrongs[1]);
    unsigned long before = ended();
    GLuint other_name = gl_buffer_filled(SIZE, 1);
    gr_resource *other = must_register(other_name);
    assert_resource_usable(other, other_name);
    ck_assert_uint_eq(ended(), before);
    assert_ok(gr_resource_close(other, fx.stream));
    gr_resource_free(other);
    ck_assert_uint_eq(ended(), before + 1);
    leave();
    assert_buffer_usable(name);
    ck_assert_uint_eq(ended(), before + 3);
}

#define closes() log_count(GR_LOG_DEBUG, "gr_resource_free: closed")

/*
 * No context could end them later. What was freed before its context was destroyed ends with it.
 *
 * Catches: each later registration and free looked at all resources of destroyed contexts.
 */
TEST(resources_of_a_destroyed_context_end, 3)
{
    static const unsigned transports[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_COPY,
                                          GR_TRANSPORT_SHARED};
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = transports[_i]);
    gr_egl *gone = must_make(gr_egl_create(NULL));
    gr_resource *before = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &options));
    gr_resource *after = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &options));
    const int before_its_end = transports[_i] == GR_TRANSPORT_SHARED;
    unsigned long unregistered = ended();
    log_begin(GR_LOG_DEBUG);
    assert_ok(gr_egl_make_current(stranger));
    gr_resource_free(before);
    ck_assert_int_eq(closes(), before_its_end);
    gr_egl_free(gone);
    ck_assert_int_eq(closes(), 1);
    gr_resource_free(after);
    ck_assert_int_eq(closes(), 2);
    assert_buffer_usable(gl_buffer_filled(SIZE, 1));
    ck_assert_uint_eq(ended(), unregistered + 1); /* that of the last line */
    leave();
}

/*
 * The buffer has the last reference to a freed resource. gr_buffer_release() returns errors, so it
 * defers nothing.
 */
TEST(release_in_the_wrong_context_after_a_free_is_refused)
{
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x44, SIZE, fx.stream));
    enter(&wrongs[1]);
    gr_resource_free(resource);
    resource = NULL;
    assert_fails(gr_buffer_release(buffer), GR_ERR_GL, 0, "another context");
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
    leave();
    unsigned long before = ended();
    assert_ok(gr_buffer_release(buffer));
    ck_assert_uint_eq(ended(), before + 1);
    assert_gl_bytes(name, SIZE, 0x44);
}

GROUP("first call", add_case)

/* The library looks up OpenGL functions on first use, which must not happen without a context. */
CHILD(first_use_without_context)
{
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    child_check(egl);
    const gr_cuda_api *cu = gr_cuda();
    CUstream stream = NULL;
    CUcontext context = NULL;
    child_check(cu->DevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
    child_check(cu->CtxSetCurrent(context) == CUDA_SUCCESS);
    child_check(cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    resource = gr_from_gl_buffer(gl_buffer(NULL, SIZE), GR_READ_WRITE);
    child_check(resource);
    child_check(gr_egl_make_current(NULL) == GR_OK);
    child_check(!gr_map(resource, stream));
    assert_error(GR_ERR_GL, 0, "No OpenGL context is current");
    child_check(gr_egl_make_current(egl) == GR_OK);
    child_check(gr_resource_close(resource, stream) == GR_OK);
    gr_resource_free(resource);
    return 0;
}

/* Runs before any OpenGL context was created. */
CHILD(no_context_ever)
{
    child_check(!gr_from_gl_buffer(1, GR_READ_WRITE));
    assert_error(GR_ERR_GL, 0, "No OpenGL context is current");
    return 0;
}

TEST(a_first_call_without_a_context_is_refused)
{
    expect_child("no_context_ever");
    expect_child("first_use_without_context");
}

START(fault_control_start())
