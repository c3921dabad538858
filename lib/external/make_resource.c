/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates resources in external memory: imports the memory, and maps a part of it for the lifetime
 * of the resource.
 */
#include "lib/external/external.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/cuda/array_format.h"
#include "lib/resource/backend.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/flags.h"
#include "lib/cuda/import_handle.h"
#include "lib/resource/resource.h"
#include "lib/cuda/end_after_event.h"
#include "lib/base/struct_size.h"

/* ---- The part of the memory ------------------------------------------------------------------ */

static gr_status map_buffer(struct gr_external *r, const gr_external_part_desc *part)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.offset = part->offset, .size = r->base.size};
    GR_TRY_CUDA(gr_driver()->ExternalMemoryGetMappedBuffer(&r->base.ptr, r->memory->handle, &desc),
                "cuExternalMemoryGetMappedBuffer",
                "%zu byte%s at offset %zu of the memory could not be mapped. Are the size of the "
                "memory, %zu, and the offset of the buffer right?",
                r->base.size, gr_s(r->base.size), part->offset, r->memory->size);
    return GR_OK;
}

static gr_status map_image(struct gr_external *r, const gr_external_part_desc *part)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc;
    gr_external_array_desc(part, r->base.flags, &desc);
    GR_TRY_CUDA(
        gr_driver()->ExternalMemoryGetMappedMipmappedArray(&r->mipmapped, r->memory->handle, &desc),
        "cuExternalMemoryGetMappedMipmappedArray",
        "The image at offset %zu of the memory, which has %zu byte%s, could not be mapped. Does "
        "the description match the image: tiling, levels, layers, format, use as an attachment, "
        "dedicated memory or not?",
        part->offset, r->memory->size, gr_s(r->memory->size));
    return GR_OK;
}

gr_image_info gr_external_image_info(const gr_external_image_desc *image)
{
    return (gr_image_info){
        .width = image->width,
        .height = image->height ? image->height : 1,
        .depth = image->depth ? image->depth : 1,
        .levels = image->levels ? image->levels : 1,
        .layers = image->layers ? image->layers : 1,
        .cube = image->cube,
        .layered = image->layers > 0,
        .srgb = image->srgb,
        .normalized = image->normalized,
        .format = image->format,
        .channels = image->channels,
    };
}

/* Sets the fields of the part, which was checked. */
static void note_part(struct gr_external *r, struct gr_import *import,
                      const gr_external_part_desc *part)
{
    r->memory = import;
    r->offset = part->offset;
    r->base.is_image = part->image;
    if (part->image) {
        r->image = *part->image;
        r->base.is_3d = part->image->depth > 0;
        r->base.image = gr_external_image_info(part->image);
    } else {
        r->base.size = part->size ? part->size : import->size - part->offset;
    }
}

static gr_status check_flags(const gr_external_part_desc *part, unsigned flags)
{
    if (part->image && gr_format_is_compressed(part->image->format) &&
        (flags & GR_SURFACE_LOAD_STORE))
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "CUDA has no surfaces of compressed blocks (format 0x%x): leave out "
                       "GR_SURFACE_LOAD_STORE, and in Vulkan VK_IMAGE_USAGE_STORAGE_BIT.",
                       part->image->format);
    return gr_flags_check(flags, part->image);
}

gr_status gr_external_make_in(struct gr_external *r, struct gr_import *import,
                              const struct gr_context *context, const gr_external_part_desc *part,
                              unsigned flags)
{
    r->base.flags = flags;
    note_part(r, import, part);
    GR_TRY((part->image ? map_image : map_buffer)(r, part));
    gr_resource_init(&r->base, r->base.backend, context, (void *)import->handle, flags);
    gr_resource *resource = &r->base;
    gr_resource_log_each(&resource, 1);
    return GR_OK;
}

gr_status gr_external_check_all(const gr_external_memory_desc *info, unsigned flags)
{
    GR_TRY(gr_external_check(info));
    GR_TRY(gr_external_check_part(info->part, info->size, info->dedicated, info->type));
    return check_flags(info->part, flags);
}

struct gr_external *gr_external_new(void)
{
    struct gr_external *r = gr_check_memory(calloc(1, sizeof(*r)));
    if (r)
        r->base.backend = &gr_external_backend;
    return r;
}

