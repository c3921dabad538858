/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Buffers whose release is deferred, because the releasing thread may not use the resource. */
#ifndef GR_LIB_RESOURCE_DEFERRED_RELEASE_H
#define GR_LIB_RESOURCE_DEFERRED_RELEASE_H

#include "lib/resource/resource_types.h"

/* Ends the objects that park() of the backend deferred. This thread may use the resource. */
void gr_resource_unpark(gr_resource *resource);

/* Releases the deferred buffers of a resource that any thread may use. */
void gr_resource_release_deferred(gr_resource *resource);

/*
 * Defers the release of a buffer that the caller gave up by gr_buffer_release_later(): a later call
 * releases it. The buffer has no users (mapping_users.h), or its last user is leaving.
 */
void gr_buffer_defer(gr_buffer *buffer);

#endif
