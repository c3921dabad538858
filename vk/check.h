/* SPDX-License-Identifier: Apache-2.0 */
/* What every call on a device checks first. */
#ifndef GR_VK_CHECK_H
#define GR_VK_CHECK_H

#include <grinterop/vk.h>

#include "lib/error.h"

static inline gr_status vk_check_device(const gr_vk_device *device, const char *call)
{
    if (device)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "The device is NULL: did gr_vk_device_wrap() fail? See gr_last_error() there.");
}

/* For calls with a description, which says what is shared. */
static inline gr_status vk_check_arguments(const gr_vk_device *device, const void *info,
                                           const char *call)
{
    gr_status status = vk_check_device(device, call);
    if (status != GR_OK || info)
        return status;
    return gr_fail(GR_ERR_INVALID_VALUE, call, "`info` is NULL: describe what is shared.");
}

#endif
