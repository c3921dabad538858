/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Enables peer access for kernels that use memory of another device. */
#include "lib/tensor/tensor.h"

#include "lib/cuda/device_text.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/device_access.h"

static gr_status refuse(const gr_tensor *tensor, CUdevice device, CUresult result, const char *call)
{
    char here[200], there[200];
    gr_device_text(device, here, sizeof(here));
    gr_device_text(tensor->info.device, there, sizeof(there));
    const char *way = "copy it with gr_tensor_copy(), or use a stream of its device";
    if (result == CUDA_SUCCESS)
        return gr_fail(
            GR_ERR_UNSUPPORTED, call,
            "The stream belongs to %s, whose kernels cannot access the tensor's memory on %s: %s.",
            here, there, way);
    return gr_fail_cuda(
        result, "cuCtxEnablePeerAccess",
        "%s, the stream's device, was not given access to %s, the tensor's device: %s.", here,
        there, way);
}

/* Enables access to a memory pool, because pools have their own access rights. */
static CUresult open_pool(const gr_tensor *tensor, CUdevice device)
{
    const gr_cuda_api *cu = gr_driver();
    CUmemoryPool pool;
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if ((tensor->root ? tensor->root : tensor)->how != GR_TENSOR_ASYNC)
        return CUDA_SUCCESS;
    CUresult result = cu->DeviceGetMemPool(&pool, tensor->info.device);
    return result == CUDA_SUCCESS ? cu->MemPoolSetAccess(pool, &access, 1) : result;
}

/* Checks access from the device of the stream. The stream's context is current. */
static gr_status check_device(const gr_tensor *tensor, const char *call)
{
    CUdevice device;
    bool reaches;
    gr_status status = gr_current_device(&device);
    if (status != GR_OK || device == tensor->info.device)
        return status;
    status = gr_device_reaches(device, tensor->info.device, &reaches);
    if (status != GR_OK || !reaches)
        return status != GR_OK ? status : refuse(tensor, device, CUDA_SUCCESS, call);
    CUresult result = gr_driver()->CtxEnablePeerAccess(tensor->context.handle, 0);
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        result = open_pool(tensor, device);
    return result == CUDA_SUCCESS ? GR_OK : refuse(tensor, device, result, call);
}

gr_status gr_tensor_check_reach(const gr_tensor *tensor, CUstream stream,
                                const struct gr_context *at, const char *call)
{
    CUcontext of_stream = at->handle;
    bool pushed;
    if (tensor->info.memory != GR_MEMORY_DEVICE)
        return GR_OK;
    if (!gr_stream_is_default(stream) &&
        (stream == tensor->stream || gr_driver()->StreamGetCtx(stream, &of_stream) != CUDA_SUCCESS))
        return GR_OK;
    if (of_stream == tensor->context.handle)
        return GR_OK;
    struct gr_context context = {.handle = of_stream, .primary_of = -1};
    GR_TRY(gr_context_enter(&context, &pushed, call));
    gr_status status = check_device(tensor, call);
    gr_context_leave(pushed);
    return status;
}
