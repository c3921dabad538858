/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copy transport's operations. A map takes the bytes out of OpenGL on the calling thread and
 * gives them to the stream; a release takes them out of the stream, waits for that, and puts them
 * into OpenGL. Each only where the flags need it.
 */
#include "gl/copy/copy.h"

#include <epoxy/gl.h>

#include "lib/backend.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/plural.h"
#include "gl/copy/image.h"
#include "gl/copy/memory.h"
#include "gl/copy/buffer_bytes.h"
#include "gl/saved_state.h"

static const struct gl_resource *gl_of(const gr_resource *resource)
{
    return (const struct gl_resource *)resource;
}

static bool reads(const gr_resource *resource)
{
    return !(resource->flags & GR_WRITE_DISCARD);
}

static bool writes(const gr_resource *resource)
{
    return !(resource->flags & GR_READ_ONLY);
}

static gr_status check_cuda(CUresult result, const char *driver_call, const gr_resource *resource)
{
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, driver_call,
                        "The copy of %s failed. An error of earlier work on the stream is reported "
                        "here too.",
                        gl_object_text(resource).text);
}

/* ---- OpenGL's side --------------------------------------------------------------------------- */

/* What is kept aside of OpenGL's state while a batch is moved. */
struct visit {
    bool images, errors;
    struct gl_pixel_state pixels;
    struct gl_errors before;
};

static void visit_begin(struct visit *visit, gr_resource *const resources[], size_t n)
{
    *visit = (struct visit){.errors = gl_of(resources[0])->context.direct};
    for (size_t i = 0; i < n; i++)
        visit->images = visit->images || resources[i]->is_image;
    if (visit->errors)
        gl_errors_begin(&visit->before);
    if (visit->images)
        gl_pixel_state_begin(&visit->pixels);
}

/* GL_NO_ERROR, or what OpenGL refused; an OpenGL that cannot be asked by name is not asked. */
static GLenum visit_end(const struct visit *visit)
{
    if (visit->images)
        gl_pixel_state_end(&visit->pixels);
    if (!visit->errors)
        return GL_NO_ERROR;
    GLenum error = gl_errors_take();
    gl_errors_end(&visit->before);
    return error;
}

static gr_status refused_by_gl(GLenum error, const gr_resource *resource, size_t n,
                               const char *gl_call, const char *what)
{
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_OPENGL, (int)error, gl_error_name(error), gl_call,
                        "OpenGL refused to %s the bytes of %s%s.", what,
                        gl_object_text(resource).text, n > 1 ? " or of one with it" : "");
}

/* The application's own mapping keeps everybody else out. */
static gr_status check_unlocked(const gr_resource *resource, const char *call)
{
    GLuint name = gl_of(resource)->name;
    if (resource->is_image || !glIsBuffer(name) || !gl_buffer_is_locked(name))
        return GR_OK;
    return gr_fail(GR_ERR_STATE, call,
                   "%s is mapped by glMapBuffer, so that its bytes cannot be copied. Unmap it "
                   "first, or map it persistently.",
                   gl_object_text(resource).text);
}

/* ---- Map ------------------------------------------------------------------------------------- */

/* What of a buffer is mapped, or about to be. */
static const gr_buffer *part_of(const struct gl_resource *r)
{
    return r->base.mapped ? r->base.mapped : r->base.pending;
}

/* From OpenGL into the host memory. */
static gr_status read_object(const struct gl_resource *r, unsigned char *host)
{
    gr_status status = check_unlocked(&r->base, "gr_map");
    if (status != GR_OK)
        return status;
    if (r->base.is_image)
        gl_copy_image_read(r, host);
    else
        gl_buffer_read(r->name, part_of(r)->offset, host, part_of(r)->part);
    return GR_OK;
}

