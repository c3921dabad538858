/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The buffer on the GPU that draws. The caller's CUDA context does not matter: each function enters
 * the context of the registration and restores the caller's context afterwards.
 */
#include "gl/peer/drawing.h"

#include <stddef.h>
#include <stdlib.h>

#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"

/* ---- Open ------------------------------------------------------------------------------------ */

/*
 * Returns the flags without GR_WRITE_DISCARD: after a map of a part the other bytes must keep the
 * values that OpenGL wrote.
 */
static unsigned drawing_flags(unsigned flags)
{
    return flags & GR_READ_ONLY;
}

static gr_status register_there(struct gl_drawing *drawing, const struct gl_resource *r,
                                unsigned flags, const char *call)
{
    const gr_cuda_api *cu = gr_driver();
    GR_ENTER(&drawing->context, call);
    const char *step = "cuStreamCreate";
    CUresult result = cu->StreamCreate(&drawing->stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS) {
        step = "cuEventCreate";
        result = cu->EventCreate(&drawing->passed, CU_EVENT_DISABLE_TIMING);
    }
    if (result == CUDA_SUCCESS) {
        step = "cuGraphicsGLRegisterBuffer";
        result = cu->GraphicsGLRegisterBuffer(&drawing->handle, r->name, drawing_flags(flags));
    }
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, step,
                        "%s was refused by CUDA device %d, though OpenGL draws there. Allow "
                        "GR_TRANSPORT_INTEROP or GR_TRANSPORT_COPY as well.",
                        gl_object_text(&r->base).text, (int)drawing->context.primary_of);
}

gr_status gl_drawing_open(const struct gl_resource *r, CUdevice device, unsigned flags,
                          struct gl_drawing **opened, const char *call)
{
    struct gl_drawing *drawing = calloc(1, sizeof(*drawing));
    if (!drawing)
        return gr_fail_memory(call);
    drawing->context.primary_of = -1;
    drawing->left = (struct gl_deferred){.context = r->context};
    gr_status status = gr_context_retain(
        &drawing->context, device, "the buffer is registered on the device which draws", call);
    if (status == GR_OK)
        status = register_there(drawing, r, flags, call);
    if (status == GR_OK) {
        *opened = drawing;
        return GR_OK;
    }
    GR_KEEP_ERROR();
    gl_drawing_end(drawing);
    return status;
}

/* ---- Map and unmap --------------------------------------------------------------------------- */

typedef CUresult(CUDAAPI *driver_call)(unsigned n, CUgraphicsResource *handles, CUstream stream);

static CUresult call_for(driver_call call, struct gl_drawing *const drawings[], size_t n)
{
    CUgraphicsResource handles[GR_BATCH];
    for (size_t i = 0; i < n; i++)
        handles[i] = drawings[i]->handle;
    return call((unsigned)n, handles, drawings[0]->stream);
}

static gr_status failed(CUresult result, const char *driver_call, const char *what)
{
    return gr_fail_work(result, driver_call,
                        "An OpenGL buffer could not be %s on the GPU that draws.", what);
}

static gr_status find_pointers(struct gl_drawing *const drawings[], size_t n)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++)
        result = gr_driver()->GraphicsResourceGetMappedPointer(
            &drawings[i]->ptr, &drawings[i]->size, drawings[i]->handle);
    return result == CUDA_SUCCESS ? GR_OK
                                  : failed(result, "cuGraphicsResourceGetMappedPointer", "found");
}

static void unmap_again(struct gl_drawing *const drawings[], size_t n)
{
    (void)call_for(gr_driver()->GraphicsUnmapResources, drawings, n);
    for (size_t i = 0; i < n; i++)
        drawings[i]->ptr = 0;
}

/* Maps the buffers. The CUDA context of the first drawing is current. */
static gr_status map_entered(struct gl_drawing *const drawings[], size_t n)
{
    const gr_cuda_api *cu = gr_driver();
    CUresult result = call_for(cu->GraphicsMapResources, drawings, n);
    if (result != CUDA_SUCCESS)
        return failed(result, "cuGraphicsMapResources", "mapped");
    gr_status status = find_pointers(drawings, n);
    if (status == GR_OK) {
        result = cu->EventRecord(drawings[0]->passed, drawings[0]->stream);
        if (result == CUDA_SUCCESS)
            return GR_OK;
        status = failed(result, "cuEventRecord", "marked");
    }
    unmap_again(drawings, n);
    return status;
}

