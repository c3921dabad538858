/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA side of the transports copy and peer; see staging.h. */
#include "vk/staging/staging.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/external/external.h"
#include "lib/cuda/end_after_event.h"

/* ---- What is owed ---------------------------------------------------------------------------- */

/*
 * Reserves room in each slot for the one part that a release adds at most, so that it cannot fail.
 * Allocates only if there are many parts.
 */
static gr_status reserve(struct vk_staging *staging)
{
    for (unsigned i = 0; i < staging->turns.count; i++) {
        struct vk_owed *owed = &staging->owed[i];
        if (owed->count < owed->room)
            continue;
        uint32_t room = owed->room ? 2 * owed->room : 4;
        VkBufferCopy *parts = realloc(owed->parts, room * sizeof(*parts));
        if (!parts)
            return gr_fail_memory();
        owed->parts = parts;
        owed->room = room;
    }
    return GR_OK;
}

/* Adds a part, and merges it with the parts that it overlaps or touches. */
static void add_part(struct vk_owed *owed, VkDeviceSize first, VkDeviceSize end)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < owed->count; i++) {
        const VkBufferCopy *p = &owed->parts[i];
        if (p->srcOffset > end || p->srcOffset + p->size < first) {
            owed->parts[kept++] = *p;
            continue;
        }
        end = p->srcOffset + p->size > end ? p->srcOffset + p->size : end;
        first = p->srcOffset < first ? p->srcOffset : first;
    }
    owed->parts[kept] = (VkBufferCopy){.srcOffset = first, .size = end - first};
    owed->count = kept + 1;
}

/* Removes what a newer slot has written. Of a part around it both ends are left. */
static void remove_part(struct vk_owed *owed, VkDeviceSize first, VkDeviceSize end)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < owed->count; i++) {
        const VkBufferCopy p = owed->parts[i];
        const VkDeviceSize last = p.srcOffset + p.size;
        if (p.srcOffset < first && last > end) /* the only part that overlaps */
            owed->parts[owed->count++] = (VkBufferCopy){.srcOffset = end, .size = last - end};
        if (p.srcOffset < first)
            owed->parts[kept++] = (VkBufferCopy){
                .srcOffset = p.srcOffset, .size = (last < first ? last : first) - p.srcOffset};
        else if (last > end)
            owed->parts[kept++] =
                (VkBufferCopy){.srcOffset = p.srcOffset > end ? p.srcOffset : end,
                               .size = last - (p.srcOffset > end ? p.srcOffset : end)};
    }
    owed->count = kept;
}

/* Notes that the newest slot has written the bytes, and that no other slot owes them. */
static void owe(struct vk_staging *staging, size_t first, size_t end)
{
    const unsigned newest = staging->turns.at;
    for (unsigned i = 0; i < staging->turns.count; i++)
        if (i != newest && staging->owed[i].count)
            remove_part(&staging->owed[i], first, end);
    add_part(&staging->owed[newest], first, end);
}

static void owe_nothing(struct vk_staging *staging)
{
    for (unsigned i = 0; i < staging->turns.count; i++)
        staging->owed[i].count = 0;
}

void vk_staging_note_submit(struct gr_external *r, bool took, bool handed)
{
    struct vk_staging *staging = vk_staging_of(r);
    struct gr_turns *turns = &staging->turns;
    for (unsigned i = 0; i < turns->count && took; i++)
        if (staging->owed[i].count)
            turns->of[i].drawn = r->base.sync.drawn;
    if (took)
        owe_nothing(staging);
    if (!handed || !(r->base.flags & GR_READ_ONLY))
        return;
    turns->at = gr_turns_next(&staging->turns);
    turns->of[turns->at].drawn = r->base.sync.drawn;
}

/* ---- Map and release ------------------------------------------------------------------------- */

