/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensors of a mapping: they refer to the mapped bytes, and are revoked when the mapping ends. */
#include "lib/tensor/tensor.h"

#include "lib/base/error.h"
#include "lib/base/public_atomic.h"
#include "lib/resource/resource.h"
#include "lib/resource/image.h"
#include "lib/base/struct_size.h"

/* Revokes a tensor. The accesses are atomic, because other threads may be reading. */
static void revoke(struct gr_mapping_user *user)
{
    gr_tensor *tensor = (gr_tensor *)((char *)user - offsetof(gr_tensor, user));
    atomic_store_explicit(GR_PUBLIC_ATOMIC(CUdeviceptr, tensor->info.ptr), 0, memory_order_relaxed);
    atomic_store_explicit(GR_PUBLIC_ATOMIC(CUarray, tensor->info.array), NULL,
                          memory_order_relaxed);
    atomic_store_explicit(&tensor->ptr, 0, memory_order_relaxed);
    atomic_store_explicit(GR_PUBLIC_ATOMIC(bool, tensor->info.revoked), true, memory_order_release);
}

/* Sets the context and its device, which the driver returns once per resource. */
static gr_status set_context(gr_tensor *tensor, gr_resource *resource)
{
    int known = atomic_load_explicit(&resource->device_plus_1, memory_order_relaxed);
    gr_status status = known ? gr_context_hold(&resource->context, &tensor->context)
                             : gr_tensor_set_context(tensor, &resource->context);
    if (known)
        tensor->info.device = known - 1;
    else if (status == GR_OK)
        atomic_store_explicit(&resource->device_plus_1, tensor->info.device + 1,
                              memory_order_relaxed);
    return status;
}

/*
 * Makes `tensor` a tensor of a mapping, which must not have ended. Element 0 is at `ptr`, and the
 * memory is `room` bytes from `low` on.
 */
static gr_tensor *complete(gr_buffer *buffer, gr_tensor *tensor, CUdeviceptr ptr, CUdeviceptr low,
                           size_t room)
{
    gr_resource *resource = buffer->resource;
    gr_status status = set_context(tensor, resource);
    gr_tensor_set_memory(tensor, ptr, low, room);
    tensor->stream = buffer->stream;
    tensor->info.read_only = tensor->info.read_only || !gr_resource_writes(resource);
    tensor->user.revoke = revoke;
    if (!gr_tensor_expose(tensor, status))
        return NULL;
    gr_mapping_users_add(buffer, &tensor->user);
    return tensor;
}

/* ---- The default description of a mapping ---------------------------------------------------- */

/* A description, and the arrays that it points to. */
struct described {
    gr_tensor_desc desc;
    int64_t shape[4], strides[4];
};

static gr_status query(const gr_buffer *buffer, gr_image_info *info)
{
    GR_ENTER(&buffer->resource->context);
    return gr_image_query(buffer, info);
}

/*
 * Describes the bytes of a buffer, or an image: (H, W, C), or (D, H, W, C) for a 3D image. Packed
 * texels, which CUDA has as integers, have no dimension of channels.
 */
static gr_status describe(const gr_buffer *buffer, struct described *d)
{
    gr_image_info info;
    d->desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = d->shape);
    d->shape[0] = (int64_t)buffer->size;
    if (!buffer->resource->is_image)
        return GR_OK;
    GR_TRY(query(buffer, &info));
    const gr_dtype plain = gr_array_dtype(info.format);
    const size_t word = plain ? 0 : info.texel_bytes;
    const size_t channels = word ? 1 : info.channels;
    d->desc.dtype = word == 4 ? GR_DTYPE_U32 : word == 2 ? GR_DTYPE_U16 : plain;
    if (!d->desc.dtype)
        return gr_image_refuse_compressed(info.format);
    size_t rows = gr_level_extent(info.height, buffer->level);
    int64_t shape[] = {(int64_t)(buffer->size / buffer->pitch / rows), (int64_t)rows,
                       (int64_t)gr_level_extent(info.width, buffer->level), (int64_t)channels};
    int64_t strides[] = {(int64_t)(buffer->pitch * rows), (int64_t)buffer->pitch, info.texel_bytes,
                         info.texel_bytes / channels};
    unsigned first = buffer->resource->is_3d ? 0 : 1;
    for (unsigned i = first; i < 4; i++) {
        d->shape[i - first] = shape[i];
        d->strides[i - first] = strides[i];
    }
    d->desc.ndim = (word ? 3 : 4) - first;
    d->desc.strides = d->strides;
    d->desc.layout = first && !word ? GR_LAYOUT_HWC : GR_LAYOUT_SHAPE;
    return GR_OK;
}

