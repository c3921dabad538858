/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imports tensors of other frameworks by DLPack. All their fields are checked before use. */
#include <inttypes.h>

#include "lib/base/compiler.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/public_atomic.h"
#include "lib/base/live_objects.h"
#include "lib/dlpack/dlpack.h"
#include "lib/tensor/tensor.h"

/* The tensor of a producer, in the form for gr_tensor_wrap_as(). */
struct parsed {
    gr_tensor_desc desc;
    int64_t shape[GR_TENSOR_DIMS], strides[GR_TENSOR_DIMS]; /* `strides` in bytes */
    void *data;
    bool names_device; /* whether the producer names a CUDA device; true for device memory */
    int device;
};

/* ---- The end --------------------------------------------------------------------------------- */

static void end_import(void *user)
{
    DLManagedTensorVersioned *managed = user;
    gr_live_remove(GR_LIVE_DLPACK_TAKEN, managed);
    if (managed->deleter)
        managed->deleter(managed);
}

static void end_import_legacy(void *user)
{
    DLManagedTensor *managed = user;
    gr_live_remove(GR_LIVE_DLPACK_TAKEN, managed);
    if (managed->deleter)
        managed->deleter(managed);
}

/* ---- The producer's struct ------------------------------------------------------------------- */

/* Refuses a type by its name. Older versions of DLPack lack constants for the small floats. */
static gr_status refuse_type(DLDataType type)
{
    static const char *const small_floats[] = {
        "float8_e3m4",     "float8_e4m3",   "float8_e4m3b11fnuz", "float8_e4m3fn",
        "float8_e4m3fnuz", "float8_e5m2",   "float8_e5m2fnuz",    "float8_e8m0fnu",
        "float6_e2m3fn",   "float6_e3m2fn", "float4_e2m1fn"};
    const unsigned at = type.code - 7u;
    const bool known = at < sizeof(small_floats) / sizeof(small_floats[0]);
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "The tensor's elements are %s%sDLPack's type code %u with %u bits. grinterop "
                   "supports bool, integers of 8 to 64 bits, float16, bfloat16, float32, float64, "
                   "complex64 and complex128: let the producer convert it.",
                   known ? small_floats[at] : "", known ? ", " : "", type.code, type.bits);
}

static gr_status read_type(const DLTensor *from, struct parsed *parsed)
{
    parsed->desc.dtype = gr_dlpack_dtype(from->dtype);
    if (!parsed->desc.dtype)
        return refuse_type(from->dtype);
    GR_REFUSE_IF(from->dtype.lanes == 0,
                 "The tensor's elements have 0 lanes: this is an error of the producer, since a "
                 "scalar has 1.");
    return GR_OK;
}

/*
 * Whether memory with the device type kDLCPU is device memory: gr_tensor_to_dlpack() exports that
 * of the software driver so.
 */
static bool is_device_memory(const DLTensor *from, const gr_tensor *exported)
{
    CUmemorytype type;
    if (!gr_driver_traits()->host_memory)
        return false;
    if (exported)
        return exported->info.memory != GR_MEMORY_HOST;
    return gr_driver()->PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                            (CUdeviceptr)(uintptr_t)from->data) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE;
}

static gr_status read_device(const DLTensor *from, const gr_tensor *exported, struct parsed *parsed)
{
    switch ((int)from->device.device_type) {
    case kDLCUDA:
        parsed->desc.memory = GR_MEMORY_DEVICE;
        parsed->device = from->device.device_id;
        parsed->names_device = true;
        return GR_OK;
    case kDLCUDAHost:
        parsed->desc.memory = GR_MEMORY_PINNED;
        return GR_OK;
    case kDLCUDAManaged:
        parsed->desc.memory = GR_MEMORY_MANAGED;
        return GR_OK;
    case kDLCPU:
        parsed->desc.memory = is_device_memory(from, exported) ? GR_MEMORY_DEVICE : GR_MEMORY_HOST;
        parsed->names_device = exported && parsed->desc.memory == GR_MEMORY_DEVICE;
        parsed->device = exported ? exported->info.device : 0;
        return GR_OK;
    default:
        return gr_fail(
            GR_ERR_UNSUPPORTED,
            "The tensor's memory has DLPack's device type %d. grinterop supports CUDA (2), pinned "
            "(3), managed (13) and host memory (1): let the producer copy it there.",
            (int)from->device.device_type);
    }
}

