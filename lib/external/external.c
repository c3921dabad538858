/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources in external memory. The import stays for the life of the resource; a map only waits for
 * the graphics API's semaphore and a release only signals CUDA's.
 */
#include "lib/external/external.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/backend.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "lib/flags.h"
#include "lib/import_handle.h"
#include "lib/log.h"
#include "lib/retire.h"

/* ---- Imports --------------------------------------------------------------------------------- */

static void drop_import(struct gr_import *import, bool alive)
{
    if (!import || __atomic_sub_fetch(&import->holds, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (alive && import->handle)
        gr_driver()->cuDestroyExternalMemory(import->handle);
    else if (alive)
        gr_vmm_end(&import->vmm);
    free(import);
}

/*
 * The driver takes a descriptor when the import succeeds, but the caller's is to be taken only when
 * all has succeeded: so the driver gets a copy.
 */
static gr_status import_handle(struct gr_import *import, const gr_external_memory_info *info,
                               const char *call)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc;
    gr_external_handle_desc(info, &desc);
    if (gr_external_has_fd(info->type)) {
        desc.handle.fd = gr_fd_copy(info->fd);
        if (desc.handle.fd < 0)
            return gr_fail(
                GR_ERR_INVALID_VALUE, call,
                "The file descriptor %d is not open, or there is none left for a copy: was "
                "it closed, or taken by an earlier import?",
                info->fd);
    }
    CUresult result = gr_driver()->cuImportExternalMemory(&import->handle, &desc);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    if (gr_external_has_fd(info->type))
        gr_fd_close(desc.handle.fd);
    return gr_external_refused(info, result, call);
}

static struct gr_import *make_import(const gr_external_memory_info *info, const char *call)
{
    struct gr_import *import = calloc(1, sizeof(*import));
    if (!import) {
        gr_fail_memory(call);
        return NULL;
    }
    if (import_handle(import, info, call) != GR_OK) {
        free(import);
        return NULL;
    }
    import->holds = 1;
    import->type = info->type;
    import->size = info->size;
    import->dedicated = info->dedicated;
    return import;
}

/* ---- The part of the memory that the resource is --------------------------------------------- */

static gr_status map_buffer(struct gr_external *r, const gr_external_part *part)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.offset = part->offset, .size = r->base.size};
    CUresult result =
        gr_driver()->cuExternalMemoryGetMappedBuffer(&r->ptr, r->memory->handle, &desc);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(
        result, "cuExternalMemoryGetMappedBuffer",
        "%zu bytes at offset %zu of the memory, which has %zu, could not be mapped. "
        "Is the memory as large as was said, and the offset the one it is bound at?",
        r->base.size, part->offset, r->memory->size);
}

static gr_status map_image(struct gr_external *r, const gr_external_part *part)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc;
    gr_external_array_desc(part, r->base.flags, &desc);
    CUresult result = gr_driver()->cuExternalMemoryGetMappedMipmappedArray(
        &r->mipmapped, r->memory->handle, &desc);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(
        result, "cuExternalMemoryGetMappedMipmappedArray",
        "The image at offset %zu of the memory, which has %zu bytes, could not be mapped. Is it "
        "described as it was made: tiling, levels, layers, format, use as an attachment, and "
        "memory "
        "dedicated to it or not?",
        part->offset, r->memory->size);
}

static void note_image(gr_resource *resource, const gr_external_image *image)
{
    resource->is_image = true;
    resource->image = (struct gr_image){
        .width = image->width,
        .height = image->height ? image->height : 1,
        .depth = image->depth ? image->depth : 1,
        .levels = image->levels ? image->levels : 1,
        .layers = image->layers ? image->layers : 1,
        .is_3d = image->depth > 0,
        .cube = image->cube,
        .layered = image->layers > 0,
        .srgb = image->srgb,
        .normalized = image->normalized,
    };
}

static gr_status map_part(struct gr_external *r, const gr_external_part *part)
{
    r->offset = part->offset;
    if (!part->image) {
        r->base.size = part->size ? part->size : r->memory->size - part->offset;
        return map_buffer(r, part);
    }
    note_image(&r->base, part->image);
    return map_image(r, part);
}

