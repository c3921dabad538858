/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks and maps what a call wants. All functions handle n resources, so that "all or nothing" is
 * implemented once; for a single map n is 1.
 */
#include "lib/resource/map.h"

#include <stdatomic.h>

#include "lib/base/compiler.h"
#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/base/flags.h"
#include "lib/resource/resource.h"
#include "lib/resource/stream.h"

/* Checks a resource that has a mapping, or had one whose release was deferred. */
static gr_status check_used(const gr_resource *resource, CUstream stream)
{
    /* a capture allows no release */
    GR_TRY(gr_stream_check(&resource->context, stream, false));
    /* where the resource cannot be used, no buffer can be released either */
    GR_TRY(gr_resource_check_thread(resource));
    gr_resource_collect(resource);
    const gr_buffer *mapped = resource->mapped;
    /* Another thread may have freed the last tensor since the deferred buffers were checked. */
    if (mapped && mapped->later && !mapped->user_count)
        gr_resource_collect(resource);
    mapped = resource->mapped;
    const unsigned users = mapped ? mapped->user_count : 0;
    if (mapped && mapped->later && users)
        return gr_fail(GR_ERR_STATE,
                       "%u tensor%s or export%s still hold%s the resource's mapping, whose buffer "
                       "was passed to gr_buffer_release_later(): free the tensors and call the "
                       "deleters of their DLPack exports, or call gr_resource_unmap(), which ends "
                       "the mapping and revokes them.",
                       users, gr_s(users), gr_s(users), users == 1 ? "s" : "");
    if (mapped)
        return gr_fail(GR_ERR_STATE,
                       "The resource is already mapped. Release its buffer before it is mapped "
                       "again, or use that buffer: gr_buffer_publish() and gr_buffer_fetch() take "
                       "one.");
    return GR_OK;
}

/*
 * Unless the library or a ring holds the resource (`held`), also checks that the caller has not
 * freed it and that it is in no ring.
 */
static inline gr_status check_mappable(const gr_resource *resource, const gr_resource *first,
                                       bool held)
{
    GR_TRY(held ? gr_resource_check_open(resource) : gr_resource_check(resource));
    if (resource == first || gr_context_same(&resource->context, &first->context))
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The resources belong to different CUDA contexts, and a stream belongs to only "
                   "one: map the resources of each context in a separate call.");
}

/* Checks `access`: a map may narrow the flags of a resource, but not widen them. */
static gr_status check_access(const struct gr_use *use)
{
    const gr_map_options *o = use->options;
    const unsigned both = GR_READ_ONLY | GR_WRITE_DISCARD;
    const unsigned flags = o->access == GR_MAP_READ_WRITE ? GR_READ_WRITE : (unsigned)o->access;
    char names[64], wanted[64];
    GR_REFUSE_IF((unsigned)o->access > GR_MAP_READ_WRITE,
                 "The access of the map is %d, which is no valid value.", (int)o->access);
    for (size_t i = 0; i < use->n && o->access; i++) {
        const unsigned registered = use->resources[i]->flags & both;
        if (!registered || registered == flags)
            continue;
        gr_flags_format(registered, names, sizeof(names));
        gr_flags_format(flags, wanted, sizeof(wanted));
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "The map cannot be %s, because the resource was registered %s: register "
                       "it read_write to choose at each map.",
                       wanted, names);
    }
    return GR_OK;
}

/* Returns the length of the run that starts at resource i. */
static inline size_t run_at(const struct gr_use *use, size_t i)
{
    const size_t left = use->n - i < GR_BATCH ? use->n - i : GR_BATCH;
    return use->one_run ? left : use->resources[i]->backend->run(use->resources + i, left);
}

/* Checks that no resource is mapped, and the thread and the storage of each run. */
static gr_status check_free(struct gr_use *use)
{
    gr_resource *const *resources = use->resources;
    for (size_t i = 0; i < use->n; i++)
        if (resources[i]->mapped || resources[i]->deferred)
            GR_TRY(check_used(resources[i], use->stream));
    for (size_t i = 0, length; i < use->n; i += length) {
        length = run_at(use, i);
        use->one_run = use->one_run || length == use->n;
        if (!use->here)
            GR_TRY(gr_resource_check_thread(resources[i]));
        GR_TRY(resources[i]->backend->check_storage(resources + i, length, use->stream));
    }
    return GR_OK;
}

/* Names the call in errors of transports, which do not know it, and reacts to a lost device. */
GR_COLD static gr_status failed(const struct gr_use *use, gr_status status)
{
    if (status == GR_ERR_STATE)
        gr_error_set_call();
    if (status == GR_ERR_DEVICE_LOST)
        gr_resources_after_failure(use->resources, use->n);
    return status;
}

