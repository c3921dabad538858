/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Maps resources. All functions handle n resources, so that "all or nothing" is implemented once;
 * for a single map n is 1.
 */
#include "lib/resource/resource.h"

#include <stdatomic.h>

#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/base/flags.h"
#include "lib/resource/image.h"
#include "lib/base/log.h"
#include "lib/resource/mapping_users.h"
#include "lib/resource/stream.h"
#include "lib/base/struct_size.h"

/* Checks a resource that has a mapping, or had one whose release was deferred. */
static gr_status check_used(const gr_resource *resource, CUstream stream, const char *call)
{
    /* a capture allows no release */
    GR_TRY(gr_stream_check(&resource->context, stream, false, call));
    /* where the resource cannot be used, no buffer can be released either */
    GR_TRY(gr_resource_check_thread(resource, call));
    gr_resource_collect(resource);
    const gr_buffer *mapped = resource->mapped;
    /* Another thread may have freed the last tensor since the deferred buffers were checked. */
    if (mapped && mapped->later && !mapped->user_count)
        gr_resource_collect(resource);
    mapped = resource->mapped;
    const unsigned users = mapped ? mapped->user_count : 0;
    if (mapped && mapped->later && users)
        return gr_fail(GR_ERR_STATE, call,
                       "%u tensor%s or export%s still hold%s the resource's mapping, whose buffer "
                       "was passed to gr_buffer_release_later(): free the tensors and call the "
                       "deleters of their DLPack exports, or call gr_resource_unmap(), which ends "
                       "the mapping and revokes them.",
                       users, gr_s(users), gr_s(users), users == 1 ? "s" : "");
    if (mapped)
        return gr_fail(GR_ERR_STATE, call,
                       "The resource is already mapped. Release its buffer before it is mapped "
                       "again, or use that buffer: gr_buffer_publish() and gr_buffer_fetch() take "
                       "one.");
    if (resource->pending)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The same resource is listed twice: a resource has one mapping at a time.");
    return GR_OK;
}

static inline gr_status check_unused(const gr_resource *resource, CUstream stream, const char *call)
{
    bool used = resource->mapped || resource->pending || resource->deferred;
    return used ? check_used(resource, stream, call) : GR_OK;
}

/*
 * Unless the library or a ring holds the resource (`held`), also checks that the caller has not
 * freed it and that it is in no ring.
 */
static inline gr_status check_mappable(const gr_resource *resource, const gr_resource *first,
                                       bool held, const char *call)
{
    if (!held)
        GR_TRY(gr_resource_check_given(resource, call));
    GR_TRY(gr_resource_check_open(resource, call));
    if (!held && resource->in_a_ring)
        return gr_resource_refuse_in_ring(call);
    if (resource == first || gr_context_same(&resource->context, &first->context))
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "The resources belong to different CUDA contexts, and a stream belongs to only "
                   "one: map the resources of each context in a separate call.");
}

gr_status gr_map_check(gr_resource *resource, CUstream stream, const char *call)
{
    GR_TRY(check_mappable(resource, resource, true, call));
    GR_TRY(gr_resource_check_ring(resource, call));
    GR_TRY(check_unused(resource, stream, call));
    GR_TRY(gr_resource_check_thread(resource, call));
    if (resource->follows) /* the check may register the object again */
        GR_TRY(gr_stream_check(&resource->context, stream, false, call));
    return resource->backend->check_storage(&resource, 1, call);
}

/* Checks all resources. *grouped says whether they are a group: the check of the first is enough.
 */
static gr_status check_all(gr_resource *const resources[], size_t n, bool held, bool *grouped,
                           const char *call)
{
    GR_TRY(check_mappable(resources[0], resources[0], held, call));
    *grouped = n == 1 || (!held && gr_group_has(resources, n));
    for (size_t i = 1; i < n && !*grouped; i++)
        GR_TRY(check_mappable(resources[i], resources[0], held, call));
    return GR_OK;
}

/* Checks `access`: a map may narrow the flags of a resource, but not widen them. */
static gr_status check_access(gr_resource *const resources[], size_t n, const gr_map_options *o,
                              const char *call)
{
    const unsigned both = GR_READ_ONLY | GR_WRITE_DISCARD;
    const unsigned flags = o->access == GR_MAP_READ_WRITE ? GR_READ_WRITE : (unsigned)o->access;
    char names[64], wanted[64];
    if ((unsigned)o->access > GR_MAP_READ_WRITE)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The access of the map is %d, which is no valid value.", (int)o->access);
    for (size_t i = 0; i < n && o->access; i++) {
        const unsigned registered = resources[i]->flags & both;
        if (!registered || registered == flags)
            continue;
        gr_flags_format(registered, names, sizeof(names));
        gr_flags_format(flags, wanted, sizeof(wanted));
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The map cannot be %s, because the resource was registered %s: register "
                       "it read_write to choose at each map.",
                       wanted, names);
    }
    return GR_OK;
}