static gr_status check_flags(const gr_external_part *part, unsigned flags, const char *call)
{
    unsigned for_buffers = GR_READ_ONLY | GR_WRITE_DISCARD;
    return gr_flags_check(
        flags, part->image ? for_buffers | GR_SURFACE_LOAD_STORE | GR_TEXTURE_GATHER : for_buffers,
        call);
}

/* Makes the part a resource. The import's hold is the resource's on success. */
static gr_status make_in(struct gr_external *r, struct gr_import *import,
                         const struct gr_context *context, const gr_external_part *part,
                         unsigned flags, const char *call)
{
    r->memory = import;
    r->base.flags = flags;
    gr_status status = map_part(r, part);
    if (status != GR_OK)
        return status;
    gr_resource_init(&r->base, &gr_external_backend, context, (void *)import->handle, flags);
    gr_resource *resource = &r->base;
    gr_resource_log_each(call, &resource, 1);
    return GR_OK;
}

gr_status gr_external_make(struct gr_external *r, const struct gr_context *context,
                           const gr_external_memory_info *info, unsigned flags, const char *call)
{
    bool pushed;
    gr_status status = gr_external_check(info, call);
    if (status == GR_OK)
        status = gr_external_check_part(&info->part, info->size, info->dedicated, info->type, call);
    if (status == GR_OK)
        status = check_flags(&info->part, flags, call);
    gr_retired_collect();
    if (status == GR_OK)
        status = gr_context_enter(context, &pushed, call);
    if (status != GR_OK)
        return status;
    struct gr_import *import = make_import(info, call);
    status = import ? make_in(r, import, context, &info->part, flags, call) : gr_last_error(NULL);
    if (import && status != GR_OK)
        drop_import(import, true);
    gr_context_leave(pushed);
    if (status == GR_OK && gr_external_has_fd(info->type))
        gr_fd_close(info->fd);
    return status;
}

gr_status gr_external_make_vmm(struct gr_external *r, const struct gr_context *context, size_t size,
                               const struct gr_memory_export *import, unsigned flags,
                               const char *call)
{
    bool pushed;
    struct gr_import *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return gr_fail_memory(call);
    gr_retired_collect();
    gr_status status = gr_context_enter(context, &pushed, call);
    if (status == GR_OK) {
        status = import ? gr_vmm_import(&memory->vmm, import->fd, import->size)
                        : gr_vmm_create(&memory->vmm, size);
        gr_context_leave(pushed);
    }
    if (status != GR_OK) {
        free(memory);
        return status;
    }
    memory->holds = 1;
    memory->size = memory->vmm.size;
    memory->dedicated = true;
    r->memory = memory;
    r->base.size = size;
    r->ptr = memory->vmm.ptr;
    gr_resource_init(&r->base, &gr_external_backend, context, (void *)(uintptr_t)memory->vmm.ptr,
                     flags);
    return GR_OK;
}

gr_resource *gr_from_external_memory(const gr_external_memory_info *info, unsigned flags)
{
    struct gr_context context;
    if (!info) {
        gr_fail(GR_ERR_INVALID_VALUE, __func__, "`info` is NULL: describe the memory.");
        return NULL;
    }
    if (!gr_cuda() || gr_context_choose(&context, gr_context_first_device, __func__) != GR_OK)
        return NULL;
    struct gr_external *r = calloc(1, sizeof(*r));
    if (!r)
        gr_fail_memory(__func__);
    if (r && gr_external_make(r, &context, info, flags, __func__) == GR_OK)
        return &r->base;
    free(r);
    gr_context_drop(&context);
    return NULL;
}

static gr_status check_sharing(const gr_resource *resource, const gr_external_part *part,
                               unsigned flags, const char *call)
{
    gr_status status = gr_resource_check_open(resource, call);
    const struct gr_external *r = gr_external_of(resource);
    if (status == GR_OK && !r)
        status = gr_fail(GR_ERR_STATE, call, "The resource is not in external memory, but by %s.",
                         resource->backend->name);
    if (status == GR_OK && !part)
        status = gr_fail(GR_ERR_INVALID_VALUE, call, "`part` is NULL: describe the part.");
    if (status == GR_OK && r->memory->dedicated)
        status = gr_fail(GR_ERR_INVALID_VALUE, call,
                         "The memory was allocated for one buffer or image (dedicated): it has no "
                         "other part.");
    if (status == GR_OK)
        status = gr_external_check_part(part, r->memory->size, false, r->memory->type, call);
    return status == GR_OK ? check_flags(part, flags, call) : status;
}

