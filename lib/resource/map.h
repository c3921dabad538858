/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that another call of the program's makes, by whose name `call` their errors go. */
#ifndef GR_LIB_RESOURCE_MAP_H
#define GR_LIB_RESOURCE_MAP_H

#include <grinterop/gr.h>

/*
 * gr_map_many() without options, n being 1 or more. The library may hold the resources: whether
 * their callers have freed them is not asked.
 */
gr_status gr_map_for(gr_resource *const resources[], size_t n, CUstream stream, gr_buffer *out[],
                     const char *call);

#endif