gr_status gr_use_check(struct gr_use *use, gr_entered *entered)
{
    gr_resource *const *resources = use->resources;
    GR_TRY(gr_stream_check_given(use->stream, false));
    GR_TRY(check_mappable(resources[0], resources[0], use->held));
    /* if the resources are a group, the check of the first is enough */
    use->one_run = use->n == 1 || (!use->held && gr_group_has(resources, use->n));
    for (size_t i = 1; i < use->n && !use->one_run; i++)
        GR_TRY(check_mappable(resources[i], resources[0], use->held));
    if (use->options)
        GR_TRY(check_access(use));
    gr_status status = check_free(use);
    if (status == GR_OK)
        status = gr_context_enter(&resources[0]->context, entered);
    if (status == GR_OK)
        status = gr_stream_check_context(resources[0], use->stream);
    return status == GR_OK ? GR_OK : failed(use, status);
}

/* Returns an unused buffer; NULL if out of memory. Another thread may give one at the same time. */
static inline gr_buffer *take_buffer(gr_resource *resource)
{
    gr_buffer *buffer = &resource->first[resource->turn++ % GR_BUFFERS_IN_TURN];
    if (atomic_load_explicit(&buffer->out, memory_order_acquire))
        buffer = gr_buffer_take_other(resource);
    if (!buffer)
        return NULL;
    atomic_store_explicit(&buffer->out, true, memory_order_relaxed);
    atomic_fetch_add_explicit(&resource->buffers_out, 1, memory_order_relaxed);
    return buffer;
}

/* Gives each resource its current buffer. After an error some have one. */
static gr_status reserve_all(const struct gr_use *use)
{
    gr_resource *const *resources = use->resources;
    const size_t n = use->n;
    const CUstream stream = use->stream;
    for (size_t i = 0; i < n; i++) {
        gr_resource *resource = resources[i];
        GR_REFUSE_IF(resource->current,
                     "The same resource is listed twice: a resource has one mapping at a time.");
        gr_buffer *buffer = take_buffer(resource);
        if (!buffer)
            return gr_fail_memory();
        resource->current = buffer;
        buffer->stream = stream;
        buffer->offset = 0;
        buffer->part = resource->size;
        buffer->narrowed = 0;
        buffer->has_region = buffer->linear = false;
    }
    return GR_OK;
}

static void set_region(const struct gr_use *use)
{
    const gr_resource *resource = use->resources[0];
    const struct gr_backend *backend = resource->backend;
    if (!resource->is_image || !backend->moves_region)
        return;
    gr_buffer *buffer = resource->current;
    buffer->has_region = backend->moves_region(resource);
    buffer->region = *use->region;
    buffer->linear = buffer->has_region && backend->linear && backend->linear(resource);
}

static gr_map_part part_of(const gr_map_options *o, size_t i)
{
    return o->parts ? o->parts[i] : (gr_map_part){o->offset, o->size};
}

/*
 * Sets the part and the access of each mapping, because transports that copy must know them before
 * the map. Checks the parts after the storage, which may have grown.
 */
static gr_status set_options(const struct gr_use *use)
{
    const gr_map_options *o = use->options;
    const bool narrows = o->access == GR_MAP_READ_ONLY || o->access == GR_MAP_WRITE_DISCARD;
    const unsigned narrowed = narrows ? (unsigned)o->access : 0;
    GR_REFUSE_IF(o->parts && (o->offset || o->size),
                 "`parts` has a part of each buffer, so `offset` and `size` must be 0.");
    for (size_t i = 0; i < use->n; i++) {
        const gr_resource *resource = use->resources[i];
        gr_buffer *buffer = resource->current;
        const gr_map_part part = part_of(o, i);
        GR_REFUSE_IF(resource->is_image && (part.offset || part.size),
                     "`offset` and `size` are %zu and %zu, but only buffers can be mapped in part, "
                     "and this is an image: leave both 0.",
                     part.offset, part.size);
        GR_REFUSE_IF((part.offset || part.size) && (part.offset >= resource->size ||
                                                    part.size > resource->size - part.offset),
                     "The part of %zu byte%s at offset %zu is not within the buffer, whose size is "
                     "%zu.",
                     part.size, gr_s(part.size), part.offset, resource->size);
        buffer->narrowed = (unsigned char)(narrowed & ~resource->flags);
        buffer->offset = part.offset;
        buffer->part = part.size ? part.size : buffer->part - part.offset;
    }
    return GR_OK;
}

/* Records `ready_event` after the map, so that other streams can wait for it. */
static gr_status record_ready(const struct gr_use *use)
{
    GR_TRY_CUDA(gr_driver()->EventRecord(use->options->ready_event, use->stream), "cuEventRecord",
                "`ready_event` could not be recorded. Was it destroyed, or does it belong to "
                "another CUDA context than the resource?");
    return GR_OK;
}

/*
 * Detects an invalid `ready_event` before a map whose undo would lose data. Only recording an event
 * shows whether it is valid. An event that was recorded by the last map is not checked again,
 * unless the driver refuses destroyed events.
 */
