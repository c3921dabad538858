/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The lifetime of resources in Vulkan memory: code that buffers and images have in common. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/external/external.h"
#include "lib/resource/resource.h"
#include "lib/cuda/end_after_event.h"
#include "vk/staging/staging.h"
#include "vk/resource/resource.h"
#include "vk/sync/sync.h"

static void describe(const gr_resource *resource, char *text, size_t size)
{
    const struct vk_resource *r = vk_resource_of(resource);
    const gr_image_info *image = &resource->image;
    if (r->binding.image)
        snprintf(text, size, "Vulkan image 0x%llx, %s, %zux%zux%zu, %u level%s, %u layer%s",
                 GR_VK_NUMBER(r->binding.image), r->format, image->width, image->height,
                 image->depth, image->levels, gr_s(image->levels), image->layers,
                 gr_s(image->layers));
    else
        snprintf(text, size, "Vulkan buffer 0x%llx", GR_VK_NUMBER(r->binding.buffer));
}

static void destroy(gr_resource *resource)
{
    struct vk_resource *r = vk_resource_of(resource);
    gr_vk_device *device = r->binding.device;
    gr_external_end(&r->external);
    if (r->owned)
        vk_binding_end(&r->binding);
    vk_device_end_use(device, false);
    vk_device_drop(device);
    gr_live_free_memory(GR_LIVE_RESOURCE, r);
}

#ifndef _WIN32

static gr_status export_for_peer(const gr_resource *resource, struct gr_memory_export *memory)
{
    const struct vk_resource *r = vk_resource_of(resource);
    const struct vk_binding *b = &r->binding;
    *memory = (struct gr_memory_export){
        .device = b->device->cuda,
        .size = (size_t)b->memory_size,
        .dedicated = b->dedicated,
        .offset = r->external.offset,
        .image = r->external.image,
    };
    return vk_export_memory(b->device, b->memory, &memory->fd);
}

static gr_semaphore *create_semaphore(const gr_resource *resource)
{
    return vk_semaphore_create(vk_resource_of(resource)->binding.device, VK_SEMAPHORE_TYPE_TIMELINE,
                               VK_OF_SEMAPHORE);
}

#endif

/* Gives the resource the pair of its device; without timelines the application sets semaphores. */
static gr_status begin_order(gr_resource *resource)
{
    struct gr_semaphore_pair *pair;
    GR_TRY(vk_pair_get(vk_resource_of(resource)->binding.device, &pair));
    if (pair)
        gr_sync_begin(&resource->sync, pair);
    return GR_OK;
}

/*
 * The end of the import may block until a stream goes on that waits for the device. To name that
 * wait, also a resource without a use needs the semaphores.
 */
static gr_status unregister(gr_resource *resource)
{
    struct gr_semaphore_pair *pair = vk_pair_now(vk_resource_of(resource)->binding.device);
    if (pair && !resource->sync.decided)
        gr_sync_begin(&resource->sync, pair);
    return gr_external_unregister(resource);
}

/* Only POSIX systems share resources with other processes. */
#ifdef _WIN32
#define SEMAPHORES .create_semaphore = NULL
#define MEMORY     .export_memory = NULL
#else
#define SEMAPHORES .export_semaphore = vk_semaphore_export, .create_semaphore = create_semaphore
#define MEMORY     .export_memory = export_for_peer
#endif

/* The operations that all transports have in common. */
#define OPERATIONS                                                                                 \
    .api = GR_GRAPHICS_VULKAN, GR_EXTERNAL_OPERATIONS, .ordered_by_submits = true,                 \
    .run = gr_external_run, .unregister = unregister, .collect = gr_external_collect,              \
    .describe = describe, .destroy = destroy, .begin_order = begin_order, SEMAPHORES

#define EXTERNAL                                                                                   \
    .transport = GR_TRANSPORT_EXTERNAL, .name = "external", OPERATIONS, MEMORY,                    \
    .undo_map = gr_sync_undo_acquire
#define COPIES .map = vk_staging_map, .undo_map = vk_staging_undo_map, .unmap = vk_staging_unmap

static const struct gr_backend
    vk_external = {EXTERNAL, .map = gr_external_map, .unmap = gr_sync_release},
    vk_of_tensor = {EXTERNAL, .map = gr_external_map_used, .unmap = gr_external_unmap_used},
    vk_copy = {.transport = GR_TRANSPORT_COPY, .name = "copy", OPERATIONS, COPIES},
    vk_peer = {.transport = GR_TRANSPORT_PEER, .name = "peer", OPERATIONS, COPIES};

