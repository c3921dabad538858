/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks of the resources, buffers and images that a call was given. */
#include "lib/resource/checks.h"

#include <grinterop/publish.h>
#include <stddef.h>

#include "lib/base/error.h"

gr_status gr_resource_refuse_closed(const gr_resource *resource)
{
    if (gr_forked)
        return gr_refuse_forked();
    GR_REFUSE_IF(!resource,
                 "The resource is NULL: did its creation fail? Call gr_last_error() right after "
                 "its creation for the reason.");
    return gr_fail(GR_ERR_STATE,
                   "The resource has been closed. Register the object again to continue.");
}

gr_status gr_resource_check_slot(const gr_resource *resource)
{
    if (resource && gr_live_has(GR_LIVE_RESOURCE, resource))
        return GR_OK;
    /* the buffers in a resource are in the table until its memory is freed */
    const bool has_memory =
        resource &&
        gr_live_has(GR_LIVE_BUFFER, (const char *)resource + offsetof(gr_resource, first));
    return has_memory && resource->in_a_ring ? GR_OK : gr_resource_refuse_freed(resource);
}

gr_status gr_resource_refuse_freed(const gr_resource *resource)
{
    return resource ? gr_live_refuse(GR_LIVE_RESOURCE, resource)
                    : gr_resource_refuse_closed(resource);
}

gr_status gr_buffer_refuse(const gr_buffer *buffer)
{
    GR_REFUSE_IF(!buffer,
                 "The buffer is NULL: did the map fail? Call gr_last_error() right after the map "
                 "for the reason.");
    GR_TRY(gr_live_check(GR_LIVE_BUFFER, buffer));
    return gr_fail(GR_ERR_INVALID_VALUE, "The buffer has been released already. Nothing was done.");
}

gr_status gr_resource_refuse_in_ring(void)
{
    return gr_fail(
        GR_ERR_STATE,
        "The resource is a slot of a ring, and only the ring maps it: acquire slots by "
        "gr_ring_acquire_write() or gr_ring_acquire_read(), pass them on by gr_ring_hand_over() or "
        "gr_ring_give_back(), and free the ring by gr_ring_free().");
}

gr_status gr_image_check(const gr_buffer *buffer)
{
    GR_TRY(gr_buffer_check(buffer));
    if (!buffer->resource->is_image)
        return gr_fail(GR_ERR_STATE,
                       "The resource is a buffer, not an image: use gr_buffer_ptr().");
    if (!gr_buffer_is_live(buffer))
        return gr_fail(GR_ERR_STATE, "The image is no longer mapped: map it again.");
    return GR_OK;
}

gr_status gr_image_check_range(const gr_resource *resource, unsigned level, unsigned layer)
{
    const gr_image_info *image = &resource->image;
    if (level < image->levels && layer < image->layers)
        return GR_OK;
    GR_REFUSE_IF(layer == GR_ALL_LAYERS,
                 "`layer` is GR_ALL_LAYERS, which is for gr_publish() and gr_fetch() only: pass "
                 "one. The image has %u level%s and %u layer%s, counted from 0.",
                 image->levels, gr_s(image->levels), image->layers, gr_s(image->layers));
    bool swapped = layer < image->levels && level < image->layers;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "There is no level %u with layer %u: the image has %u level%s and %u %s%s, "
                   "counted from 0.%s",
                   level, layer, image->levels, gr_s(image->levels), image->layers,
                   image->cube ? "face" : "layer", gr_s(image->layers),
                   swapped ? " Are the two swapped? The level comes first." : "");
}

gr_status gr_image_check_part(const gr_buffer *buffer, unsigned level, unsigned layer)
{
    GR_TRY(gr_image_check(buffer));
    return gr_image_check_range(buffer->resource, level, layer);
}