gr_status gr_external_make(struct gr_external *r, const struct gr_context *context,
                           const gr_external_memory_desc *info, unsigned flags)
{
    gr_endings_collect();
    GR_ENTER(context);
    struct gr_import *import = gr_import_memory(info);
    gr_status status = import ? gr_external_make_in(r, import, context, info->part, flags)
                              : gr_last_error()->status;
    if (status != GR_OK)
        gr_import_drop(import, true);
    if (status == GR_OK && gr_external_has_fd(info->type))
        gr_fd_close(info->fd);
    return status;
}

void gr_external_make_mapped(struct gr_external *r, const struct gr_context *context,
                             struct gr_import *memory, const gr_external_part_desc *part,
                             unsigned flags)
{
    note_part(r, memory, part);
    gr_resource_init(&r->base, r->base.backend, context,
                     part->image ? (void *)r->mipmapped : (void *)(uintptr_t)r->base.ptr, flags);
}

void gr_external_make_buffer(struct gr_external *r, const struct gr_context *context,
                             struct gr_import *memory, size_t size, unsigned flags)
{
    r->base.ptr = memory->ptr;
    gr_external_make_mapped(r, context, memory, &GR_INIT(gr_external_part_desc, .size = size),
                            flags);
}

/* ---- The caller's structs -------------------------------------------------------------------- */

/*
 * The caller's structs, converted to those of this library. Fields and structs that the caller does
 * not have are set to defaults.
 */
struct given {
    gr_external_memory_desc memory;
    gr_external_part_desc part;
    gr_external_image_desc image;
};

static gr_status take_part(struct given *given, const gr_external_part_desc *part)
{
    GR_TRY(GR_TAKE(gr_external_part_desc, &given->part, part));
    if (!given->part.image)
        return GR_OK;
    GR_TRY(GR_TAKE(gr_external_image_desc, &given->image, given->part.image));
    given->part.image = &given->image;
    return GR_OK;
}

static gr_status take_memory(struct given *given, const gr_external_memory_desc *memory)
{
    GR_REFUSE_IF(!memory, "`memory` is NULL: describe the memory.");
    GR_TRY(GR_TAKE(gr_external_memory_desc, &given->memory, memory));
    GR_TRY(take_part(given, given->memory.part));
    given->memory.part = &given->part;
    return GR_OK;
}

gr_resource *gr_from_external_memory(const gr_external_memory_desc *memory, unsigned flags)
{
    GR_CALL();
    struct gr_context context;
    struct given given;
    if (take_memory(&given, memory) != GR_OK || !gr_driver_load() ||
        gr_context_choose(&context, gr_device_first) != GR_OK)
        return NULL;
    struct gr_external *r = gr_external_new();
    if (r && gr_external_check_all(&given.memory, flags) == GR_OK &&
        gr_external_make(r, &context, &given.memory, flags) == GR_OK)
        return &r->base;
    free(r);
    gr_context_drop(&context);
    return NULL;
}

static gr_status check_sharing(const gr_resource *resource, const gr_external_part_desc *part,
                               unsigned flags)
{
    GR_TRY(gr_resource_check_slot(resource));
    GR_TRY(gr_resource_check_open(resource));
    const struct gr_external *r = gr_external_of(resource);
    if (!r || gr_external_is_copied(r))
        return gr_fail(GR_ERR_STATE,
                       "The resource is not in external memory; it uses the transport %s.",
                       resource->backend->name);
    GR_REFUSE_IF(r->memory->dedicated,
                 "The memory is dedicated to one buffer or image: it has no other part.");
    GR_TRY(gr_external_check_part(part, r->memory->size, false, r->memory->type));
    return check_flags(part, flags);
}

gr_resource *gr_from_same_memory(gr_resource *resource, const gr_external_part_desc *part,
                                 unsigned flags)
{
    GR_CALL();
    struct gr_context context;
    struct given given;
    if (take_part(&given, part) != GR_OK || check_sharing(resource, &given.part, flags) != GR_OK ||
        gr_context_hold(&resource->context, &context) != GR_OK)
        return NULL;
    struct gr_import *import = gr_external_of(resource)->memory;
    struct gr_external *r = gr_external_new();
    GR_ENTERED entered = 0;
    if (r && gr_context_enter(&context, &entered) == GR_OK &&
        gr_external_make_in(r, import, &context, &given.part, flags) == GR_OK) {
        gr_import_hold(import);
        return &r->base;
    }
    free(r);
    gr_context_drop(&context);
    return NULL;
}