static unsigned char narrowing(const gr_resource *resource, const gr_map_options *o)
{
    const bool narrows = o->access == GR_MAP_READ_ONLY || o->access == GR_MAP_WRITE_DISCARD;
    return narrows && !(resource->flags & (unsigned)o->access) ? (unsigned char)o->access : 0;
}

/* Follows reserve_all(), because gr_buffers_untake() undoes it for resources with a buffer. */
static void narrow_all(gr_resource *const resources[], size_t n, const gr_map_options *o)
{
    for (size_t i = 0; i < n; i++)
        resources[i]->narrowed = narrowing(resources[i], o);
}

/* Gives each resource its `pending` buffer. After an error some have one. */
static gr_status reserve_all(gr_resource *const resources[], size_t n, CUstream stream,
                             const char *call)
{
    for (size_t i = 0; i < n; i++) {
        gr_resource *resource = resources[i];
        gr_status status = check_unused(resource, stream, call);
        gr_buffer *buffer = status == GR_OK ? gr_buffer_take(resource) : NULL;
        if (!buffer)
            return status == GR_OK ? gr_fail_memory(call) : status;
        resource->pending = buffer;
        buffer->stream = stream;
    }
    return GR_OK;
}

/*
 * Maps whole buffers, unless options select parts. Follows the check of the storage, because the
 * buffers may have another size now. Transports that copy must know the part before the map.
 */
static void set_whole(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gr_buffer *buffer = resources[i]->pending;
        buffer->offset = 0;
        buffer->part = resources[i]->size;
    }
}

static void set_parts(gr_resource *const resources[], size_t n, const gr_map_options *o)
{
    for (size_t i = 0; i < n; i++) {
        gr_buffer *buffer = resources[i]->pending;
        buffer->offset = o->offset;
        buffer->part = o->size ? o->size : buffer->part - o->offset;
    }
}

/* Checks `offset` and `size`, after the check of the storage, because it may have grown. */
static gr_status check_parts(gr_resource *const resources[], size_t n, const gr_map_options *o,
                             const char *call)
{
    for (size_t i = 0; i < n && (o->offset || o->size); i++) {
        const gr_resource *resource = resources[i];
        if (resource->is_image)
            return gr_fail(GR_ERR_INVALID_VALUE, call,
                           "`offset` and `size` are %zu and %zu, but only buffers can be mapped in "
                           "part, and this is an image: leave both 0.",
                           o->offset, o->size);
        if (o->offset >= resource->size || o->size > resource->size - o->offset)
            return gr_fail(GR_ERR_INVALID_VALUE, call,
                           "The part of %zu byte%s at offset %zu is not within the buffer, whose "
                           "size is %zu.",
                           o->size, gr_s(o->size), o->offset, resource->size);
    }
    return GR_OK;
}

/* Records `ready_event` after the map, so that other streams can wait for it. */
static gr_status record_ready(CUstream stream, const gr_map_options *options)
{
    GR_TRY_CUDA(gr_driver()->EventRecord(options->ready_event, stream), "cuEventRecord",
                "`ready_event` could not be recorded. Was it destroyed, or does it belong to "
                "another CUDA context than the resource?");
    return GR_OK;
}

static bool loses_by_undo(const gr_resource *resource)
{
    return resource->backend->undo_loses && !gr_resource_reads(resource);
}

/*
 * Detects an invalid `ready_event` before a map whose undo would lose data. Only recording an event
 * shows whether it is valid. An event that was recorded by the last map is not checked again,
 * unless the driver refuses destroyed events.
 */
static gr_status try_ready(gr_resource *const resources[], size_t n, CUstream stream,
                           const gr_map_options *options)
{
    if (!options->ready_event ||
        (resources[0]->ready == options->ready_event && !gr_driver_traits()->refuses_destroyed))
        return GR_OK;
    for (size_t i = 0; i < n; i++)
        if (loses_by_undo(resources[i]))
            return record_ready(stream, options);
    return GR_OK;
}

/* Finds the runs, and checks them. backend.h defines a run. */
static gr_status check_runs(gr_resource *const resources[], size_t n, bool grouped,
                            const char *call)
{
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i += resources[i]->run) {
        const struct gr_backend *backend = resources[i]->backend;
        const size_t left = n - i < GR_BATCH ? n - i : GR_BATCH;
        resources[i]->run = (unsigned short)(grouped ? left : backend->run(resources + i, left));
        status = gr_resource_check_thread(resources[i], call);
        if (status == GR_OK)
            status = backend->check_storage(resources + i, resources[i]->run, call);
    }
    return status;
}

/*
 * Undoes maps among the first n resources: if `losing` is set, the maps of the runs whose undo
 * loses data; otherwise the maps of the other runs.
 */