/* Reads the dimensions. The lanes of an element become an additional dimension of scalars. */
static gr_status read_dimensions(const DLTensor *from, struct parsed *parsed)
{
    unsigned lanes = from->dtype.lanes > 1;
    if (from->ndim < 0 || from->ndim + (int64_t)lanes > GR_TENSOR_DIMS)
        return gr_fail(from->ndim < 0 ? GR_ERR_INVALID_VALUE : GR_ERR_UNSUPPORTED,
                       "The tensor has %d dimensions%s; grinterop supports 0 to %u.",
                       (int)from->ndim, lanes ? " in addition to its lanes" : "", GR_TENSOR_DIMS);
    GR_REFUSE_IF(from->ndim > 0 && !from->shape,
                 "The tensor has %d dimension%s, but its shape is NULL.", (int)from->ndim,
                 gr_s((size_t)from->ndim));
    for (int32_t i = 0; i < from->ndim; i++) {
        parsed->shape[i] = from->shape[i];
        GR_REFUSE_IF(from->shape[i] < 0, "Dimension %d of the tensor has %" PRId64 " elements.",
                     (int)i, from->shape[i]);
    }
    parsed->desc.ndim = (unsigned)from->ndim + lanes;
    parsed->desc.shape = parsed->shape;
    if (lanes)
        parsed->shape[from->ndim] = from->dtype.lanes;
    return GR_OK;
}

/*
 * Reads the strides. Up to DLPack 1.1, NULL strides mean a compact tensor. This function accepts
 * them from later versions, too.
 */
static gr_status read_strides(const DLTensor *from, struct parsed *parsed)
{
    if (!from->strides || from->ndim == 0)
        return GR_OK;
    int64_t lane = (int64_t)gr_dtype_size(parsed->desc.dtype), element = lane * from->dtype.lanes;
    for (int32_t i = 0; i < from->ndim; i++)
        GR_REFUSE_IF(GR_MUL_OVERFLOWS(from->strides[i], element, &parsed->strides[i]),
                     "Dimension %d of the tensor has a stride of %" PRId64
                     " elements, which overflows in bytes.",
                     (int)i, from->strides[i]);
    if (from->dtype.lanes > 1)
        parsed->strides[from->ndim] = lane;
    parsed->desc.strides = parsed->strides;
    return GR_OK;
}

static bool has_elements(const struct parsed *parsed)
{
    for (unsigned i = 0; i < parsed->desc.ndim; i++)
        if (parsed->shape[i] == 0)
            return false;
    return true;
}

/*
 * Reads the address. Refuses a misaligned address: if a kernel reads a misaligned element, the
 * whole CUDA context is lost.
 */
static gr_status read_data(const DLTensor *from, struct parsed *parsed)
{
    if (!has_elements(parsed))
        return GR_OK;
    GR_REFUSE_IF(!from->data, "The tensor has elements, but its data is NULL.");
    uintptr_t data = (uintptr_t)from->data;
    GR_REFUSE_IF(GR_ADD_OVERFLOWS(data, from->byte_offset, &data),
                 "The tensor begins %" PRIu64 " bytes after %p, which overflows the address space.",
                 from->byte_offset, from->data);
    size_t size = gr_dtype_size(parsed->desc.dtype);
    if (data % (size > 8 ? 8 : size))
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "Element 0 is at 0x%" PRIxPTR
                       ", which is misaligned for a %s: let the producer copy it.",
                       data, gr_dtype_get_info(parsed->desc.dtype)->name);
    parsed->data = (void *)data;
    return GR_OK;
}

/* Reads an opaque handle, which is a CUarray. The driver knows its type and shape. */
static gr_status parse_array(const DLTensor *from, struct parsed *parsed)
{
    if (from->device.device_type != kDLCUDA || from->byte_offset || !from->data)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "The tensor is an opaque handle, %p with an offset of %" PRIu64
                       ", on DLPack's device type %d. grinterop supports such handles only for "
                       "CUDA arrays: CUDA (2), without an offset.",
                       from->data, from->byte_offset, (int)from->device.device_type);
    parsed->desc.memory = GR_MEMORY_ARRAY;
    parsed->device = from->device.device_id;
    parsed->names_device = true;
    parsed->data = from->data;
    DLTensor whole = *from;
    whole.dtype.lanes = 1;
    return read_dimensions(&whole, parsed);
}

static gr_status parse(const DLTensor *from, const gr_tensor *exported, struct parsed *parsed)
{
    parsed->desc.struct_size = sizeof(parsed->desc);
    if (from->dtype.code == kDLOpaqueHandle)
        return parse_array(from, parsed);
    GR_TRY(read_type(from, parsed));
    GR_TRY(read_device(from, exported, parsed));
    GR_TRY(read_dimensions(from, parsed));
    GR_TRY(read_strides(from, parsed));
    return read_data(from, parsed);
}

/* ---- Imports --------------------------------------------------------------------------------- */

/*
 * Whether a device can use memory that belongs to no context, such as that of a graphics API on
 * another GPU, or that of cuMemCreate() with access for that device.
 */
