/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tensors of other frameworks: DLPack structs and gr_tensor_desc with any shape, strides and
 * address. The description of an accepted tensor must match the input. The target reads elements in
 * valid memory, and exports and imports the tensor again.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include <dlpack/dlpack.h>

#include <grinterop/tensor.h>

enum { MEMORY_SIZE = 4096, MOST_DIMS = 12, MOST_READ = 1 << 16 };

static unsigned char *memory;

/* ---- The input ------------------------------------------------------------------------------- */

struct given {
    int32_t ndim;
    int64_t *shape, *strides; /* one entry per dimension; in elements */
    unsigned char *data;
    unsigned ends;
};

static int64_t some_extent(struct fuzz_input *in)
{
    return fuzz_below(in, 4) ? fuzz_below(in, 9) : (int64_t)fuzz_size(in, INT64_MAX);
}

static int64_t some_stride(struct fuzz_input *in)
{
    return fuzz_below(in, 4) ? (int8_t)fuzz_byte(in) : (int64_t)fuzz_size(in, INT64_MAX);
}

static unsigned char *some_data(struct fuzz_input *in)
{
    switch (fuzz_below(in, 8)) {
    case 0:
        return NULL;
    case 1:
        return (unsigned char *)(uintptr_t)fuzz_size(in, UINTPTR_MAX);
    default:
        return memory + fuzz_number(in, 2) % MEMORY_SIZE;
    }
}

static struct given some_given(struct fuzz_input *in)
{
    struct given given = {.ndim = fuzz_below(in, 8) ? (int32_t)fuzz_below(in, MOST_DIMS)
                                                    : (int32_t)fuzz_size(in, INT32_MAX)};
    size_t count = given.ndim >= 0 && given.ndim <= MOST_DIMS ? (size_t)given.ndim : 0;
    size_t room = count ? count * sizeof(int64_t) : 1;
    if (fuzz_below(in, 16))
        given.shape = malloc(room);
    if (fuzz_below(in, 2))
        given.strides = malloc(room);
    for (size_t i = 0; i < count && given.shape; i++)
        given.shape[i] = some_extent(in);
    for (size_t i = 0; i < count && given.strides; i++)
        given.strides[i] = some_stride(in);
    given.data = some_data(in);
    return given;
}

static void end_given(struct given *given)
{
    free(given->shape);
    free(given->strides);
}

/* ---- Accepted tensors ------------------------------------------------------------------------ */

static size_t elements_of(const gr_tensor_info *info)
{
    size_t count = 1;
    for (unsigned i = 0; i < info->ndim; i++)
        count *= (size_t)info->shape[i];
    return count;
}

/* Whether all elements lie in the target's memory, and are few enough to read. */
static bool is_there(const gr_tensor_info *info)
{
    fuzz_wide low = (fuzz_wide)(uintptr_t)info->ptr,
              high = low + (fuzz_wide)gr_dtype_get_info(info->dtype)->size;
    if (info->bytes == 0 || info->bytes > MOST_READ)
        return false;
    for (unsigned i = 0; i < info->ndim; i++) {
        fuzz_wide way = (fuzz_wide)(info->shape[i] - 1) * info->strides[i];
        *(way < 0 ? &low : &high) += way;
    }
    return low >= (fuzz_wide)(uintptr_t)memory &&
           high <= (fuzz_wide)(uintptr_t)memory + MEMORY_SIZE;
}

/* Returns element number `index`. The last dimension varies fastest. */
static const unsigned char *element(const gr_tensor_info *info, size_t index)
{
    int64_t at = 0;
    for (unsigned i = info->ndim; i-- > 0;) {
        at += (int64_t)(index % (size_t)info->shape[i]) * info->strides[i];
        index /= (size_t)info->shape[i];
    }
    return (const unsigned char *)(uintptr_t)info->ptr + at;
}

static void read_elements(gr_tensor *tensor, const gr_tensor_info *info)
{
    unsigned char *bytes = malloc(info->bytes);
    size_t size = gr_dtype_get_info(info->dtype)->size;
    FUZZ_CHECK(gr_tensor_copy_to_host(tensor, bytes, info->bytes, fuzz_cuda.stream) == GR_OK);
    FUZZ_CHECK(fuzz_stream_ends());
    for (size_t i = 0; i < elements_of(info); i++)
        FUZZ_CHECK(memcmp(bytes + i * size, element(info, i), size) == 0);
    free(bytes);
}

