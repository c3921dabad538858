/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The operations of the transports that copy. A map that reads lets OpenGL copy the object to a
 * slot, and CUDA follows. A release that writes is the reverse. Where threads wait, a ring delays
 * the copy after a release until OpenGL acquires the object, and starts the copy for a map when
 * OpenGL releases the object, so that several frames are in flight.
 */
#include "gl/staging/staging.h"

#include <stdlib.h>

#include <epoxy/gl.h>

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "gl/context/saved_state.h"

/* The resources of a run have the same backend, and so the same kind. */
static const struct gl_staging_kind *kind_of(gr_resource *const resources[])
{
    return ((const struct gl_resource *)resources[0])->staging->kind;
}

static void advance(struct gl_staging *s)
{
    s->turn = (s->turn + 1) % s->count;
}

/* ---- The resources of a batch ---------------------------------------------------------------- */

typedef bool predicate(const struct gl_resource *r);

/* Sets `chosen` of each resource. Returns whether any is. */
static bool choose(gr_resource *const resources[], size_t n, predicate *which)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        r->staging->chosen = which(r);
        any |= r->staging->chosen;
    }
    return any;
}

/* Whether CUDA copies between the slot and memory of its own. */
static bool has_memory(const struct gl_resource *r)
{
    return r->staging->own || (r->staging->arrays && !r->base.current->linear);
}

/* In a ring, the copy for this map was issued earlier. */
static bool is_fetched(const struct gl_resource *r)
{
    return r->staging->fetched && r->base.in_a_ring;
}

/* Whether CUDA reads a slot that OpenGL has written for this map, by a copy or by a fill. */
static bool is_signalled(const struct gl_resource *r)
{
    return gr_resource_reads(&r->base) && !is_fetched(r);
}

static bool is_read(const struct gl_resource *r)
{
    return is_signalled(r) && !r->staging->filled;
}

static bool is_written(const struct gl_resource *r)
{
    return gr_resource_writes(&r->base);
}

static bool is_owed(const struct gl_resource *r)
{
    return r->staging->owed;
}

/*
 * Whether a map must first write the data of the last ring release to the object. This is not
 * needed with write_discard in a ring, because the next release overwrites all of the data.
 */
static bool is_settled_first(const struct gl_resource *r)
{
    return r->staging->owed && (gr_resource_reads(&r->base) || !r->base.in_a_ring);
}

static bool is_copied_by_map(const struct gl_resource *r)
{
    return is_read(r) || is_settled_first(r);
}

/* Checks the chosen resources; `exist` as for gl_object_check_unlocked(). */
static gr_status check_unlocked(gr_resource *const resources[], size_t n, bool exist)
{
    for (size_t i = 0; i < n; i++)
        if (!resources[i]->is_image && ((const struct gl_resource *)resources[i])->staging->chosen)
            GR_TRY(gl_object_check_unlocked(resources[i], exist));
    return GR_OK;
}

static gr_status check_mappable(gr_resource *const resources[], size_t n, CUstream stream)
{
    /* A CUDA registration keeps immutable storage alive, but these transports do not. */
    GR_TRY(gl_object_check_storage(resources, n, stream));
    return choose(resources, n, is_copied_by_map) ? check_unlocked(resources, n, true) : GR_OK;
}

/* ---- Copies by OpenGL ------------------------------------------------------------------------ */

/* Copies between the object and its slot. */
static gr_status move(const struct gl_resource *r, bool read)
{
    const struct gl_staging *s = r->staging;
    if (s->in_place)
        return GR_OK;
    if (!read && !gl_object_intact(&r->base)) { /* the data is lost; waits as for other data */
        r->staging->lost = true;
        return s->kind->has_semaphores
                   ? GR_OK
                   : gr_copy_check(gr_work_finish(&r->base.sync.work), "cuEventQuery", &r->base);
    }
    if (!r->base.is_image)
        return s->kind->move(r, read);
    gl_arrays_move(r, s->kind->place(s), s->names, read);
    return GR_OK;
}