static void undo_runs(gr_resource *const resources[], size_t n, CUstream stream, bool losing)
{
    for (size_t i = 0; i < n; i += resources[i]->run)
        if (resources[i]->backend->undo_loses == losing)
            resources[i]->backend->undo_map(resources + i, resources[i]->run, stream);
}

/* Maps all runs or none. The runs whose undo loses data come last. */
static gr_status map_runs(gr_resource *const resources[], size_t n, CUstream stream)
{
    if (resources[0]->run == n)
        return resources[0]->backend->map(resources, n, stream);
    for (int losing = 0; losing < 2; losing++)
        for (size_t i = 0; i < n; i += resources[i]->run) {
            const struct gr_backend *backend = resources[i]->backend;
            if (backend->undo_loses != losing)
                continue;
            gr_status status = backend->map(resources + i, resources[i]->run, stream);
            if (status == GR_OK)
                continue;
            undo_runs(resources, i, stream, losing);
            if (losing)
                undo_runs(resources, n, stream, false);
            return status;
        }
    return GR_OK;
}

/*
 * Makes the stream wait for options->wait_event, maps, and then records options->ready_event. The
 * CUDA context is current.
 */
static gr_status map_with_options(gr_resource *const resources[], size_t n, CUstream stream,
                                  const gr_map_options *options, const char *call)
{
    GR_TRY(check_parts(resources, n, options, call));
    set_parts(resources, n, options);
    gr_status status = gr_event_wait(stream, options->wait_event);
    if (status == GR_OK)
        status = try_ready(resources, n, stream, options);
    if (status == GR_OK)
        status = map_runs(resources, n, stream);
    if (status != GR_OK)
        return status;
    if (options->ready_event)
        status = record_ready(stream, options);
    if (status == GR_OK) {
        resources[0]->ready = options->ready_event;
        return GR_OK;
    }
    undo_runs(resources, n, stream, false);
    undo_runs(resources, n, stream, true);
    return status;
}

/* Turns the pending buffers into mappings, and returns them in `out`. */
static void commit_reserved(gr_resource *const resources[], size_t n, gr_buffer *out[])
{
    for (size_t i = 0; i < n; i++) {
        gr_resource *resource = resources[i];
        gr_buffer *buffer = resource->pending;
        resource->pending = NULL;
        if (!resource->is_image) {
            atomic_store_explicit(&buffer->ptr, resource->ptr + buffer->offset,
                                  memory_order_relaxed);
            buffer->size = buffer->part;
        }
        atomic_store_explicit(&resource->mapped, buffer, memory_order_release);
        out[i] = buffer;
    }
}

/* Whether all resources are one run, apart from the limit of its length. */
static bool are_one_run(gr_resource *const resources[], size_t n)
{
    const struct gr_backend *backend = resources[0]->backend;
    for (size_t i = resources[0]->run; i < n; i += resources[i]->run)
        if (resources[i]->backend != backend || backend->run(resources + i - 1, 2) != 2)
            return false;
    return true;
}

/* Makes a group of resources that are live for the caller, if they are one run and in no ring. */
static void make_group(gr_resource *const resources[], size_t n)
{
    if (resources[0]->in_a_ring || !are_one_run(resources, n))
        return;
    size_t now = atomic_load_explicit(&gr_group_changes, memory_order_acquire);
    for (size_t i = 0; i < n; i++) {
        resources[i]->after = i + 1 < n ? resources[i + 1] : NULL;
        resources[i]->grouped_at = now;
    }
}

static gr_status map_in_context(gr_resource *const resources[], size_t n, CUstream stream,
                                const gr_map_options *options, const char *call)
{
    GR_ENTER(&resources[0]->context, call);
    GR_TRY(gr_stream_check_context(resources[0], stream, call));
    return options ? map_with_options(resources, n, stream, options, call)
                   : map_runs(resources, n, stream);
}

/* Like gr_map_for(). If the library does not hold the resources, they become a group. */
static gr_status map_all(gr_resource *const resources[], size_t n, bool held, CUstream stream,
                         const gr_map_options *options, gr_buffer *out[], const char *call)
{
    bool grouped;
    GR_TRY(gr_stream_check_given(stream, false, call));
    GR_TRY(check_all(resources, n, held, &grouped, call));
    if (options)
        GR_TRY(check_access(resources, n, options, call));
    gr_status status = reserve_all(resources, n, stream, call);
    if (status == GR_OK && options)
        narrow_all(resources, n, options);
    if (status == GR_OK)
        status = check_runs(resources, n, grouped, call);
    if (status == GR_OK)
        set_whole(resources, n);
    if (status == GR_OK)
        status = map_in_context(resources, n, stream, options, call);
    if (status == GR_OK) {
        if (!held && !grouped)
            make_group(resources, n);
        commit_reserved(resources, n, out);
        gr_resource_log_each(call, resources, n);
        return GR_OK;
    }
    if (status == GR_ERR_STATE)
        gr_error_set_call(call); /* sets the name of the call, which transports do not know */
    if (status == GR_ERR_DEVICE_LOST)
        gr_resources_after_failure(resources, n);
    gr_buffers_untake(resources, n);
    return status;
}

