/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds CUDA devices by their UUID, which is the same in all processes. */
#include "lib/message/message.h"

#include <string.h>

#include "lib/base/error.h"
#include "lib/base/uuid_text.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"

static gr_status get_uuid(CUdevice device, CUuuid *uuid)
{
    CUresult result = gr_driver()->DeviceGetUuid(uuid, device);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuDeviceGetUuid",
                            "The driver does not report the CUDA device's UUID.");
    /*
     * For the first device the software driver reports its own UUID or that of lavapipe, depending
     * on the process: the first replaces the second.
     */
    const char *own = gr_driver_traits()->own_uuid;
    if (own && memcmp(uuid->bytes, own, sizeof(uuid->bytes) - 1) != 0)
        memcpy(uuid->bytes, own, sizeof(uuid->bytes));
    return GR_OK;
}

gr_status gr_share_set_device(struct gr_description *d, CUdevice device)
{
    CUuuid uuid;
    GR_TRY(get_uuid(device, &uuid));
    d->uuid_low = gr_unpack((const unsigned char *)uuid.bytes, 8);
    d->uuid_high = gr_unpack((const unsigned char *)uuid.bytes + 8, 8);
    return GR_OK;
}

gr_status gr_share_find_device(const struct gr_description *d, CUdevice *device)
{
    int count = 0;
    unsigned char wanted[16];
    gr_pack(wanted, d->uuid_low, 8);
    gr_pack(wanted + 8, d->uuid_high, 8);
    GR_TRY(gr_device_count(&count));
    for (int i = 0; i < count; i++) {
        CUuuid uuid;
        GR_TRY(gr_device_at(i, device));
        GR_TRY(get_uuid(*device, &uuid));
        if (gr_uuid_is(&uuid, wanted))
            return GR_OK;
    }
    char text[GR_UUID_TEXT_SIZE];
    gr_uuid_text(wanted, text);
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "The memory belongs to the CUDA device %s, which is not among the %d that this "
                   "process sees with the driver %s: use the same driver in both processes, and "
                   "check CUDA_VISIBLE_DEVICES.",
                   text, count, gr_cuda_driver_path());
}

/* Whether a CUDA context is current whose device can use the memory. */
static bool current_context_fits(const struct gr_description *d, CUdevice device)
{
    CUcontext handle = NULL;
    CUdevice current;
    if (gr_driver()->CtxGetCurrent(&handle) != CUDA_SUCCESS || !handle ||
        gr_driver()->CtxGetDevice(&current) != CUDA_SUCCESS)
        return false;
    bool fits = current == device;
    GR_KEEP_ERROR();
    if (gr_description_is_peer(d))
        gr_device_reaches(current, device, &fits);
    return fits;
}

gr_status gr_share_context(const struct gr_description *d, struct gr_context *context)
{
    CUdevice device;
    *context = (struct gr_context){.primary_of = -1};
    if (!gr_driver_load())
        return gr_last_error()->status;
    GR_TRY(gr_share_find_device(d, &device));
    if (!current_context_fits(d, device))
        return gr_context_retain(context, device,
                                 "no CUDA context that can use the memory is current");
    GR_TRY_CUDA(gr_driver()->CtxGetCurrent(&context->handle), "cuCtxGetCurrent",
                "%s could not query the current CUDA context.", gr_call);
    gr_context_identify(gr_driver(), context);
    return GR_OK;
}
