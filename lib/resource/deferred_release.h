/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Buffers whose release is deferred, because the releasing thread may not use the resource. */
#ifndef GR_LIB_RESOURCE_DEFERRED_RELEASE_H
#define GR_LIB_RESOURCE_DEFERRED_RELEASE_H

#include "lib/resource/resource_types.h"

/* Ends the objects that park() of the backend deferred. This thread may use the resource. */
void gr_resource_unpark(gr_resource *resource);

/*
 * gr_resource_release_deferred() releases the deferred buffers of a resource that any thread may
 * use. gr_resources_release_freed() does so for all such resources that their callers have freed.
 */
void gr_resource_release_deferred(gr_resource *resource);
void gr_resources_release_freed(void);

/*
 * Defers the release of a buffer that the caller gave up by gr_buffer_release_later(): a later call
 * releases it. The buffer has no users (mapping_users.h), or its last user is leaving.
 */
void gr_buffer_defer(gr_buffer *buffer);

#endif
