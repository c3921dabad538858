/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Submits of the graphics API, for rings and resources. */
#ifndef GR_LIB_SYNC_SUBMIT_H
#define GR_LIB_SYNC_SUBMIT_H

#include <grinterop/submit.h>

#include "lib/sync/sync.h"

/*
 * gr_submit_begin() for slots of a ring: n different, checked resources. The ring frees it:
 * gr_submit_free() does nothing.
 */
gr_submit *gr_submit_make(gr_resource *const resources[], size_t n, const char *call);

/*
 * The ring has one of the submit's resources back: undoes the submit for it unless it was
 * committed. Frees the submit with the last of them.
 */
void gr_submit_settle(gr_submit *submit, const gr_resource *resource);

/* The program has got its semaphores, and freeing it without a commit is logged as a warning. */
void gr_submit_filled(gr_submit *submit);

/* Whether a live submit was committed. */
bool gr_submit_is_committed(gr_submit *submit);

/* For the commit: GR_ERR_STATE if it was committed, GR_ERR_INVALID_VALUE for NULL. */
gr_status gr_submit_check_begun(gr_submit *submit, const char *call);

/* The next resource of the submit at or after *place; NULL past the last. Begin at 0. */
const gr_resource *gr_submit_next(gr_submit *submit, size_t *place);

/*
 * Memory that belongs to the submit, for one user at a time; its old contents are lost. Submits in
 * a loop reuse it. NULL, with the error, if out of memory.
 */
void *gr_submit_scratch(gr_submit *submit, size_t size, const char *call);

/* A resource ends and leaves its submit, if it is in one. */
void gr_submit_leave(struct gr_sync *sync);

#endif