/*
 * Makes the stream wait for the map. The caller's context is current, because default streams
 * belong to it.
 */
static gr_status wait_for_map(struct gl_drawing *const drawings[], size_t n, CUstream stream)
{
    bool pushed;
    CUresult result = gr_driver()->StreamWaitEvent(stream, drawings[0]->passed, 0);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    gr_status status = failed(result, "cuStreamWaitEvent", "waited for");
    GR_KEEP_ERROR();
    if (gr_context_enter(&drawings[0]->context, &pushed, "The map") == GR_OK) {
        unmap_again(drawings, n);
        gr_context_leave(pushed);
    }
    return status;
}

gr_status gl_drawings_map(struct gl_drawing *const drawings[], size_t n, CUstream stream)
{
    bool pushed;
    if (!n)
        return GR_OK;
    GR_TRY(gr_context_enter(&drawings[0]->context, &pushed, "The map"));
    gr_status status = map_entered(drawings, n);
    gr_context_leave(pushed);
    return status == GR_OK ? wait_for_map(drawings, n, stream) : status;
}

static gr_status unmap_entered(struct gl_drawing *const drawings[], size_t n, CUevent after)
{
    const gr_cuda_api *cu = gr_driver();
    CUstream stream = drawings[0]->stream;
    CUresult result = after ? cu->StreamWaitEvent(stream, after, 0) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        return failed(result, "cuStreamWaitEvent", "kept waiting");
    result = call_for(cu->GraphicsUnmapResources, drawings, n);
    if (result != CUDA_SUCCESS)
        return failed(result, "cuGraphicsUnmapResources", "handed back");
    for (size_t i = 0; i < n; i++) {
        drawings[i]->ptr = 0;
        /* Without the event, this thread waits: the copies may use the buffer until the unmap. */
        if (cu->EventRecord(drawings[i]->passed, stream) != CUDA_SUCCESS)
            (void)gr_stream_finish(stream);
    }
    return GR_OK;
}

gr_status gl_drawings_unmap(struct gl_drawing *const drawings[], size_t n, CUevent after)
{
    if (!n)
        return GR_OK;
    GR_ENTER(&drawings[0]->context, "The release");
    return unmap_entered(drawings, n, after);
}

/* ---- End ------------------------------------------------------------------------------------- */

/*
 * Unregisters the buffer. Its CUDA context is current. This thread waits for the last unmap,
 * because the documentation does not say that cuGraphicsUnregisterResource() is ordered after a
 * pending unmap in a stream.
 */
static gr_status unregister(struct gl_drawing *drawing)
{
    if (!drawing->handle)
        return GR_OK;
    if (drawing->ptr)
        (void)unmap_entered(&drawing, 1, NULL);
    (void)gr_event_finish(drawing->passed);
    GR_TRY_CUDA(gr_driver()->GraphicsUnregisterResource(drawing->handle),
                "cuGraphicsUnregisterResource",
                "The registration on the GPU that draws ended with an error.");
    return GR_OK;
}

/* Ends the CUDA objects. Their CUDA context is current. */
static gr_status end_parts(struct gl_drawing *drawing)
{
    gr_status status = unregister(drawing);
    if (drawing->passed)
        gr_driver()->EventDestroy(drawing->passed);
    if (drawing->stream)
        gr_driver()->StreamDestroy(drawing->stream);
    return status;
}

static gr_status end_now(struct gl_drawing *drawing)
{
    bool pushed;
    gr_status status = GR_OK;
    if (drawing->context.handle) {
        status = gr_context_enter(&drawing->context, &pushed, "The close");
        if (status == GR_OK) {
            status = end_parts(drawing);
            gr_context_leave(pushed);
        }
    }
    gr_context_drop(&drawing->context);
    free(drawing);
    return status;
}

/* Ends a deferred drawing. After the end of its OpenGL context the driver keeps the handle. */
static void end_later(struct gl_deferred *left, bool current)
{
    struct gl_drawing *drawing = (struct gl_drawing *)left;
    if (!current)
        drawing->handle = NULL;
    end_now(drawing);
}

gr_status gl_drawing_end(struct gl_drawing *drawing)
{
    if (!drawing)
        return GR_OK;
    if (gl_context_is_current(&drawing->left.context))
        return end_now(drawing);
    drawing->left.end = end_later;
    gl_deferred_add(&drawing->left);
    return GR_OK;
}