/* A compact clone must have the same elements. */
static void clone(gr_tensor *tensor, const gr_tensor_info *info)
{
    size_t size = gr_dtype_get_info(info->dtype)->size;
    gr_tensor *made = gr_tensor_clone(tensor, GR_MEMORY_DEVICE, fuzz_cuda.stream);
    FUZZ_CHECK(made && fuzz_stream_ends());
    const gr_tensor_info *there = gr_tensor_get_info(made);
    FUZZ_CHECK(there->compact && there->bytes == info->bytes);
    for (size_t i = 0; i < elements_of(info); i++)
        FUZZ_CHECK(memcmp(element(there, i), element(info, i), size) == 0);
    gr_tensor_free(made);
}

static void check_info(const gr_tensor_info *info)
{
    fuzz_count bytes = gr_dtype_get_info(info->dtype)->size;
    FUZZ_CHECK(info->ndim <= GR_TENSOR_DIMS);
    for (unsigned i = 0; i < info->ndim; i++) {
        FUZZ_CHECK(info->shape[i] >= 0);
        bytes *= (uint64_t)info->shape[i];
        FUZZ_CHECK(bytes <= INT64_MAX || info->bytes == 0);
    }
    FUZZ_CHECK(info->bytes == bytes);
}

/*
 * Exports and imports the tensor with one of the two DLPack forms. Returns NULL if the export is
 * refused.
 */
static gr_tensor *export_and_import(gr_tensor *tensor, bool legacy)
{
    DLManagedTensorVersioned *managed =
        legacy ? NULL : gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, GR_STREAM_NONE);
    DLManagedTensor *older =
        legacy ? gr_tensor_to_dlpack(tensor, GR_DLPACK_LEGACY, GR_STREAM_NONE) : NULL;
    if (!managed && !older) {
        fuzz_check_refused();
        return NULL;
    }
    gr_tensor *again = legacy ? gr_tensor_from_dlpack(older, GR_DLPACK_LEGACY, GR_STREAM_NONE)
                              : gr_tensor_from_dlpack(managed, GR_DLPACK_VERSIONED, GR_STREAM_NONE);
    FUZZ_CHECK(again);
    return again;
}

/* The import must describe the same tensor as the export. */
static void export_again(gr_tensor *tensor, const gr_tensor_info *info, bool legacy)
{
    gr_tensor *again = export_and_import(tensor, legacy);
    if (!again)
        return;
    const gr_tensor_info *there = gr_tensor_get_info(again);
    FUZZ_CHECK(there->dtype == info->dtype && there->ndim == info->ndim);
    FUZZ_CHECK(there->bytes == info->bytes && there->read_only == info->read_only);
    FUZZ_CHECK(!info->bytes || there->ptr == info->ptr);
    for (unsigned i = 0; i < info->ndim; i++) {
        FUZZ_CHECK(there->shape[i] == info->shape[i]);
        FUZZ_CHECK(info->shape[i] <= 1 || !info->bytes || there->strides[i] == info->strides[i]);
    }
    gr_tensor_free(again);
}

static void check_interface(gr_tensor *tensor, const gr_tensor_info *info)
{
    const gr_array_interface *array = gr_tensor_array_interface(tensor, GR_STREAM_NONE);
    if (!array) {
        fuzz_check_refused();
        return;
    }
    FUZZ_CHECK(array->ndim == info->ndim && gr_dtype_parse(array->typestr) == info->dtype);
    FUZZ_CHECK(array->read_only == info->read_only && array->version == 3);
    for (unsigned i = 0; i < info->ndim; i++)
        FUZZ_CHECK(array->shape[i] == info->shape[i]);
}

/* ---- Views ----------------------------------------------------------------------------------- */