static gr_status upload(const struct gl_resource *r, unsigned char *host, CUstream stream)
{
    const struct gl_copy *copy = r->copy;
    if (r->base.is_image)
        return gl_copy_image_upload(r, host, stream);
    const gr_buffer *part = part_of(r);
    return check_cuda(
        gr_driver()->MemcpyHtoDAsync(copy->ptr + part->offset, host, part->part, stream),
        "cuMemcpyHtoDAsync", &r->base);
}

static gr_status fetch(const struct gl_resource *r, CUstream stream)
{
    const gr_cuda_api *cu = gr_driver();
    struct gl_copy *copy = r->copy;
    /* The memory may still be in use on another stream, and the half on its way to it. */
    gr_status status =
        check_cuda(cu->StreamWaitEvent(stream, copy->done, 0), "cuStreamWaitEvent", &r->base);
    if (status != GR_OK || !reads(&r->base))
        return status;
    unsigned half = copy->host[1] ? copy->half ^ 1 : 0;
    status = check_cuda(cu->EventSynchronize(copy->passed[half]), "cuEventSynchronize", &r->base);
    if (status == GR_OK)
        status = read_object(r, copy->host[half]);
    if (status == GR_OK)
        status = upload(r, copy->host[half], stream);
    if (status == GR_OK)
        status = check_cuda(cu->EventRecord(copy->passed[half], stream), "cuEventRecord", &r->base);
    copy->half = half;
    return status;
}

/* Copies that are in the stream end there, and whoever needs the memory next waits for them. */
static void undo_map(gr_resource *const resources[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++) {
        struct gl_copy *copy = gl_of(resources[i])->copy;
        if (gr_driver()->EventRecord(copy->done, stream) != CUDA_SUCCESS ||
            gr_driver()->EventRecord(copy->passed[copy->half], stream) != CUDA_SUCCESS)
            gr_log(GR_LOG_WARNING, "map: the end of a copy could not be marked");
        resources[i]->pending->ptr = 0;
        resources[i]->pending->size = 0;
    }
}

static gr_status map(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    struct visit visit;
    size_t done = 0;
    visit_begin(&visit, resources, n);
    while (done < n && status == GR_OK) {
        const struct gl_resource *r = gl_of(resources[done++]);
        r->base.pending->ptr = r->copy->ptr;
        r->base.pending->size = r->base.is_image ? 0 : r->copy->size;
        status = fetch(r, stream);
    }
    GLenum error = visit_end(&visit);
    if (status == GR_OK && error != GL_NO_ERROR)
        status = refused_by_gl(error, resources[0], n, "glGetBufferSubData, glGetTexImage", "read");
    if (status != GR_OK)
        undo_map(resources, done, stream);
    return status;
}

/* ---- Release --------------------------------------------------------------------------------- */

static gr_status download(const struct gl_resource *r, CUstream stream)
{
    const struct gl_copy *copy = r->copy;
    if (r->base.is_image)
        return gl_copy_image_download(r, copy->host[0], stream);
    const gr_buffer *part = part_of(r);
    return check_cuda(
        gr_driver()->MemcpyDtoHAsync(copy->host[0], copy->ptr + part->offset, part->part, stream),
        "cuMemcpyDtoHAsync", &r->base);
}

/* Puts the copies into the stream, and waits for them once. */
static gr_status download_all(gr_resource *const resources[], size_t n, CUstream stream)
{
    const gr_cuda_api *cu = gr_driver();
    CUevent wait = NULL;
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        if (writes(resources[i]))
            status = check_unlocked(resources[i], "gr_buffer_release");
        if (status == GR_OK && writes(resources[i]))
            status = download(gl_of(resources[i]), stream);
    }
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        CUevent done = gl_of(resources[i])->copy->done;
        if (writes(resources[i]))
            wait = done;
        status = check_cuda(cu->EventRecord(done, stream), "cuEventRecord", resources[i]);
    }
    if (status == GR_OK && wait)
        status = check_cuda(cu->EventSynchronize(wait), "cuEventSynchronize", resources[0]);
    return status;
}

static gr_status check_storage(const gr_resource *resource, const char *call);

