/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Peer access between CUDA devices. */
#include "lib/cuda/device_access.h"

#include "lib/cuda/driver.h"
#include "lib/base/error.h"

gr_status gr_device_reaches(CUdevice device, CUdevice owner, bool *reaches)
{
    int can = 0;
    CUresult result = CUDA_SUCCESS;
    if (device != owner)
        result = gr_driver()->DeviceCanAccessPeer(&can, device, owner);
    *reaches = device == owner || (result == CUDA_SUCCESS && can);
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_DEVICE)
        return GR_OK;
    return gr_fail_cuda(
        result, "cuDeviceCanAccessPeer",
        "The driver did not report whether device %d has access to the memory of device %d.",
        (int)device, (int)owner);
}

gr_status gr_current_device(CUdevice *device)
{
    GR_TRY_CUDA(gr_driver()->CtxGetDevice(device), "cuCtxGetDevice",
                "The CUDA context has no device: was it destroyed?");
    return GR_OK;
}
