/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Describes both sides of a publish or a fetch, each as a gr_picture. The sides are the tensor, and
 * the mapped image or buffer.
 */
#ifndef GR_LIB_PUBLISH_SIDES_H
#define GR_LIB_PUBLISH_SIDES_H

#include "lib/publish/launch.h"
#include "lib/resource/resource_types.h"

struct gr_publish_sides {
    struct gr_picture tensor, mapped;
    struct gr_array_place array;        /* the place in the array of the mapped image */
    struct gr_array_place tensor_array; /* the place of a tensor in GR_MEMORY_ARRAY */
    bool is_volume;
    /* the image is a layered cube or a 1D image, whose surfaces the kernels do not support */
    bool has_other_surfaces;
};

/*
 * Describes both sides of a mapped resource. The tensor was checked, the options were copied by
 * GR_TAKE, and the CUDA context of the resource is current. Refuses sides that do not match; the
 * message has both shapes.
 */
gr_status gr_publish_look(gr_buffer *buffer, const gr_tensor *tensor,
                          const gr_publish_options *options, struct gr_publish_sides *sides,
                          const char *call);

/*
 * Like gr_publish_look(), before a map and without addresses. If only a map can show what the image
 * is, sets *known to false and describes nothing.
 */
gr_status gr_publish_foresee(gr_resource *resource, const gr_tensor *tensor,
                             const gr_publish_options *options, struct gr_publish_sides *sides,
                             bool *known, const char *call);

#endif
