/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* OpenGL buffers in the memory of tensors: bytes, order, ends, and tensors that are refused. */
#include "gl_parts_pretend.h"
#include "gl_shared.h"
#include "tests/tensor/tensor.h"

#include <grinterop/publish.h>
#include <grinterop/share.h>

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 65536, PART = 4096, GRANULE = 2 << 20, LATE_MS = 60 };

static void begin_offsets(void)
{
    pretend_offsets(true);
}

static void end_offsets(void)
{
    pretend_offsets(false);
}

/* OpenGL imports only memory of the device that it draws on. */
static const char *tensor_missing(void)
{
    const char *reason = shared_missing();
    return reason || fx.device == 0 ? reason : "CUDA computes on another device than OpenGL";
}

#define TENSOR_TEST(...) TEST_UNLESS(tensor_missing(), __VA_ARGS__)

static TCase *add_offset_case(Suite *suite, const char *name)
{
    return with_fixture(add_shared_case(suite, name), begin_offsets, end_offsets);
}

/* Describes `size` bytes. */
static gr_tensor_desc bytes_of(const int64_t *size, bool exportable)
{
    return GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = size,
                   .exportable = exportable);
}

static gr_tensor *must_export(int64_t size)
{
    const gr_tensor_desc desc = bytes_of(&size, true);
    return must_make(gr_tensor_create(&desc, fx.stream));
}

static gr_tensor *must_view(gr_tensor *tensor, int64_t size, size_t offset)
{
    gr_tensor_desc desc = bytes_of(&size, false);
    desc.offset = offset;
    return must_make(gr_tensor_view(tensor, &desc));
}

static CUdeviceptr ptr_of(const gr_tensor *tensor)
{
    return gr_tensor_get_info(tensor)->ptr;
}

static void fill_tensor(gr_tensor *tensor, int value)
{
    CU(MemsetD8Async(ptr_of(tensor), (unsigned char)value, gr_tensor_get_info(tensor)->bytes,
                     fx.stream));
}

GROUP("tensors", add_shared_case)

/* OpenGL reads what CUDA writes to the tensor, and CUDA reads what OpenGL writes. */
static void check_bytes(gr_tensor *tensor)
{
    const size_t size = gr_tensor_get_info(tensor)->bytes;
    GR_AUTO(gr_resource) *resource = must_make(gr_create_gl_buffer_of(tensor, GR_READ_WRITE, NULL));
    gr_buffer *buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), ptr_of(tensor));
    ck_assert_uint_eq(gr_buffer_size(buffer), size);
    fill_tensor(tensor, 0x31);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(gl_copy_of(gr_gl_name(resource), size), size, 0x31);
    unsigned char *host = malloc(size);
    memset(host, 0x42, size);
    gl_write(gr_gl_name(resource), host, size);
    memset(host, 0, size);
    buffer = must_map(resource);
    tensor_to_host(tensor, host, size);
    assert_bytes(host, size, 0x42);
    assert_ok(gr_buffer_release(buffer));
    free(host);
    assert_described(resource, "transport shared (in the memory of a tensor)");
}

static const int64_t sizes[] = {1, 64, PART, SIZE + 7, (2 << 20) - 64, 2 << 20};

TENSOR_TEST(opengl_and_a_tensor_have_the_same_bytes, sizeof(sizes) / sizeof(*sizes))
{
    GR_AUTO(gr_tensor) *tensor = must_export(sizes[_i]);
    check_bytes(tensor);
}