/* The copies follow all earlier commands, also writes of shaders. */
static gr_status move_chosen(gr_resource *const resources[], size_t n, bool read)
{
    const struct gl_resource *first = (const struct gl_resource *)resources[0];
    gr_status status = GR_OK;
    GL_SAVED(before, GL_SAVE(ERRORS));
    if (first->context.version >= 42)
        glMemoryBarrier(GL_ALL_BARRIER_BITS);
    for (size_t i = 0; i < n && status == GR_OK; i++)
        if (gl_of(resources[i])->staging->chosen)
            status = move(gl_of(resources[i]), read);
    if (status != GR_OK)
        return status;
    const GLenum error = gl_errors_end(&before);
    if (error == GL_NO_ERROR)
        return GR_OK;
    for (size_t i = 0; i < n; i++)
        if (gl_of(resources[i])->staging->chosen && resources[i]->is_image)
            gl_arrays_drop_scratch(gl_of(resources[i]), gl_of(resources[i])->staging->names);
    return GL_FAIL(error, first->staging->kind->gl_calls, "OpenGL could not %s the bytes of %s%s.",
                   read ? "read" : "take back", gl_object_text(resources[0]).text,
                   n > 1 ? " or of another one in the batch" : "");
}

/*
 * Lets OpenGL copy from the slots of the chosen resources, after CUDA. If OpenGL reports an error,
 * the data stays owed.
 */
static gr_status write_objects(gr_resource *const resources[], size_t n)
{
    const struct gl_staging_kind *kind = kind_of(resources);
    GR_TRY(kind->to_gl(resources, n, false));
    gr_status status = move_chosen(resources, n, false);
    const gr_status ended = kind->from_gl(resources, n, false);
    status = status == GR_OK ? ended : status;
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        struct gl_staging *s = ((const struct gl_resource *)resources[i])->staging;
        s->owed = s->owed && !s->chosen;
    }
    return status;
}

/* Lets OpenGL copy what CUDA reads to the slots. Those that are moved are signalled, too. */
static gr_status read_objects(gr_resource *const resources[], size_t n, predicate *moved,
                              predicate *signalled)
{
    const struct gl_staging_kind *kind = kind_of(resources);
    gr_status status = GR_OK;
    if (!choose(resources, n, signalled))
        return GR_OK;
    if (choose(resources, n, moved)) {
        GR_TRY(kind->to_gl(resources, n, true));
        status = move_chosen(resources, n, true);
    }
    choose(resources, n, signalled);
    /* also after an error: a later map has to wait for the copies that were issued */
    const gr_status ended = kind->from_gl(resources, n, true);
    return status == GR_OK ? ended : status;
}

/* ---- Map ------------------------------------------------------------------------------------- */

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
static gr_status enter_cuda(struct gl_resource *r, CUstream stream)
{
    const struct gl_staging *s = r->staging;
    r->base.ptr = s->own ? s->own : s->kind->place(s).cuda;
    return has_memory(r) && gr_resource_reads(&r->base) ? s->kind->copy(r, true, stream) : GR_OK;
}

/* CUDA copies are enqueued only if OpenGL has reported no error. */
static gr_status map_all(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    GR_TRY(choose(resources, n, is_settled_first) ? write_objects(resources, n) : GR_OK);
    for (size_t i = 0; i < n; i++) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        if ((r->staging->kind->has_semaphores && !r->staging->filled) || is_read(r))
            advance(r->staging);
    }
    GR_TRY(read_objects(resources, n, is_read, is_signalled));
    /*
     * CUDA's own memory may still be used in the stream of the last mapping. If a later step fails,
     * undo_map() records an event in this stream, which must be after that work.
     */
    for (size_t i = 0; i < n; i++)
        GR_TRY(gr_work_follow(&resources[i]->sync.work, stream));
    GR_TRY(kind_of(resources)->to_cuda(resources, n, stream));
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = enter_cuda((struct gl_resource *)resources[i], stream);
    if (status != GR_OK)
        undo_map(resources, n, stream);
    return status;
}

static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    const gr_status status = map_all(resources, n, stream);
    for (size_t i = 0; i < n; i++) {
        struct gl_staging *s = ((struct gl_resource *)resources[i])->staging;
        s->fetched = s->filled = false;
    }
    return status;
}