gr_resource *gr_from_same_memory(gr_resource *resource, const gr_external_part *part,
                                 unsigned flags)
{
    struct gr_context context;
    bool pushed;
    if (check_sharing(resource, part, flags, __func__) != GR_OK ||
        gr_context_hold(&resource->context, &context, __func__) != GR_OK)
        return NULL;
    struct gr_import *import = gr_external_of(resource)->memory;
    struct gr_external *r = calloc(1, sizeof(*r));
    gr_status status = r ? gr_context_enter(&context, &pushed, __func__) : gr_fail_memory(__func__);
    if (status == GR_OK) {
        status = make_in(r, import, &context, part, flags, __func__);
        gr_context_leave(pushed);
    }
    if (status == GR_OK) {
        __atomic_fetch_add(&import->holds, 1, __ATOMIC_RELAXED);
        return &r->base;
    }
    free(r);
    gr_context_drop(&context);
    return NULL;
}

/* ---- The end, which must not overtake the streams -------------------------------------------- */

/* What a closed resource leaves until the streams have passed. */
struct leftover {
    struct gr_retired retired;
    CUdeviceptr ptr;
    CUmipmappedArray mipmapped;
    struct gr_import *memory;
    struct gr_sync sync;
};

static void end_leftover(struct leftover *left, bool alive)
{
    const gr_cuda_api *cu = gr_driver();
    if (alive && left->ptr && left->memory->handle)
        cu->cuMemFree(left->ptr);
    if (alive && left->mipmapped)
        cu->cuMipmappedArrayDestroy(left->mipmapped);
    drop_import(left->memory, alive);
    gr_sync_end(&left->sync, alive);
}

static void end_retired(struct gr_retired *retired, bool alive)
{
    end_leftover((struct leftover *)retired, alive);
    free(retired);
}

/* Sets what is left aside until `after`; without memory for that the thread waits. */
static void retire(struct leftover *left, struct gr_context *context, CUevent after)
{
    struct leftover *kept = malloc(sizeof(*kept));
    if (!kept) {
        gr_driver()->cuEventSynchronize(after);
        gr_driver()->cuEventDestroy(after);
        end_leftover(left, true);
        return;
    }
    *kept = *left;
    kept->retired = (struct gr_retired){.context = *context, .after = after, .end = end_retired};
    context->primary_of = -1; /* its hold has moved */
    gr_retire(&kept->retired);
}

static gr_status unregister(gr_resource *resource)
{
    struct gr_external *r = gr_external_of(resource);
    struct leftover left = {
        .ptr = r->ptr, .mipmapped = r->mipmapped, .memory = r->memory, .sync = r->sync};
    CUevent after;
    gr_status status = gr_sync_last_work(&left.sync, &after);
    if (status == GR_OK && after && gr_driver()->cuEventQuery(after) == CUDA_ERROR_NOT_READY) {
        retire(&left, &resource->context, after);
    } else {
        if (after)
            gr_driver()->cuEventDestroy(after);
        else if (status != GR_OK)
            gr_driver()->cuCtxSynchronize(); /* nothing else tells any more */
        end_leftover(&left, true);
    }
    r->ptr = 0;
    r->mipmapped = NULL;
    r->memory = NULL;
    r->sync = (struct gr_sync){0};
    gr_retired_collect();
    return status;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* The operations below are given resources of this backend only. */
static const struct gr_external *own(const gr_resource *resource)
{
    return (const struct gr_external *)resource;
}

static const struct gr_external_kind *kind_of(const gr_resource *resource)
{
    static const struct gr_external_kind none;
    const struct gr_external_kind *kind = own(resource)->kind;
    return kind ? kind : &none;
}

static bool on_thread(const gr_resource *resource)
{
    const struct gr_external_kind *kind = own(resource)->kind;
    return !kind || !kind->on_thread || own(resource)->in_ring || kind->on_thread(resource);
}

static gr_status refuse_thread(const gr_resource *resource, const char *call)
{
    return own(resource)->kind->refuse_thread(resource, call);
}

static bool same_thread_rule(const gr_resource *a, const gr_resource *b)
{
    const struct gr_external_kind *kind = kind_of(a);
    if (own(a)->kind != own(b)->kind || own(a)->in_ring != own(b)->in_ring)
        return false;
    return !kind->same_thread_rule || kind->same_thread_rule(a, b);
}

static gr_status check_storage(const gr_resource *resource, const char *call)
{
    (void)resource;
    (void)call;
    return GR_OK; /* the import keeps it */
}

/* Neighbours that one call of their graphics API can hand over. */
static size_t run_of(gr_resource *const resources[], size_t n)
{
    size_t count = 1;
    while (count < n && same_thread_rule(resources[0], resources[count]))
        count++;
    return count;
}

/* Tells a graphics API that takes commands from this thread; `begin` is after a release. */
static gr_status tell_graphics(gr_resource *const resources[], size_t n, bool begin)
{
    gr_status status = GR_OK;
    for (size_t i = 0, count; i < n && status == GR_OK; i += count) {
        const struct gr_external_kind *kind = kind_of(resources[i]);
        count = run_of(resources + i, n - i);
        if (kind->end_use && !own(resources[i])->in_ring)
            status = (begin ? kind->begin_use : kind->end_use)(resources + i, count);
    }
    return status;
}

static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = tell_graphics(resources, n, false);
    if (status == GR_OK)
        status = gr_sync_acquire(resources, n, stream);
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        resources[i]->pending->ptr = own(resources[i])->ptr;
        resources[i]->pending->size = resources[i]->is_image ? 0 : resources[i]->size;
    }
    return status;
}

