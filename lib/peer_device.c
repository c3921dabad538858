/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one CUDA device that another one computes with: by peer access. */
#include "lib/peer_device.h"

#include "lib/driver.h"
#include "lib/error.h"

gr_status gr_device_reaches(CUdevice device, CUdevice owner, bool *reaches)
{
    int can = 0;
    CUresult result = CUDA_SUCCESS;
    if (device != owner)
        result = gr_driver()->DeviceCanAccessPeer(&can, device, owner);
    *reaches = device == owner || (result == CUDA_SUCCESS && can);
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_DEVICE)
        return GR_OK;
    return gr_fail_cuda(result, "cuDeviceCanAccessPeer",
                        "CUDA does not say whether device %d reaches the memory of device %d.",
                        (int)device, (int)owner);
}

gr_status gr_current_device(CUdevice *device)
{
    CUresult result = gr_driver()->CtxGetDevice(device);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuCtxGetDevice",
                        "The CUDA context has no device: has it been destroyed?");
}
