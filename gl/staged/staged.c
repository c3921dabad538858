/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The operations of the peer transport. A map that reads lets OpenGL copy the object to a staging
 * buffer and signal, and CUDA waits for the signal. A release that writes lets CUDA signal, and
 * OpenGL wait and copy the staging buffer to the object. The staging buffers take turns.
 */
#include "gl/staged/staged.h"

#include <stdint.h>

#include <epoxy/gl.h>

#include "lib/resource/backend.h"
#include "lib/resource/resource.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "gl/context/saved_state.h"
#include "gl/texels/buffer_shader.h"

static struct gl_staged *staged_of(const gr_resource *resource)
{
    return gl_of(resource)->staged;
}

static gr_resource *slot_of(const gr_resource *resource)
{
    const struct gl_staged *s = staged_of(resource);
    return s->slots[s->turn];
}

/* Whether CUDA copies between the staging buffer and memory of its own. */
static bool has_memory(const gr_resource *resource)
{
    const struct gl_staged *s = staged_of(resource);
    return s->own || (s->arrays && !resource->current->linear);
}

/* ---- The staging buffers of a batch ---------------------------------------------------------- */

typedef bool chosen(const gr_resource *resource);

static bool any(const gr_resource *resource)
{
    (void)resource;
    return true;
}

/* Lists the current staging buffers of the resources chosen by `which`. Returns their number. */
static size_t list(gr_resource *const resources[], size_t n, chosen *which, gr_resource *slots[])
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (which(resources[i]))
            slots[count++] = slot_of(resources[i]);
    return count;
}

static size_t run_at(gr_resource *const slots[], size_t n, size_t i)
{
    return slots[i]->backend->run(slots + i, n - i);
}

/* Calls begin_use() or end_use() for the staging buffers of the chosen resources. */
static gr_status use_slots(gr_resource *const resources[], size_t n, chosen *which, bool begin)
{
    gr_resource *slots[GR_BATCH];
    const size_t count = list(resources, n, which, slots);
    for (size_t i = 0, length; i < count; i += length) {
        const struct gr_backend *backend = slots[i]->backend;
        length = run_at(slots, count, i);
        GR_TRY((begin ? backend->begin_use : backend->end_use)(slots + i, length));
    }
    return GR_OK;
}

/* Makes the stream wait for the last use of all staging buffers by OpenGL, or of none. */
static gr_status map_slots(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_resource *slots[GR_BATCH];
    gr_status status = GR_OK;
    const size_t count = list(resources, n, any, slots);
    for (size_t i = 0, length; i < count && status == GR_OK; i += length) {
        length = run_at(slots, count, i);
        status = slots[i]->backend->map(slots + i, length, stream);
        if (status != GR_OK && i)
            slots[0]->backend->undo_map(slots, i, stream);
    }
    return status;
}

static gr_status unmap_slots(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_resource *slots[GR_BATCH];
    const size_t count = list(resources, n, any, slots);
    return slots[0]->backend->unmap(slots, count, stream);
}

/* ---- Copies by OpenGL ------------------------------------------------------------------------ */

/* Copies the mapped bytes, or the texels, between the object and its staging buffer. */
static void move(const gr_resource *resource, bool read)
{
    const struct gl_resource *r = gl_of(resource);
    const unsigned int slot = gl_of(slot_of(resource))->name;
    const gr_buffer *mapping = resource->current;
    if (resource->is_image)
        gl_arrays_move(r, slot, 0, r->staged->names, read);
    else
        gl_buffer_copy(r->shader, read ? r->name : slot, read ? slot : r->name, slot,
                       mapping->offset, mapping->part);
}

/* The copies follow all earlier commands, also writes of shaders. */
static gr_status move_chosen(gr_resource *const resources[], size_t n, chosen *which, bool read)
{
    GL_SAVED(before, GL_SAVE(ERRORS));
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    for (size_t i = 0; i < n; i++)
        if (which(resources[i]))
            move(resources[i], read);
    return gl_object_check_copied(
        resources[0], n, "glDispatchCompute, glCopyNamedBufferSubData, glGetTextureSubImage",
        read ? "read" : "take back");
}

/* ---- Copies by CUDA -------------------------------------------------------------------------- */

