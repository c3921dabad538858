/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The operations of the peer transport. On the GPU that draws, the OpenGL buffer is mapped only for
 * the copies: with write_discard or read_only, OpenGL can draw from the buffer while CUDA kernels
 * run. A read_write resource stays mapped between the two copies, which saves a second map.
 *
 * The copies run in the caller's stream, and the maps in a stream of the GPU that draws. Events
 * order the copies and maps, and no thread waits.
 */
#include "gl/peer/peer.h"

#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"

static struct gl_peer *peer_of(const gr_resource *resource)
{
    return gl_of(resource)->peer;
}

static gr_status check_cuda(CUresult result, const char *driver_call, const gr_resource *resource)
{
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_work(result, driver_call, "The copy of %s between two GPUs failed.",
                        gl_object_text(resource).text);
}

void gl_peer_end(struct gr_ending *ending, bool alive)
{
    struct gl_peer *peer = (struct gl_peer *)ending;
    if (alive && peer->ptr)
        gr_driver()->MemFree(peer->ptr);
    free(peer);
}

/* ---- A run on the GPU that draws ------------------------------------------------------------- */

/*
 * Lists the resources chosen by `which` that are mapped on the GPU that draws, or, if `mapped` is
 * false, those that are not. Returns their number.
 */
static size_t gather(gr_resource *const resources[], size_t n,
                     bool (*which)(const gr_resource *resource), bool mapped,
                     struct gl_drawing *drawings[])
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct gl_drawing *drawing = peer_of(resources[i])->drawing;
        if (which(resources[i]) && (drawing->ptr != 0) == mapped)
            drawings[count++] = drawing;
    }
    return count;
}

static bool all(const gr_resource *resource)
{
    (void)resource;
    return true;
}

static bool reads_only(const gr_resource *resource)
{
    return !gr_resource_writes(resource);
}

/*
 * Maps the chosen buffers that are not mapped on the GPU that draws. Later work in the stream waits
 * for the map.
 */
static gr_status map_chosen(gr_resource *const resources[], size_t n,
                            bool (*which)(const gr_resource *resource), CUstream stream)
{
    struct gl_drawing *drawings[GR_BATCH];
    return gl_drawings_map(drawings, gather(resources, n, which, false, drawings), stream);
}

/*
 * Unmaps the chosen buffers that are mapped on the GPU that draws, once the stream reaches this
 * point.
 */
static gr_status unmap_chosen(gr_resource *const resources[], size_t n,
                              bool (*which)(const gr_resource *resource), CUstream stream)
{
    struct gl_drawing *drawings[GR_BATCH];
    size_t count = gather(resources, n, which, true, drawings);
    if (!count)
        return GR_OK;
    struct gr_last_work *work = &resources[0]->sync.work;
    GR_TRY(gr_work_mark(work, stream));
    return gl_drawings_unmap(drawings, count, work->event);
}

/* Copies the mapped bytes of a buffer into CUDA memory, or back if `back` is set. */
static gr_status copy(const gr_resource *resource, const gr_buffer *part, bool back,
                      CUstream stream)
{
    const struct gl_peer *peer = peer_of(resource);
    CUdeviceptr here = peer->ptr + part->offset, there = peer->drawing->ptr + part->offset;
    CUcontext computing = resource->context.handle, drawing = peer->drawing->context.handle;
    return check_cuda(gr_driver()->MemcpyPeerAsync(back ? there : here, back ? drawing : computing,
                                                   back ? here : there, back ? computing : drawing,
                                                   part->part, stream),
                      "cuMemcpyPeerAsync", resource);
}

/* ---- Map ------------------------------------------------------------------------------------- */

static gr_status map_run(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(map_chosen(resources, n, gr_resource_reads, stream));
    for (size_t i = 0; i < n; i++)
        if (gr_resource_reads(resources[i]))
            GR_TRY(copy(resources[i], resources[i]->current, false, stream));
    GR_TRY(unmap_chosen(resources, n, reads_only, stream));
    for (size_t i = 0; i < n; i++)
        resources[i]->ptr = peer_of(resources[i])->ptr;
    return GR_OK;
}

/*
 * Records an event after the copies in the stream. The next call that uses the memory waits for
 * this event. If recording fails, this thread waits, because the memory may be freed next.
 */
static void undo_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    struct gl_drawing *drawings[GR_BATCH];
    gr_status status = GR_OK;
    GR_KEEP_ERROR();
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = gr_work_mark_or_finish(&resources[i]->sync.work, stream);
    (void)gl_drawings_unmap(drawings, gather(resources, n, all, true, drawings),
                            status == GR_OK ? resources[0]->sync.work.event : NULL);
}

/*
 * The wait for the work of the last mapping, which may be in another stream, comes first: if a
 * later step fails, undo_map() records the event in this stream, and the event must be after the
 * earlier work, too.
 */
static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++)
        GR_TRY(gr_work_follow(&resources[i]->sync.work, stream));
    gr_status status = map_run(resources, n, stream);
    if (status != GR_OK)
        undo_map(resources, n, stream);
    return status;
}

/* ---- Release --------------------------------------------------------------------------------- */

/*
 * Whether data has to be written to the buffer. False if the buffer was deleted or got other
 * storage since the map: the data is then lost.
 */
static bool needs_write(const gr_resource *resource)
{
    return gr_resource_writes(resource) &&
           (peer_of(resource)->drawing->ptr || gl_object_intact(resource));
}

/* Enqueues the copies to the GPU that draws. After an error no copy is pending. */
static gr_status copy_back(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++)
        if (gr_resource_writes(resources[i]) && peer_of(resources[i])->drawing->ptr)
            status = copy(resources[i], resources[i]->mapped, true, stream);
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = gr_work_mark(&resources[i]->sync.work, stream);
    if (status != GR_OK)
        (void)gr_stream_finish(stream);
    return status;
}

static gr_status unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(map_chosen(resources, n, needs_write, stream));
    GR_TRY(copy_back(resources, n, stream));
    const gr_status status = unmap_chosen(resources, n, all, stream);
    if (status == GR_OK)
        return gl_object_check_kept(resources, n);
    (void)gr_stream_finish(stream); /* the next attempt may be in another stream */
    return status;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static gr_status unregister(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    struct gl_peer *peer = r->peer;
    r->peer = NULL;
    /*
     * If an unmap failed, no unmap follows the copies in the stream, so this thread waits for the
     * copies.
     */
    if (peer->drawing->ptr)
        (void)gr_work_finish(&resource->sync.work);
    gr_status status = gl_drawing_end(peer->drawing);
    gr_ending_after(&peer->ending, &resource->context, gr_work_take(&resource->sync.work),
                    gl_peer_end);
    gr_endings_collect();
    gl_object_collect(resource);
    return status;
}

static void destroy(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    if (r->peer) { /* the CUDA objects ended with their context */
        struct gr_error_record before;
        gr_error_save(&before);
        gl_drawing_end(r->peer->drawing);
        gr_error_restore(&before);
        gl_peer_end(&r->peer->ending, false);
        r->peer = NULL;
    }
    gl_object_destroy(resource);
}

const struct gr_backend gl_peer = {
    .transport = GR_TRANSPORT_PEER,
    .name = "peer",
    GL_OBJECT_OPERATIONS,
    .check_storage = gl_object_check_registered,
    .map = map,
    .undo_map = undo_map,
    .unmap = unmap,
    .unregister = unregister,
    .park = gl_object_park,
    .destroy = destroy,
};