TENSOR_TEST(a_tensor_and_its_buffer_end_in_any_order, 4)
{
    gr_tensor *tensor = must_export(SIZE);
    gr_resource *resource = must_make(gr_create_gl_buffer_of(tensor, GR_READ_WRITE, NULL));
    gr_buffer *buffer = must_map(resource);
    const CUdeviceptr ptr = ptr_of(tensor);
    if (_i & 1)
        gr_tensor_free(tensor);
    CU(MemsetD8Async(ptr, 0x17, SIZE, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(gl_copy_of(gr_gl_name(resource), SIZE), SIZE, 0x17);
    if (_i & 2)
        CU(StreamSynchronize(fx.stream));
    gr_resource_free(resource);
    if (!(_i & 1)) {
        unsigned char host[SIZE];
        tensor_to_host(tensor, host, SIZE);
        assert_bytes(host, SIZE, 0x17);
        gr_tensor_free(tensor);
    }
    CU(StreamSynchronize(fx.stream));
    assert_ok(gr_tensor_collect(1000));
}

TENSOR_TEST(two_buffers_may_have_the_memory_of_one_tensor)
{
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE);
    GR_AUTO(gr_resource) *one = must_make(gr_create_gl_buffer_of(tensor, GR_WRITE_DISCARD, NULL));
    GR_AUTO(gr_resource) *other = must_make(gr_create_gl_buffer_of(tensor, GR_READ_ONLY, NULL));
    fill_mapped(one, 0x55);
    assert_gl_bytes(gl_copy_of(gr_gl_name(other), SIZE), SIZE, 0x55);
}

TENSOR_TEST(a_map_waits_for_known_uses_of_the_tensor)
{
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE);
    GR_AUTO(gr_resource) *resource = must_make(gr_create_gl_buffer_of(tensor, GR_READ_WRITE, NULL));
    gate_open_after(gate_put(fx.other), LATE_MS);
    CU(MemsetD8Async(ptr_of(tensor), 0x66, SIZE, fx.other));
    assert_ok(gr_tensor_used_on(tensor, fx.other));
    assert_ok(gr_buffer_release(must_map(resource)));
    assert_gl_bytes(gl_copy_of(gr_gl_name(resource), SIZE), SIZE, 0x66);
}

TENSOR_TEST(later_uses_of_the_tensor_wait_for_the_mapping)
{
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_create_gl_buffer_of(tensor, GR_WRITE_DISCARD, NULL));
    unsigned char host[SIZE];
    gr_buffer *buffer = must_make(gr_map(resource, fx.other));
    gate_open_after(gate_put(fx.other), LATE_MS);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x67, SIZE, fx.other));
    assert_ok(gr_buffer_release(buffer));
    tensor_to_host(tensor, host, SIZE);
    assert_bytes(host, SIZE, 0x67);
}

TENSOR_TEST(a_buffer_in_a_tensor_stays_in_this_process)
{
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE);
    GR_AUTO(gr_resource) *resource = must_make(gr_create_gl_buffer_of(tensor, GR_READ_WRITE, NULL));
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_fails(gr_resource_send(ends[0], resource, NULL, 0, 1000), GR_ERR_UNSUPPORTED, 0,
                 "tensors");
    close(ends[0]);
    close(ends[1]);
}

GROUP("parts of tensors", add_offset_case)

/* Each part ends before the 8 bytes that gl_parts_pretend.h uses. */
TENSOR_TEST(parts_of_a_tensor_are_buffers_at_an_offset)
{
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE);
    gr_tensor *parts[4];
    gr_resource *buffers[4];
    for (int i = 0; i < 4; i++) {
        parts[i] = must_view(tensor, PART, (size_t)i * 2 * PART);
        buffers[i] = must_make(gr_create_gl_buffer_of(parts[i], GR_READ_WRITE, NULL));
        gr_tensor_free(parts[i]);
    }
    for (int i = 0; i < 4; i++)
        fill_mapped(buffers[i], 0x10 + i);
    for (int i = 0; i < 4; i++) {
        assert_gl_bytes(gl_copy_of(gr_gl_name(buffers[i]), PART), PART, 0x10 + i);
        gr_resource_free(buffers[i]);
    }
}

TENSOR_TEST(a_tensor_with_gaps_is_a_buffer_with_them)
{
    const int64_t shape[] = {4, 16}, strides[] = {-1024, 4};
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE);
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2,
                                        .shape = shape, .strides = strides, .offset = 4 * 1024);
    GR_AUTO(gr_tensor) *view = must_make(gr_tensor_view(tensor, &desc));
    GR_AUTO(gr_resource) *resource = must_make(gr_create_gl_buffer_of(view, GR_READ_WRITE, NULL));
    gr_buffer *buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_ptr(buffer), ptr_of(tensor) + 1024);
    ck_assert_uint_eq(gr_buffer_size(buffer), 3 * 1024 + 64);
    assert_ok(gr_buffer_release(buffer));
}

/* Two allocations of the program, of GRANULE bytes, at consecutive addresses. */
struct range {
    CUdeviceptr ptr;
    CUmemGenericAllocationHandle allocations[2];
};

static struct range must_reserve(CUmemAllocationHandleType exports)
{
    struct range range;
    const CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device};
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes = exports,
                                      .location = location};
    const CUmemAccessDesc access = {location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CU(MemAddressReserve(&range.ptr, 2 * GRANULE, 0, 0, 0));
    for (size_t i = 0; i < 2; i++) {
        CU(MemCreate(&range.allocations[i], GRANULE, &prop, 0));
        CU(MemMap(range.ptr + i * GRANULE, GRANULE, 0, range.allocations[i], 0));
    }
    CU(MemSetAccess(range.ptr, 2 * GRANULE, &access, 1));
    return range;
}

