/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Each call makes the CUDA context of the resource current and restores that of the caller. Also
 * tests gr_cuda_context_create() and gr_cuda_context_free().
 */
#include "contract.h"
#include "tests/support/child_check.h"
#include "tests/support/support_image.h"

#include <grinterop/tensor.h>

GROUP("CUDA contexts", add_case)

/* Registers, maps, writes, releases, unmaps and closes while `context` is current. */
static void go_round(CUcontext context)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = must_register(name);
    CU(CtxSetCurrent(context));
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    ck_assert_ptr_eq(current_context(), context);
    CU(CtxSetCurrent(fx.context));
    cuda_fill(buffer, 0xA0);
    CU(CtxSetCurrent(context));
    assert_ok(gr_buffer_release(buffer));
    ck_assert_ptr_eq(current_context(), context);
    assert_gl_bytes(name, SIZE, 0xA0);
    buffer = must_make(gr_map(resource, fx.stream));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "already mapped");
    ck_assert_ptr_eq(current_context(), context);
    assert_ok(gr_resource_unmap(resource, GR_STREAM_OF_MAP));
    ck_assert_ptr_eq(current_context(), context);
    assert_ok(gr_buffer_release(buffer));
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    ck_assert_ptr_eq(current_context(), context);
    gr_resource_free(resource);
    CU(CtxSetCurrent(fx.context));
}

TEST(calls_use_the_context_of_the_resource_and_restore_the_current_one)
{
    CUcontext second = new_context(NULL);
    CU(CtxSetCurrent(fx.context));
    go_round(second);
    CU(CtxDestroy(second));
}

/* Catches: the driver made a destroyed context current and crashed in the next call. */
TEST(a_destroyed_context_is_refused)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    CUcontext later[2];
    CUcontext second = new_context(NULL);
    gr_resource *resource = must_register(name);
    end_context(second);
    assert_null(gr_map(resource, fx.stream), GR_ERR_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                "was destroyed");
    /* One of these contexts may get the address of the destroyed one. */
    for (int i = 0; i < 2; i++) {
        CU(CtxCreate(&later[i], 0, fx.device));
        CU(CtxPopCurrent(NULL));
    }
    assert_null(gr_map(resource, fx.stream), GR_ERR_CUDA, CUDA_ERROR_CONTEXT_IS_DESTROYED,
                "was destroyed");
    gr_resource_free(resource);
    ck_assert_ptr_eq(current_context(), fx.context);
    for (int i = 0; i < 2; i++)
        CU(CtxDestroy(later[i]));
}

/*
 * After the context was destroyed, each call that ends a mapping still ends it, and reports the
 * destroyed context.
 *
 * Catches: the resource stayed mapped forever, and neither the buffer nor the resource could be
 * freed.
 */
TEST(a_mapping_ends_although_its_context_was_destroyed, 5)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    CUstream stream = NULL;
    CUcontext second = new_context(&stream);
    gr_resource *resource = must_register(name);
    gr_buffer *buffer = must_map_on(resource, stream), *list[1] = {buffer};
    CU(StreamSynchronize(stream));
    end_context(second);
    log_begin(GR_LOG_DEBUG);
    gr_clear_error();
    const gr_status ended = _i == 0   ? gr_buffer_release(buffer)
                            : _i == 1 ? gr_buffer_release_many(list, 1, fx.stream, NULL)
                            : _i == 2 ? gr_resource_unmap(resource, GR_STREAM_OF_MAP)
                            : _i == 3 ? gr_resource_close(resource, GR_STREAM_OF_MAP)
                                      : (gr_buffer_release_later(buffer), GR_OK);
    ck_assert_int_eq(ended, _i == 4 ? GR_OK : GR_ERR_PARTIAL);
    ck_assert_int_eq(log_count(GR_LOG_WARNING, ""), _i == 4);
    log_end();
    if (_i < 4)
        assert_error(GR_ERR_PARTIAL, CUDA_ERROR_CONTEXT_IS_DESTROYED, "was destroyed");
    ck_assert(_i != 1 || !list[0]);
    ck_assert(!gr_resource_get_info(resource)->mapped);
    if (_i == 2 || _i == 3) {
        ck_assert_uint_eq(gr_buffer_ptr(buffer), 0);
        assert_ok(gr_buffer_release(buffer));
    }
    gr_resource_free(resource);
    fill_mapped(resource = must_register(name), 2);
    gr_resource_free(resource);
    assert_gl_bytes(name, SIZE, 2);
}

