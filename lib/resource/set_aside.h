/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Deferred buffers, which were freed on a thread that cannot release them. */
#ifndef GR_LIB_RESOURCE_SET_ASIDE_H
#define GR_LIB_RESOURCE_SET_ASIDE_H

#include "lib/resource_types.h"

/* Ends what a backend's park() deferred, on a thread that may use the resource. */
void gr_resource_unpark(gr_resource *resource);

/*
 * The same for buffers of a resource without a thread rule; and for all such resources that their
 * callers have freed.
 */
void gr_resource_release_aside(gr_resource *resource);
void gr_resources_release_freed(void);

/* Defers a buffer that was taken back and has no users: a later call releases it. */
void gr_buffer_set_aside(gr_buffer *buffer);

#endif
