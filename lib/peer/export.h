/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Exports the memory and the semaphores of a resource to another process. */
#ifndef GR_LIB_PEER_EXPORT_H
#define GR_LIB_PEER_EXPORT_H

#include <grinterop/semaphore.h>

#include "lib/peer/description.h"

/* Checks that the resource can be sent. */
gr_status gr_share_check(const gr_resource *resource, const char *call);

/*
 * Writes the memory to a message: its description, which is also returned in *description, and its
 * descriptor, which the caller closes. Adds no semaphores.
 */
gr_status gr_share_describe(const gr_resource *resource, struct gr_description *description,
                            struct gr_message *message, const char *call);

/*
 * Exports the handle of a semaphore, which the caller owns. GR_ERR_UNSUPPORTED: the semaphore
 * cannot be exported.
 */
gr_status gr_share_export(const gr_resource *resource, gr_semaphore *semaphore,
                          gr_semaphore_desc *info, const char *call);

#endif