/* Makes a stream in the primary context, which becomes current. */
static CUstream begin_primary(const gr_cuda_api *cu, CUcontext *context)
{
    CUstream stream = NULL;
    child_check(cu->DevicePrimaryCtxRetain(context, 0) == CUDA_SUCCESS);
    child_check(cu->CtxSetCurrent(*context) == CUDA_SUCCESS);
    child_check(cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    return stream;
}

#define assert_reset(status, class) assert_fails(status, class, RESET, "was destroyed or reset")
#define RESET                       CUDA_ERROR_CONTEXT_IS_DESTROYED

/* Everything of the context before the reset is refused, although its handle is current. */
CHILD_TEST(a_reset_primary_context_is_refused)
{
    char bytes[SIZE] = {0};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (const int64_t[]){SIZE});
    CUcontext context, again;
    gr_egl *egl = must_make(gr_egl_create(NULL));
    const gr_cuda_api *cu = must_make(gr_cuda());
    CUstream stream = begin_primary(cu, &context);
    GLuint name = gl_buffer(NULL, SIZE);
    gr_resource *list[] = {NULL, must_register(gl_buffer(NULL, SIZE))};
    gr_resource *mapped = must_register(gl_buffer(NULL, SIZE));
    gr_tensor *tensor = must_make(gr_tensor_create(&desc, stream)), *other;
    gr_buffer *buffer = must_map_on(mapped, stream), *out[2];
    child_check(cu->DevicePrimaryCtxReset(0) == CUDA_SUCCESS);
    stream = begin_primary(cu, &again);
    child_check(context == again);
    assert_null(gr_map(list[1], stream), GR_ERR_CUDA, RESET, "was destroyed or reset");
    list[0] = must_register(name);
    assert_invalid(gr_map_many(list, 2, stream, NULL, out), "different CUDA contexts");
    other = must_make(gr_tensor_create(&desc, stream));
    assert_reset(gr_tensor_copy_to_host(tensor, bytes, SIZE, stream), GR_ERR_CUDA);
    assert_reset(gr_tensor_copy(other, tensor, stream), GR_ERR_CUDA);
    assert_reset(gr_buffer_release(buffer), GR_ERR_PARTIAL);
    child_check(!gr_resource_get_info(mapped)->mapped);
    buffer = must_map_on(list[0], stream);
    child_check(cu->MemsetD8Async(gr_buffer_ptr(buffer), 7, SIZE, stream) == CUDA_SUCCESS);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(name, SIZE, 7);
    gr_tensor_free(tensor);
    gr_tensor_free(other);
    gr_resource_free(mapped);
    free_resources(list, 2);
    gr_egl_free(egl);
    return 0;
}

TEST(calls_work_without_a_current_context)
{
    go_round(NULL);
}

TEST(without_a_context_the_primary_context_of_the_drawing_device_is_used)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    CU(CtxSetCurrent(NULL));
    gr_resource *resource = must_register(name);
    ck_assert_ptr_null(current_context());
    gr_buffer *buffer = must_map(resource);
    ck_assert_ptr_null(current_context());
    CU(CtxSetCurrent(fx.context));
    cuda_fill(buffer, 0xA1);
    CU(CtxSetCurrent(NULL));
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
    ck_assert_ptr_null(current_context());
    CU(CtxSetCurrent(fx.context));
    assert_gl_bytes(name, SIZE, 0xA1);
}

/* Creates, maps and frees a resource, if the transport is possible. */
static void use(gr_resource *resource)
{
    gr_buffer *buffer = resource ? must_make(gr_map(resource, GR_STREAM_LEGACY)) : NULL;
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
}

CHILD(queries_without_a_context)
{
    static const unsigned transports[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_SHARED,
                                          GR_TRANSPORT_COPY, GR_TRANSPORT_PEER, GR_TRANSPORT_ANY};
    gr_egl *egl = must_make(gr_egl_create(NULL));
    GLuint texture = image_make("RGBA8", "2D", 4, 4, 1).name;
    for (size_t i = 0; i < sizeof(transports) / sizeof(*transports); i++) {
        const gr_gl_options options =
            GR_INIT(gr_gl_options, .transports = (gr_transport)transports[i]);
        gr_gl_probe((gr_transport)transports[i]);
        use(gr_from_gl_buffer_with(gl_buffer(NULL, SIZE), 0, &options));
        use(gr_from_gl_image_with(texture, GL_TEXTURE_2D, 0, &options));
        use(gr_create_gl_buffer(SIZE, 0, &options));
    }
    gr_egl_free(egl);
    return 0;
}