static CUdeviceptr linear(const gr_resource *resource)
{
    const struct gl_staging *s = ((const struct gl_resource *)resource)->staging;
    return s->is_linear ? s->kind->place(s).cuda : 0;
}

/* What a ring owes is the whole image. */
static bool moves_region(const gr_resource *resource)
{
    return !((const struct gl_resource *)resource)->staging->owed && gl_texels_regions_supported();
}

/* ---- Release --------------------------------------------------------------------------------- */

/*
 * Records an event, which the next map waits for, if CUDA used memory of its own. After a map
 * without the arrays, the event is that of the last use of the arrays, too.
 */
static gr_status mark_work(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        struct gr_last_work *work = &resources[i]->sync.work;
        if (has_memory(r) || (r->staging->arrays && work->recorded))
            GR_TRY(gr_work_mark(work, stream));
        else
            gr_work_note(work, stream);
    }
    return GR_OK;
}

/* Enqueues the copies to the slots of the chosen resources. */
static gr_status leave_cuda(gr_resource *const resources[], size_t n, CUstream stream)
{
    const struct gl_staging_kind *kind = kind_of(resources);
    for (size_t i = 0; i < n; i++) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        if (has_memory(r) && r->staging->chosen)
            GR_TRY(kind->copy(r, false, stream));
    }
    GR_TRY(mark_work(resources, n, stream));
    return kind->from_cuda(resources, n, stream);
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
    const bool writes = choose(resources, n, is_written);
    GR_TRY(check_unlocked(resources, n, false));
    if (kind->select)
        GR_TRY(kind->select(resources, n));
    gr_status status = leave_cuda(resources, n, stream);
    if (status != GR_OK) {
        (void)gr_stream_finish(stream); /* the next attempt may be in another stream */
        return status;
    }
    if (resources[0]->in_a_ring && !kind->has_semaphores) {
        for (size_t i = 0; i < n; i++) {
            struct gl_staging *s = ((const struct gl_resource *)resources[i])->staging;
            s->owed = s->chosen;
        }
        return GR_OK;
    }
    status = writes ? write_objects(resources, n) : GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        struct gl_staging *s = ((const struct gl_resource *)resources[i])->staging;
        if (s->in_place || s->lost) /* move() has found the others */
            GR_TRY(gl_object_check_kept(resources + i, 1));
        s->lost = false;
    }
    if (status == GR_OK)
        return GR_OK;
    /* after an error of OpenGL a later attempt could fail likewise, and never end the mapping */
    return kind->has_semaphores || status == GR_ERR_GL ? gr_error_set_class(GR_ERR_PARTIAL)
                                                       : status;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/* Copies what CUDA wrote to the objects, when OpenGL acquires them. */
static gr_status begin_use(gr_resource *const resources[], size_t n)
{
    if (!choose(resources, n, is_owed))
        return GR_OK;
    GR_ENTER(&resources[0]->context);
    GR_TRY(check_unlocked(resources, n, false));
    return write_objects(resources, n);
}

static bool is_read_ahead(const struct gl_resource *r)
{
    return r->staging->reads_ahead && !gr_resource_writes(&r->base);
}

/* Also objects whose storage CUDA accesses itself, when OpenGL has finished with it. */
static bool is_left(const struct gl_resource *r)
{
    return is_read_ahead(r) || r->staging->in_place;
}

/* What OpenGL wrote is already in transit before CUDA acquires it. */
static gr_status end_use(gr_resource *const resources[], size_t n)
{
    if (!choose(resources, n, is_left))
        return GR_OK;
    for (size_t i = 0; i < n; i++) /* the same checks as in a map that reads */
        if (is_read_ahead((const struct gl_resource *)resources[i]))
            GR_TRY(gl_object_check_storage(resources + i, 1, NULL));
    const bool ahead = choose(resources, n, is_read_ahead);
    GR_TRY(check_unlocked(resources, n, false));
    GR_ENTER(&resources[0]->context);
    /* data that was fetched but never read may be overwritten */
    for (size_t i = 0; i < n; i++) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        if (r->staging->chosen && !is_fetched(r))
            advance(r->staging);
    }
    GR_TRY(read_objects(resources, n, is_left, is_left));
    for (size_t i = 0; i < n; i++) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        r->staging->fetched = is_read_ahead(r);
    }
    if (ahead)
        glFlush();
    return GR_OK;
}

