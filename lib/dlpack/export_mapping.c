/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Exports tensors to other frameworks by DLPack. */
#include "lib/base/compiler.h"
#include "lib/dlpack/dlpack.h"

#include <stdlib.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/tensor/element_types.h"
#include "lib/tensor/tensor.h"

/*
 * The minor version that exports have with any 1.x header. Since 1.2, strides must always be set.
 */
#define MINOR 3

/* An export: its references, the arrays of the consumer's struct, and that struct. */
struct export
{
    gr_tensor *tensor;
    CUstream consumer;
    int64_t shape[GR_TENSOR_DIMS], strides[GR_TENSOR_DIMS];
    union {
        DLManagedTensorVersioned managed;
        DLManagedTensor legacy;
    } as;
};

gr_status gr_dlpack_check(gr_dlpack form)
{
    if (form == GR_DLPACK_VERSIONED || form == GR_DLPACK_LEGACY)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "`form` is %d, which is not a gr_dlpack: set GR_DLPACK_VERSIONED, for example.",
                   (int)form);
}

gr_tensor *gr_dlpack_exported(const void *managed)
{
    const size_t place = offsetof(struct export, as);
    if (!gr_live_is_listed(GR_LIVE_DLPACK, managed))
        return NULL;
    return ((const struct export *)((const char *)managed - place))->tensor;
}

/* ---- Element types --------------------------------------------------------------------------- */

static const struct {
    uint8_t code, bits;
} types[] = {
#define ROW(constant, kernel, size, name, typestr, code) [GR_DTYPE_##constant] = {code, 8 * (size)},
    GR_CONVERTED_TYPES(ROW) GR_OTHER_TYPES(ROW)};
#undef ROW

gr_dtype gr_dlpack_dtype(DLDataType type)
{
    for (size_t i = 1; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i].code == type.code && types[i].bits == type.bits)
            return (gr_dtype)i;
    return (gr_dtype)0;
}

/* ---- The end --------------------------------------------------------------------------------- */

static void end(struct export *export)
{
    gr_tensor_end_export(export->tensor, export->consumer);
    gr_live_free_memory(GR_LIVE_DLPACK, export);
}

static void end_export(DLManagedTensorVersioned *managed)
{
    GR_CALL_AS("the deleter of gr_tensor_to_dlpack");
    if (managed && gr_live_end(GR_LIVE_DLPACK, managed))
        end(managed->manager_ctx);
}

static void end_export_legacy(DLManagedTensor *managed)
{
    GR_CALL_AS("the deleter of gr_tensor_to_dlpack");
    if (managed && gr_live_end(GR_LIVE_DLPACK, managed))
        end(managed->manager_ctx);
}

/* ---- The consumer's struct ------------------------------------------------------------------- */

static DLDevice device_of(const gr_tensor *tensor)
{
    switch (tensor->info.memory) {
    case GR_MEMORY_DEVICE:
        break;
    case GR_MEMORY_HOST:
        return (DLDevice){kDLCPU, 0};
    case GR_MEMORY_PINNED:
        return (DLDevice){kDLCUDAHost, 0};
    case GR_MEMORY_MANAGED:
        return (DLDevice){kDLCUDAManaged, 0};
    case GR_MEMORY_ARRAY:
        return (DLDevice){kDLCUDA, tensor->info.device};
    }
    if (gr_driver_traits()->host_memory)
        return (DLDevice){kDLCPU, 0};
    return (DLDevice){kDLCUDA, tensor->info.device};
}

static gr_status refuse_stride(const gr_tensor *tensor, unsigned i)
{
    if (tensor->strides[i] < 0)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "Dimension %u has the stride %lld: consumers crash with negative strides. "
                       "Set gr_tensor_desc.negative_strides if your consumer supports them, or "
                       "export a gr_tensor_clone().",
                       i, (long long)tensor->strides[i]);
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "Dimension %u has a stride of %lld bytes, which DLPack cannot express: it is "
                   "not a multiple of the size of a %s. Export a gr_tensor_clone().",
                   i, (long long)tensor->strides[i], gr_dtype_get_info(tensor->info.dtype)->name);
}

/*
 * Fills in the strides in elements. Dimensions of one element, and all dimensions of an empty
 * tensor, get the strides of a compact tensor, which are unused but checked by some consumers.
 */
