/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Exports resources, and checks whether they can be exported. */
#include "lib/message/message.h"

#include "lib/base/error.h"
#include "lib/external/external.h"
#include "lib/resource/backend.h"
#include "lib/resource/resource.h"

gr_status gr_share_check(const gr_resource *resource)
{
    GR_TRY(gr_resource_check_open(resource));
    gr_resource_collect(resource);
    if (resource->mapped)
        return gr_fail(GR_ERR_STATE,
                       "The resource is mapped: release its buffer before sending it.");
    const struct gr_external *external = gr_external_of(resource);
    if (external && gr_external_is_copied(external))
        return gr_fail(
            GR_ERR_UNSUPPORTED,
            "The resource uses the copy transport, whose memory belongs to this process. "
            "Send a resource of a Vulkan device that shares memory with CUDA "
            "(gr_vk_device_get_info()).");
    if (external && external->memory->end_part)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "The buffer shares its memory with other buffers or tensors, whose bytes "
                       "would be sent as well. Create it by gr_create_gl_buffer() without "
                       "gr_gl_options.packed, so that it has its own memory.");
    if (resource->backend->export_memory)
        return GR_OK;
    char text[160];
    resource->backend->describe(resource, text, sizeof(text));
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "%s, with the transport %s, is in memory that grinterop cannot export. Create "
                   "it by gr_create_gl_buffer() or gr_create_gl_image() with GR_TRANSPORT_SHARED "
                   "(not in OpenGL ES), by gr_create_vk_buffer() or gr_create_vk_image(), or from "
                   "a Vulkan object whose memory can be exported.",
                   text, resource->backend->name);
}

gr_status gr_share_describe(const gr_resource *resource, struct gr_description *d,
                            struct gr_message *message)
{
    struct gr_memory_export memory = {.fd = -1};
    *d = (struct gr_description){0};
    message->fd_count = 0;
    GR_ENTER(&resource->context);
    GR_TRY(resource->backend->export_memory(resource, &memory));
    message->fds[GR_MEMORY_FD] = memory.fd;
    message->fd_count = 1;
    GR_TRY(gr_share_set_device(d, memory.device));
    d->vmm = memory.vmm;
    d->dedicated = memory.dedicated;
    d->memory_size = memory.size;
    d->offset = memory.offset;
    d->flags = resource->flags;
    d->is_image = resource->is_image;
    d->size = resource->is_image ? 0 : resource->size;
    if (resource->is_image) {
#define NOTE_FIELD(name, bytes) d->name = memory.image.name;
        GR_DESCRIPTION_IMAGE_FIELDS(NOTE_FIELD)
#undef NOTE_FIELD
    }
    gr_description_write(d, message);
    return GR_OK;
}

gr_status gr_share_export(const gr_resource *resource, gr_semaphore *semaphore,
                          gr_semaphore_desc *info)
{
    char text[160];
    *info = GR_INIT(gr_semaphore_desc, .fd = -1);
    if (resource->backend->export_semaphore && semaphore->handle) {
        gr_status status = resource->backend->export_semaphore(resource, semaphore, info);
        info->value = semaphore->timeline ? gr_semaphore_last(semaphore) : 0;
        return status;
    }
    gr_semaphore_describe(semaphore, text, sizeof(text));
    return gr_fail(
        GR_ERR_UNSUPPORTED,
        "The resource's semaphore cannot be exported: %s. Send a ring, whose signals grinterop "
        "relays, or remove the semaphores by gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, "
        "GR_SEMAPHORE_NONE) and let the program itself order the two processes.",
        text);
}
