/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/cuda/device.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/uuid_text.h"
#include "lib/cuda/driver.h"

#include <grinterop/driver.h>

gr_status gr_device_count(int *count)
{
    GR_TRY_CUDA(gr_driver()->DeviceGetCount(count), "cuDeviceGetCount",
                "%s could not count the CUDA devices.", gr_call);
    return GR_OK;
}

gr_status gr_device_at(int ordinal, CUdevice *device)
{
    GR_TRY_CUDA(gr_driver()->DeviceGet(device, ordinal), "cuDeviceGet",
                "%s could not get CUDA device %d.", gr_call, ordinal);
    return GR_OK;
}

gr_status gr_device_get(int ordinal, CUdevice *device)
{
    int count = 0;
    GR_TRY(gr_device_count(&count));
    if (ordinal >= 0 && ordinal < count)
        return gr_device_at(ordinal, device);
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "There is no CUDA device %d: CUDA sees %d in all, numbered from 0 "
                   "(CUDA_VISIBLE_DEVICES may hide some).",
                   ordinal, count);
}

gr_status gr_device_ordinal(CUdevice device, int *ordinal)
{
    int count = 0;
    CUdevice counted;
    *ordinal = -1;
    GR_TRY(gr_device_count(&count));
    for (int i = 0; i < count && *ordinal < 0; i++) {
        GR_TRY(gr_device_at(i, &counted));
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

gr_status gr_device_uuid(CUdevice device, CUuuid *uuid)
{
    GR_TRY_CUDA(gr_driver()->DeviceGetUuid(uuid, device), "cuDeviceGetUuid",
                "%s: CUDA device %d does not report its UUID.", gr_call, (int)device);
    return GR_OK;
}

bool gr_uuid_is(const CUuuid *uuid, const void *other)
{
    return memcmp(uuid->bytes, other, sizeof(uuid->bytes)) == 0;
}

void gr_device_text(CUdevice device, char *text, size_t size)
{
    const struct gr_driver_api *cu = gr_driver();
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

void gr_device_texts(int count, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", count ? "" : "none");
    for (int i = 0; i < count && used < size; i++) {
        CUdevice device;
        char one[160] = "?";
        if (gr_driver()->DeviceGet(&device, i) == CUDA_SUCCESS)
            gr_device_text(device, one, sizeof(one));
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", one);
    }
}

gr_status gr_cuda_find_device(const unsigned char uuid[16], int *device)
{
    GR_CALL();
    int count = 0;
    GR_REFUSE_IF(!uuid || !device,
                 "`%s` is NULL: pass the UUID of a device and a pointer for its number.",
                 uuid ? "device" : "uuid");
    if (!gr_driver_load())
        return gr_last_error()->status;
    GR_TRY(gr_device_count(&count));
    for (int i = 0; i < count; i++) {
        CUdevice each;
        CUuuid its;
        GR_TRY(gr_device_at(i, &each));
        GR_TRY(gr_device_uuid(each, &its));
        if (gr_uuid_is(&its, uuid)) {
            *device = i;
            return GR_OK;
        }
    }
    char wanted[GR_UUID_TEXT_SIZE], seen[360];
    gr_uuid_text(uuid, wanted);
    gr_device_texts(count, seen, sizeof(seen));
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "The UUID %s is not among the CUDA devices: %s. CUDA_VISIBLE_DEVICES may hide "
                   "some.",
                   wanted, seen);
}