/* ---- A tensor of a buffer -------------------------------------------------------------------- */

static gr_status check_buffer(const gr_buffer *buffer)
{
    GR_TRY(gr_buffer_check(buffer));
    if (!gr_buffer_is_live(buffer))
        return gr_fail(GR_ERR_STATE, "The buffer's mapping has ended: map the resource again.");
    return GR_OK;
}

static gr_status check_memory(const gr_buffer *buffer, gr_memory memory)
{
    if (buffer->resource->is_image && !buffer->pitch)
        return gr_fail(GR_ERR_STATE,
                       "An image mapped by gr_map() has no linear memory: map it by "
                       "gr_map_linear(), which copies, use gr_fetch(), or set `memory` to "
                       "GR_MEMORY_ARRAY for a tensor of its CUDA array.");
    if (memory == GR_MEMORY_DEVICE)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "`memory` is %d, but a mapping is device memory: leave it 0.", (int)memory);
}

/*
 * Refuses a tensor of several dimensions without strides that would reach into the padding between
 * the rows of an image.
 */
static gr_status check_pitch(const gr_buffer *buffer, const gr_tensor_desc *desc)
{
    const size_t pitch = buffer->pitch;
    size_t bytes = gr_dtype_size(desc->dtype);
    gr_image_info info;
    bool has_pitch = !pitch || desc->strides || desc->ndim < 2;
    for (unsigned i = desc->ndim; i-- > 0 && !has_pitch;) {
        bytes *= (size_t)desc->shape[i];
        has_pitch = bytes == pitch;
    }
    if (has_pitch)
        return GR_OK;
    GR_TRY(query(buffer, &info));
    /* 0 for compressed texels */
    const size_t row = gr_level_extent(info.width, buffer->level) * info.texel_bytes;
    if (row == 0 || row == pitch || desc->offset % pitch + bytes <= row)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The image has a pitch of %zu, but the rows of the tensor are packed: set "
                   "`strides`.",
                   pitch);
}

/* Creates a tensor of the array of level 0 and layer 0, for an image that gr_map() mapped. */
static gr_tensor *tensor_of_array(gr_buffer *buffer, gr_tensor_desc *desc)
{
    int64_t dims[3];
    struct gr_shape shape;
    if (!buffer->resource->is_image || buffer->pitch) {
        gr_fail(GR_ERR_INVALID_VALUE,
                "`memory` is GR_MEMORY_ARRAY, but this is not an image mapped by gr_map().");
        return NULL;
    }
    CUarray array = gr_buffer_array(buffer, 0, 0);
    if (!array || gr_array_describe(array, desc, dims) != GR_OK ||
        gr_shape_init(&shape, desc) != GR_OK)
        return NULL;
    gr_tensor *tensor = gr_tensor_make(desc, &shape);
    return tensor ? complete(buffer, tensor, (CUdeviceptr)(uintptr_t)array, 0, 0) : NULL;
}

gr_tensor *gr_buffer_tensor(gr_buffer *buffer, const gr_tensor_desc *desc)
{
    GR_CALL();
    struct described d;
    struct gr_shape shape;
    if (check_buffer(buffer) != GR_OK || (desc && GR_TAKE(gr_tensor_desc, &d.desc, desc) != GR_OK))
        return NULL;
    if (desc && d.desc.memory == GR_MEMORY_ARRAY)
        return tensor_of_array(buffer, &d.desc);
    if (check_memory(buffer, desc ? d.desc.memory : GR_MEMORY_DEVICE) != GR_OK ||
        (!desc && describe(buffer, &d) != GR_OK) || gr_shape_init(&shape, &d.desc) != GR_OK ||
        gr_shape_check_room(&shape, d.desc.offset, buffer->size, "buffer") != GR_OK ||
        check_pitch(buffer, &d.desc) != GR_OK)
        return NULL;
    gr_endings_collect();
    gr_tensor *tensor = gr_tensor_make(&d.desc, &shape);
    size_t low = d.desc.offset - shape.before;
    return tensor ? complete(buffer, tensor, buffer->ptr + d.desc.offset, buffer->ptr + low,
                             buffer->size - low)
                  : NULL;
}