/* Catches: the software driver said that a call of grinterop's own needs a context. */
TEST(queries_without_a_context_cause_no_warning)
{
    char text[8192];
    int status = child_run("queries_without_a_context", text, sizeof(text));
    ck_assert_msg(status == 0 && !strstr(text, "needs a CUDA context"), "%.3500s", text);
}

GROUP("a CUDA context", add_case)

TEST(a_created_context_is_current_until_it_is_freed)
{
    unsigned flags;
    CUcontext second = new_context(NULL);
    CU(CtxPopCurrent(NULL));
    for (int i = 0; i < 2; i++) {
        CUcontext before = i ? second : NULL;
        CU(CtxSetCurrent(before));
        gr_cuda_context *context = must_make(gr_cuda_context_create(0));
        const gr_cuda_context_info *info = must_make(gr_cuda_context_get_info(context));
        ck_assert_ptr_eq(info, (const void *)context); /* programs for 0.2.0 read the same fields */
        ck_assert_ptr_eq(current_context(), info->context);
        ck_assert_ptr_eq(current_context(), fx.context);
        CU(StreamGetFlags(info->stream, &flags));
        ck_assert_uint_eq(flags, CU_STREAM_NON_BLOCKING);
        gr_cuda_context_free(context);
        ck_assert_ptr_eq(current_context(), before);
        assert_null_invalid(gr_cuda_context_get_info(context), "not a live CUDA context");
        gr_clear_error();
        gr_cuda_context_free(context);
        assert_error(GR_ERR_INVALID_VALUE, 0, "gr_cuda_context_free was given");
    }
    end_context(second);
}

static bool primary_is_active(const gr_cuda_api *cu)
{
    unsigned flags;
    int active = -1;
    ck_assert_int_eq(cu->DevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    return active;
}

CHILD(releases_the_primary_context)
{
    const gr_cuda_api *cu = must_make(gr_cuda());
    ck_assert(!primary_is_active(cu));
    gr_cuda_context *context = must_make(gr_cuda_context_create(0));
    ck_assert(primary_is_active(cu));
    gr_cuda_context_free(context);
    ck_assert(!primary_is_active(cu));
    return 0;
}

/* Runs in its own process, where no other code retains the primary context. */
TEST(freeing_a_context_releases_the_primary_context)
{
    char text[4096];
    int status = child_run("releases_the_primary_context", text, sizeof(text));
    ck_assert_msg(status == 0, "%s", text);
}

TEST(a_device_is_found_by_its_uuid)
{
    int count = 0, found = -1;
    char text[41];
    CUuuid uuid;
    CU(DeviceGetCount(&count));
    for (int i = 0; i < count; i++) {
        CUdevice device;
        CU(DeviceGet(&device, i));
        CU(DeviceGetUuid(&uuid, device));
        assert_ok(gr_cuda_find_device((const unsigned char *)uuid.bytes, &found));
        ck_assert_int_eq(found, i);
    }
    uuid_text(uuid.bytes, text);
    const unsigned char *last = (const unsigned char *)uuid.bytes;
    static const unsigned char none[16] = {0xab, 0xcd};
    const char *const parts[] = {"GPU-abcd0000-0000-0000-0000-000000000000", text};
    for (int i = 0; i < 2; i++)
        assert_fails(gr_cuda_find_device(none, &found), GR_ERR_UNSUPPORTED, 0, parts[i]);
    assert_invalid(gr_cuda_find_device(last, NULL), "`device`");
    ck_assert_int_eq(found, count - 1);
}

TEST(a_context_on_a_missing_device_is_refused)
{
    char text[80];
    int past = device_past_last(text, sizeof(text));
    assert_null_invalid(gr_cuda_context_create(past), "There is no CUDA device");
    assert_null_invalid(gr_cuda_context_create(-1), "There is no CUDA device -1");
    gr_cuda_context_free(NULL);
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    assert_made(context);
}
