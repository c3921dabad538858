/* SPDX-License-Identifier: Apache-2.0 */
/* Which CUDA device a resource belongs to, in messages: its UUID. */
#ifndef GR_LIB_SHARE_DEVICE_H
#define GR_LIB_SHARE_DEVICE_H

#include "lib/context.h"
#include "lib/share/description.h"

/* Writes the current context's device into the description. */
gr_status gr_share_note_device(struct gr_description *description);

/* The CUDA context for what comes from the device with that UUID; its hold is the caller's. */
gr_status gr_share_context(const struct gr_description *description, struct gr_context *context,
                           const char *call);

#endif
