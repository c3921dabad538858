/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Chooses the CUDA context of a Vulkan device; see context_of_device.h. */
#include "vk/device/context_of_device.h"

#include "lib/cuda/device_text.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/device_access.h"

gr_status vk_context_refuse(const struct vk_identity *identity, CUdevice device, CUdevice computing,
                            const char *call)
{
    char vulkan[160], is[200], wrong[200];
    vk_identity_text(identity, vulkan, sizeof(vulkan));
    gr_device_text(device, is, sizeof(is));
    gr_device_text(computing, wrong, sizeof(wrong));
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "The Vulkan device %s is %s. The current CUDA context is on %s, which has no "
                   "peer access to that device (cuDeviceCanAccessPeer). Make a context of the "
                   "Vulkan device current, or none, or allow GR_TRANSPORT_COPY in "
                   "gr_vk_device_desc.transports.",
                   vulkan, is, wrong);
}

gr_status vk_context_choose(struct gr_context *context, CUdevice device, CUdevice *computing,
                            bool *reaches, const char *call)
{
    const gr_cuda_api *cu = gr_driver();
    *context = (struct gr_context){.primary_of = -1};
    *computing = device;
    *reaches = true;
    CUresult result = cu->CtxGetCurrent(&context->handle);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuCtxGetCurrent",
                            "%s could not query the current CUDA context.", call);
    if (!context->handle)
        return gr_context_retain(context, device, "no CUDA context is current on this thread",
                                 call);
    result = cu->CtxGetDevice(computing);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuCtxGetDevice",
                            "%s could not query the device of the current CUDA context.", call);
    gr_context_identify(context);
    return gr_device_reaches(*computing, device, reaches);
}
