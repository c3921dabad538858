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
    bool is_known; /* false: only a map can show what the image is, and nothing is described */
    bool is_volume;
    /* the image is a layered cube or a 1D image, whose surfaces the kernels do not support */
    bool has_other_surfaces;
};

/*
 * Describes both sides. The tensor was checked, and the options were copied by GR_TAKE. `buffer` is
 * the mapping of the resource, whose CUDA context is current; NULL before the map: the mapped side
 * has no address then. Refuses sides that do not match; the message has both shapes.
 */
gr_status gr_publish_describe(const gr_resource *resource, const gr_buffer *buffer,
                              const gr_tensor *tensor, const gr_publish_options *options,
                              struct gr_publish_sides *sides, const char *call);

#endif