static gr_tensor_desc some_desc(struct fuzz_input *in, struct given *given)
{
    *given = some_given(in);
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = (gr_dtype)fuzz_below(in, GR_DTYPE_C128 + 2),
                .ndim = (unsigned)given->ndim, .shape = given->shape, .strides = given->strides,
                .layout = fuzz_below(in, 4) ? 0 : (gr_layout)(int8_t)fuzz_byte(in),
                .memory = fuzz_below(in, 4) ? 0 : (gr_memory)(int8_t)fuzz_byte(in),
                .read_only = fuzz_below(in, 2), .negative_strides = fuzz_below(in, 2));
    return desc;
}

/* A view must not extend beyond its tensor. */
static void view(struct fuzz_input *in, gr_tensor *tensor, bool there)
{
    struct given given;
    gr_tensor_desc desc = some_desc(in, &given);
    desc.offset = fuzz_below(in, 2) ? fuzz_byte(in) : (size_t)fuzz_size(in, MEMORY_SIZE);
    gr_tensor *seen = gr_tensor_view(tensor, &desc);
    if (seen) {
        const gr_tensor_info *info = gr_tensor_get_info(seen);
        check_info(info);
        FUZZ_CHECK(!there || info->bytes == 0 || info->bytes > MOST_READ || is_there(info));
        if (is_there(info))
            read_elements(seen, info);
    } else {
        fuzz_check_refused();
    }
    gr_tensor_free(seen);
    end_given(&given);
}

static void use(struct fuzz_input *in, gr_tensor *tensor)
{
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    check_info(info);
    bool there = is_there(info);
    if (there) {
        read_elements(tensor, info);
        clone(tensor, info);
    }
    export_again(tensor, info, false);
    export_again(tensor, info, true);
    check_interface(tensor, info);
    if (in->left)
        view(in, tensor, there);
}

/* ---- DLPack ---------------------------------------------------------------------------------- */

static void end_versioned(DLManagedTensorVersioned *managed)
{
    ((struct given *)managed->manager_ctx)->ends++;
}

static void end_legacy(DLManagedTensor *managed)
{
    ((struct given *)managed->manager_ctx)->ends++;
}

static DLDataType some_type(struct fuzz_input *in)
{
    static const uint8_t bits[] = {8, 16, 32, 64, 128, 1, 4, 0};
    DLDataType type = {
        .code = (uint8_t)fuzz_below(in, 8), .bits = bits[fuzz_below(in, sizeof(bits))], .lanes = 1};
    if (fuzz_below(in, 8) == 0)
        type = (DLDataType){fuzz_byte(in), fuzz_byte(in), (uint16_t)fuzz_number(in, 2)};
    return type;
}

static DLTensor some_tensor(struct fuzz_input *in, const struct given *given)
{
    static const int devices[] = {kDLCPU, kDLCUDA, kDLCUDAHost, kDLCUDAManaged};
    DLTensor tensor = {.data = given->data,
                       .device = {(DLDeviceType)devices[fuzz_below(in, 4)], 0},
                       .ndim = given->ndim,
                       .dtype = some_type(in),
                       .shape = given->shape,
                       .strides = given->strides};
    if (fuzz_below(in, 8) == 0)
        tensor.device = (DLDevice){(DLDeviceType)fuzz_byte(in), (int8_t)fuzz_byte(in)};
    if (fuzz_below(in, 4) == 0)
        tensor.byte_offset = fuzz_size(in, MEMORY_SIZE);
    return tensor;
}

/* The tensor must have the given dimensions if the dtype has one lane. */
static void check_shape(const gr_tensor *tensor, const DLTensor *from)
{
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    FUZZ_CHECK(info->ndim == (unsigned)from->ndim + (from->dtype.lanes > 1));
    for (int32_t i = 0; i < from->ndim; i++)
        FUZZ_CHECK(info->shape[i] == from->shape[i]);
    FUZZ_CHECK(from->dtype.lanes == 1 || info->shape[from->ndim] == from->dtype.lanes);
}