static void end_range(const struct range *range)
{
    CU(StreamSynchronize(fx.stream));
    CU(MemUnmap(range->ptr, 2 * GRANULE));
    CU(MemAddressFree(range->ptr, 2 * GRANULE));
    for (size_t i = 0; i < 2; i++)
        CU(MemRelease(range->allocations[i]));
}

static gr_tensor *must_wrap(const struct range *range, size_t offset, int64_t size)
{
    const gr_tensor_desc desc = bytes_of(&size, false);
    void *data = (void *)(uintptr_t)(range->ptr + offset);
    return must_make(gr_tensor_from_memory(&desc, data, GR_STREAM_NONE, NULL, NULL));
}

static const struct {
    size_t offset;
    int64_t size;
} in_range[] = {{0, GRANULE}, {2 * PART, PART}, {GRANULE, SIZE + 3}, {GRANULE + 2 * PART, SIZE}};

TENSOR_TEST(memory_of_the_program_is_a_buffer, sizeof(in_range) / sizeof(*in_range))
{
    const struct range range = must_reserve(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    gr_tensor *tensor = must_wrap(&range, in_range[_i].offset, in_range[_i].size);
    check_bytes(tensor);
    gr_tensor_free(tensor);
    end_range(&range);
}

GROUP("refused tensors", add_shared_case)

#define REFUSED(tensor, flags, options, status, text)                                              \
    assert_null(gr_create_gl_buffer_of(tensor, flags, options), status, 0, text)

TENSOR_TEST(memory_that_cannot_be_exported_is_refused)
{
    const int64_t size = SIZE;
    GR_AUTO(gr_tensor) *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, &size);
    assert_null(gr_create_gl_buffer_of(tensor, GR_READ_WRITE, NULL), GR_ERR_UNSUPPORTED,
                CUDA_ERROR_INVALID_VALUE, "exportable_memory()");
    assert_gl_clean();
}

/* The message names the cause, and how to allocate the memory instead. */
static void assert_range_refused(const struct range *range, size_t offset, int64_t size,
                                 const char *cause)
{
    GR_AUTO(gr_tensor) *tensor = must_wrap(range, offset, size);
    REFUSED(tensor, GR_READ_WRITE, NULL, GR_ERR_UNSUPPORTED, cause);
    REFUSED(tensor, GR_READ_WRITE, NULL, GR_ERR_UNSUPPORTED, "Allocate it by gr_tensor_create()");
    assert_gl_clean();
}

