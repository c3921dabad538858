/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The two sides of a publish or a fetch as pictures: the tensor, and the mapped image or buffer. */
#ifndef GR_LIB_PUBLISH_MAPPED_H
#define GR_LIB_PUBLISH_MAPPED_H

#include "lib/publish/launch.h"
#include "lib/resource_types.h"

struct gr_publish_sides {
    struct gr_picture tensor, mapped;
    struct gr_array_place array;        /* of the mapped image */
    struct gr_array_place tensor_array; /* of a tensor in GR_MEMORY_ARRAY */
    bool is_volume;
    bool has_other_surfaces; /* layered cubes and 1D images, whose surfaces the kernels do not
                                support */
};

/*
 * Describes both sides. The tensor was checked, the options were copied by GR_TAKE, and the
 * resource's CUDA context is current. Refuses sides that do not match, with both shapes.
 */
gr_status gr_publish_look(gr_buffer *buffer, const gr_tensor *tensor,
                          const gr_publish_options *options, struct gr_publish_sides *sides,
                          const char *call);

/*
 * The same before a map, without addresses. *known is false if only a map can tell; then nothing
 * was described.
 */
gr_status gr_publish_foresee(gr_resource *resource, const gr_tensor *tensor,
                             const gr_publish_options *options, struct gr_publish_sides *sides,
                             bool *known, const char *call);

#endif
