/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The operations of the interop transport. If a resource is unmapped or unregistered on a thread
 * without an OpenGL context, the NVIDIA driver (580) returns CUDA_ERROR_INVALID_GRAPHICS_CONTEXT
 * and loses the resource: afterwards it can be neither mapped, unmapped nor freed. The driver does
 * not detect a wrong context. So this file checks the context first.
 */
#include "gl/interop/interop.h"

#include "lib/resource/backend.h"
#include "lib/base/cuda_error_text.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"

/*
 * The type of the driver's map and unmap calls. The driver takes handles in an array; for a single
 * resource no array is built.
 */
typedef CUresult(CUDAAPI *driver_call)(unsigned n, CUgraphicsResource *handles, CUstream stream);

static CUresult call_for_many(driver_call call, gr_resource *const resources[], size_t n,
                              CUstream stream)
{
    CUgraphicsResource handles[GR_BATCH];
    for (size_t i = 0; i < n; i++)
        handles[i] = resources[i]->handle;
    return call((unsigned)n, handles, stream);
}

static CUresult call_for(driver_call call, gr_resource *const resources[], size_t n,
                         CUstream stream)
{
    if (n != 1)
        return call_for_many(call, resources, n, stream);
    CUgraphicsResource handle = resources[0]->handle;
    return call(1, &handle, stream);
}

/*
 * The check would slow down each frame of a buffer, whose next map finds out; and the registration
 * keeps immutable storage.
 */
static gr_status check_images(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (resources[i]->is_image && !gl_of(resources[i])->immutable)
            GR_TRY(gl_object_check_kept(&resources[i], 1));
    return GR_OK;
}

static gr_status unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    CUresult result = call_for(gr_driver()->GraphicsUnmapResources, resources, n, stream);
    bool images = false;
    for (size_t i = 0; i < n && result == CUDA_SUCCESS; i++) {
        gr_work_note(&resources[i]->sync.work, stream);
        images |= resources[i]->is_image;
    }
    if (result == CUDA_SUCCESS)
        return images ? check_images(resources, n) : GR_OK;
    return gr_fail_work(result, "cuGraphicsUnmapResources",
                        "%s could not be unmapped and is still mapped.",
                        gl_object_text(resources[0]).text);
}

/*
 * After the end of the context an unmap would change nothing, and is refused unless another context
 * is current: the driver keeps the memory.
 */
static gr_status abandon(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++)
        gr_work_note(&resources[i]->sync.work, stream);
    return GR_OK;
}

/* Queries the pointers at each map, because they may change from one map to the next. */
static gr_status fetch_pointers(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t size;
        if (resources[i]->is_image)
            continue; /* the arrays of images are queried one at a time */
        GR_TRY_CUDA(
            gr_driver()->GraphicsResourceGetMappedPointer(&resources[i]->ptr, &size,
                                                          resources[i]->handle),
            "cuGraphicsResourceGetMappedPointer",
            "%s was mapped, but the driver did not report its address; it has been unmapped again.",
            gl_object_text(resources[i]).text);
    }
    return GR_OK;
}

static void undo_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    GR_KEEP_ERROR();
    unmap(resources, n, stream);
}

/* Sets the flags of this map, or those of the registration again: nothing else is narrowed. */
static gr_status set_map_flags(gr_resource *resource)
{
    const unsigned narrowed = gr_resource_narrowed(resource);
    GR_TRY_CUDA(gr_driver()->GraphicsResourceSetMapFlags(resource->handle, narrowed),
                "cuGraphicsResourceSetMapFlags", "The flags of the map of %s were refused.",
                gl_object_text(resource).text);
    resource->told = (unsigned char)narrowed;
    return GR_OK;
}

static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++)
        if (resources[i]->told != gr_resource_narrowed(resources[i]))
            GR_TRY(set_map_flags(resources[i]));
    GR_TRY_WORK(call_for(gr_driver()->GraphicsMapResources, resources, n, stream),
                "cuGraphicsMapResources", "%s%s could not be mapped.",
                gl_object_text(resources[0]).text, n > 1 ? " or one mapped with it" : "");
    gr_status status = fetch_pointers(resources, n);
    if (status != GR_OK)
        undo_map(resources, n, stream);
    return status;
}

static gr_status array(const gr_resource *resource, unsigned level, unsigned layer, CUarray *found)
{
    GR_TRY_CUDA(
        gr_driver()->GraphicsSubResourceGetMappedArray(found, resource->handle, layer, level),
        "cuGraphicsSubResourceGetMappedArray",
        "Level %u, layer %u of %s have no array: was the storage replaced? Register the object "
        "again.",
        level, layer, gl_object_text(resource).text);
    return GR_OK;
}