/* ---- Frames that OpenGL writes --------------------------------------------------------------- */

gr_status gl_staging_fill(gr_resource *resource, unsigned int *name)
{
    const struct gl_resource *r = (const struct gl_resource *)resource;
    struct gl_staging *s = r->staging;
    *name = r->name;
    if (resource->backend != &gl_peer)
        return GR_OK;
    advance(s);
    s->chosen = true;
    GR_TRY(s->kind->to_gl(&resource, 1, true));
    s->filled = true;
    *name = s->kind->place(s).buffer;
    return GR_OK;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* Takes the staging from the resource. */
static struct gl_staging *take(struct gl_resource *r)
{
    struct gl_staging *s = r->staging;
    r->staging = NULL;
    r->arrays = NULL;
    if (s->kind->drop)
        s->kind->drop(s);
    return s;
}

void gl_staging_end(struct gr_ending *ending, bool alive)
{
    struct gl_staging *s = (struct gl_staging *)ending;
    gl_arrays_end(s->arrays, alive);
    if (alive && s->own)
        gr_driver()->MemFree(s->own);
    if (alive && s->kind->end)
        s->kind->end(s);
    gl_names_end(s->names); /* the OpenGL objects, which CUDA no longer uses */
    free(s);
}

static gr_status unregister(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    if (r->staging) { /* otherwise park() has ended it */
        if (gl_object_on_thread(resource)) {
            /* the newest ring frame that CUDA wrote may still be in its slot only */
            GR_NO_STATUS();
            if (begin_use(&resource, 1) != GR_OK)
                gr_error_unreceived("close: the bytes that CUDA wrote are lost");
        }
        /*
         * The object's own storage, and memory that OpenGL mapped in a context that was destroyed,
         * end before or with the resource, and CUDA may get their addresses for other memory.
         */
        if (r->staging->in_place ||
            (!r->staging->kind->has_semaphores && gl_object_is_gone(resource)))
            (void)gr_work_finish(&resource->sync.work);
        gr_ending_after(&take(r)->ending, &resource->context, gr_work_take(&resource->sync.work),
                        gl_staging_end);
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
    struct gl_resource *r = (struct gl_resource *)resource;
    const struct gr_last_work *work = &resource->sync.work;
    if (!r->staging || r->staging->owed)
        return;
    if (gr_context_enter(&resource->context, &entered) != GR_OK)
        return;
    if (!work->recorded || gr_driver()->EventQuery(work->event) == CUDA_SUCCESS) {
        gr_work_end(&resource->sync.work, true);
        gl_staging_end(&take(r)->ending, true);
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
    struct gl_resource *r = (struct gl_resource *)resource;
    if (r->staging) /* the CUDA objects ended with their context */
        gl_staging_end(&take(r)->ending, false);
    gl_object_destroy(resource);
}

static void signal_in_place(const gr_resource *resource)
{
    const struct gl_staging *s = ((const struct gl_resource *)resource)->staging;
    if (s && s->kind->signal)
        s->kind->signal(s);
}

#define STAGING_OPERATIONS                                                                         \
    GL_OBJECT_OPERATIONS,                                                                          \
        .check_storage = check_mappable, .signal_in_place = signal_in_place, .map = map,           \
        .undo_map = undo_map, .unmap = unmap, .abandon = abandon, .moves_region = moves_region,    \
        .linear = linear, .begin_use = begin_use, .end_use = end_use, .array = gl_arrays_array,    \
        .mipmapped_array = gl_arrays_mipmapped_array, .unregister = unregister, .park = park,      \
        .destroy = destroy

const struct gr_backend gl_copy = {
    .transport = GR_TRANSPORT_COPY, .name = "copy", STAGING_OPERATIONS};
const struct gr_backend gl_peer = {
    .transport = GR_TRANSPORT_PEER, .name = "peer", STAGING_OPERATIONS};