/* An object that is gone can take nothing, and must not keep its resource from being released. */
static bool can_be_written(const gr_resource *resource)
{
    struct gr_error_record before, why;
    gr_error_save(&before);
    if (check_storage(resource, "release") == GR_OK)
        return true;
    gr_error_save(&why);
    gr_log(GR_LOG_WARNING, "release: what CUDA wrote is lost: %s", why.message);
    gr_error_restore(&before);
    return false;
}

static void write_object(const struct gl_resource *r)
{
    const struct gl_copy *copy = r->copy;
    if (r->base.is_image)
        gl_copy_image_write(r, copy->host[0]);
    else
        gl_buffer_write(r->name, part_of(r)->offset, copy->host[0], part_of(r)->part,
                        &copy->scratch->buffer);
}

static gr_status unmap(gr_resource *const resources[], size_t n, CUstream stream)
{
    struct visit visit;
    gr_status status = download_all(resources, n, stream);
    if (status != GR_OK)
        return status;
    visit_begin(&visit, resources, n);
    for (size_t i = 0; i < n; i++)
        if (writes(resources[i]) && can_be_written(resources[i]))
            write_object(gl_of(resources[i]));
    GLenum error = visit_end(&visit);
    if (error != GL_NO_ERROR)
        status =
            refused_by_gl(error, resources[0], n, "glBufferSubData, glTexSubImage", "take back");
    return status;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* Unlike CUDA's registration a copy keeps no storage alive, so immutable one is asked for too. */
static gr_status check_storage(const gr_resource *resource, const char *call)
{
    const struct gl_resource *r = gl_of(resource);
    gr_status status = gl_object_check_storage(resource, call);
    if (status != GR_OK || !resource->is_image || resource->image.levels == 1)
        return status;
    struct gl_image_storage now;
    gl_image_storage(r->name, r->target->target, &now);
    if (now.levels == resource->image.levels && !now.incomplete)
        return GR_OK;
    return gr_fail(GR_ERR_STATE, call,
                   "%s had %u level%s when it was registered and has other ones now. Close the "
                   "resource and register it again.",
                   gl_object_text(resource).text, resource->image.levels,
                   gr_s(resource->image.levels));
}

static gr_status unregister(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    struct gl_copy *copy = r->copy;
    const gr_cuda_api *cu = gr_driver();
    r->copy = NULL;
    gl_names_end(copy->scratch);
    if (cu->EventQuery(copy->done) == CUDA_ERROR_NOT_READY) {
        copy->retired = (struct gr_retired){
            .context = resource->context, .after = copy->done, .end = gl_copy_end};
        resource->context.primary_of = -1; /* its hold has moved */
        gr_retire(&copy->retired);
    } else {
        cu->EventDestroy(copy->done);
        gl_copy_end(&copy->retired, true);
    }
    gr_retired_collect();
    gl_later_collect(&r->context);
    return GR_OK;
}

static void destroy(gr_resource *resource)
{
    struct gl_resource *r = (struct gl_resource *)resource;
    if (r->copy) { /* its CUDA context is gone, and all that was in it */
        gl_names_end(r->copy->scratch);
        gl_copy_end(&r->copy->retired, false);
        r->copy = NULL;
    }
    gl_object_destroy(resource);
}

const struct gr_backend gl_copy = {
    .transport = GR_TRANSPORT_COPY,
    .name = "copy",
    .api = GR_OPENGL,
    .on_thread = gl_object_on_thread,
    .refuse_thread = gl_object_refuse_thread,
    .same_thread_rule = gl_object_same_thread_rule,
    .check_storage = check_storage,
    .map = map,
    .undo_map = undo_map,
    .unmap = unmap,
    .array = gl_copy_image_array,
    .mipmapped_array = gl_copy_image_mipmapped_array,
    .unregister = unregister,
    .park = gl_object_park,
    .collect = gl_object_collect,
    .describe = gl_object_describe,
    .destroy = destroy,
};
