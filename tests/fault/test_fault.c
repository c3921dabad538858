/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls in which a driver call fails midway: the first error is reported, nothing stays mapped or
 * registered, and the resource works again or is closed.
 */
#define _GNU_SOURCE
#include "fault.h"

#include <grinterop/image.h>

#include <errno.h>
#include <string.h>

#define POINTER "cuGraphicsResourceGetMappedPointer"

GLuint name;
gr_resource *resource;

static void make_resource(void)
{
    name = gl_buffer_filled(SIZE, 0x22);
    resource = must_register(name);
    fault->reset();
}

static void end_resource(void)
{
    fault->reset();
    gr_resource_free(resource);
    resource = NULL;
    assert_buffer_usable(name);
    ck_assert_uint_eq(fault->all_refusals(), 0);
}

void let_fail(const char *function, CUresult code, long after)
{
    ck_assert_msg(fault->set(function, (int)code, after), "%s can't fail", function);
}

void assert_cuda_error(const char *function, CUresult code, const char *code_name)
{
    gr_error error;
    ck_assert_int_eq((error = *gr_last_error()).status, class_of_code((int)code));
    ck_assert_int_eq(error.domain, GR_DOMAIN_CUDA);
    ck_assert_int_eq(error.code, (int)code);
    ck_assert_str_eq(error.code_name, code_name);
    ck_assert_str_eq(error.call, function);
    gr_clear_error();
}

/* Makes the driver refuse the next unmap. */
static void refuse_unmap(void)
{
    let_fail(UNMAP, CUDA_ERROR_UNMAP_FAILED, 0);
}

static void assert_unmap_refused(gr_status status)
{
    ck_assert_int_eq(status, GR_ERR_CUDA);
    assert_cuda_error(UNMAP, CUDA_ERROR_UNMAP_FAILED, "CUDA_ERROR_UNMAP_FAILED");
}

/* There must be as many map calls to the driver as unmap calls. */
static void assert_balanced(void)
{
    ck_assert_uint_eq(fault->calls(MAP), fault->calls(UNMAP));
}

TCase *add_fault_case(Suite *suite, const char *title)
{
    return with_fixture(add_case(suite, title), make_resource, end_resource);
}

GROUP("map", add_fault_case)

/*
 * The driver keeps the resource mapped, which grinterop cannot undo. The error must be the original
 * cause.
 */
TEST(a_map_whose_undo_fails_reports_the_first_error)
{
    let_fail(POINTER, CUDA_ERROR_NOT_MAPPED_AS_POINTER, 0);
    let_fail(UNMAP, CUDA_ERROR_UNMAP_FAILED, 0);
    ck_assert_ptr_eq(gr_map(resource, fx.stream), NULL);
    assert_cuda_error(POINTER, CUDA_ERROR_NOT_MAPPED_AS_POINTER,
                      "CUDA_ERROR_NOT_MAPPED_AS_POINTER");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    CUgraphicsResource handle = driver_handle(resource);
    CU(GraphicsUnmapResources(1, &handle, fx.stream));
    assert_resource_usable(resource, name);
}

