/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Images as linear memory: copies a level, and manages staging memory for
 * gr_map_linear().
 */
#include "lib/resource/resource.h"

#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/resource/image.h"
#include "lib/resource/stream.h"
#include "lib/base/struct_size.h"

/* One level and layer of an image, or a rectangle and slices of it. */
struct part {
    CUarray array;
    struct gr_element element;
    struct gr_level size;
    size_t first_slice; /* the layer, if the array contains all layers */
    size_t x, y;        /* where it begins, in bytes of a row and in rows */
};

static gr_status measure_part(const gr_image_info *info, unsigned level, struct part *part)
{
    const struct gr_element element = gr_format_element(info->format, info->channels);
    if (element.bytes == 0)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "CUDA describes the image by format 0x%x, which grinterop does not know: it "
                       "has no linear form. Use gr_buffer_array().",
                       (unsigned)info->format);
    *part = (struct part){.element = element, .size = gr_level_of(info, element, level)};
    return GR_OK;
}

/* Finds the array and extent of one level and layer. The CUDA context is current. */
static gr_status find_part(const gr_buffer *buffer, unsigned level, unsigned layer,
                           struct part *part)
{
    gr_image_info info;
    GR_TRY(gr_image_query(buffer, &info));
    GR_TRY(measure_part(&info, level, part));
    part->first_slice = info.layered ? layer : 0;
    return buffer->resource->backend->array(buffer->resource, level, layer, &part->array);
}

/* Narrows a part to a rectangle, which has whole blocks, and to slices. */
static gr_status narrow_part(const gr_resource *resource, const struct gr_region *r,
                             struct part *part)
{
    const gr_image_info *info = &resource->image;
    const struct gr_element element = part->element;
    const size_t right = r->x + r->width, top = r->y + r->height;
    GR_REFUSE_IF(r->x % element.side || r->y % element.side ||
                     (right % element.side && right != gr_level_extent(info->width, r->level)) ||
                     (top % element.side && top != gr_level_extent(info->height, r->level)),
                 "The rectangle at x %zu, y %zu with width %zu and height %zu cuts compressed "
                 "blocks: begin and end at multiples of %u texels, or at the edge.",
                 r->x, r->y, r->width, r->height, element.side);
    part->x = r->x / element.side * element.bytes;
    part->y = r->y / element.side;
    part->size.row = gr_elements_across(element, r->width) * element.bytes;
    part->size.rows = gr_elements_across(element, r->height);
    part->first_slice += r->z;
    part->size.slices = r->depth;
    return GR_OK;
}

static gr_status check_linear(const gr_linear_desc *memory, const struct part *part)
{
    GR_REFUSE_IF(!memory->device == !memory->host, "Set either `device` or `host`: %s set.",
                 memory->device ? "both are" : "neither is");
    GR_REFUSE_IF(memory->pitch && memory->pitch < part->size.row,
                 "A pitch of %zu byte%s is too small: a row of the image has %zu. Pass at least "
                 "that, or 0 for rows without gaps.",
                 memory->pitch, gr_s(memory->pitch), part->size.row);
    size_t pitch = memory->pitch ? memory->pitch : part->size.row;
    GR_REFUSE_IF(
        memory->slice && (memory->slice % pitch || memory->slice / pitch < part->size.rows),
        "A slice of %zu byte%s does not hold whole rows (rows: %zu, bytes per row: %zu): the slice "
        "must be a multiple of the pitch, and large enough for all rows.",
        memory->slice, gr_s(memory->slice), part->size.rows, pitch);
    return GR_OK;
}

/* Copies out of the image if `out` is set, otherwise into it. */
static gr_status copy_part(const struct part *part, const gr_linear_desc *memory, bool out,
                           CUstream stream)
{
    GR_TRY(check_linear(memory, part));
    const size_t pitch = memory->pitch ? memory->pitch : part->size.row;
    struct gr_copy_side array = gr_copy_array(part->array, part->first_slice);
    array.x = part->x;
    array.y = part->y;
    const struct gr_copy_side linear = {
        .type = memory->host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        .at = memory->host ? (CUdeviceptr)(uintptr_t)memory->host : memory->device,
        .pitch = pitch,
        .rows = memory->slice ? memory->slice / pitch : part->size.rows,
    };
    const CUDA_MEMCPY3D copy = gr_copy_3d(out ? linear : array, out ? array : linear,
                                          part->size.row, part->size.rows, part->size.slices);
    GR_TRY_WORK(gr_driver()->Memcpy3DAsync(&copy, stream), "cuMemcpy3DAsync",
                "%s: the image could not be copied (rows: %zu, bytes per row: %zu). Is the memory "
                "large enough?",
                gr_call, part->size.rows * part->size.slices, part->size.row);
    return GR_OK;
}

/* Moves the address of the memory to the next slice. */
static void skip_slice(const struct part *part, gr_linear_desc *memory)
{
    const size_t pitch = memory->pitch ? memory->pitch : part->size.row;
    const size_t slice = memory->slice ? memory->slice : pitch * part->size.rows;
    if (memory->host)
        memory->host = (unsigned char *)memory->host + slice;
    else
        memory->device += slice;
}