TENSOR_TEST(memory_of_the_program_that_cannot_be_imported_is_refused)
{
    const struct range shared = must_reserve(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    assert_range_refused(&shared, 0, 2 * GRANULE, "spans several allocations");
    assert_range_refused(&shared, GRANULE - 1, 2, "spans several allocations");
    end_range(&shared);
    const struct range private = must_reserve((CUmemAllocationHandleType)0);
    assert_range_refused(&private, 0, GRANULE, "got no CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR");
    end_range(&private);
}

TENSOR_TEST(tensors_without_device_memory_are_refused)
{
    const int64_t size = SIZE, none = 0;
    gr_tensor_desc desc = bytes_of(&size, false);
    desc.memory = GR_MEMORY_PINNED;
    GR_AUTO(gr_tensor) *pinned = must_make(gr_tensor_create(&desc, fx.stream));
    REFUSED(pinned, GR_READ_WRITE, NULL, GR_ERR_INVALID_VALUE, "not in device memory");
    desc = bytes_of(&none, true);
    GR_AUTO(gr_tensor) *empty = must_make(gr_tensor_create(&desc, fx.stream));
    REFUSED(empty, GR_READ_WRITE, NULL, GR_ERR_INVALID_VALUE, "no elements");
    desc = bytes_of(&size, true);
    desc.memory = GR_MEMORY_PINNED;
    assert_null_invalid(gr_tensor_create(&desc, fx.stream), "`exportable`");
}

TENSOR_TEST(tensors_of_mappings_are_refused)
{
    GR_AUTO(gr_resource) *resource = must_share(SIZE, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    GR_AUTO(gr_tensor) *tensor = must_make(gr_buffer_tensor(buffer, NULL));
    GR_AUTO(gr_tensor) *view = must_view(tensor, PART, 0);
    REFUSED(tensor, GR_READ_WRITE, NULL, GR_ERR_INVALID_VALUE, "of a mapping");
    REFUSED(view, GR_READ_WRITE, NULL, GR_ERR_INVALID_VALUE, "of a mapping");
    assert_ok(gr_buffer_release(buffer));
    REFUSED(tensor, GR_READ_WRITE, NULL, GR_ERR_STATE, "mapping has ended");
}

TENSOR_TEST(read_only_tensors_need_read_only_resources)
{
    const int64_t size = SIZE;
    gr_tensor_desc desc = bytes_of(&size, true);
    desc.read_only = true;
    GR_AUTO(gr_tensor) *tensor = must_make(gr_tensor_create(&desc, fx.stream));
    REFUSED(tensor, GR_WRITE_DISCARD, NULL, GR_ERR_INVALID_VALUE, "GR_READ_ONLY");
    GR_AUTO(gr_resource) *resource = must_make(gr_create_gl_buffer_of(tensor, GR_READ_ONLY, NULL));
    assert_ok(gr_buffer_release(must_map(resource)));
}

TENSOR_TEST(wrong_options_are_refused)
{
    const gr_gl_options wrong[] = {
        GR_INIT(gr_gl_options, .packed = true), GR_INIT(gr_gl_options, .share_group = true),
        GR_INIT(gr_gl_options, .follow_storage = true), GR_INIT(gr_gl_options, .in_flight = 4),
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_INTEROP)};
    static const char *const texts[] = {"`packed`", "`share_group`", "`follow_storage`",
                                        "`in_flight`", "needs GR_TRANSPORT_SHARED"};
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_null_invalid(gr_create_gl_buffer_of(tensor, GR_READ_WRITE, &wrong[i]), texts[i]);
    assert_null_invalid(gr_create_gl_buffer_of(tensor, GR_SURFACE_LOAD_STORE, NULL),
                        "surface_load_store");
    assert_ok(gr_egl_make_current(NULL));
    REFUSED(tensor, GR_READ_WRITE, NULL, GR_ERR_GL, "No OpenGL context is current");
    assert_ok(gr_egl_make_current(fx.egl));
}

/* Follows the advice of a message: any transport of an ordinary buffer accepts the tensor. */
static void assert_copy_works(gr_tensor *tensor)
{
    const GLuint name = gl_buffer_filled(SIZE, 0);
    GR_AUTO(gr_resource) *buffer =
        must_make(gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &by_any));
    fill_tensor(tensor, 0x44);
    assert_ok(gr_publish(buffer, tensor, NULL, fx.stream));
    assert_gl_bytes(name, SIZE, 0x44);
}

/* The function accepts no other transport, so the message must not advise one. */
TENSOR_TEST(where_storage_is_not_shared_the_message_advises_a_copy)
{
    static const char *const denied[] = {"GL_EXT_memory_object_fd", NULL};
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE);
    denied_extensions = denied;
    REFUSED(tensor, GR_READ_WRITE, NULL, GR_ERR_UNSUPPORTED,
            "lacks GL_EXT_memory_object_fd. Copy the tensor by gr_publish() to a buffer of "
            "gr_from_gl_buffer_with() that allows GR_TRANSPORT_ANY.");
    assert_copy_works(tensor);
    assert_gl_clean();
}

static const char *no_other_device(void)
{
    const char *reason = shared_missing();
    return reason || fx.device ? reason : "CUDA computes on the device that OpenGL draws on";
}

TEST_UNLESS(no_other_device(), memory_on_another_device_is_refused)
{
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE);
    REFUSED(tensor, GR_READ_WRITE, NULL, GR_ERR_UNSUPPORTED, "but the memory of the tensor is on");
    assert_gl_clean();
}

static const char *offsets_work(void)
{
    const char *version = (const char *)glGetString(GL_VERSION);
    return tensor_missing() ? tensor_missing()
           : strstr(version, "Mesa")
               ? NULL
               : "this OpenGL places buffers at an offset: parts_of_a_tensor covers it";
}

TEST_UNLESS(offsets_work(), mesa_places_no_buffer_at_an_offset)
{
    GR_AUTO(gr_tensor) *tensor = must_export(SIZE);
    GR_AUTO(gr_tensor) *view = must_view(tensor, PART, 2 * PART);
    REFUSED(view, GR_READ_WRITE, NULL, GR_ERR_UNSUPPORTED, "Mesa");
    assert_gl_clean();
}
