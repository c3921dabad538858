/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The operations of the staged transports. A map that reads lets OpenGL copy the object to a slot,
 * and CUDA follows. A release that writes is the reverse. Where threads wait, a ring delays the
 * copy after a release until OpenGL acquires the object, and starts the copy for a map when OpenGL
 * releases the object, so that several frames are in flight.
 */
#include "gl/staged/staged.h"

#include <epoxy/gl.h>

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "gl/context/saved_state.h"

/* The resources of a run have the same backend, and so the same kind. */
static const struct gl_staging_kind *kind_of(gr_resource *const resources[])
{
    return gl_staged_of(resources[0])->kind;
}

/* ---- The resources of a batch ---------------------------------------------------------------- */

static bool is_any(gr_resource *const resources[], size_t n, gl_chosen *which)
{
    for (size_t i = 0; i < n; i++)
        if (which(resources[i]))
            return true;
    return false;
}

/* Whether CUDA copies between the slot and memory of its own. */
static bool has_memory(const gr_resource *resource)
{
    const struct gl_staged *s = gl_staged_of(resource);
    return s->own || (s->arrays && !resource->current->linear);
}

/* In a ring, the copy for this map was issued earlier. */
static bool is_fetched(const gr_resource *resource)
{
    return gl_staged_of(resource)->fetched && resource->in_a_ring;
}

/* Whether CUDA reads a slot that OpenGL has written for this map, by a copy or by a fill. */
static bool is_signalled(const gr_resource *resource)
{
    return gr_resource_reads(resource) && !is_fetched(resource);
}

static bool is_read(const gr_resource *resource)
{
    return is_signalled(resource) && !gl_staged_of(resource)->filled;
}

static bool is_owed(const gr_resource *resource)
{
    return gl_staged_of(resource)->owed;
}

/*
 * Whether a map must first write the data of the last ring release to the object. This is not
 * needed with write_discard in a ring, because the next release overwrites all of the data.
 */
static bool is_settled_first(const gr_resource *resource)
{
    return is_owed(resource) && (gr_resource_reads(resource) || !resource->in_a_ring);
}

static bool is_copied_by_map(const gr_resource *resource)
{
    return is_read(resource) || is_settled_first(resource);
}

static gr_status check_unlocked(gr_resource *const resources[], size_t n, gl_chosen *which,
                                const char *call)
{
    for (size_t i = 0; i < n; i++)
        if (!resources[i]->is_image && which(resources[i]))
            GR_TRY(gl_object_check_unlocked(resources[i], call));
    return GR_OK;
}

static gr_status check_mappable(gr_resource *const resources[], size_t n, CUstream stream,
                                const char *call)
{
    /* A CUDA registration keeps immutable storage alive, but these transports do not. */
    GR_TRY(gl_object_check_storage(resources, n, stream, call));
    return check_unlocked(resources, n, is_copied_by_map, call);
}

/* ---- Copies by OpenGL ------------------------------------------------------------------------ */

/* The data of an object without its storage is lost. The thread waits as for other data. */
static gr_status lose(const gr_resource *resource)
{
    if (gl_staged_of(resource)->kind->has_semaphores)
        return GR_OK;
    return gr_copy_check(gr_work_finish(&resource->sync.work), "cuEventQuery", resource);
}

/* Copies between the object and its slot. */
static gr_status move(const gr_resource *resource, bool read)
{
    const struct gl_staged *s = gl_staged_of(resource);
    if (s->in_place)
        return GR_OK;
    if (!read && !gl_object_intact(resource))
        return lose(resource);
    if (!resource->is_image)
        return s->kind->move(resource, read);
    gl_arrays_move(gl_of(resource), s->kind->place(s), s->names, read);
    return GR_OK;
}

/* The copies follow all earlier commands, also writes of shaders. */
static gr_status move_chosen(gr_resource *const resources[], size_t n, gl_chosen *which, bool read)
{
    gr_status status = GR_OK;
    GL_SAVED(before, GL_SAVE(ERRORS));
    if (gl_of(resources[0])->context.version >= 42)
        glMemoryBarrier(GL_ALL_BARRIER_BITS);
    for (size_t i = 0; i < n && status == GR_OK; i++)
        if (which(resources[i]))
            status = move(resources[i], read);
    if (status != GR_OK)
        return status;
    return gl_object_check_copied(resources[0], n, kind_of(resources)->gl_calls,
                                  read ? "read" : "take back");
}