gr_status gr_map_for(gr_resource *const resources[], size_t n, CUstream stream,
                     const gr_map_options *options, gr_buffer *out[], const char *call)
{
    return map_all(resources, n, true, stream, options, out, call);
}

gr_buffer *gr_map(gr_resource *resource, CUstream stream)
{
    gr_buffer *buffer = NULL;
    map_all(&resource, 1, false, stream, NULL, &buffer, __func__);
    return buffer;
}

gr_buffer *gr_map_with(gr_resource *resource, CUstream stream, const gr_map_options *options)
{
    gr_map_options own;
    gr_buffer *buffer = NULL;
    if (!options || GR_TAKE(gr_map_options, &own, options, __func__) == GR_OK)
        map_all(&resource, 1, false, stream, options ? &own : NULL, &buffer, __func__);
    return buffer;
}

gr_status gr_map_many(gr_resource *const resources[], size_t n, CUstream stream,
                      const gr_map_options *options, gr_buffer *out[])
{
    gr_map_options own;
    if (!resources || !out)
        return gr_fail(GR_ERR_INVALID_VALUE, __func__, "`%s` is NULL.",
                       resources ? "out" : "resources");
    if (n == 0)
        return gr_fail(GR_ERR_INVALID_VALUE, __func__,
                       "There is nothing to map: n is 0. Pass the length of `resources`.");
    gr_status status = options ? GR_TAKE(gr_map_options, &own, options, __func__) : GR_OK;
    if (status != GR_OK)
        return status;
    return map_all(resources, n, false, stream, options ? &own : NULL, out, __func__);
}

CUdeviceptr gr_buffer_ptr(const gr_buffer *buffer)
{
    if (gr_buffer_check(buffer, __func__) != GR_OK)
        return 0;
    if (!buffer->ptr && buffer->resource->is_image && gr_buffer_is_live(buffer))
        gr_fail(GR_ERR_STATE, __func__,
                "An image has no pointer: use gr_buffer_array(), gr_buffer_surface() or "
                "gr_buffer_texture(), or map it with gr_map_linear(), which copies.");
    return buffer->ptr;
}

size_t gr_buffer_size(const gr_buffer *buffer)
{
    return gr_buffer_check(buffer, __func__) == GR_OK ? buffer->size : 0;
}

const gr_buffer_info *gr_buffer_get_info(const gr_buffer *buffer)
{
    if (gr_buffer_check(buffer, __func__) != GR_OK)
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

/* Releases a mapping whose linear memory could not be filled; keeps the cause as the last error. */
static gr_buffer *undo(gr_buffer *buffer)
{
    GR_KEEP_ERROR();
    gr_buffer_release(buffer);
    return NULL;
}

/* Makes the checks before the map, because a map with write_discard loses the contents. */
static gr_status check_linear(gr_resource *resource, unsigned level, unsigned layer,
                              CUstream stream, const char *call)
{
    GR_TRY(gr_resource_check_given(resource, call));
    if (!resource->is_image && (level || layer))
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The resource is a buffer, which has level 0 and layer 0 only.");
    gr_resource_collect(resource);
    if (!resource->is_image || !resource->handle || resource->mapped)
        return GR_OK;
    if (resource->follows)
        GR_TRY(gr_map_check(resource, stream, call));
    gr_status status = gr_image_check_range(resource, level, layer, call);
    if (status == GR_OK)
        return gr_linear_prepare(resource, level, stream, call);
    GR_TRY(gr_map_check(resource, stream, call)); /* the levels may have changed */
    return status;
}

gr_buffer *gr_map_linear(gr_resource *resource, unsigned level, unsigned layer, CUstream stream)
{
    gr_status status = check_linear(resource, level, layer, stream, __func__);
    if (status == GR_ERR_DEVICE_LOST)
        gr_resources_after_failure(&resource, 1);
    if (status != GR_OK)
        return NULL;
    gr_buffer *buffer = NULL;
    status = map_all(&resource, 1, false, stream, NULL, &buffer, __func__);
    if (status != GR_OK || !resource->is_image)
        return buffer;
    if (gr_linear_make(buffer, level, layer, __func__) != GR_OK)
        return undo(buffer);
    gr_log(GR_LOG_DEBUG, "%s: level %u, layer %u were copied: %zu byte%s", __func__, level, layer,
           buffer->size, gr_s(buffer->size));
    return buffer;
}