static void import(struct fuzz_input *in, bool legacy)
{
    struct given given = some_given(in);
    DLTensor from = some_tensor(in, &given);
    DLManagedTensorVersioned managed = {.version = {1, fuzz_byte(in)},
                                        .manager_ctx = &given,
                                        .deleter = end_versioned,
                                        .flags = fuzz_byte(in),
                                        .dl_tensor = from};
    DLManagedTensor older = {from, &given, end_legacy};
    if (fuzz_below(in, 16) == 0)
        managed.version.major = fuzz_byte(in);
    gr_tensor *tensor = legacy
                            ? gr_tensor_from_dlpack(&older, GR_DLPACK_LEGACY, GR_STREAM_NONE)
                            : gr_tensor_from_dlpack(&managed, GR_DLPACK_VERSIONED, GR_STREAM_NONE);
    if (tensor) {
        check_shape(tensor, &from);
        use(in, tensor);
    } else {
        fuzz_check_refused();
    }
    gr_tensor_free(tensor);
    FUZZ_CHECK(gr_tensor_collect(10000) == GR_OK);
    FUZZ_CHECK(given.ends == (tensor ? 1u : 0u));
    end_given(&given);
}

/* ---- Other tensors --------------------------------------------------------------------------- */

static void end_wrapped(void *user)
{
    ++*(unsigned *)user;
}

static void wrap(struct fuzz_input *in)
{
    struct given given;
    gr_tensor_desc desc = some_desc(in, &given);
    gr_tensor *tensor =
        gr_tensor_from_memory(&desc, given.data, GR_STREAM_NONE, end_wrapped, &given.ends);
    if (tensor)
        use(in, tensor);
    else
        fuzz_check_refused();
    gr_tensor_free(tensor);
    FUZZ_CHECK(gr_tensor_collect(10000) == GR_OK);
    FUZZ_CHECK(given.ends == (tensor ? 1u : 0u));
    end_given(&given);
}

/* Whether the size can surely be allocated. For larger sizes that depends on the machine. */
static bool is_small(const struct given *given)
{
    fuzz_count bytes = 16;
    for (int32_t i = 0; i < given->ndim && given->ndim <= MOST_DIMS && given->shape; i++) {
        fuzz_wide stride = given->strides ? given->strides[i] : 1;
        fuzz_count extent = given->shape[i] < 0 ? 1 : (fuzz_count)given->shape[i] + 1;
        bytes *= extent * (fuzz_count)((stride < 0 ? -stride : stride) + 1);
        if (bytes > 1 << 20)
            return false;
    }
    return true;
}

static void allocate(struct fuzz_input *in)
{
    struct given given;
    gr_tensor_desc desc = some_desc(in, &given);
    gr_tensor *tensor = is_small(&given) ? gr_tensor_create(&desc, fuzz_cuda.stream) : NULL;
    if (tensor) {
        const gr_tensor_info *info = gr_tensor_get_info(tensor);
        unsigned char *bytes = calloc(1, info->bytes + 1);
        check_info(info);
        FUZZ_CHECK(info->read_only ||
                   gr_tensor_copy_from_host(tensor, bytes, info->bytes, fuzz_cuda.stream) == GR_OK);
        FUZZ_CHECK(fuzz_stream_ends());
        export_again(tensor, info, false);
        free(bytes);
    }
    gr_tensor_free(tensor);
    FUZZ_CHECK(fuzz_stream_ends() && gr_tensor_collect(10000) == GR_OK);
    gr_clear_error();
    end_given(&given);
}

static void run(struct fuzz_input in)
{
    switch (fuzz_below(&in, 4)) {
    case 0:
        import(&in, false);
        break;
    case 1:
        import(&in, true);
        break;
    case 2:
        wrap(&in);
        break;
    default:
        allocate(&in);
        break;
    }
}

static void set_up(void)
{
    fuzz_cuda_set_up();
    CUdeviceptr device;
    FUZZ_CHECK(fuzz_cuda.cu->MemAlloc(&device, MEMORY_SIZE) == CUDA_SUCCESS);
    memory =
        /* The device memory of the software driver is host memory. */
        (unsigned char *)(uintptr_t)device;
    for (size_t i = 0; i < MEMORY_SIZE; i++)
        memory[i] = (unsigned char)(i * 7 + i / 256);
}

const struct fuzz_target fuzz_tensor = {"tensor", set_up, run};
