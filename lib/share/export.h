/* SPDX-License-Identifier: Apache-2.0 */
/* A resource's memory and semaphores on their way to another process. */
#ifndef GR_LIB_SHARE_EXPORT_H
#define GR_LIB_SHARE_EXPORT_H

#include <grinterop/semaphore.h>

#include "lib/share/description.h"

/* Whether it can be sent. */
gr_status gr_share_check(const gr_resource *resource, const char *call);

/*
 * The memory's part of a message of that kind, with its descriptor, which the caller closes; no
 * semaphores. *description is what is in the message.
 */
gr_status gr_share_describe(const gr_resource *resource, struct gr_description *description,
                            struct gr_message *message, const char *call);

/* A semaphore's handle, the caller's. GR_ERR_UNSUPPORTED: it cannot be had. */
gr_status gr_share_export(const gr_resource *resource, gr_semaphore *semaphore,
                          gr_semaphore_desc *info, const char *call);

#endif
