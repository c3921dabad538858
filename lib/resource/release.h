/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ends mappings and registrations for other files of the library. */
#ifndef GR_LIB_RESOURCE_RELEASE_H
#define GR_LIB_RESOURCE_RELEASE_H

#include "lib/resource/resource_types.h"

/*
 * gr_buffer_take_back() ends the caller's ownership of a buffer: a second release is refused.
 * gr_buffer_release_taken() releases the buffer, on a thread that may use the resource. If the
 * stream of the map was destroyed, it uses the legacy stream. After an error the buffer stays
 * mapped.
 */
gr_status gr_buffer_take_back(gr_buffer *buffer, const char *call);
gr_status gr_buffer_release_taken(gr_buffer *buffer, const char *call);

/*
 * Like gr_buffer_release_many() in the streams of the maps, with `call` in errors. Also releases
 * buffers of resources in a ring.
 */
gr_status gr_buffer_release_for(gr_buffer *buffers[], size_t n, const char *call);

/*
 * Like gr_resource_close(), for a resource that the library holds, even if its caller has freed it.
 */
gr_status gr_resource_close_held(gr_resource *resource, CUstream stream, const char *call);

/*
 * Like gr_resource_unmap(), for a mapped resource that the library holds, in the stream of its map
 * if that stream still exists.
 */
gr_status gr_resource_unmap_anyhow(gr_resource *resource, const char *call);

#endif
