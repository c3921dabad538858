/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that were let go of on a thread that cannot release them. */
#ifndef GR_LIB_RESOURCE_SET_ASIDE_H
#define GR_LIB_RESOURCE_SET_ASIDE_H

#include "lib/resource_types.h"

/* Ends what a backend's park() was given, on a thread that may touch the resource. */
void gr_resource_unpark(gr_resource *resource);

/*
 * The same for buffers of a resource that no thread is bound to; and for those of all such
 * resources that their callers have freed.
 */
void gr_resource_release_aside(gr_resource *resource);
void gr_resources_release_freed(void);

/* A buffer that was taken back, and whose users have left: released by a later call. */
void gr_buffer_set_aside(gr_buffer *buffer);

#endif