/* The newest slot. */
static CUdeviceptr slot_ptr(const struct vk_staging *staging)
{
    return (CUdeviceptr)(uintptr_t)staging->memory.bytes +
           staging->turns.at * staging->memory.stride;
}

/* The array of a level has all layers. */
static gr_status move_image(const gr_resource *resource, const struct vk_staging *staging, bool in,
                            CUstream stream)
{
    const gr_image_info *image = &resource->image;
    for (unsigned i = 0; i < image->levels; i++) {
        struct gr_level level =
            gr_level_of(image, gr_format_element(image->format, image->channels), i);
        const struct gr_copy_side linear =
            gr_copy_linear(slot_ptr(staging) + staging->offsets[i], level);
        CUarray found;
        GR_TRY(gr_external_array(resource, i, 0, &found));
        const struct gr_copy_side array = gr_copy_array(found, 0);
        level.slices *= image->layers;
        GR_TRY(gr_copy_level(resource, in ? array : linear, in ? linear : array, level, stream));
    }
    return GR_OK;
}

/*
 * Copies the mapped part between staging memory and CUDA memory. CUDA finds out from the address
 * whether the staging memory is on the host.
 */
static gr_status move(gr_resource *resource, const struct vk_staging *staging,
                      const gr_buffer *buffer, bool in, CUstream stream)
{
    const CUdeviceptr ptr = staging->own + buffer->offset,
                      slot = slot_ptr(staging) + buffer->offset;
    if (resource->is_image)
        return move_image(resource, staging, in, stream);
    if (!staging->own)
        return GR_OK;
    return gr_copy_check(
        gr_driver()->MemcpyAsync(in ? ptr : slot, in ? slot : ptr, buffer->part, stream),
        "cuMemcpyAsync", resource);
}

static gr_status copy_in(gr_resource *resource, CUstream stream)
{
    struct vk_staging *staging = vk_staging_of(gr_external_of(resource));
    if (!resource->sync.owes)
        owe_nothing(staging);
    GR_TRY(reserve(staging));
    if (resource->flags & GR_WRITE_DISCARD)
        staging->turns.at = gr_turns_next(&staging->turns);
    resource->ptr = staging->own ? staging->own : slot_ptr(staging);
    if (!gr_resource_reads(resource))
        return GR_OK;
    GR_TRY(vk_staging_memory_copy(&staging->memory, staging->turns.at, true, stream));
    return move(resource, staging, resource->current, true, stream);
}

/* The newest slot is again that of the last release. */
void vk_staging_undo_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++) {
        struct gr_turns *turns = &vk_staging_of(gr_external_of(resources[i]))->turns;
        if (resources[i]->flags & GR_WRITE_DISCARD)
            turns->at = (turns->at + turns->count - 1) % turns->count;
    }
    gr_sync_undo_acquire(resources, n, stream);
}

gr_status vk_staging_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(gr_external_map(resources, n, stream));
    for (size_t i = 0; i < n; i++) {
        gr_status status = copy_in(resources[i], stream);
        if (status == GR_OK)
            continue;
        vk_staging_undo_map(resources, i, stream);
        gr_sync_undo_acquire(resources + i, n - i, stream);
        return status;
    }
    return GR_OK;
}

gr_status vk_staging_unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++) {
        const gr_buffer *buffer = resources[i]->mapped;
        struct vk_staging *staging = vk_staging_of(gr_external_of(resources[i]));
        if (!gr_resource_writes(resources[i]))
            continue;
        GR_TRY(move(resources[i], staging, buffer, false, stream));
        GR_TRY(vk_staging_memory_copy(&staging->memory, staging->turns.at, false, stream));
        if (resources[i]->is_image)
            owe(staging, 0, staging->memory.size);
        else
            owe(staging, buffer->offset, buffer->offset + buffer->part);
        resources[i]->sync.owes = true;
    }
    GR_TRY(gr_sync_release(resources, n, stream));
    for (size_t i = 0; i < n; i++) {
        struct gr_turns *turns = resources[i]->sync.turns;
        if (turns)
            turns->of[turns->at].computed = resources[i]->sync.computed;
    }
    return GR_OK;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void end(struct gr_import *import, bool alive)
{
    struct vk_staging *staging = (struct vk_staging *)import;
    if (alive && staging->own)
        gr_driver()->MemFree(staging->own);
    vk_staging_memory_end(&staging->memory, alive);
    vk_device_drop(staging->memory.binding.device);
    for (unsigned i = 0; i < staging->turns.count; i++)
        free(staging->owed[i].parts);
    free(staging);
}