/* The wait that is in the stream does no harm: the next map waits for the same once more. */
static void undo_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    (void)stream;
    for (size_t i = 0; i < n; i++)
        resources[i]->pending->ptr = 0;
}

static gr_status unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = gr_sync_release(resources, n, stream);
    /* CUDA has given them back by now, whatever the graphics API says. */
    if (status == GR_OK && tell_graphics(resources, n, true) != GR_OK) {
        gr_error error;
        gr_last_error(&error);
        gr_log(GR_LOG_WARNING, "release: %s", error.message);
    }
    return status;
}

static gr_status array(const gr_resource *resource, unsigned level, unsigned layer, CUarray *found)
{
    (void)layer; /* the level's array has them all */
    CUresult result =
        gr_driver()->cuMipmappedArrayGetLevel(found, gr_external_of(resource)->mipmapped, level);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuMipmappedArrayGetLevel", "Level %u has no array.", level);
}

static gr_status mipmapped_array(const gr_resource *resource, CUmipmappedArray *found)
{
    *found = gr_external_of(resource)->mipmapped;
    return GR_OK;
}

static void describe(const gr_resource *resource, char *text, size_t size)
{
    const struct gr_external *r = gr_external_of(resource);
    if (kind_of(resource)->describe)
        kind_of(resource)->describe(resource, text, size);
    else if (!r->memory)
        snprintf(text, size, "external memory");
    else
        snprintf(text, size, "external memory %s at offset %zu",
                 r->memory->handle ? gr_external_type_name(r->memory->type) : "of CUDA's",
                 r->offset);
}

/*
 * Any thread may end CUDA's part; what needs the graphics API's own is the kind's, whose end() sees
 * to it.
 */
static void park(gr_resource *resource)
{
    gr_error before;
    gr_error_save(&before);
    resource->parked = false;
    if (gr_resource_unregister(resource, "gr_resource_free") != GR_OK)
        gr_log(GR_LOG_WARNING, "gr_resource_free: CUDA's part of a resource ended with an error");
    gr_error_restore(&before);
    gr_resource_settle(resource);
}

static void destroy(gr_resource *resource)
{
    struct gr_external *r = gr_external_of(resource);
    if (r->memory) { /* its CUDA context is gone, and all that was in it */
        struct leftover left = {.memory = r->memory, .sync = r->sync};
        end_leftover(&left, false);
    }
    if (kind_of(resource)->end)
        kind_of(resource)->end(resource);
    free(resource);
}

const struct gr_backend gr_external_backend = {
    .name = "external",
    .on_thread = on_thread,
    .refuse_thread = refuse_thread,
    .same_thread_rule = same_thread_rule,
    .check_storage = check_storage,
    .map = map,
    .undo_map = undo_map,
    .unmap = unmap,
    .array = array,
    .mipmapped_array = mipmapped_array,
    .unregister = unregister,
    .park = park,
    .describe = describe,
    .destroy = destroy,
};
