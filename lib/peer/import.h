/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imports memory and semaphores from another process. */
#ifndef GR_LIB_PEER_IMPORT_H
#define GR_LIB_PEER_IMPORT_H

#include <grinterop/semaphore.h>

#include "lib/cuda/context.h"
#include "lib/peer/description.h"

/*
 * Imports the memory of a checked message, which is descriptor 0. Takes a reference to the context.
 */
gr_resource *gr_share_import(const struct gr_description *description, struct gr_message *message,
                             const struct gr_context *context, const char *call);

/* Imports descriptor i of a message as a semaphore. Takes a reference to the context. */
gr_semaphore *gr_share_import_semaphore(struct gr_message *message, unsigned i, bool timeline,
                                        uint64_t value, const struct gr_context *context,
                                        const char *call);

#endif
