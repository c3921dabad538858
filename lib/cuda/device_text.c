/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Describes CUDA devices in messages. */
#include "lib/cuda/device_text.h"

#include <stdio.h>

#include "lib/cuda/driver.h"
#include "lib/base/uuid_text.h"

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
