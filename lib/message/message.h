/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Resources in messages between two processes. */
#ifndef GR_LIB_MESSAGE_MESSAGE_H
#define GR_LIB_MESSAGE_MESSAGE_H

#include <grinterop/semaphore.h>
#include <grinterop/share.h>

#include "lib/cuda/context.h"
#include "lib/message/description.h"

/* Writes the UUID of the device that owns the memory into the description. */
gr_status gr_share_set_device(struct gr_description *description, CUdevice device);

/*
 * Finds the device with the UUID of the description. Fails if this process cannot see such a
 * device.
 */
gr_status gr_share_find_device(const struct gr_description *description, CUdevice *device);

/*
 * Chooses the CUDA context for resources of the device: the current context if its device is the
 * same or can access the memory, otherwise the primary context of the device. The caller owns the
 * reference.
 */
gr_status gr_share_context(const struct gr_description *description, struct gr_context *context);

/* Checks that the resource can be sent. */
gr_status gr_share_check(const gr_resource *resource);

/*
 * Writes the memory to a message: its description, which is also returned in *description, and its
 * descriptor, which the caller closes. Adds no semaphores.
 */
gr_status gr_share_describe(const gr_resource *resource, struct gr_description *description,
                            struct gr_message *message);

/*
 * Exports the handle of a semaphore, which the caller owns. GR_ERR_UNSUPPORTED: the semaphore
 * cannot be exported.
 */
gr_status gr_share_export(const gr_resource *resource, gr_semaphore *semaphore,
                          gr_semaphore_desc *info);

/*
 * Imports the memory of a checked message, which is descriptor 0. Takes a reference to the context.
 */
gr_resource *gr_share_import(const struct gr_description *description, struct gr_message *message,
                             const struct gr_context *context);

/* Imports descriptor i of a message as a semaphore. Takes a reference to the context. */
gr_semaphore *gr_share_import_semaphore(struct gr_message *message, unsigned i, bool timeline,
                                        uint64_t value, const struct gr_context *context);

#endif
