/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA side of the copy transport; see copy.h. */
#include "vk/copy/copy.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/plural.h"
#include "lib/cuda/end_after_event.h"

/* ---- What is owed ---------------------------------------------------------------------------- */

/*
 * Reserves room for one more part, so that a later release cannot fail. Allocates only if there are
 * many parts.
 */
static gr_status reserve(struct vk_owed *owed, const char *call)
{
    if (owed->count < owed->room)
        return GR_OK;
    uint32_t room = owed->room ? 2 * owed->room : 4;
    VkBufferCopy *parts = realloc(owed->parts, room * sizeof(*parts));
    if (!parts)
        return gr_fail_memory(call);
    owed->parts = parts;
    owed->room = room;
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

const struct vk_owed *vk_copy_owed(const struct gr_external *r)
{
    static const struct vk_owed none;
    return r->base.sync.owes ? &vk_copy_of(r)->owed : &none;
}

/* ---- Map and release ------------------------------------------------------------------------- */

static gr_status check_cuda(CUresult result, const char *driver_call, const gr_resource *resource)
{
    char text[160];
    if (result == CUDA_SUCCESS)
        return GR_OK;
    resource->backend->describe(resource, text, sizeof(text));
    return gr_fail_work(result, driver_call, "The copy of %s failed.", text);
}

/* Copies the mapped part between staging memory and CUDA memory. */
static gr_status move(gr_resource *resource, const gr_buffer *buffer, bool in, CUstream stream)
{
    const struct vk_copy *copy = vk_copy_of(gr_external_of(resource));
    unsigned char *host = copy->staging.bytes + buffer->offset;
    const CUdeviceptr ptr = copy->ptr + buffer->offset, there = (CUdeviceptr)(uintptr_t)host;
    if (copy->image)
        return check_cuda(
            vk_copy_image_move(copy->image, host, copy->staging.way == VK_STAGING_PEER, in, stream),
            "cuMemcpy3DAsync", resource);
    return check_cuda(
        gr_driver()->MemcpyAsync(in ? ptr : there, in ? there : ptr, buffer->part, stream),
        "cuMemcpyAsync", resource);
}

static gr_status copy_in(gr_resource *resource, CUstream stream)
{
    const struct gr_external *r = gr_external_of(resource);
    struct vk_copy *copy = vk_copy_of(r);
    copy->owed.count = vk_copy_owed(r)->count;
    GR_TRY(reserve(&copy->owed, "gr_map"));
    if (!gr_resource_reads(&r->base))
        return GR_OK;
    GR_TRY(vk_staging_before_read(&copy->staging, stream));
    return move(resource, resource->pending, true, stream);
}

static gr_status copy_out(gr_resource *resource, CUstream stream)
{
    struct gr_external *r = gr_external_of(resource);
    struct vk_copy *copy = vk_copy_of(r);
    const gr_buffer *buffer = resource->mapped;
    if (!gr_resource_writes(&r->base))
        return GR_OK;
    GR_TRY(move(resource, buffer, false, stream));
    GR_TRY(vk_staging_after_write(&copy->staging, stream));
    add_part(&copy->owed, buffer->offset, buffer->offset + buffer->part);
    r->base.sync.owes = true;
    return GR_OK;
}

gr_status vk_copy_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(gr_external_map(resources, n, stream));
    for (size_t i = 0; i < n; i++) {
        gr_status status = copy_in(resources[i], stream);
        if (status == GR_OK)
            continue;
        gr_sync_undo_acquire(resources, n, stream);
        return status;
    }
    return GR_OK;
}

gr_status vk_copy_unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++)
        GR_TRY(copy_out(resources[i], stream));
    return gr_sync_release(resources, n, stream);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void end(struct gr_import *import, bool alive)
{
    struct vk_copy *copy = (struct vk_copy *)import;
    if (alive && copy->ptr)
        gr_driver()->MemFree(copy->ptr);
    vk_staging_end(&copy->staging, alive);
    vk_device_drop(copy->staging.binding.device);
    free(copy->owed.parts);
    free(copy->image);
    free(copy);
}

static gr_status allocate_buffer(struct vk_copy *copy, size_t size, const char *call)
{
    CUresult result = gr_driver()->MemAlloc(&copy->ptr, size);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    copy->ptr = 0;
    return gr_fail_cuda(result, "cuMemAlloc",
                        "%s: %zu byte%s of device memory for the copy could not be allocated.",
                        call, size, gr_s(size));
}

/* After an error the caller ends `copy`, and r->mipmapped does not exist. */
static gr_status allocate(struct vk_copy *copy, struct gr_external *r,
                          const gr_external_part_desc *part, unsigned flags, const char *call)
{
    size_t size = part->size;
    if (part->image) {
        copy->image = calloc(1, sizeof(*copy->image));
        if (!copy->image)
            return gr_fail_memory(call);
        size = vk_copy_image_layout(copy->image, part->image);
    }
    GR_TRY(reserve(&copy->owed, call));
    GR_TRY(vk_staging_make(&copy->staging, size, call));
    copy->import.size = size;
    return part->image
               ? vk_copy_image_allocate(copy->image, part->image, flags, &r->mipmapped, call)
               : allocate_buffer(copy, size, call);
}

static struct vk_copy *new_copy(gr_vk_device *device, const char *call)
{
    struct vk_copy *copy = gr_check_memory(calloc(1, sizeof(*copy)), call);
    if (!copy)
        return NULL;
    copy->import = (struct gr_import){.holds = 1, .dedicated = true, .end_part = end};
    copy->staging.binding.device = device;
    vk_device_hold(device);
    return copy;
}

struct vk_copy *vk_copy_make(struct gr_external *r, gr_vk_device *device,
                             const struct gr_context *context, const gr_external_part_desc *part,
                             unsigned flags, const char *call)
{
    bool pushed;
    gr_endings_collect();
    if (gr_context_enter(context, &pushed, call) != GR_OK)
        return NULL;
    struct vk_copy *copy = new_copy(device, call);
    if (copy && allocate(copy, r, part, flags, call) != GR_OK) {
        gr_import_drop(&copy->import, true);
        copy = NULL;
    }
    gr_context_leave(pushed);
    return copy;
}
