/* SPDX-License-Identifier: Apache-2.0 */
/* Which CUDA device a resource belongs to, in messages: its UUID. */
#ifndef GR_LIB_SHARE_DEVICE_H
#define GR_LIB_SHARE_DEVICE_H

#include "lib/context.h"
#include "lib/share/description.h"

/* Writes the device that has the memory into the description. */
gr_status gr_share_note_device(struct gr_description *description, CUdevice device);

/* The device with that UUID. Records the error where this process sees none. */
gr_status gr_share_find_device(const struct gr_description *description, CUdevice *device,
                               const char *call);

/*
 * The CUDA context for what comes from that device: the current one, if its device is the same or
 * reaches memory of that kind there, else the device's primary one. Its hold is the caller's.
 */
gr_status gr_share_context(const struct gr_description *description, struct gr_context *context,
                           const char *call);

/* For what comes after it, from the same device: whether that context can have it, too. */
gr_status gr_share_check_context(const struct gr_description *description,
                                 const struct gr_context *context, const char *call);

#endif