static gr_status copy_bytes(const gr_resource *resource, bool up, CUstream stream)
{
    const gr_buffer *mapping = resource->current;
    const CUdeviceptr slot = slot_of(resource)->ptr + mapping->offset,
                      own = staged_of(resource)->own + mapping->offset;
    GR_TRY_WORK(
        gr_driver()->MemcpyDtoDAsync(up ? own : slot, up ? slot : own, mapping->part, stream),
        "cuMemcpyDtoDAsync", "The copy of %s between two GPUs failed.",
        gl_object_text(resource).text);
    return GR_OK;
}

/* Copies between the staging buffer and CUDA's own memory, to that memory if `up`. */
static gr_status stream_one(const gr_resource *resource, bool up, CUstream stream)
{
    const struct gl_linear slot = {(unsigned char *)(uintptr_t)slot_of(resource)->ptr, true};
    return resource->is_image ? gl_arrays_stream(gl_of(resource), slot, up, stream)
                              : copy_bytes(resource, up, stream);
}

/* ---- Map ------------------------------------------------------------------------------------- */

static bool is_read(const gr_resource *resource)
{
    return gr_resource_reads(resource) && !staged_of(resource)->filled;
}

static void advance(const gr_resource *resource)
{
    struct gl_staged *s = staged_of(resource);
    s->turn = (s->turn + 1) % s->count;
}

/* Lets OpenGL copy the objects that CUDA reads, and signal. */
static gr_status read_objects(gr_resource *const resources[], size_t n)
{
    bool reads = false, moves = false;
    for (size_t i = 0; i < n; i++) {
        reads = reads || gr_resource_reads(resources[i]);
        moves = moves || is_read(resources[i]);
    }
    gr_status status = moves ? use_slots(resources, n, is_read, true) : GR_OK;
    if (status != GR_OK || !reads)
        return status;
    if (moves)
        status = move_chosen(resources, n, is_read, true);
    /* also after an error: a later map has to wait for the copies that were issued */
    const gr_status ended = use_slots(resources, n, gr_resource_reads, false);
    return status == GR_OK ? ended : status;
}

/*
 * CUDA's own memory may still be used in the stream of the last mapping. If a later step fails,
 * undo_map() records an event in this stream, which must be after that work.
 */
static gr_status follow_all(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++)
        GR_TRY(gr_work_follow(&resources[i]->sync.work, stream));
    return GR_OK;
}

static gr_status upload(const gr_resource *resource, CUstream stream)
{
    return has_memory(resource) && gr_resource_reads(resource) ? stream_one(resource, true, stream)
                                                               : GR_OK;
}

/*
 * The memory of the resources, and their staging buffers, may be used next when the stream has
 * passed the work so far.
 */
static void undo_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_resource *slots[GR_BATCH];
    GR_KEEP_ERROR();
    for (size_t i = 0; i < n; i++)
        (void)gr_work_mark_or_finish(&resources[i]->sync.work, stream);
    (void)list(resources, n, any, slots);
    slots[0]->backend->undo_map(slots, n, stream);
}

static gr_status map_and_upload(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    GR_TRY(read_objects(resources, n));
    GR_TRY(follow_all(resources, n, stream));
    GR_TRY(map_slots(resources, n, stream));
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        const struct gl_staged *s = staged_of(resources[i]);
        resources[i]->ptr = s->own ? s->own : s->slots[s->turn]->ptr;
        status = upload(resources[i], stream);
    }
    if (status != GR_OK)
        undo_map(resources, n, stream);
    return status;
}

static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++)
        if (!staged_of(resources[i])->filled)
            advance(resources[i]);
    const gr_status status = map_and_upload(resources, n, stream);
    for (size_t i = 0; i < n; i++)
        staged_of(resources[i])->filled = false;
    return status;
}

static CUdeviceptr linear(const gr_resource *resource)
{
    return staged_of(resource)->crosses ? 0 : slot_of(resource)->ptr;
}

/* ---- Release --------------------------------------------------------------------------------- */

/*
 * Whether to record an event, which the next map waits for. After a map without the arrays, the
 * event is that of the last use of the arrays, too.
 */
static bool needs_event(const gr_resource *resource)
{
    return has_memory(resource) || (staged_of(resource)->arrays && resource->sync.work.recorded);
}