static bool can_use(CUdevice device, CUdeviceptr ptr)
{
    struct gr_context context;
    gr_entered entered;
    CUdeviceptr found;
    GR_KEEP_ERROR();
    if (gr_context_hold(&(struct gr_context){.primary_of = device}, &context) != GR_OK)
        return false;
    bool can = gr_context_try(&context, &entered);
    if (can) {
        can = gr_driver()->PointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, ptr) ==
              CUDA_SUCCESS;
        gr_context_leave(entered);
    }
    gr_context_drop(&context);
    return can;
}

/* Checks that the named device exists, and that it can use the memory, if the driver knows that. */
static gr_status check_device(const struct parsed *parsed, bool is_own)
{
    const struct gr_driver_api *cu = gr_driver();
    const CUdeviceptr ptr = (CUdeviceptr)(uintptr_t)parsed->data;
    CUcontext owner = NULL;
    CUdevice device;
    int ordinal = parsed->device, count = 0;
    if (!parsed->names_device)
        return GR_OK;
    CUresult result = cu->DeviceGet(&device, ordinal);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_DEVICE)
        return gr_fail_cuda(result, "cuDeviceGet",
                            "%s could not get CUDA device %d, which the tensor names.", gr_call,
                            ordinal);
    if (result != CUDA_SUCCESS) {
        cu->DeviceGetCount(&count);
        return gr_fail(
            GR_ERR_INVALID_VALUE,
            "The tensor names memory of CUDA device %d, but this process has %d CUDA device%s.",
            ordinal, count, gr_s((size_t)count));
    }
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                        CU_POINTER_ATTRIBUTE_CONTEXT};
    void *values[] = {&ordinal, &owner};
    if (is_own || !ptr || parsed->desc.memory == GR_MEMORY_ARRAY ||
        cu->PointerGetAttributes(2, attributes, values, ptr) != CUDA_SUCCESS ||
        ordinal == parsed->device || ordinal < 0 || (!owner && can_use(device, ptr)))
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The tensor names memory of CUDA device %d, but %p is memory of device %d: does "
                   "the producer number the devices differently?",
                   parsed->device, parsed->data, ordinal);
}

static gr_status check_unused(const void *managed, const gr_tensor *exported)
{
    if (exported &&
        atomic_load_explicit(GR_PUBLIC_ATOMIC(bool, exported->info.revoked), memory_order_acquire))
        return gr_fail(GR_ERR_STATE, "The tensor is an export of a mapping that has ended.");
    if (!gr_live_is_listed(GR_LIVE_DLPACK_TAKEN, managed))
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "This DLPack tensor has already been imported and is in use: the producer must "
                   "create one for each consumer.");
}

static gr_tensor *import(const DLTensor *from, bool read_only, CUstream ready_on,
                         gr_tensor_end_fn end, void *managed)
{
    struct parsed parsed = {.desc = {.read_only = read_only}};
    const gr_tensor *exported = gr_dlpack_exported(managed);
    if (check_unused(managed, exported) != GR_OK || !gr_driver_load() ||
        parse(from, exported, &parsed) != GR_OK || check_device(&parsed, exported) != GR_OK)
        return NULL;
    gr_tensor *tensor =
        gr_tensor_wrap_as(&parsed.desc, parsed.data, parsed.names_device ? parsed.device : -1,
                          ready_on, end, managed);
    if (!tensor && exported) /* a failure because the mapping ended meanwhile */
        (void)check_unused(managed, exported);
    if (tensor && exported && exported->user.revoke) {
        tensor->user.revoke = exported->user.revoke;
        gr_mapping_users_join(&exported->user, &tensor->user, NULL);
    }
    if (tensor)
        gr_live_add(GR_LIVE_DLPACK_TAKEN, managed);
    return tensor;
}

gr_tensor *gr_tensor_from_dlpack(void *managed, gr_dlpack form, CUstream ready_on)
{
    GR_CALL();
    if (!managed)
        gr_fail(GR_ERR_INVALID_VALUE, "`managed` is NULL.");
    if (!managed || gr_dlpack_check(form) != GR_OK)
        return NULL;
    if (form == GR_DLPACK_LEGACY) {
        const DLManagedTensor *legacy = managed;
        return import(&legacy->dl_tensor, false, ready_on, end_import_legacy, managed);
    }
    const DLManagedTensorVersioned *versioned = managed;
    if (versioned->version.major != DLPACK_MAJOR_VERSION) {
        gr_fail(GR_ERR_UNSUPPORTED,
                "The tensor is of DLPack %u.%u, but grinterop supports 1.x: let the producer "
                "create a 1.x tensor, and call this one's deleter.",
                (unsigned)versioned->version.major, (unsigned)versioned->version.minor);
        return NULL;
    }
    return import(&versioned->dl_tensor, versioned->flags & DLPACK_FLAG_BITMASK_READ_ONLY, ready_on,
                  end_import, managed);
}