/* Lets OpenGL copy from the slots, after CUDA. If OpenGL reports an error, the data stays owed. */
static gr_status write_objects(gr_resource *const resources[], size_t n, gl_chosen *which)
{
    const struct gl_staging_kind *kind = kind_of(resources);
    if (!is_any(resources, n, which))
        return GR_OK;
    GR_TRY(kind->to_gl(resources, n, which, false));
    gr_status status = move_chosen(resources, n, which, false);
    const gr_status ended = kind->from_gl(resources, n, which, false);
    status = status == GR_OK ? ended : status;
    for (size_t i = 0; i < n && status == GR_OK; i++)
        if (which(resources[i]))
            gl_staged_of(resources[i])->owed = false;
    return status;
}

/* Lets OpenGL copy what CUDA reads to the slots. */
static gr_status read_objects(gr_resource *const resources[], size_t n, gl_chosen *moved,
                              gl_chosen *signalled)
{
    const struct gl_staging_kind *kind = kind_of(resources);
    gr_status status = GR_OK;
    if (is_any(resources, n, moved)) {
        GR_TRY(kind->to_gl(resources, n, moved, true));
        status = move_chosen(resources, n, moved, true);
    }
    if (!is_any(resources, n, signalled))
        return status;
    /* also after an error: a later map has to wait for the copies that were issued */
    const gr_status ended = kind->from_gl(resources, n, signalled, true);
    return status == GR_OK ? ended : status;
}

/* ---- Map ------------------------------------------------------------------------------------- */

static void select_slot(const gr_resource *resource)
{
    struct gl_staged *s = gl_staged_of(resource);
    if ((s->kind->has_semaphores && !s->filled) || is_read(resource))
        gl_staged_advance(s);
}

/*
 * The memory of the resources, and their slots, may be used next when the stream has passed the
 * work so far.
 */
static void undo_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_KEEP_ERROR();
    for (size_t i = 0; i < n; i++)
        (void)gr_work_mark_or_finish(&resources[i]->sync.work, stream);
    kind_of(resources)->undo(resources, n, stream);
}

/* Sets the address of a buffer, and copies what CUDA reads to its own memory. */
static gr_status enter_cuda(gr_resource *resource, CUstream stream)
{
    const struct gl_staged *s = gl_staged_of(resource);
    resource->ptr = s->own ? s->own : s->kind->place(s).cuda;
    return has_memory(resource) && gr_resource_reads(resource)
               ? s->kind->copy(resource, true, stream)
               : GR_OK;
}

/* CUDA copies are enqueued only if OpenGL has reported no error. */
static gr_status map_all(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    GR_TRY(write_objects(resources, n, is_settled_first));
    for (size_t i = 0; i < n; i++)
        select_slot(resources[i]);
    GR_TRY(read_objects(resources, n, is_read, is_signalled));
    /*
     * CUDA's own memory may still be used in the stream of the last mapping. If a later step fails,
     * undo_map() records an event in this stream, which must be after that work.
     */
    for (size_t i = 0; i < n; i++)
        GR_TRY(gr_work_follow(&resources[i]->sync.work, stream));
    GR_TRY(kind_of(resources)->to_cuda(resources, n, stream));
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = enter_cuda(resources[i], stream);
    if (status != GR_OK)
        undo_map(resources, n, stream);
    return status;
}

static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    const gr_status status = map_all(resources, n, stream);
    for (size_t i = 0; i < n; i++)
        gl_staged_of(resources[i])->fetched = gl_staged_of(resources[i])->filled = false;
    return status;
}

static CUdeviceptr linear(const gr_resource *resource)
{
    const struct gl_staged *s = gl_staged_of(resource);
    return s->is_linear ? s->kind->place(s).cuda : 0;
}

/* What a ring owes is the whole image. */
static bool moves_region(const gr_resource *resource)
{
    return !is_owed(resource) && gl_texels_regions_supported();
}

/* ---- Release --------------------------------------------------------------------------------- */

/*
 * Whether to record an event, which the next map waits for. After a map without the arrays, the
 * event is that of the last use of the arrays, too.
 */
