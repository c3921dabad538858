/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared transport's resources: what buffers and images have in common, and when they change
 * hands.
 */
#include "gl/shared/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <epoxy/gl.h>

#include "lib/driver.h"
#include "lib/error.h"
#include "lib/log.h"
#include "gl/diagnose.h"
#include "gl/saved_state.h"
#include "gl/format.h"
#include "gl/shared/private_vulkan.h"
#include "gl/transport.h"

#define INSTEAD                                                                                    \
    "Use GR_TRANSPORT_INTEROP, or GR_TRANSPORT_COPY where another device draws than computes; "    \
    "GR_TRANSPORT_AUTO chooses."

/* The most CUDA devices that one OpenGL context can belong to (SLI). */
#define DEVICES_MAX 16

unsigned int gl_shared_name(const struct gl_shared *r)
{
    return r->names->buffer ? r->names->buffer : r->names->texture;
}

/* ---- Whether it can work --------------------------------------------------------------------- */

static gr_status check_opengl(const struct gl_context *context, const char *call)
{
    const char *memory = epoxy_has_gl_extension("GL_EXT_memory_object") ? "" : "memory_object";
    const char *fd = epoxy_has_gl_extension("GL_EXT_memory_object_fd") ? "" : "memory_object_fd";
    if (context->direct && !*memory && !*fd)
        return GR_OK;
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "OpenGL's storage cannot be shared here: %.120s has no%s%s%s%s%s. " INSTEAD,
                   renderer ? renderer : "this OpenGL", *memory ? " GL_EXT_" : "", memory,
                   *fd ? " GL_EXT_" : "", fd,
                   context->direct ? "" : " GL_ARB_direct_state_access (OpenGL 4.5)");
}

static gr_status check_device(const char *call)
{
    CUdevice drawing[DEVICES_MAX], current = -1;
    unsigned int count = 0;
    const gr_cuda_api *cu = gr_driver();
    CUresult result = cu->cuGLGetDevices(&count, drawing, DEVICES_MAX, GR_GL_DEVICE_LIST_ALL);
    if (result == CUDA_SUCCESS)
        result = cu->cuCtxGetDevice(&current);
    for (unsigned int i = 0; result == CUDA_SUCCESS && i < count; i++)
        if (drawing[i] == current)
            return GR_OK;
    char text[560];
    gl_diagnose(result, text, sizeof(text));
    return gr_fail_code(GR_ERR_UNSUPPORTED, 0, NULL, call,
                        "OpenGL's storage cannot be shared between two devices. %s", text);
}

static gr_status check_driver(const char *call)
{
    const gr_cuda_api *cu = gr_driver();
    CUdevice device = 0;
    int maps = 0, exports = 0;
    cu->cuCtxGetDevice(&device);
    cu->cuDeviceGetAttribute(&maps, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                             device);
    cu->cuDeviceGetAttribute(
        &exports, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device);
    if (maps && exports)
        return GR_OK;
    char text[200];
    gr_device_text(device, text, sizeof(text));
    return gr_fail(GR_ERR_UNSUPPORTED, call, "%s cannot %s, which sharing needs. " INSTEAD, text,
                   maps ? "export memory as file descriptors" : "map memory that is exported");
}

/* With both contexts current. */
static gr_status check_all(const struct gl_context *context, const char *call)
{
    gr_status status = check_opengl(context, call);
    if (status == GR_OK)
        status = check_device(call);
    return status == GR_OK ? check_driver(call) : status;
}

static void say_usable(const struct gl_timeline *t, char *reason, size_t size)
{
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    snprintf(reason, size, "%.120s imports CUDA's memory; both wait for each other by %s%s%s%s.",
             renderer ? renderer : "this OpenGL", gl_timeline_text(t), t->why[0] ? " (" : "",
             t->why, t->why[0] ? ")" : "");
}

static gr_status probe(char *reason, size_t size)
{
    struct gl_context context;
    struct gr_context cuda;
    struct gl_errors errors;
    bool pushed;
    gr_status status = gl_context_begin(&context, "is to be asked", "gr_gl_probe");
    if (status == GR_OK)
        status = gr_context_choose(&cuda, gl_find_drawing_device, "gr_gl_probe");
    if (status != GR_OK)
        return status;
    status = gr_context_enter(&cuda, &pushed, "gr_gl_probe");
    if (status == GR_OK) {
        status = check_all(&context, "gr_gl_probe");
        if (status == GR_OK) {
            gl_errors_begin(&errors);
            struct gl_timeline *t = gl_timeline_hold(&context, &cuda, "gr_gl_probe");
            gl_errors_end(&errors);
            status = t ? GR_OK : GR_ERR_UNSUPPORTED;
            if (t)
                say_usable(t, reason, size);
            gl_timeline_drop(t);
        }
        gr_context_leave(pushed);
    }
    gr_context_drop(&cuda);
    return status;
}

