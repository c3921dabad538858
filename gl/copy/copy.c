/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The operations of the copy transport. A map copies the bytes from OpenGL to the stream. A release
 * copies the bytes from the stream, waits for this copy, and writes the bytes to OpenGL. The flags
 * of the resource may make either copy unnecessary. The bytes pass through host memory. If possible
 * and faster, this memory is an OpenGL buffer that stays mapped and is registered with CUDA, so
 * that the copy engines of both APIs access it (staging.c). Otherwise CUDA allocates the memory,
 * and the calling thread copies between it and OpenGL.
 */
#include "gl/copy/copy.h"

#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"

static gr_status check_cuda(CUresult result, const char *driver_call, const gr_resource *resource)
{
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_work(result, driver_call, "The copy of %s failed.",
                        gl_object_text(resource).text);
}

void gl_copy_end(struct gr_ending *ending, bool alive)
{
    const gr_cuda_api *cu = gr_driver();
    struct gl_copy *copy = (struct gl_copy *)ending;
    gl_arrays_end(copy->arrays, alive);
    if (alive && copy->ptr)
        cu->MemFree(copy->ptr);
    if (alive && copy->staging)
        cu->MemHostUnregister(copy->host);
    else if (alive && copy->host)
        cu->MemFreeHost(copy->host);
    for (int i = 0; alive && i < GL_COPY_MOST_PIECES && copy->piece_ends[i]; i++)
        cu->EventDestroy(copy->piece_ends[i]);
    for (int i = 0; alive && i < 2; i++)
        if (copy->passed[i])
            cu->EventDestroy(copy->passed[i]);
    gl_names_end(copy->scratch); /* the OpenGL objects, which CUDA no longer uses */
    free(copy);
}

/* ---- Map ------------------------------------------------------------------------------------- */

/*
 * Returns the address of the bytes of a mapping: the start of the current part, or, in the object's
 * own storage, the offset of the mapping.
 */
static unsigned char *host_of(const struct gl_resource *r)
{
    const size_t offset = r->copy->staging == GL_STAGING_OBJECT ? gl_copy_part(r)->offset : 0;
    return gl_copy_host(r->copy) + offset;
}

/* Copies bytes of a buffer from host memory to the device if `up`, otherwise back. */
static gr_status move_piece(const struct gl_resource *r, size_t at, size_t size, bool up,
                            CUstream stream)
{
    const gr_cuda_api *cu = gr_driver();
    unsigned char *host = host_of(r) + at;
    CUdeviceptr device = r->copy->ptr + gl_copy_part(r)->offset + at;
    CUresult result = up ? cu->MemcpyHtoDAsync(device, host, size, stream)
                         : cu->MemcpyDtoHAsync(host, device, size, stream);
    return check_cuda(result, up ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync", &r->base);
}

static gr_status move_image(const struct gl_resource *r, bool up, CUstream stream)
{
    return gl_arrays_stream(r, (struct gl_linear){.at = gl_copy_host(r->copy)}, up, stream);
}

static gr_status mark_passed(const struct gl_resource *r, CUstream stream)
{
    const struct gl_copy *copy = r->copy;
    return check_cuda(gr_driver()->EventRecord(copy->passed[copy->turn], stream), "cuEventRecord",
                      &r->base);
}

static gr_status upload(const struct gl_resource *r, CUstream stream)
{
    if (!gr_resource_reads(&r->base))
        return GR_OK;
    GR_TRY(r->base.is_image ? move_image(r, true, stream)
                            : move_piece(r, 0, gl_copy_part(r)->part, true, stream));
    return mark_passed(r, stream);
}

/*
 * Uploads piece by piece: OpenGL copies the next piece while CUDA transfers this one. All fences
 * are deleted, also after an error.
 */
static gr_status upload_pieces(const struct gl_resource *r, struct __GLsync *const fences[],
                               CUstream stream)
{
    const struct gl_pieces pieces = gl_pieces_of(r->copy, gl_copy_part(r)->part);
    gr_status status = GR_OK;
    for (unsigned i = 0; i < pieces.count; i++) {
        size_t at = i * pieces.step;
        gr_status passed = gl_fence_pass(fences[i], &r->base, "gr_map");
        status = status == GR_OK ? passed : status;
        if (status == GR_OK)
            status = move_piece(r, at, gl_piece_size(&pieces, at), true, stream);
    }
    return status == GR_OK ? mark_passed(r, stream) : status;
}

/*
 * Selects the part for the next read: the part into which a ring has already fetched the data,
 * otherwise one that no stream reads any more.
 */
static gr_status select_part(const struct gl_resource *r)
{
    struct gl_copy *copy = r->copy;
    copy->fetched = copy->fetched && r->base.in_a_ring;
    return copy->fetched ? GR_OK : gl_copy_select_next(r);
}

static gr_status prepare(const struct gl_resource *r, CUstream stream)
{
    /* Another stream may still write the CUDA memory or read the part. */
    GR_TRY(gr_work_follow(&r->base.sync.work, stream));
    GR_TRY(gl_copy_writes_first(r) ? gl_copy_wait(r->base.sync.work.event, &r->base) : GR_OK);
    return gr_resource_reads(&r->base) ? select_part(r) : GR_OK;
}

/*
 * Records an event after the copies in the stream. The next call that uses the host memory waits
 * for this event. If recording fails, this thread waits, because the memory may be freed next.
 */
static void undo_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    GR_KEEP_ERROR();
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        status = gr_work_mark(&resources[i]->sync.work, stream);
        if (status == GR_OK && gr_resource_reads(resources[i]))
            status = mark_passed(gl_of(resources[i]), stream);
    }
    if (status != GR_OK)
        (void)gr_stream_finish(stream);
}

