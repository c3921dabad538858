/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Submits of the graphics API, for rings and resources. */
#ifndef GR_LIB_SYNC_SUBMIT_H
#define GR_LIB_SYNC_SUBMIT_H

#include <grinterop/submit.h>

#include "lib/sync/sync.h"

/*
 * Like gr_submit_begin(), for n different, checked resources. If they are slots of a ring, the ring
 * frees the submit, and gr_submit_free() refuses it.
 */
gr_submit *gr_submit_make(gr_resource *const resources[], size_t n, bool of_ring, const char *call);

/*
 * Removes a resource from the submit when the ring gets the resource back. If the submit was not
 * committed, it is undone for this resource. The last resource frees the submit.
 */
void gr_submit_settle(gr_submit *submit, const gr_resource *resource);

/*
 * Records that the program received the semaphores. Freeing the submit without a commit is then
 * logged as a warning.
 */
void gr_submit_filled(gr_submit *submit);

/* Whether a live submit was committed. */
bool gr_submit_is_committed(gr_submit *submit);

/*
 * Checks before a commit: GR_ERR_STATE if the submit was committed, GR_ERR_INVALID_VALUE for NULL.
 */
gr_status gr_submit_check_begun(gr_submit *submit, const char *call);

/*
 * Returns the next resource of the submit at or after *place; NULL after the last. *place is 0 at
 * first.
 */
const gr_resource *gr_submit_next(gr_submit *submit, size_t *place);

/*
 * Returns memory that belongs to the submit, with undefined contents. It is valid until the next
 * call, and submits in a loop reuse it. If out of memory, records the error and returns NULL.
 */
void *gr_submit_scratch(gr_submit *submit, size_t size, const char *call);

/* Removes a resource from its submit, if it is in one. Called before the resource ends. */
void gr_submit_leave(struct gr_sync *sync);

#endif