/* Enqueues the copies to the staging buffers. */
static gr_status download(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++)
        if (has_memory(resources[i]) && gr_resource_writes(resources[i]))
            GR_TRY(stream_one(resources[i], false, stream));
    for (size_t i = 0; i < n; i++) {
        if (needs_event(resources[i]))
            GR_TRY(gr_work_mark(&resources[i]->sync.work, stream));
        else
            gr_work_note(&resources[i]->sync.work, stream);
    }
    return GR_OK;
}

/* Also decides that the data of an object without its storage is lost. */
static bool is_kept(const gr_resource *resource)
{
    return gr_resource_writes(resource) && gl_object_intact(resource);
}

/* Lets OpenGL wait for CUDA, copy to the objects, and signal that it has read the buffers. */
static gr_status write_objects(gr_resource *const resources[], size_t n)
{
    bool writes = false;
    for (size_t i = 0; i < n; i++)
        writes = writes || gr_resource_writes(resources[i]);
    if (!writes)
        return GR_OK;
    GR_TRY(use_slots(resources, n, gr_resource_writes, true));
    const gr_status status = move_chosen(resources, n, is_kept, false);
    const gr_status ended = use_slots(resources, n, gr_resource_writes, false);
    return status == GR_OK ? ended : status;
}

static gr_status check_unlocked(gr_resource *const resources[], size_t n, chosen *which,
                                const char *call)
{
    for (size_t i = 0; i < n; i++)
        if (which(resources[i]))
            GR_TRY(gl_object_check_unlocked(resources[i], call));
    return GR_OK;
}

static gr_status unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(check_unlocked(resources, n, gr_resource_writes, "gr_buffer_release"));
    gr_status status = download(resources, n, stream);
    if (status == GR_OK)
        status = unmap_slots(resources, n, stream);
    if (status != GR_OK) {
        (void)gr_stream_finish(stream); /* the next attempt may be in another stream */
        return status;
    }
    /* The mappings have ended. What OpenGL does not take is lost. */
    status = write_objects(resources, n);
    return status == GR_OK ? gl_object_check_kept(resources, n)
                           : gr_error_set_class(GR_ERR_PARTIAL);
}

/* ---- Frames that OpenGL writes --------------------------------------------------------------- */

gr_status gl_staged_fill(gr_resource *resource, unsigned int *name)
{
    *name = gl_of(resource)->name;
    if (resource->backend != &gl_staged)
        return GR_OK;
    advance(resource);
    GR_TRY(use_slots(&resource, 1, any, true));
    staged_of(resource)->filled = true;
    *name = gl_of(slot_of(resource))->name;
    return GR_OK;
}

void gl_staged_unfill(gr_resource *resource)
{
    if (resource->backend == &gl_staged && staged_of(resource))
        staged_of(resource)->filled = false;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static gr_status check_mappable(gr_resource *const resources[], size_t n, CUstream stream,
                                const char *call)
{
    GR_TRY(gl_object_check_storage(resources, n, stream, call));
    return check_unlocked(resources, n, gr_resource_reads, call);
}

static void signal_in_place(const gr_resource *resource)
{
    const gr_resource *slot = slot_of(resource);
    slot->backend->signal_in_place(slot);
}

static gr_status unregister(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    struct gl_staged *s = r->staged;
    r->staged = NULL;
    r->arrays = NULL;
    gl_staged_drop_slots(s);
    gr_ending_after(&s->ending, &resource->context, gr_work_take(&resource->sync.work),
                    gl_staged_end);
    gr_endings_collect();
    gl_object_collect(resource);
    return GR_OK;
}

static void destroy(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    if (r->staged) { /* the CUDA objects ended with their context */
        gl_staged_drop_slots(r->staged);
        gl_staged_end(&r->staged->ending, false);
        r->staged = NULL;
    }
    gl_object_destroy(resource);
}

const struct gr_backend gl_staged = {
    .transport = GR_TRANSPORT_PEER,
    .name = "peer",
    GL_OBJECT_OPERATIONS,
    .check_storage = check_mappable,
    .signal_in_place = signal_in_place,
    .map = map,
    .undo_map = undo_map,
    .unmap = unmap,
    .moves_region = gl_arrays_moves_region,
    .linear = linear,
    .array = gl_arrays_array,
    .mipmapped_array = gl_arrays_mipmapped_array,
    .unregister = unregister,
    .park = gl_object_park,
    .destroy = destroy,
};