/* Whether the map copies in pieces. It does not if a ring has fetched the data ahead. */
static bool in_pieces(const gr_resource *resource)
{
    const struct gl_resource *r = gl_of(resource);
    return gr_resource_reads(resource) && r->copy->staging && !r->copy->fetched &&
           !resource->is_image && gl_pieces_of(r->copy, gl_copy_part(r)->part).count > 1;
}

static gr_status move_pieces(gr_resource *resource, CUstream stream)
{
    struct __GLsync *fences[GL_COPY_MOST_PIECES] = {NULL};
    GR_TRY(gl_copy_read_pieces(resource, fences));
    return upload_pieces(gl_of(resource), fences, stream);
}

static gr_status move_all(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(gl_copy_read_objects(resources, n));
    for (size_t i = 0; i < n; i++)
        GR_TRY(upload(gl_of(resources[i]), stream));
    return GR_OK;
}

/* Maps the resources. CUDA copies are enqueued only if OpenGL has reported no error. */
static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    for (size_t i = 0; i < n; i++)
        resources[i]->ptr = gl_of(resources[i])->copy->ptr;
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = prepare(gl_of(resources[i]), stream);
    if (status == GR_OK && n == 1 && in_pieces(resources[0]))
        status = move_pieces(resources[0], stream);
    else if (status == GR_OK)
        status = move_all(resources, n, stream);
    if (status != GR_OK)
        undo_map(resources, n, stream);
    return status;
}

/* ---- Release --------------------------------------------------------------------------------- */

/* Downloads a buffer to host memory. With several pieces, records an event after each piece. */
static gr_status buffer_down(const struct gl_resource *r, CUstream stream)
{
    const struct gl_copy *copy = r->copy;
    const struct gl_pieces pieces = gl_pieces_of(copy, gl_copy_part(r)->part);
    for (unsigned i = 0; i < pieces.count; i++) {
        size_t at = i * pieces.step;
        GR_TRY(move_piece(r, at, gl_piece_size(&pieces, at), false, stream));
        if (pieces.count > 1)
            GR_TRY(check_cuda(gr_driver()->EventRecord(copy->piece_ends[i], stream),
                              "cuEventRecord", &r->base));
    }
    return GR_OK;
}

static gr_status copy_down(const struct gl_resource *r, CUstream stream)
{
    if (r->copy->staging == GL_STAGING_OBJECT && !gl_object_intact(&r->base))
        return GR_OK;
    return r->base.is_image ? move_image(r, false, stream) : buffer_down(r, stream);
}

/*
 * Selects the next part for the writes of CUDA, because OpenGL may not have copied the last frame
 * yet.
 */
static void select_next_part(const struct gl_resource *r)
{
    struct gl_copy *copy = r->copy;
    if (copy->turns == 1)
        return;
    copy->turn = (copy->turn + 1) % copy->turns;
    gl_fence_keep(copy->scratch);
}

/* Enqueues the downloads. After an error no copy is pending. */
static gr_status download_all(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++)
        if (gr_resource_writes(resources[i])) {
            select_next_part(gl_of(resources[i]));
            status = copy_down(gl_of(resources[i]), stream);
        }
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = gr_work_mark(&resources[i]->sync.work, stream);
    if (status != GR_OK)
        (void)gr_stream_finish(stream);
    return status;
}

/* Makes the checks that can fail, before any copy is enqueued. */
static gr_status check_download(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (gr_resource_writes(resources[i]))
            GR_TRY(gl_object_check_unlocked(resources[i], "gr_buffer_release"));
    return gl_copy_wait_writable(resources, n, "gr_buffer_release");
}

/* Whether OpenGL must not use the object before the stream has done its copies. */
static bool is_awaited(const gr_resource *resource)
{
    return gr_resource_writes(resource) ||
           gl_of(resource)->copy->staging == GL_STAGING_OBJECT; /* CUDA may still read it */
}

/*
 * Waits for all resources with a single wait. Large buffers are the exception: their pieces are
 * waited for later, when they are copied.
 */
