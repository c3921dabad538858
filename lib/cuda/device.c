/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/cuda/device.h"

#include <stdio.h>

#include "lib/base/error.h"
#include "lib/base/uuid_text.h"
#include "lib/cuda/driver.h"

gr_status gr_device_count(int *count, const char *call)
{
    GR_TRY_CUDA(gr_driver()->DeviceGetCount(count), "cuDeviceGetCount",
                "%s could not count the CUDA devices.", call);
    return GR_OK;
}

gr_status gr_device_at(int ordinal, CUdevice *device, const char *call)
{
    GR_TRY_CUDA(gr_driver()->DeviceGet(device, ordinal), "cuDeviceGet",
                "%s could not get CUDA device %d.", call, ordinal);
    return GR_OK;
}

gr_status gr_device_get(int ordinal, CUdevice *device, const char *call)
{
    int count = 0;
    GR_TRY(gr_device_count(&count, call));
    if (ordinal >= 0 && ordinal < count)
        return gr_device_at(ordinal, device, call);
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "There is no CUDA device %d: CUDA sees %d in all, numbered from 0 "
                   "(CUDA_VISIBLE_DEVICES may hide some).",
                   ordinal, count);
}

gr_status gr_device_ordinal(CUdevice device, int *ordinal, const char *call)
{
    int count = 0;
    CUdevice counted;
    *ordinal = -1;
    GR_TRY(gr_device_count(&count, call));
    for (int i = 0; i < count && *ordinal < 0; i++) {
        GR_TRY(gr_device_at(i, &counted, call));
        if (counted == device)
            *ordinal = i;
    }
    return GR_OK;
}

gr_status gr_device_first(CUdevice *device)
{
    GR_TRY_CUDA(gr_driver()->DeviceGet(device, 0), "cuDeviceGet",
                "There is no CUDA device: CUDA_VISIBLE_DEVICES may hide those of this machine.");
    return GR_OK;
}

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

void gr_device_text(CUdevice device, char *text, size_t size)
{
    const gr_cuda_api *cu = gr_driver();
    char name[128] = "?";
    CUuuid uuid;
    if (!cu || cu->DeviceGetName(name, sizeof(name), device) != CUDA_SUCCESS ||
        cu->DeviceGetUuid(&uuid, device) != CUDA_SUCCESS) {
        snprintf(text, size, "CUDA device %d", device);
        return;
    }
    char uuid_text[GR_UUID_TEXT_SIZE];
    gr_uuid_text((const unsigned char *)uuid.bytes, uuid_text);
    snprintf(text, size, "%s (CUDA device %d, UUID %s)", name, device, uuid_text);
}