static bool needs_event(const gr_resource *resource)
{
    return has_memory(resource) || (gl_staged_of(resource)->arrays && resource->sync.work.recorded);
}

static gr_status mark_work(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++) {
        if (needs_event(resources[i]))
            GR_TRY(gr_work_mark(&resources[i]->sync.work, stream));
        else
            gr_work_note(&resources[i]->sync.work, stream);
    }
    return GR_OK;
}

/* Enqueues the copies to the slots. */
static gr_status leave_cuda(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++)
        if (has_memory(resources[i]) && gr_resource_writes(resources[i]))
            GR_TRY(gl_staged_of(resources[i])->kind->copy(resources[i], false, stream));
    GR_TRY(mark_work(resources, n, stream));
    return kind_of(resources)->from_cuda(resources, n, stream);
}

/* CUDA's last work uses the slots, too, which wait for OpenGL if they have no semaphores. */
static gr_status abandon(gr_resource *const resources[], size_t n, CUstream stream)
{
    const struct gl_staging_kind *kind = kind_of(resources);
    GR_TRY(mark_work(resources, n, stream));
    return kind->has_semaphores ? kind->from_cuda(resources, n, stream) : GR_OK;
}

/* With semaphores, the mappings have ended, and what OpenGL does not take is lost. */
static gr_status unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    const struct gl_staging_kind *kind = kind_of(resources);
    GR_TRY(check_unlocked(resources, n, gr_resource_writes, "gr_buffer_release"));
    if (kind->select)
        GR_TRY(kind->select(resources, n));
    gr_status status = leave_cuda(resources, n, stream);
    if (status != GR_OK) {
        (void)gr_stream_finish(stream); /* the next attempt may be in another stream */
        return status;
    }
    if (resources[0]->in_a_ring && !kind->has_semaphores) {
        for (size_t i = 0; i < n; i++)
            gl_staged_of(resources[i])->owed = gr_resource_writes(resources[i]);
        return GR_OK;
    }
    status = write_objects(resources, n, gr_resource_writes);
    if (status == GR_OK)
        return gl_object_check_kept(resources, n);
    /* after an error of OpenGL a later attempt could fail likewise, and never end the mapping */
    return kind->has_semaphores || status == GR_ERR_GL ? gr_error_set_class(GR_ERR_PARTIAL)
                                                       : status;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/* Copies what CUDA wrote to the objects, when OpenGL acquires them. */
static gr_status begin_use(gr_resource *const resources[], size_t n)
{
    if (!is_any(resources, n, is_owed))
        return GR_OK;
    GR_ENTER(&resources[0]->context, "OpenGL's turn");
    GR_TRY(check_unlocked(resources, n, is_owed, "acquire"));
    return write_objects(resources, n, is_owed);
}

static bool is_read_ahead(const gr_resource *resource)
{
    return gl_staged_of(resource)->reads_ahead && !gr_resource_writes(resource);
}

/* Also objects whose storage CUDA accesses itself, when OpenGL has finished with it. */
static bool is_left(const gr_resource *resource)
{
    return is_read_ahead(resource) || gl_staged_of(resource)->in_place;
}

/* Makes the same checks as a map that reads. */
static gr_status check_read_ahead(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_read_ahead(resources[i]))
            GR_TRY(gl_object_check_storage(resources + i, 1, NULL, "hand-over"));
    return check_unlocked(resources, n, is_read_ahead, "hand-over");
}

/* What OpenGL wrote is already in transit before CUDA acquires it. */
static gr_status end_use(gr_resource *const resources[], size_t n)
{
    if (!is_any(resources, n, is_left))
        return GR_OK;
    GR_TRY(check_read_ahead(resources, n));
    GR_ENTER(&resources[0]->context, "The end of OpenGL's turn");
    /* data that was fetched but never read may be overwritten */
    for (size_t i = 0; i < n; i++)
        if (is_read_ahead(resources[i]) && !is_fetched(resources[i]))
            gl_staged_advance(gl_staged_of(resources[i]));
    GR_TRY(read_objects(resources, n, is_left, is_left));
    for (size_t i = 0; i < n; i++)
        gl_staged_of(resources[i])->fetched = is_read_ahead(resources[i]);
    if (is_any(resources, n, is_read_ahead))
        glFlush();
    return GR_OK;
}