/* gr_map_gl_buffer() owns the registration, so a failed map must end it. */
TEST(a_failed_map_gl_buffer_ends_its_registration)
{
    static const char *const functions[] = {MAP, POINTER};
    for (int i = 0; i < 2; i++) {
        fault->reset();
        let_fail(functions[i], CUDA_ERROR_UNKNOWN, 0);
        ck_assert_ptr_eq(gr_map_gl_buffer(name, GR_WRITE_DISCARD, fx.stream), NULL);
        assert_cuda_error(functions[i], CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN");
        ck_assert_uint_eq(fault->calls(REGISTER), 1);
        ck_assert_uint_eq(fault->calls(UNREGISTER), 1);
        ck_assert_uint_eq(fault->all_refusals(), 0);
    }
}

GROUP("unmap", add_fault_case)

/* After a failed call the resource must still be mapped, with `buffer`. */
static void assert_still_mapped(const gr_buffer *buffer)
{
    ck_assert(gr_resource_get_info(resource)->mapped);
    ck_assert_uint_eq(gr_buffer_size(buffer), SIZE);
}

TEST(a_close_that_fails_to_unmap_keeps_the_resource_open)
{
    gr_buffer *buffer = must_map(resource);
    refuse_unmap();
    assert_unmap_refused(gr_resource_close(resource, GR_STREAM_OF_MAP));
    ck_assert(!gr_resource_get_info(resource)->closed);
    assert_still_mapped(buffer);
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    ck_assert(gr_resource_get_info(resource)->closed && !gr_resource_get_info(resource)->mapped);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    assert_ok(gr_buffer_release(buffer));
}

GROUP("register and unregister", add_fault_case)

/*
 * grinterop no longer has the handle of the resource that the driver keeps, so the test ends the
 * registration itself.
 */
TEST(a_close_that_fails_to_unregister_closes_and_reports_the_error)
{
    CUgraphicsResource handle = driver_handle(resource);
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    let_fail(UNREGISTER, CUDA_ERROR_UNKNOWN, 0);
    ck_assert_int_eq(gr_resource_close(resource, fx.stream), GR_ERR_PARTIAL);
    assert_error(GR_ERR_PARTIAL, CUDA_ERROR_UNKNOWN, "ended with an error");
    ck_assert(gr_resource_get_info(resource)->closed && !gr_resource_get_info(resource)->mapped);
    ck_assert_ptr_eq(driver_handle(resource), NULL);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
    assert_ok(gr_resource_close(resource, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    ck_assert_uint_eq(fault->calls(UNREGISTER), 1);
    CU(GraphicsUnregisterResource(handle));
}

TEST(a_close_of_a_mapped_resource_queries_the_capture_once)
{
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    fault->reset();
    assert_ok(gr_resource_close(resource, fx.stream));
    ck_assert_uint_eq(fault->calls("cuStreamIsCapturing"), 1);
    assert_ok(gr_buffer_release(buffer));
}

TEST(a_free_that_fails_to_unregister_is_reported)
{
    CUgraphicsResource handle = driver_handle(resource);
    log_begin(GR_LOG_WARNING);
    gr_clear_error();
    let_fail(UNREGISTER, CUDA_ERROR_UNKNOWN, 0);
    gr_resource_free(resource);
    resource = NULL;
    log_end();
    ck_assert_int_eq(log_count(GR_LOG_WARNING, "ended with an error"), 1);
    assert_error(GR_ERR_CUDA, CUDA_ERROR_UNKNOWN, "");
    CU(GraphicsUnregisterResource(handle));
}

GROUP("contexts and names", add_fault_case)

#define PUSH "cuCtxPushCurrent"

/*
 * Catches: NVIDIA's driver crashed in cuStreamIsCapturing if the stream was destroyed together with
 * its context.
 */
TEST(a_destroyed_stream_of_a_destroyed_context_is_not_used, 4)
{
    CUstream stream = NULL;
    CUcontext own = new_context(&stream);
    GR_AUTO(gr_resource) *other = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *buffer = _i < 2 ? must_map_on(other, stream) : NULL;
    CU(StreamSynchronize(stream));
    end_context(own);
    fault->reset();
    gr_clear_error();
    gr_buffer *list[1] = {buffer};
    gr_status status = _i == 0   ? gr_buffer_release_many(list, 1, stream, NULL)
                       : _i == 1 ? gr_resource_unmap(other, stream)
                       : _i == 2 ? gr_resource_close(other, stream)
                                 : (gr_map(other, stream), gr_last_error()->status);
    ck_assert_int_eq(status, _i == 3 ? GR_ERR_CUDA : GR_ERR_PARTIAL);
    assert_error(status, CUDA_ERROR_CONTEXT_IS_DESTROYED, "was destroyed");
    ck_assert_uint_eq(fault->calls("cuStreamIsCapturing"), 0);
    ck_assert_uint_eq(fault->calls("cuStreamGetCtx"), 0);
    if (_i == 1)
        assert_ok(gr_buffer_release(buffer));
}

/* If another context is current, each call pushes the context of the resource. */
TEST(a_call_that_cannot_push_its_context_is_refused)
{
    gr_buffer *buffer = NULL;
    CU(CtxSetCurrent(NULL));
    let_fail(PUSH, CUDA_ERROR_CONTEXT_IS_DESTROYED, 0);
    ck_assert_ptr_eq(gr_map(resource, fx.stream), NULL);
    assert_cuda_error(PUSH, CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED");
    let_fail(PUSH, CUDA_ERROR_CONTEXT_IS_DESTROYED, 0);
    ck_assert_int_eq(gr_map_many(&resource, 1, fx.stream, NULL, &buffer), GR_ERR_CUDA);
    assert_cuda_error(PUSH, CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED");
    ck_assert(!gr_resource_get_info(resource)->mapped);

    buffer = must_make(gr_map(resource, fx.stream));
    let_fail(PUSH, CUDA_ERROR_CONTEXT_IS_DESTROYED, 0);
    ck_assert_int_eq(gr_buffer_release(buffer), GR_ERR_CUDA);
    assert_cuda_error(PUSH, CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED");
    ck_assert(gr_resource_get_info(resource)->mapped);
    assert_ok(gr_buffer_release(buffer));

    ck_assert_ptr_eq(current_context(), NULL);
    CU(CtxSetCurrent(fx.context));
    ck_assert_uint_eq(fault->calls(MAP), 1);
    assert_balanced();
    assert_resource_usable(resource, name);
}

/*
 * If no context is current, the registration retains the primary context. If the registration then
 * fails, it must release that context again.
 */
TEST(a_failed_registration_without_a_context_releases_the_primary_context)
{
    static const struct {
        const char *function;
        CUresult code;
        const char *code_name;
    } steps[] = {
        {"cuCtxGetCurrent", CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
        {"cuGLGetDevices", CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
         "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT"},
        {"cuDevicePrimaryCtxRetain", CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {PUSH, CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
        {REGISTER, CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
    };
    CU(CtxSetCurrent(NULL));
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        fault->reset();
        let_fail(steps[i].function, steps[i].code, 0);
        ck_assert_ptr_eq(gr_from_gl_buffer(name, GR_READ_WRITE), NULL);
        assert_cuda_error(steps[i].function, steps[i].code, steps[i].code_name);
        unsigned long retained = fault->calls("cuDevicePrimaryCtxRetain");
        if (strcmp(steps[i].function, "cuDevicePrimaryCtxRetain") == 0)
            retained--;
        ck_assert_uint_eq(fault->calls("cuDevicePrimaryCtxRelease"), retained);
    }
    fault->reset();
    gr_resource *made = must_register(name);
    ck_assert_uint_eq(fault->calls("cuDevicePrimaryCtxRetain"), 1);
    assert_resource_usable(made, name);
    gr_resource_free(made);
    ck_assert_uint_eq(fault->calls("cuDevicePrimaryCtxRelease"), 1);
    CU(CtxSetCurrent(fx.context));
}

/* ---- Error code names ------------------------------------------------------------------------ */

TEST(codes_without_a_name_are_reported_by_number)
{
    gr_error error;
    let_fail(MAP, CUDA_ERROR_MAP_FAILED, 0);
    let_fail("cuGetErrorName", CUDA_ERROR_INVALID_VALUE, 0);
    ck_assert_ptr_eq(gr_map(resource, fx.stream), NULL);
    ck_assert_int_eq((error = *gr_last_error()).status, GR_ERR_CUDA);
    ck_assert_int_eq(error.code, CUDA_ERROR_MAP_FAILED);
    ck_assert_str_eq(error.call, MAP);
    ck_assert_ptr_eq(strstr(error.message, "(null)"), NULL);
    ck_assert_ptr_eq(strstr(error.code_name, "(null)"), NULL);
    /* No driver has this code. Its class in another domain is GR_ERR_NO_MEMORY. */
    let_fail(MAP, (CUresult)ENOMEM, 0);
    ck_assert_ptr_eq(gr_map(resource, fx.stream), NULL);
    ck_assert_int_eq((error = *gr_last_error()).status, GR_ERR_CUDA);
    ck_assert_int_eq(error.code, ENOMEM);
    fault->reset();
    assert_resource_usable(resource, name);
}

/* A driver may give an image another array in a later map; no known driver does. */
TEST(surfaces_and_textures_follow_the_arrays_of_an_image)
{
    GLuint name = bound_texture(GL_TEXTURE_2D_ARRAY);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, GL_RGBA8, 4, 4, 2);
    gr_resource *resource =
        must_make(gr_from_gl_image(name, GL_TEXTURE_2D_ARRAY, GR_SURFACE_LOAD_STORE));
    for (unsigned i = 0; i < 4; i++) {
        fault->reset();
        fault->give_other_arrays(i / 2 == 1);
        gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
        for (int again = 0; again < 2; again++) {
            ck_assert_uint_ne(gr_resource_surface(resource, 0, 0), 0);
            ck_assert_uint_ne(gr_resource_texture(resource, NULL), 0);
        }
        assert_ok(gr_buffer_release(buffer));
        /* created in the first mapping, and again after the arrays have changed */
        ck_assert_uint_eq(fault->calls("cuSurfObjectCreate"), i % 2 == 0);
        ck_assert_uint_eq(fault->calls("cuTexObjectCreate"), i % 2 == 0);
        ck_assert_uint_eq(fault->calls("cuSurfObjectDestroy"), i == 2);
        ck_assert_uint_eq(fault->calls("cuTexObjectDestroy"), i == 2);
    }
    fault->reset();
    gr_resource_free(resource);
    ck_assert_uint_eq(fault->calls("cuSurfObjectDestroy"), 1);
    ck_assert_uint_eq(fault->all_refusals(), 0);
    glDeleteTextures(1, &name);
}

START(fault_control_start())