static gr_status elements_apart(const gr_tensor *tensor, int64_t strides[])
{
    int64_t size = (int64_t)gr_dtype_size(tensor->info.dtype), compact = 1;
    for (unsigned i = tensor->info.ndim; i-- > 0;) {
        int64_t extent = tensor->shape[i], bytes = tensor->strides[i];
        if (extent <= 1 || tensor->info.bytes == 0)
            strides[i] = compact;
        else if (bytes % size || (bytes < 0 && !tensor->negative_strides))
            return refuse_stride(tensor, i);
        else
            strides[i] = bytes / size;
        if (GR_MUL_OVERFLOWS(strides[i], extent > 1 ? extent : 1, &compact))
            compact = 1;
    }
    return GR_OK;
}

static gr_status describe(const gr_tensor *tensor, struct export *export, DLTensor *out)
{
    const gr_dtype dtype = tensor->info.dtype;
    const size_t size = gr_dtype_size(dtype);
    /* If a kernel of the consumer reads a misaligned element, the whole CUDA context is lost. */
    if (tensor->info.bytes && tensor->ptr % (size > 8 ? 8 : size))
        return gr_fail(
            GR_ERR_UNSUPPORTED,
            "Element 0 is at 0x%llx, which is misaligned for a %s. Export a gr_tensor_clone().",
            (unsigned long long)tensor->ptr, gr_dtype_get_info(dtype)->name);
    for (unsigned i = 0; i < tensor->info.ndim; i++)
        export->shape[i] = tensor->shape[i];
    *out = (DLTensor){
        .data = tensor->info.bytes ? (void *)(uintptr_t)tensor->ptr : NULL,
        .device = device_of(tensor),
        .ndim = (int32_t)tensor->info.ndim,
        .dtype = {.code = types[dtype].code, .bits = types[dtype].bits, .lanes = 1},
        .shape = export->shape,
        .strides = export->strides,
    };
    if (gr_tensor_is_array(tensor))
        out->dtype = (DLDataType){kDLOpaqueHandle, 64, 1};
    return elements_apart(tensor, export->strides);
}

/* ---- Exports --------------------------------------------------------------------------------- */

static gr_status begin(gr_tensor *tensor, CUstream consumer, bool legacy, struct export *export)
{
    GR_TRY(gr_tensor_check(tensor));
    if (legacy && tensor->info.read_only)
        return gr_fail(GR_ERR_STATE,
                       "The tensor is read-only, which the legacy form of DLPack cannot express: "
                       "use the versioned form, or export a gr_tensor_clone().");
    DLTensor *out = legacy ? &export->as.legacy.dl_tensor : &export->as.managed.dl_tensor;
    GR_TRY(describe(tensor, export, out));
    GR_TRY(gr_tensor_begin_export(tensor, consumer));
    export->tensor = tensor;
    export->consumer = consumer;
    /*
     * Consumers may read host memory, and memory that both the host and the device access, at any
     * time, and there is no stream that could wait.
     */
    const DLDeviceType type = out->device.device_type;
    gr_status status = GR_OK;
    if (type == kDLCPU || (type != kDLCUDA && consumer != GR_STREAM_NONE))
        status = gr_tensor_await(tensor);
    if (status != GR_OK)
        gr_tensor_end_export(tensor, consumer);
    return status;
}

void *gr_tensor_to_dlpack(gr_tensor *tensor, gr_dlpack form, CUstream consumer)
{
    GR_CALL();
    if (gr_dlpack_check(form) != GR_OK)
        return NULL;
    bool legacy = form == GR_DLPACK_LEGACY;
    /* Entries beyond `ndim` stay uninitialised. */
    struct export *export = gr_check_memory(malloc(sizeof(*export)));
    if (!export)
        return NULL;
    if (begin(tensor, consumer, legacy, export) != GR_OK) {
        free(export);
        return NULL;
    }
    if (legacy) {
        export->as.legacy.manager_ctx = export;
        export->as.legacy.deleter = end_export_legacy;
    } else {
        DLManagedTensorVersioned *managed = &export->as.managed;
        managed->version = (DLPackVersion){DLPACK_MAJOR_VERSION, MINOR};
        managed->manager_ctx = export;
        managed->deleter = end_export;
        managed->flags = (tensor->info.read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0) |
                         (tensor->copied ? DLPACK_FLAG_BITMASK_IS_COPIED : 0);
    }
    gr_live_add(GR_LIVE_DLPACK, &export->as);
    return &export->as;
}