/* ---- Frames that OpenGL writes --------------------------------------------------------------- */

gr_status gl_staged_fill(gr_resource *resource, unsigned int *name)
{
    struct gl_staged *s = gl_staged_of(resource);
    *name = gl_of(resource)->name;
    if (resource->backend != &gl_peer)
        return GR_OK;
    gl_staged_advance(s);
    GR_TRY(s->kind->to_gl(&resource, 1, gr_resource_reads, true));
    s->filled = true;
    *name = s->kind->place(s).buffer;
    return GR_OK;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* If the newest ring frame that CUDA wrote is still in its slot only, copies it to the object. */
static void settle(gr_resource *resource)
{
    GR_NO_STATUS();
    if (begin_use(&resource, 1) != GR_OK)
        gr_error_unreceived("close: the bytes that CUDA wrote are lost");
}

/*
 * Whether the memory of the slots ends before or with the resource: it is the object's own storage,
 * or OpenGL mapped it in a context that was destroyed. CUDA may get its addresses for other memory.
 */
static bool ends_early(const gr_resource *resource)
{
    const struct gl_staged *s = gl_staged_of(resource);
    return s->in_place || (!s->kind->has_semaphores && gl_object_is_gone(resource));
}

/* Takes the staging from the resource. */
static struct gl_staged *take(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    struct gl_staged *s = r->staged;
    r->staged = NULL;
    r->arrays = NULL;
    if (s->kind->drop)
        s->kind->drop(s);
    return s;
}

static gr_status unregister(gr_resource *resource)
{
    struct gl_staged *s = gl_staged_of(resource);
    if (s) { /* otherwise park() has ended it */
        if (gl_object_on_thread(resource))
            settle(resource);
        if (ends_early(resource))
            (void)gr_work_finish(&resource->sync.work);
        s = take(resource);
        gr_ending_after(&s->ending, &resource->context, gr_work_take(&resource->sync.work),
                        gl_staged_end);
        gr_endings_collect();
    }
    gl_object_collect(resource);
    return GR_OK;
}

/*
 * Ends the staging of a resource that was freed while its OpenGL context was not current, if no
 * stream uses it. That context may never be current again, and its destruction unmaps registered
 * memory. If data is owed, the objects of both APIs are needed.
 */
static void end_staging(gr_resource *resource)
{
    GR_ENTERED entered = 0;
    const struct gr_last_work *work = &resource->sync.work;
    if (!gl_staged_of(resource) || is_owed(resource))
        return;
    if (gr_context_enter(&resource->context, &entered, "The end") != GR_OK)
        return;
    if (!work->recorded || gr_driver()->EventQuery(work->event) == CUDA_SUCCESS) {
        gr_work_end(&resource->sync.work, true);
        gl_staged_end(&take(resource)->ending, true);
    }
}

/*
 * Defers the end of the registration. If a buffer must still be released, its release needs the
 * objects of both APIs.
 */
static void park(gr_resource *resource, bool freed)
{
    if (freed)
        end_staging(resource);
    gl_object_park(resource, freed);
}

static void destroy(gr_resource *resource)
{
    if (gl_staged_of(resource)) /* the CUDA objects ended with their context */
        gl_staged_end(&take(resource)->ending, false);
    gl_object_destroy(resource);
}

static void signal_in_place(const gr_resource *resource)
{
    const struct gl_staged *s = gl_staged_of(resource);
    if (s && s->kind->signal)
        s->kind->signal(s);
}

#define STAGED_OPERATIONS                                                                          \
    GL_OBJECT_OPERATIONS,                                                                          \
        .check_storage = check_mappable, .signal_in_place = signal_in_place, .map = map,           \
        .undo_map = undo_map, .unmap = unmap, .abandon = abandon, .moves_region = moves_region,    \
        .linear = linear, .begin_use = begin_use, .end_use = end_use, .array = gl_arrays_array,    \
        .mipmapped_array = gl_arrays_mipmapped_array, .unregister = unregister, .park = park,      \
        .destroy = destroy

const struct gr_backend gl_copy = {
    .transport = GR_TRANSPORT_COPY, .name = "copy", STAGED_OPERATIONS};
const struct gr_backend gl_peer = {
    .transport = GR_TRANSPORT_PEER, .name = "peer", STAGED_OPERATIONS};