static gr_status copy_image(gr_buffer *buffer, unsigned level, unsigned layer,
                            const gr_linear_desc *given, bool out, CUstream stream)
{
    struct part part;
    gr_linear_desc memory;
    unsigned i = 0;
    GR_TRY(gr_image_check_part(buffer, level, layer));
    GR_REFUSE_IF(!given, "The description of the linear memory is NULL.");
    GR_TRY(GR_TAKE(gr_linear_desc, &memory, given));
    struct gr_region region = {.level = level,
                               .z = memory.z,
                               .depth = memory.depth,
                               .x = memory.x,
                               .y = memory.y,
                               .width = memory.width,
                               .height = memory.height};
    GR_TRY(gr_image_check_slices(buffer->resource, level, memory.z, &region.depth, layer,
                                 memory.layers));
    GR_TRY(gr_image_check_rectangle(buffer->resource, &region));
    if (!out && !gr_resource_writes(buffer->resource))
        return gr_fail(
            GR_ERR_STATE,
            "The image was registered or mapped read_only: to write, do so without read_only.");
    GR_TRY(gr_stream_check_given(stream, true));
    if (stream == GR_STREAM_OF_MAP)
        stream = buffer->stream;
    GR_ENTER(&buffer->resource->context);
    GR_TRY(gr_stream_check_capture(stream));
    do {
        GR_TRY(find_part(buffer, level, layer + i, &part));
        GR_TRY(narrow_part(buffer->resource, &region, &part));
        GR_TRY(copy_part(&part, &memory, out, stream));
        skip_slice(&part, &memory);
    } while (++i < memory.layers);
    return GR_OK;
}

gr_status gr_buffer_copy_to_linear(gr_buffer *buffer, unsigned level, unsigned layer,
                                   const gr_linear_desc *to, CUstream stream)
{
    GR_CALL();
    return copy_image(buffer, level, layer, to, true, stream);
}

gr_status gr_buffer_copy_from_linear(gr_buffer *buffer, unsigned level, unsigned layer,
                                     const gr_linear_desc *from, CUstream stream)
{
    GR_CALL();
    return copy_image(buffer, level, layer, from, false, stream);
}

/* ---- Staging memory -------------------------------------------------------------------------- */

/* Row pitches are multiples of this number, for coalesced access in kernels. */
#define PITCH_ALIGNMENT ((size_t)256)

static gr_status reserve_staging(gr_resource *resource, size_t bytes)
{
    struct gr_staging *staging = &resource->staging;
    if (staging->room >= bytes)
        return GR_OK;
    const struct gr_driver_api *cu = gr_driver();
    CUdeviceptr larger;
    GR_TRY_CUDA(cu->MemAlloc(&larger, bytes), "cuMemAlloc",
                "%s: %zu byte%s of device memory for the copy could not be allocated.", gr_call,
                bytes, gr_s(bytes));
    if (staging->ptr)
        cu->MemFree(staging->ptr); /* waits for work that still uses the memory */
    staging->ptr = larger;
    staging->room = bytes;
    return GR_OK;
}

void gr_linear_free(gr_resource *resource, bool alive)
{
    const struct gr_driver_api *cu = gr_driver();
    struct gr_staging *staging = &resource->staging;
    if (alive && staging->ptr)
        cu->MemFree(staging->ptr);
    gr_work_end(&staging->work, alive);
    *staging = (struct gr_staging){0};
}

size_t gr_linear_pitch(size_t row_bytes)
{
    return (row_bytes + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
}

gr_status gr_linear_borrow(gr_resource *resource, size_t bytes, CUstream stream,
                           CUdeviceptr *memory)
{
    GR_TRY(reserve_staging(resource, bytes));
    *memory = resource->staging.ptr;
    return gr_work_follow(&resource->staging.work, stream);
}

static size_t staging_bytes(const struct part *part)
{
    return gr_linear_pitch(part->size.row) * part->size.rows * part->size.slices;
}

gr_status gr_linear_prepare(gr_resource *resource, unsigned level)
{
    gr_image_info info;
    struct part part;
    if (!gr_image_info_if_known(resource, &info))
        return GR_OK; /* the format is known only after a map */
    GR_TRY(measure_part(&info, level, &part));
    return reserve_staging(resource, staging_bytes(&part));
}

gr_status gr_linear_make(gr_buffer *buffer, unsigned level, unsigned layer)
{
    gr_resource *resource = buffer->resource;
    struct part part;
    GR_TRY(find_part(buffer, level, layer, &part));
    size_t pitch = gr_linear_pitch(part.size.row);
    size_t size = staging_bytes(&part);
    gr_linear_desc memory = GR_INIT(gr_linear_desc, .pitch = pitch);
    GR_TRY(gr_linear_borrow(resource, size, buffer->stream, &memory.device));
    if (gr_resource_reads(resource))
        GR_TRY(copy_part(&part, &memory, true, buffer->stream));
    atomic_store_explicit(&buffer->ptr, memory.device, memory_order_relaxed);
    buffer->size = size;
    atomic_store_explicit(&buffer->pitch, pitch, memory_order_relaxed);
    buffer->level = level;
    buffer->layer = layer;
    return GR_OK;
}

gr_status gr_linear_write_back(gr_buffer *buffer, CUstream stream)
{
    struct part part;
    const gr_linear_desc memory =
        GR_INIT(gr_linear_desc, .device = buffer->ptr, .pitch = buffer->pitch);
    if (gr_resource_writes(buffer->resource)) {
        GR_TRY(find_part(buffer, buffer->level, buffer->layer, &part));
        GR_TRY(copy_part(&part, &memory, false, stream));
    }
    return gr_work_mark(&buffer->resource->staging.work, stream);
}