static gr_status allocate_image(const gr_external_image_desc *desc, unsigned flags,
                                CUmipmappedArray *mipmapped)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC as;
    gr_external_image_desc own = *desc;
    own.color_attachment = false; /* for imported memory only */
    own.placed_levels = 0;
    const gr_external_part_desc part = GR_INIT(gr_external_part_desc, .image = &own);
    gr_external_array_desc(&part, flags, &as);
    CUresult result = gr_driver()->MipmappedArrayCreate(mipmapped, &as.arrayDesc, as.numLevels);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    *mipmapped = NULL;
    return gr_fail_cuda(result, "cuMipmappedArrayCreate",
                        "%s: a CUDA array of %zu x %zu x %zu texels with %u level%s for the copy "
                        "could not be created.",
                        gr_call, as.arrayDesc.Width, as.arrayDesc.Height, as.arrayDesc.Depth,
                        as.numLevels, gr_s(as.numLevels));
}

/* After an error the caller ends `staging`, and r->mipmapped does not exist. */
static gr_status allocate(struct vk_staging *staging, struct gr_external *r,
                          const gr_external_part_desc *part, bool by_peer, unsigned flags)
{
    size_t size = part->size;
    GR_TRY(reserve(staging));
    if (part->image) {
        const gr_image_info image = gr_external_image_info(part->image);
        size =
            gr_lay_out(&image, gr_format_element(image.format, image.channels), staging->offsets);
    }
    GR_TRY(vk_staging_memory_make(&staging->memory, by_peer, size, staging->turns.count));
    staging->import.size = size;
    if (part->image)
        return allocate_image(part->image, flags, &r->mipmapped);
    if (by_peer && !vk_device_crosses(staging->memory.binding.device))
        return GR_OK;
    CUdeviceptr ptr;
    GR_TRY_CUDA(gr_driver()->MemAlloc(&ptr, size), "cuMemAlloc",
                "%s: %zu byte%s of device memory for the copy could not be allocated.", gr_call,
                size, gr_s(size));
    staging->own = ptr;
    return GR_OK;
}

struct vk_staging *vk_staging_make(struct gr_external *r, const struct vk_binding *binding,
                                   const struct gr_context *context,
                                   const gr_external_part_desc *part, unsigned in_flight,
                                   unsigned flags)
{
    const bool by_peer = binding->transport == GR_TRANSPORT_PEER;
    GR_ENTERED entered = 0;
    gr_endings_collect();
    if (gr_context_enter(context, &entered) != GR_OK)
        return NULL;
    struct vk_staging *staging = gr_check_memory(calloc(1, sizeof(*staging)));
    if (!staging)
        return NULL;
    staging->import = (struct gr_import){
        .holds = 1, .dedicated = true, .owner = binding->device, .end_part = end};
    staging->memory.binding.device = binding->device;
    staging->turns.count = in_flight ? in_flight : 1;
    vk_device_hold(binding->device);
    if (allocate(staging, r, part, by_peer, flags) != GR_OK) {
        gr_import_drop(&staging->import, true);
        return NULL;
    }
    if (in_flight)
        r->base.sync.turns = &staging->turns;
    if (!part->image)
        r->base.ptr = staging->own ? staging->own : slot_ptr(staging);
    return staging;
}
