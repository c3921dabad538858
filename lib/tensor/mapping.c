/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensors of a mapping: they reference its bytes, and are revoked when it ends. */
#include "lib/tensor/tensor.h"

#include "lib/driver.h"
#include "lib/error.h"
#include "lib/image/image.h"
#include "lib/live.h"
#include "lib/resource/set_aside.h"
#include "lib/struct_size.h"
#include "lib/tensor/array_dtype.h"

/* Atomic, since other threads may be reading. */
static void revoke(struct gr_user *user)
{
    gr_tensor *tensor = (gr_tensor *)((char *)user - offsetof(gr_tensor, user));
    __atomic_store_n(&tensor->info.ptr, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&tensor->info.revoked, true, __ATOMIC_RELAXED);
    __atomic_store_n(&tensor->ptr, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&tensor->revoked, true, __ATOMIC_RELEASE);
}

gr_tensor *gr_tensor_of_mapping(gr_buffer *buffer, gr_tensor *tensor, CUdeviceptr ptr,
                                CUdeviceptr low, size_t room, const char *call)
{
    const gr_resource *resource = buffer->resource;
    if (gr_tensor_set_context(tensor, &resource->context, call) != GR_OK) {
        gr_tensor_discard(tensor);
        return NULL;
    }
    gr_tensor_set_memory(tensor, ptr, low, room);
    tensor->stream = buffer->stream;
    tensor->read_only = tensor->read_only || resource->flags & GR_READ_ONLY;
    tensor->user.revoke = revoke;
    gr_users_add(buffer, &tensor->user);
    return gr_tensor_expose(tensor);
}

/* ---- The default description of a mapping ---------------------------------------------------- */

/* A description and the arrays that it points to. */
struct described {
    gr_tensor_desc desc;
    int64_t shape[4], strides[4];
};

static gr_status query(const gr_buffer *buffer, gr_image_info *info, const char *call)
{
    bool pushed;
    GR_TRY(gr_context_enter(&buffer->resource->context, &pushed, call));
    gr_status status = gr_image_query(buffer, info);
    gr_context_leave(pushed);
    return status;
}

/* (H, W, C), or (D, H, W, C) for a 3D image. */
static gr_status describe_image(const gr_buffer *buffer, struct described *d, const char *call)
{
    gr_image_info info;
    GR_TRY(query(buffer, &info, call));
    size_t rows = gr_level_extent(info.height, buffer->level);
    int64_t shape[] = {(int64_t)(buffer->size / buffer->pitch / rows), (int64_t)rows,
                       (int64_t)gr_level_extent(info.width, buffer->level), info.channels};
    int64_t strides[] = {(int64_t)(buffer->pitch * rows), (int64_t)buffer->pitch, info.texel_bytes,
                         info.texel_bytes / info.channels};
    unsigned first = buffer->resource->image.is_3d ? 0 : 1;
    for (unsigned i = first; i < 4; i++) {
        d->shape[i - first] = shape[i];
        d->strides[i - first] = strides[i];
    }
    d->desc.ndim = 4 - first;
    d->desc.strides = d->strides;
    d->desc.dtype = gr_array_dtype(info.format);
    d->desc.layout = first ? GR_LAYOUT_HWC : GR_LAYOUT_SHAPE;
    return GR_OK;
}

static gr_status describe(const gr_buffer *buffer, struct described *d, const char *call)
{
    d->desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = d->shape);
    d->shape[0] = (int64_t)buffer->size;
    return buffer->resource->is_image ? describe_image(buffer, d, call) : GR_OK;
}

/* ---- A tensor of a buffer -------------------------------------------------------------------- */

static gr_status check_buffer(const gr_buffer *buffer, const char *call)
{
    if (!buffer)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The buffer is NULL: did the map fail? See gr_last_error() there.");
    GR_TRY(gr_live_check(GR_LIVE_BUFFER, buffer, call));
    if (!buffer->out || buffer->later)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "The buffer has been released already.");
    if (!gr_buffer_is_live(buffer))
        return gr_fail(GR_ERR_STATE, call,
                       "The buffer's mapping has ended: map the resource again.");
    if (buffer->resource->is_image && !buffer->pitch)
        return gr_fail(GR_ERR_STATE, call,
                       "An image mapped by gr_map() has no linear memory: map it by "
                       "gr_map_linear(), which copies, or use gr_fetch().");
    return GR_OK;
}

static gr_status check_desc(const gr_tensor_desc *desc, const char *call)
{
    if (desc->memory == GR_MEMORY_DEVICE)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "`memory` is %d, but a mapping is device memory: leave it 0.",
                   (int)desc->memory);
}

gr_tensor *gr_buffer_tensor(gr_buffer *buffer, const gr_tensor_desc *desc)
{
    struct described d;
    struct gr_shape shape;
    gr_status status = check_buffer(buffer, __func__);
    if (status == GR_OK)
        status = desc ? GR_TAKE(gr_tensor_desc, &d.desc, desc, __func__)
                      : describe(buffer, &d, __func__);
    if (status == GR_OK)
        status = check_desc(&d.desc, __func__);
    if (status == GR_OK)
        status = gr_shape_init(&shape, &d.desc, __func__);
    if (status == GR_OK)
        status = gr_shape_check_room(&shape, d.desc.offset, buffer->size, "buffer", __func__);
    if (status != GR_OK)
        return NULL;
    gr_tensor_end_deferred();
    gr_resources_release_freed();
    gr_tensor *tensor = gr_tensor_make(&d.desc, &shape, __func__);
    size_t low = d.desc.offset - shape.before;
    return tensor ? gr_tensor_of_mapping(buffer, tensor, buffer->ptr + d.desc.offset,
                                         buffer->ptr + low, buffer->size - low, __func__)
                  : NULL;
}

unsigned gr_buffer_tensors(const gr_buffer *buffer)
{
    if (buffer)
        return gr_users_count(buffer);
    gr_fail(GR_ERR_INVALID_VALUE, __func__, "The buffer is NULL.");
    return 0;
}
