/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The semaphores of an OpenGL context and a CUDA context. Vulkan creates them, and both APIs import
 * them.
 */
#include "gl/sync/sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/cuda/import_handle.h"
#include "gl/context/saved_state.h"
#include "lib/base/lock.h"

/* Constants and functions of GL_NV_timeline_semaphore, which epoxy does not know. */
#define TIMELINE_SEMAPHORE_VALUE_NV 0x9595
#define SEMAPHORE_TYPE_NV           0x95B3
#define SEMAPHORE_TYPE_TIMELINE_NV  0x95B5
typedef void(EPOXY_CALLSPEC *create_semaphores_fn)(GLsizei n, GLuint *semaphores);
typedef void(EPOXY_CALLSPEC *semaphore_parameter_fn)(GLuint semaphore, GLenum name,
                                                     const GLint *values);

/* ---- OpenGL semaphores ----------------------------------------------------------------------- */

static GLuint make_timeline(const struct gl_context *context)
{
    create_semaphores_fn create = NULL;
    semaphore_parameter_fn set = NULL;
    void *symbol = gl_proc_address(&context->native, "glCreateSemaphoresNV");
    memcpy(&create, &symbol, sizeof(symbol));
    symbol = gl_proc_address(&context->native, "glSemaphoreParameterivNV");
    memcpy(&set, &symbol, sizeof(symbol));
    const GLint type = SEMAPHORE_TYPE_TIMELINE_NV;
    GLuint name = 0;
    if (create && set) {
        create(1, &name);
        set(name, SEMAPHORE_TYPE_NV, &type); /* the type must be set before the import */
    }
    return name;
}

static gr_status import_semaphore(struct gl_timeline *t, const gr_semaphore *semaphore,
                                  GLuint *name)
{
    int fd;
    GR_TRY(gl_vulkan_semaphore_fd(t->device, semaphore, &fd));
    if (t->waits == GL_WAITS_TIMELINE)
        *name = make_timeline(&t->context);
    else
        glGenSemaphoresEXT(1, name);
    if (*name)
        glImportSemaphoreFdEXT(*name, GL_HANDLE_TYPE_OPAQUE_FD_EXT, fd);
    GLenum error = gl_errors_take();
    if (*name && error == GL_NO_ERROR)
        return GR_OK;
    gr_fd_close(fd); /* only a successful import takes the fd */
    return GL_FAIL(error, "glImportSemaphoreFdEXT",
                   "%s: OpenGL could not import a Vulkan semaphore.", gr_call);
}

/* ---- A pair ---------------------------------------------------------------------------------- */

static gr_status make_pair(struct gl_timeline *t)
{
    struct gr_semaphore_pair *pair = &t->pair;
    bool counts = t->waits == GL_WAITS_TIMELINE;
    if ((pair->acquire = gl_vulkan_semaphore(t->device, counts)) &&
        (pair->release = gl_vulkan_semaphore(t->device, counts)) &&
        (t->names = gl_names_make(&t->context)) &&
        import_semaphore(t, pair->acquire, &t->names->semaphores[0]) == GR_OK &&
        import_semaphore(t, pair->release, &t->names->semaphores[1]) == GR_OK)
        return GR_OK;
    gr_pair_clear(pair);
    gl_names_end(t->names);
    t->names = NULL;
    return gr_last_error()->status;
}

/* The kinds of waits, the best one first. The thread can always wait. */
static const struct {
    enum gl_waits waits;
    const char *name, *extension;
} kinds[] = {
    {GL_WAITS_TIMELINE, "timeline semaphores", "GL_NV_timeline_semaphore"},
    {GL_WAITS_BINARY, "semaphores", "GL_EXT_semaphore_fd"},
    {GL_WAITS_HOST, NULL, NULL},
};

static gr_status try_kind(void *of, size_t i)
{
    struct gl_timeline *t = of;
    t->waits = kinds[i].waits;
    if (kinds[i].waits == GL_WAITS_HOST)
        return GR_OK;
    if (!epoxy_has_gl_extension(kinds[i].extension))
        return gr_fail(GR_ERR_UNSUPPORTED, "this OpenGL has no %s", kinds[i].extension);
    return make_pair(t);
}

/* Notes why semaphores of the kind `wanted` are not available, which is no error. */
static void note_failure(struct gl_timeline *t, const char *wanted, const char *message)
{
    snprintf(t->why, sizeof(t->why), "%s: %.160s", wanted, message);
    gr_log(GR_LOG_WARNING, "no %s between OpenGL and CUDA: %s", wanted, message);
}

static bool note_kind(void *of, size_t i, const struct gr_error_record *error)
{
    struct gl_timeline *t = of;
    if (epoxy_has_gl_extension(kinds[i].extension))
        note_failure(t, kinds[i].name, error->message);
    else
        snprintf(t->why, sizeof(t->why), "%.160s", error->message);
    return true;
}

static struct gr_lock lock = GR_LOCK(TIMELINES); /* protects the list */
static struct gl_timeline *timelines;

