/* SPDX-License-Identifier: Apache-2.0 */
/* Submits of the graphics API, as a ring and the resources in them see them. */
#ifndef GR_LIB_SYNC_SUBMIT_H
#define GR_LIB_SYNC_SUBMIT_H

#include <grinterop/submit.h>

#include "lib/sync/sync.h"

/*
 * gr_submit_begin() for slots of a ring, n different resources that were checked. The ring frees
 * it: gr_submit_free() does nothing.
 */
gr_submit *gr_submit_make(gr_resource *const resources[], size_t n, const char *call);

/*
 * The ring has one of the submit's resources back, for which the submit is taken back unless it was
 * committed. Frees the submit with the last of them.
 */
void gr_submit_settle(gr_submit *submit, const gr_resource *resource);

/* Of one that lives: whether gr_submit_commit() has said that it was made. */
bool gr_submit_is_committed(gr_submit *submit);

/* For who makes the submit: GR_ERR_STATE where it was committed, GR_ERR_INVALID_VALUE for NULL. */
gr_status gr_submit_check_begun(gr_submit *submit, const char *call);

/* The next resource at or after *place that is in the submit; NULL past the last. Begin at 0. */
const gr_resource *gr_submit_next(gr_submit *submit, size_t *place);

/*
 * Memory that goes with the submit, for one user at a time; what it held before is gone. The
 * submits of a loop find it again. NULL, with the error, if there is none.
 */
void *gr_submit_scratch(gr_submit *submit, size_t size, const char *call);

/* The resource ends: the submit that it is in, if it is in one, goes on without it. */
void gr_submit_leave(struct gr_sync *sync);

#endif
