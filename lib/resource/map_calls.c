/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The calls of the application that map resources, and queries of mappings. */
#include "lib/resource/resource.h"

#include <stdatomic.h>

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "lib/resource/image.h"
#include "lib/base/log.h"
#include "lib/base/struct_size.h"
#include "lib/resource/map.h"

/* Maps resources that the caller has. */
static gr_status map_given(gr_resource *const resources[], size_t n, CUstream stream,
                           const gr_map_options *options, gr_buffer *out[])
{
    gr_map_options own;
    if (options)
        GR_TRY(GR_TAKE(gr_map_options, &own, options));
    struct gr_use use = {.resources = resources,
                         .n = n,
                         .stream = stream,
                         .options = options ? &own : NULL,
                         .buffers = out};
    return gr_use_begin(&use);
}

gr_buffer *gr_map(gr_resource *resource, CUstream stream)
{
    GR_CALL();
    gr_buffer *buffer = NULL;
    struct gr_use use = {.resources = &resource, .n = 1, .stream = stream, .buffers = &buffer};
    return gr_use_begin(&use) == GR_OK ? buffer : NULL;
}

gr_buffer *gr_map_with(gr_resource *resource, CUstream stream, const gr_map_options *options)
{
    GR_CALL();
    gr_buffer *buffer = NULL;
    return map_given(&resource, 1, stream, options, &buffer) == GR_OK ? buffer : NULL;
}

gr_status gr_map_many(gr_resource *const resources[], size_t n, CUstream stream,
                      const gr_map_options *options, gr_buffer *out[])
{
    GR_CALL();
    GR_REFUSE_IF(!resources || !out, "`%s` is NULL.", resources ? "out" : "resources");
    GR_REFUSE_IF(n == 0, "There is nothing to map: n is 0. Pass the length of `resources`.");
    return map_given(resources, n, stream, options, out);
}

CUdeviceptr gr_buffer_ptr(const gr_buffer *buffer)
{
    GR_CALL();
    if (gr_buffer_check(buffer) != GR_OK)
        return 0;
    if (!buffer->ptr && buffer->resource->is_image && gr_buffer_is_live(buffer))
        gr_fail(GR_ERR_STATE,
                "An image has no pointer: use gr_buffer_array(), gr_buffer_surface() or "
                "gr_buffer_texture(), or map it with gr_map_linear(), which copies.");
    return buffer->ptr;
}

size_t gr_buffer_size(const gr_buffer *buffer)
{
    GR_CALL();
    return gr_buffer_check(buffer) == GR_OK ? buffer->size : 0;
}

const gr_buffer_info *gr_buffer_get_info(const gr_buffer *buffer)
{
    GR_CALL();
    if (gr_buffer_check(buffer) != GR_OK)
        return NULL;
    /* the cast is valid because no buffer is a const object */
    gr_buffer_info *info = &((gr_buffer *)buffer)->shown;
    *info = (gr_buffer_info){.stream = buffer->stream,
                             .pitch = buffer->pitch,
                             .tensors = buffer->user_count,
                             .context = buffer->resource->context.handle};
    return info;
}

/* ---- Images as linear memory ----------------------------------------------------------------- */

/* Makes the checks before the map, because a map with write_discard loses the contents. */
static gr_status check_linear(struct gr_use *use, unsigned level, unsigned layer,
                              gr_entered *entered)
{
    gr_resource *resource = use->resources[0];
    GR_TRY(gr_resource_check_given(resource));
    GR_REFUSE_IF(!resource->is_image && (level || layer),
                 "The resource is a buffer, which has level 0 and layer 0 only.");
    GR_TRY(gr_use_check(use, entered));
    if (!resource->is_image)
        return GR_OK;
    GR_TRY(gr_image_check_range(resource, level, layer));
    const gr_status status = gr_linear_prepare(resource, level);
    if (status == GR_ERR_DEVICE_LOST)
        gr_resources_after_failure(use->resources, 1);
    return status;
}

gr_buffer *gr_map_linear(gr_resource *resource, unsigned level, unsigned layer, CUstream stream)
{
    GR_CALL();
    GR_ENTERED entered = 0;
    gr_buffer *buffer = NULL;
    struct gr_use use = {.resources = &resource, .n = 1, .stream = stream, .buffers = &buffer};
    if (check_linear(&use, level, layer, &entered) != GR_OK || gr_use_map(&use) != GR_OK)
        return NULL;
    if (!resource->is_image)
        return buffer;
    if (gr_linear_make(buffer, level, layer) != GR_OK) {
        GR_KEEP_ERROR();
        gr_buffer_release(buffer);
        return NULL;
    }
    gr_log(GR_LOG_DEBUG, "%s: level %u, layer %u were copied: %zu byte%s", __func__, level, layer,
           buffer->size, gr_s(buffer->size));
    return buffer;
}
