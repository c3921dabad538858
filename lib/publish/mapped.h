/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The two sides of a publish or a fetch as pictures: a tensor, and what is mapped. */
#ifndef GR_LIB_PUBLISH_MAPPED_H
#define GR_LIB_PUBLISH_MAPPED_H

#include "lib/publish/launch.h"
#include "lib/resource_types.h"

struct gr_publish_sides {
    struct gr_picture tensor, mapped;
    struct gr_array_place array; /* of what is mapped */
    bool is_volume;
    bool
        has_other_surfaces; /* cubes with layers and lines: of a kind that the kernels don't know */
};

/*
 * Looks at both. The tensor was checked, the options were taken, and the resource's CUDA context is
 * current. Refuses what does not go together, with both shapes.
 */
gr_status gr_publish_look(gr_buffer *buffer, const gr_tensor *tensor,
                          const gr_publish_options *options, struct gr_publish_sides *sides,
                          const char *call);

/*
 * The same before a map, without places. *known false: what is mapped tells only then, and neither
 * side was looked at.
 */
gr_status gr_publish_foresee(gr_resource *resource, const gr_tensor *tensor,
                             const gr_publish_options *options, struct gr_publish_sides *sides,
                             bool *known, const char *call);

#endif