static gr_status try_ready(const struct gr_use *use)
{
    const CUevent event = use->options->ready_event;
    if (!event || (use->resources[0]->ready == event && !gr_driver_traits()->refuses_destroyed))
        return GR_OK;
    for (size_t i = 0; i < use->n; i++)
        if (use->resources[i]->backend->undo_loses && !gr_resource_reads(use->resources[i]))
            return record_ready(use);
    return GR_OK;
}

/*
 * Undoes maps among the first n resources: if `losing` is set, the maps of the runs whose undo
 * loses data; otherwise the maps of the other runs.
 */
static void undo_runs(const struct gr_use *use, size_t n, bool losing)
{
    for (size_t i = 0, length; i < n; i += length) {
        const struct gr_backend *backend = use->resources[i]->backend;
        length = run_at(use, i);
        if (backend->undo_loses == losing)
            backend->undo_map(use->resources + i, length, use->stream);
    }
}

/* Maps the runs whose undo loses data, or the others. */
static gr_status map_runs_that(const struct gr_use *use, bool losing)
{
    for (size_t i = 0, length; i < use->n; i += length) {
        const struct gr_backend *backend = use->resources[i]->backend;
        length = run_at(use, i);
        if (backend->undo_loses != losing)
            continue;
        const gr_status status = backend->map(use->resources + i, length, use->stream);
        if (status == GR_OK)
            continue;
        undo_runs(use, i, losing);
        return status;
    }
    return GR_OK;
}

/* Maps all runs or none. The runs whose undo loses data come last. */
static gr_status map_runs(const struct gr_use *use)
{
    if (use->one_run && use->n <= GR_BATCH)
        return use->resources[0]->backend->map(use->resources, use->n, use->stream);
    GR_TRY(map_runs_that(use, false));
    const gr_status status = map_runs_that(use, true);
    if (status != GR_OK)
        undo_runs(use, use->n, false);
    return status;
}

/*
 * Makes the stream wait for options->wait_event, maps, and then records options->ready_event. The
 * CUDA context is current.
 */
static gr_status map_with_options(const struct gr_use *use)
{
    GR_TRY(set_options(use));
    GR_TRY(gr_event_wait(use->stream, use->options->wait_event));
    GR_TRY(try_ready(use));
    GR_TRY(map_runs(use));
    const gr_status status = use->options->ready_event ? record_ready(use) : GR_OK;
    if (status == GR_OK) {
        use->resources[0]->ready = use->options->ready_event;
        return GR_OK;
    }
    undo_runs(use, use->n, false); /* in either order, since each run is undone by itself */
    undo_runs(use, use->n, true);
    return status;
}

/* Turns the current buffers into mappings, and returns them. */
static void commit(const struct gr_use *use)
{
    gr_resource *const *resources = use->resources;
    gr_buffer **out = use->buffers;
    const size_t n = use->n;
    for (size_t i = 0; i < n; i++) {
        gr_resource *resource = resources[i];
        gr_buffer *buffer = resource->current;
        if (!resource->is_image) {
            atomic_store_explicit(&buffer->ptr, resource->ptr + buffer->offset,
                                  memory_order_relaxed);
            buffer->size = buffer->part;
        }
        atomic_store_explicit(&resource->mapped, buffer, memory_order_release);
        out[i] = buffer;
    }
}

/*
 * Makes a group of resources that are live for the caller, if they are in no ring and one run,
 * apart from the limit of its length.
 */
static void make_group(const struct gr_use *use)
{
    gr_resource *const *resources = use->resources;
    const struct gr_backend *backend = resources[0]->backend;
    if (use->n == 1 || use->held || gr_group_has(resources, use->n))
        return;
    for (size_t i = run_at(use, 0); i < use->n; i += run_at(use, i))
        if (resources[i]->backend != backend || backend->run(resources + i - 1, 2) != 2)
            return;
    size_t now = atomic_load_explicit(&gr_group_changes, memory_order_acquire);
    for (size_t i = 0; i < use->n; i++) {
        resources[i]->after = i + 1 < use->n ? resources[i + 1] : NULL;
        resources[i]->grouped_at = now;
    }
}

gr_status gr_use_map(const struct gr_use *use)
{
    gr_status status = reserve_all(use);
    if (status == GR_OK && use->region)
        set_region(use);
    if (status == GR_OK)
        status = use->options ? map_with_options(use) : map_runs(use);
    if (status == GR_OK) {
        make_group(use);
        commit(use);
        gr_resource_log_each(use->resources, use->n);
        return GR_OK;
    }
    (void)failed(use, status);
    gr_buffers_untake(use->resources, use->n);
    return status;
}

gr_status gr_use_begin(struct gr_use *use)
{
    GR_ENTERED entered = 0;
    GR_TRY(gr_use_check(use, &entered));
    return gr_use_map(use);
}
