/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ends mappings and registrations for the library itself. */
#ifndef GR_LIB_RESOURCE_RELEASE_H
#define GR_LIB_RESOURCE_RELEASE_H

#include "lib/resource_types.h"

/*
 * The first takes a buffer back from the caller, so that a second release is refused; the second
 * releases it, on a thread that may. If the stream of the map is gone, it uses the legacy stream.
 * After an error the buffer stays mapped.
 */
gr_status gr_buffer_take_back(gr_buffer *buffer, const char *call);
gr_status gr_buffer_release_taken(gr_buffer *buffer, const char *call);

/* gr_buffer_release_many() in the streams of the maps, for another call of the program. */
gr_status gr_buffer_release_for(gr_buffer *buffers[], size_t n, const char *call);

/* gr_resource_close() of a resource that the library holds, freed by its caller or not. */
gr_status gr_resource_close_held(gr_resource *resource, CUstream stream, const char *call);

/* gr_resource_unmap() of such a mapped resource, in the stream of its map if that exists. */
gr_status gr_resource_unmap_anyhow(gr_resource *resource, const char *call);

#endif