static gr_status await_all(gr_resource *const resources[], size_t n)
{
    const gr_resource *last = NULL;
    for (size_t i = 0; i < n; i++)
        if (is_awaited(resources[i]))
            last = resources[i];
    if (!last)
        return GR_OK;
    bool one_by_one = n == 1 && !last->is_image &&
                      gl_pieces_of(gl_of(last)->copy, gl_copy_part(gl_of(last))->part).count > 1;
    return one_by_one ? GR_OK : gl_copy_wait(last->sync.work.event, last);
}

/*
 * Unmaps the resources, and waits for the copies. If OpenGL refuses the data, it is lost. In a
 * ring, this thread does not wait now, but before the next use by OpenGL, so that several frames
 * can be in flight.
 */
static gr_status unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_TRY(check_download(resources, n));
    GR_TRY(download_all(resources, n, stream));
    if (resources[0]->in_a_ring) {
        for (size_t i = 0; i < n; i++)
            gl_of(resources[i])->copy->owed = gr_resource_writes(resources[i]);
        return GR_OK;
    }
    GR_TRY(await_all(resources, n));
    gr_status status = gl_copy_write_objects(resources, n);
    if (status == GR_OK)
        return gl_object_check_kept(resources, n);
    /* a later attempt could fail in the same way, and the mapping would never end */
    return status == GR_ERR_GL ? gr_error_set_class(GR_ERR_PARTIAL) : status;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/*
 * If the newest ring frame that CUDA wrote is still in host memory only, copies it to the OpenGL
 * object.
 */
static void settle(gr_resource *resource)
{
    GR_KEEP_ERROR();
    if (gl_copy_begin_use(&resource, 1) != GR_OK)
        gr_error_warn("close: the bytes that CUDA wrote are lost");
}

/*
 * Unregisters the resource. The OpenGL buffer is deleted after CUDA has unregistered its mapping.
 */
static gr_status unregister(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    struct gl_copy *copy = r->copy;
    if (!copy) { /* park() has ended the CUDA objects */
        gl_object_collect(resource);
        return GR_OK;
    }
    if (gl_object_on_thread(resource))
        settle(resource);
    /* the object's own storage is freed with the resource */
    if (copy->staging == GL_STAGING_OBJECT)
        (void)gr_work_finish(&resource->sync.work);
    r->copy = NULL;
    r->arrays = NULL;
    gr_ending_after(&copy->ending, &resource->context, gr_work_take(&resource->sync.work),
                    gl_copy_end);
    gr_endings_collect();
    gl_object_collect(resource);
    return GR_OK;
}

/*
 * Ends the CUDA objects of a resource that was freed while its OpenGL context was not current, if
 * no stream uses them. That context may never be current again, and its destruction unmaps the
 * registered memory. If data is pending, the objects of both APIs are needed.
 */
static void end_cuda_side(gr_resource *resource)
{
    GR_ENTERED pushed = false;
    struct gl_resource *r = (struct gl_resource *)resource;
    struct gl_copy *copy = r->copy;
    if (!copy || copy->owed)
        return;
    if (gr_context_enter(&resource->context, &pushed, "The end") != GR_OK)
        return;
    const struct gr_last_work *work = &resource->sync.work;
    if (!work->recorded || gr_driver()->EventQuery(work->event) == CUDA_SUCCESS) {
        gr_work_end(&resource->sync.work, true);
        r->copy = NULL;
        gl_copy_end(&copy->ending, true);
    }
}

/*
 * Defers the end of the registration. If the resource was freed, ends its CUDA objects now. If a
 * buffer must still be released, its release needs the objects of both APIs.
 */
static void park(gr_resource *resource, bool freed)
{
    if (freed)
        end_cuda_side(resource);
    gl_object_park(resource, freed);
}

static void destroy(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    if (r->copy) { /* the CUDA objects ended with their context */
        gl_copy_end(&r->copy->ending, false);
        r->copy = NULL;
    }
    gl_object_destroy(resource);
}

/* Data that a ring owes to the object is that of the whole image. */
static bool moves_region(const gr_resource *resource, const struct gr_region *region)
{
    return !gl_of(resource)->copy->owed && gl_arrays_moves_region(resource, region);
}

const struct gr_backend gl_copy = {
    .transport = GR_TRANSPORT_COPY,
    .name = "copy",
    GL_OBJECT_OPERATIONS,
    .check_storage = gl_copy_check_mappable,
    .map = map,
    .undo_map = undo_map,
    .unmap = unmap,
    .moves_region = moves_region,
    .begin_use = gl_copy_begin_use,
    .end_use = gl_copy_end_use,
    .array = gl_arrays_array,
    .mipmapped_array = gl_arrays_mipmapped_array,
    .unregister = unregister,
    .park = park,
    .destroy = destroy,
};
