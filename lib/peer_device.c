/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one CUDA device that another one computes with: by peer access. */
#include "lib/peer_device.h"

#include "lib/driver.h"
#include "lib/error.h"

bool gr_device_reaches(CUdevice device, CUdevice owner)
{
    int reaches = 0;
    if (device == owner)
        return true;
    return gr_driver()->DeviceCanAccessPeer(&reaches, device, owner) == CUDA_SUCCESS && reaches;
}

gr_status gr_current_device(CUdevice *device)
{
    CUresult result = gr_driver()->CtxGetDevice(device);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuCtxGetDevice",
                        "The CUDA context has no device: has it been destroyed?");
}