/* Frees a timeline whose semaphores have been dropped. */
static void end_timeline(struct gr_semaphore_pair *pair)
{
    struct gl_timeline *t = (struct gl_timeline *)pair, **link = &timelines;
    gr_lock(&lock);
    while (*link && *link != t)
        link = &(*link)->next;
    if (*link)
        *link = t->next;
    gr_unlock(&lock);
    gl_names_end(t->names);
    gr_context_drop(&t->cuda);
    free(t);
}

static struct gl_timeline *make_without_pair(const struct gl_context *context,
                                             const struct gr_context *cuda, CUdevice device)
{
    struct gl_timeline *t = gr_check_memory(calloc(1, sizeof(*t)));
    if (!t)
        return NULL;
    if (gr_context_hold(cuda, &t->cuda) != GR_OK) {
        free(t);
        return NULL;
    }
    t->pair.holds = 1;
    t->pair.end = end_timeline;
    t->context = *context;
    t->device = device;
    return t;
}

struct gl_timeline *gl_timeline_make_own(const struct gl_timeline *usual)
{
    if (usual->waits != GL_WAITS_TIMELINE)
        return NULL;
    struct gl_timeline *t = make_without_pair(&usual->context, &usual->cuda, usual->device);
    if (!t)
        return NULL;
    t->waits = usual->waits;
    gr_attempt_begin();
    gr_status status = make_pair(t);
    gr_attempt_end();
    if (status == GR_OK)
        return t;
    note_failure(t, "timeline semaphores of a ring", gr_last_error()->message);
    gr_pair_drop(&t->pair);
    return NULL;
}

struct gl_timeline *gl_timeline_hold(const struct gl_context *context,
                                     const struct gr_context *cuda, CUdevice device)
{
    gr_lock(&lock);
    struct gl_timeline *t = timelines;
    while (t && !(gl_context_same(&t->context, context) && gr_context_same(&t->cuda, cuda) &&
                  gr_pair_hold_living(&t->pair)))
        t = t->next;
    gr_unlock(&lock);
    if (t)
        return t;
    /* No other thread makes this pair meanwhile, because the context is current on this one. */
    t = make_without_pair(context, cuda, device);
    if (!t)
        return NULL;

    t->pair.of_device = true;
    t->waits = GL_WAITS_HOST;
    if (epoxy_has_gl_extension("GL_EXT_semaphore") && epoxy_has_gl_extension("GL_EXT_semaphore_fd"))
        (void)gr_try(sizeof(kinds) / sizeof(kinds[0]), try_kind, note_kind, t);
    else
        snprintf(t->why, sizeof(t->why), "this OpenGL has no GL_EXT_semaphore_fd");
    if (t->waits == GL_WAITS_BINARY)
        return t;
    gr_lock(&lock);
    t->next = timelines;
    timelines = t;
    gr_unlock(&lock);
    return t;
}

const char *gl_timeline_text(const struct gl_timeline *t)
{
    return t->waits == GL_WAITS_TIMELINE ? "timeline semaphores"
           : t->waits == GL_WAITS_BINARY ? "binary semaphores"
                                         : "host waits";
}

/* ---- Use ------------------------------------------------------------------------------------- */

gr_status gl_timeline_enqueue(const struct gl_timeline *t, bool signal, uint64_t value,
                              gr_resource *const resources[], size_t n)
{
    const GLuint semaphore = t->names->semaphores[signal ? 0 : 1];
    GLuint buffer_count = 0, texture_count = 0, buffers[GR_BATCH], textures[GR_BATCH];
    GLenum layouts[GR_BATCH];
    GLuint64 of_gl = value;
    GL_SAVED(before, GL_SAVE(ERRORS));
    for (size_t i = 0; i < n; i++) {
        if (resources[i]->is_image) {
            layouts[texture_count] = GL_LAYOUT_GENERAL_EXT;
            textures[texture_count++] = gl_of(resources[i])->name;
        } else {
            buffers[buffer_count++] = gl_of(resources[i])->name;
        }
    }
    if (t->waits == GL_WAITS_TIMELINE)
        glSemaphoreParameterui64vEXT(semaphore, TIMELINE_SEMAPHORE_VALUE_NV, &of_gl);
    (signal ? glSignalSemaphoreEXT : glWaitSemaphoreEXT)(semaphore, buffer_count, buffers,
                                                         texture_count, textures, layouts);
    if (signal)
        glFlush(); /* CUDA waits for the signal, and perhaps no later call flushes it */
    const GLenum error = gl_errors_end(&before); /* without it, CUDA would wait for ever */
    const char *call = signal ? "glSignalSemaphoreEXT" : "glWaitSemaphoreEXT";
    return error == GL_NO_ERROR ? GR_OK
                                : GL_FAIL(error, call,
                                          "%s: OpenGL refused %s: glFinish() and "
                                          "cuStreamSynchronize() order both sides, too.",
                                          gr_call, call);
}