gr_status gl_shared_usable(char *reason, size_t size)
{
    gr_error before, error;
    gr_error_save(&before);
    gr_status status = probe(reason, size);
    if (status != GR_OK) {
        gr_last_error(&error);
        snprintf(reason, size, "%s", error.message);
        status = GR_ERR_UNSUPPORTED;
    }
    gr_error_restore(&before);
    return status;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static void describe(const gr_resource *resource, char *text, size_t size)
{
    const struct gl_shared *r = gl_shared_of(resource);
    const struct gr_image *image = &resource->image;
    unsigned int name = gl_shared_name(r);
    const char *waits = gl_timeline_text(r->timeline);
    if (!resource->is_image)
        snprintf(text, size, "OpenGL buffer %u, with %s", name, waits);
    else
        snprintf(text, size,
                 "OpenGL texture %u (%s, %s, %zu x %zu x %zu, %u levels, %u layers), with %s", name,
                 gl_target_of(r->target)->name, r->format, image->width, image->height,
                 image->depth, image->levels, image->layers, waits);
}

static bool on_thread(const gr_resource *resource)
{
    return gl_context_is_current(&((const struct gl_shared *)resource)->context);
}

static gr_status refuse_thread(const gr_resource *resource, const char *call)
{
    const struct gl_shared *r = gl_shared_of(resource);
    char object[48];
    snprintf(object, sizeof(object), "OpenGL %s %u", resource->is_image ? "texture" : "buffer",
             gl_shared_name(r));
    return gl_context_refuse(&r->context, object, call);
}

/* One OpenGL context, and one pair of semaphores, with which one signal and one wait serve all. */
static bool same_thread_rule(const gr_resource *a, const gr_resource *b)
{
    return gl_shared_of(a)->timeline == gl_shared_of(b)->timeline;
}

static void list(struct gl_barriers *barriers, gr_resource *const resources[], size_t n)
{
    barriers->buffer_count = barriers->texture_count = 0;
    for (size_t i = 0; i < n; i++)
        gl_barriers_add(barriers, resources[i]->is_image,
                        gl_shared_name(gl_shared_of(resources[i])));
}

/*
 * A binary semaphore is signalled again once OpenGL has waited for CUDA's answer. Where that did
 * not come, because a map failed or a ring dropped the frame, the thread waits instead.
 */
static bool has_to_wait(const struct gl_timeline *t)
{
    return t->waits == GL_WAITS_HOST || (t->waits == GL_WAITS_BINARY && t->under_way);
}

static gr_status end_use(gr_resource *const resources[], size_t n)
{
    struct gl_timeline *t = gl_shared_of(resources[0])->timeline;
    gr_status status = GR_OK;
    if (has_to_wait(t)) {
        glFinish();
        return GR_OK;
    }
    for (size_t done = 0, count; done < n && status == GR_OK; done += count) {
        gr_submit submit;
        struct gl_barriers barriers;
        count = n - done < GR_BATCH ? n - done : GR_BATCH;
        list(&barriers, resources + done, count);
        status = gr_sync_begin_signal(resources + done, count, &submit, "gr_map");
        if (status == GR_OK) {
            gl_timeline_signal(t, submit.signal_value, &barriers);
            t->under_way = true;
        }
    }
    return status;
}

static gr_status begin_use(gr_resource *const resources[], size_t n)
{
    struct gl_timeline *t = gl_shared_of(resources[0])->timeline;
    if (t->waits == GL_WAITS_HOST)
        return gr_sync_wait_on_host(resources, n);
    for (size_t done = 0, count; done < n; done += count) {
        gr_submit submit;
        struct gl_barriers barriers;
        count = n - done < GR_BATCH ? n - done : GR_BATCH;
        gr_sync_begin_wait(resources + done, count, &submit);
        if (!submit.wait)
            continue;
        list(&barriers, resources + done, count);
        gl_timeline_wait(t, submit.wait_value, &barriers);
        t->under_way = false;
    }
    return GR_OK;
}

static gr_status export_memory(const gr_resource *resource, struct gr_memory_export *memory)
{
    const struct gl_shared *r = gl_shared_of(resource);
    bool pushed;
    gr_status status = gr_context_enter(&resource->context, &pushed, "gr_send_resource");
    if (status != GR_OK)
        return status;
    status =
        resource->is_image ? gl_shared_export_image(r, memory) : gl_shared_export_buffer(r, memory);
    gr_context_leave(pushed);
    return status;
}

static gr_status export_semaphore(const gr_semaphore *semaphore, gr_semaphore_info *info)
{
    bool pushed;
    gr_status status = gr_context_enter(&semaphore->context, &pushed, "gr_send_resource");
    if (status != GR_OK)
        return status;
    *info = (gr_semaphore_info){.type = semaphore->type, .fd = -1};
    status = gl_vulkan_semaphore_fd(semaphore, &info->fd);
    gr_context_leave(pushed);
    return status;
}

static gr_semaphore *create_semaphore(const gr_resource *resource)
{
    (void)resource;
    return gl_vulkan_semaphore(true, "gr_send_ring");
}

/* Also of one that has not become a resource. */
static void end_parts(struct gl_shared *r)
{
    gl_names_end(r->names);
    gl_timeline_drop(r->timeline);
    gr_resource_free(r->vulkan);
}

static void end(gr_resource *resource)
{
    end_parts(gl_shared_of(resource));
}

static const struct gr_external_kind shared_kind = {
    .describe = describe,
    .end = end,
    .on_thread = on_thread,
    .refuse_thread = refuse_thread,
    .same_thread_rule = same_thread_rule,
    .end_use = end_use,
    .begin_use = begin_use,
    .export_memory = export_memory,
    .export_semaphore = export_semaphore,
    .create_semaphore = create_semaphore,
};

struct gl_shared *gl_shared_of(const gr_resource *resource)
{
    struct gr_external *external = gr_external_of(resource);
    return external && external->kind == &shared_kind ? (struct gl_shared *)external : NULL;
}

/* ---- Making one ------------------------------------------------------------------------------ */

gr_status gl_shared_import(struct gl_names *names, int fd, size_t size, bool dedicated,
                           const char *call)
{
    const GLint yes = GL_TRUE;
    glCreateMemoryObjectsEXT(1, &names->memory);
    if (dedicated)
        glMemoryObjectParameterivEXT(names->memory, GL_DEDICATED_MEMORY_OBJECT_EXT, &yes);
    glImportMemoryFdEXT(names->memory, size, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    GLenum error = gl_errors_take();
    if (error == GL_NO_ERROR)
        return GR_OK;
    /* Only an import that succeeds takes it, but Mesa's CPU drivers close it all the same. */
    if (!gr_cuda_is_software())
        close(fd);
    return gr_fail_code(GR_ERR_GL, (int)error, gl_error_name(error), "glImportMemoryFdEXT",
                        "%s: OpenGL could not import %zu bytes of memory.", call, size);
}

static gr_status make_parts(struct gl_shared *r, const struct gr_context *cuda,
                            gl_shared_make_fn *make, const void *info, unsigned flags,
                            const char *call)
{
    struct gl_errors errors;
    gr_status status = check_all(&r->context, call);
    if (status != GR_OK)
        return status;
    gl_errors_begin(&errors);
    r->names = gl_names_make(&r->context, call);
    r->timeline = r->names ? gl_timeline_hold(&r->context, cuda, call) : NULL;
    status = r->timeline ? make(r, cuda, info, flags, call) : GR_ERR_NO_MEMORY;
    gl_errors_end(&errors);
    if (status == GR_OK)
        status = gr_sync_set(&r->external.base, r->timeline->acquire, r->timeline->release, call);
    return status;
}

/* Ends what did not come about. Its context's hold is the resource's once that has memory. */
static void discard(struct gl_shared *r, struct gr_context *cuda)
{
    gr_error cause;
    gr_error_save(&cause);
    if (r->external.base.handle) {
        gr_resource_free(&r->external.base);
    } else {
        end_parts(r);
        free(r);
        gr_context_drop(cuda);
    }
    gr_error_restore(&cause);
}

gr_resource *gl_shared_create(gl_shared_make_fn *make, const void *info, unsigned flags,
                              const char *call)
{
    struct gl_context context;
    struct gr_context cuda;
    bool pushed;
    if (gl_context_begin(&context, "is to have the object", call) != GR_OK ||
        gr_context_choose(&cuda, gl_find_drawing_device, call) != GR_OK)
        return NULL;
    struct gl_shared *r = calloc(1, sizeof(*r));
    if (!r) {
        gr_fail_memory(call);
        gr_context_drop(&cuda);
        return NULL;
    }
    r->external.kind = &shared_kind;
    r->context = context;
    gr_status status = gr_context_enter(&cuda, &pushed, call);
    if (status == GR_OK) {
        status = make_parts(r, &cuda, make, info, flags, call);
        gr_context_leave(pushed);
    }
    if (status != GR_OK) {
        discard(r, &cuda);
        return NULL;
    }
    gr_resource *resource = &r->external.base;
    resource->transport = "shared";
    gr_resource_log_each(call, &resource, 1);
    return resource;
}
