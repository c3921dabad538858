/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a mapping and of a registration, for the library's own holds. */
#ifndef GR_LIB_RESOURCE_RELEASE_H
#define GR_LIB_RESOURCE_RELEASE_H

#include "lib/resource_types.h"

/*
 * Takes a buffer out of the caller's hands, so that a second release is refused; and releases one
 * that was taken, on a thread that may. Where the map's stream is gone, the legacy stream takes its
 * place. After an error it stays mapped for good.
 */
gr_status gr_buffer_take_back(gr_buffer *buffer, const char *call);
gr_status gr_buffer_release_taken(gr_buffer *buffer, const char *call);

/* gr_buffer_release_many() on the streams of the maps, for another call of the program's. */
gr_status gr_buffer_release_for(gr_buffer *buffers[], size_t n, const char *call);

/* gr_resource_close() of a resource that the library holds, whether or not its caller has freed it.
 */
gr_status gr_resource_close_held(gr_resource *resource, CUstream stream, const char *call);

/* Likewise gr_resource_unmap() of one that is mapped, on the stream of its map if that lives. */
gr_status gr_resource_unmap_anyhow(gr_resource *resource, const char *call);

#endif