struct vk_resource *vk_resource_of(const gr_resource *resource)
{
    return resource && resource->backend->api == GR_GRAPHICS_VULKAN ? (struct vk_resource *)resource
                                                                    : NULL;
}

/* Returns the buffer, image and memory for a public query; NULL after recording an error. */
static const struct vk_binding *binding_of(const gr_resource *resource)
{
    if (gr_resource_check_slot(resource) != GR_OK)
        return NULL;
    const struct vk_resource *r = vk_resource_of(resource);
    if (!r)
        gr_fail(GR_ERR_STATE, "The resource was not made from a Vulkan object.");
    return r ? &r->binding : NULL;
}

VkBuffer gr_vk_buffer(const gr_resource *resource)
{
    GR_CALL();
    const struct vk_binding *b = binding_of(resource);
    return b ? b->buffer : VK_NULL_HANDLE;
}

VkImage gr_vk_image(const gr_resource *resource)
{
    GR_CALL();
    const struct vk_binding *b = binding_of(resource);
    return b ? b->image : VK_NULL_HANDLE;
}

VkDeviceMemory gr_vk_memory(const gr_resource *resource)
{
    GR_CALL();
    const struct vk_binding *b = binding_of(resource);
    return b ? b->memory : VK_NULL_HANDLE;
}

/* Allocates the staging. */
static gr_status make_copied(struct vk_resource *r, const struct gr_context *context,
                             const gr_external_part_desc *part, unsigned flags)
{
    gr_resource *resource = &r->external.base;
    char slots[80] = "";
    resource->backend = r->binding.transport == GR_TRANSPORT_PEER ? &vk_peer : &vk_copy;
    struct vk_staging *staging =
        vk_staging_make(&r->external, &r->binding, context, part, r->in_flight, flags);
    if (!staging)
        return gr_last_error()->status;
    if (r->in_flight)
        snprintf(slots, sizeof(slots), "%u staging buffers of %zu byte%s, ", r->in_flight,
                 staging->memory.size, gr_s(staging->memory.size));
    snprintf(r->transport, sizeof(r->transport), "%s, %s%s, since %s", resource->backend->name,
             slots, vk_staging_text(staging->memory.way), r->why);
    resource->transport = r->transport;
    gr_external_make_mapped(&r->external, context, &staging->import, part, flags);
    gr_resource_log_each(&resource, 1);
    return GR_OK;
}

/* The memory is that of a tensor. */
static gr_status make_in_place(struct vk_resource *r, const struct gr_context *context,
                               const gr_external_part_desc *part, unsigned flags)
{
    gr_resource *resource = &r->external.base;
    resource->backend = &vk_of_tensor;
    gr_import_hold(r->external.memory);
    gr_external_make_buffer(&r->external, context, r->external.memory, part->size, flags);
    snprintf(r->transport, sizeof(r->transport), "%s (in the memory of a tensor)",
             resource->backend->name);
    resource->transport = r->transport;
    gr_resource_log_each(&resource, 1);
    return GR_OK;
}

gr_resource *vk_resource_make(const struct vk_resource *draft, const gr_external_part_desc *part,
                              unsigned flags)
{
    struct gr_context context;
    const struct vk_binding *b = &draft->binding;
    struct vk_resource *r = gr_check_memory(malloc(sizeof(*r)));
    if (!r || gr_context_hold(&b->device->context, &context) != GR_OK)
        goto fail;
    *r = *draft;
    r->external.base.backend = &vk_external;
    gr_status status = vk_is_copied(b) ? make_copied(r, &context, part, flags)
                       : r->external.memory
                           ? make_in_place(r, &context, part, flags)
                           : vk_memory_import(b, &r->external, &context, part, flags);
    if (status == GR_OK) {
        r->why = NULL;
        vk_device_hold(b->device);
        vk_device_begin_use(b->device);
        /* A new buffer of the application may have contents, and only a submit copies them. */
        const bool has_contents =
            vk_is_copied(b) && !r->owned && gr_resource_reads(&r->external.base);
        r->external.base.sync.held_by =
            b->image || has_contents ? GR_HELD_BY_GRAPHICS : GR_HELD_BY_NOBODY;
        return &r->external.base;
    }
    gr_context_drop(&context);
fail:
    free(r);
    return NULL;
}