static gr_status mipmapped_array(const gr_resource *resource, CUmipmappedArray *found)
{
    GR_TRY_CUDA(gr_driver()->GraphicsResourceGetMappedMipmappedArray(found, resource->handle),
                "cuGraphicsResourceGetMappedMipmappedArray",
                "%s has no mipmapped array: get its levels one at a time (gr_buffer_array()).",
                gl_object_text(resource).text);
    return GR_OK;
}

static gr_status unregister(gr_resource *resource)
{
    gr_status status = GR_OK;
    if (!gl_object_on_thread(resource)) {
        gr_log(GR_LOG_WARNING,
               "gr_resource_free: the OpenGL context of %s was destroyed before: "
               "the CUDA driver keeps the registration.",
               gl_object_text(resource).text);
        return GR_OK;
    }
    CUresult result = gr_driver()->GraphicsUnregisterResource(resource->handle);
    if (result != CUDA_SUCCESS)
        status = gr_fail_cuda(result, "cuGraphicsUnregisterResource",
                              "The registration of %s ended with an error.",
                              gl_object_text(resource).text);
    gl_object_collect(resource);
    return status;
}

const struct gr_backend gl_interop = {
    .transport = GR_TRANSPORT_INTEROP,
    .name = "interop",
    GL_OBJECT_OPERATIONS,
    .check_storage = gl_object_check_registered,
    .map = map,
    .undo_loses = true,
    .undo_map = undo_map,
    .unmap = unmap,
    .abandon = abandon,
    .array = array,
    .mipmapped_array = mipmapped_array,
    .unregister = unregister,
    .park = gl_object_park,
    .destroy = gl_object_destroy,
};

/* ---- Registration ---------------------------------------------------------------------------- */

/*
 * The arrays that the NVIDIA driver (580) returns for a texture view begin at level 0 and layer 0
 * of the original.
 */
static gr_status check_view(const struct gl_resource *r)
{
    if (r->view.level == 0 && r->view.layer == 0)
        return GR_OK;
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "OpenGL texture %u is a view from level %d and layer %d on, but CUDA would use "
                   "level 0 and layer 0 of the original. Register the original, or allow "
                   "GR_TRANSPORT_COPY (gr_from_gl_image_with()).",
                   r->name, r->view.level, r->view.layer);
}

/*
 * The software driver copies the texels by OpenGL, and OpenGL ES copies fewer formats. Whether the
 * format is the reason, and another one for the same components would do.
 */
static bool lacks_es_copy(const struct gl_resource *r, CUresult result, struct gl_stored *stored)
{
    if (result != CUDA_ERROR_NOT_SUPPORTED || !r->target || !r->context.es ||
        !gr_driver_traits()->mesa_draws)
        return false;
    gl_image_stored(r->name, r->target->target, stored);
    return gl_format_for_es(r->format, stored);
}

static gr_status make_side(struct gl_resource *r, unsigned flags, void **handle)
{
    const struct gr_driver_api *cu = gr_driver();
    CUgraphicsResource registered = NULL;
    if (r->format && r->format->refused)
        return gl_format_refuse(r->format, r->name, &r->context);
    GR_TRY(check_view(r));
    if (r->target && !gl_format_holds(r->format, &r->stored, true))
        return gl_format_refuse_stored((unsigned)r->level.internal, &r->stored, r->name,
                                       &r->context);
    CUresult result =
        r->target ? cu->GraphicsGLRegisterImage(&registered, r->name, r->target->target, flags)
                  : cu->GraphicsGLRegisterBuffer(&registered, r->name, flags);
    *handle = registered;
    if (result == CUDA_SUCCESS)
        return GR_OK;
    /* OpenGL chose the storage, such as that of GL_BGRA, which CUDA does not accept */
    if (r->target && !gl_format_has_size(r->format) && result != CUDA_ERROR_OUT_OF_MEMORY &&
        result != CUDA_ERROR_CONTEXT_IS_DESTROYED && !gr_cuda_is_sticky(result))
        return gl_format_refuse_stored((unsigned)r->level.internal, &r->stored, r->name,
                                       &r->context);
    struct gl_stored stored;
    if (lacks_es_copy(r, result, &stored))
        return gl_format_refuse_es(r->format, &stored, r->name, &r->context);
    char text[620], what[160];
    gl_object_describe(&r->base, what, sizeof(what));
    gl_diagnose(result, text, sizeof(text));
    return gr_fail_cuda(result,
                        r->target ? "cuGraphicsGLRegisterImage" : "cuGraphicsGLRegisterBuffer",
                        "%s was refused. %s", what, text);
}

const struct gl_maker gl_interop_maker = {.buffers = &gl_interop,
                                          .images = &gl_interop,
                                          .find_device = gl_find_drawing_device,
                                          .make_side = make_side};

gr_resource *gl_interop_register(struct gl_resource *r, unsigned flags)
{
    return r ? gl_object_finish(r, gl_object_make(r, &gl_interop_maker, flags), NULL) : NULL;
}
