/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/context/private_context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "gl/context/egl_current.h"
#include "gl/context/egl_device.h"
#include "gl/context/saved_state.h"

/* The lock protects the list and the fields `users`, `kept`, `given_up` and `busy`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gl_private *contexts;

/* ---- Creation -------------------------------------------------------------------------------- */

/*
 * Whether this context and its surfaces can be made current again. EGL ends a destroyed context or
 * surface as soon as it is no longer current.
 */
static bool can_return(const struct egl_current *to)
{
    EGLint id;
    const EGLSurface surfaces[] = {to->draw, to->read};
    if (to->context == EGL_NO_CONTEXT)
        return true;
    if (!eglQueryContext(to->display, to->context, EGL_CONFIG_ID, &id))
        return false;
    for (size_t i = 0; i < 2; i++)
        if (surfaces[i] != EGL_NO_SURFACE &&
            !eglQuerySurface(to->display, surfaces[i], EGL_CONFIG_ID, &id))
            return false;
    return true;
}

static EGLConfig config_of(const struct egl_current *of)
{
    EGLint id = 0, count = 0;
    EGLConfig config = EGL_NO_CONFIG_KHR;
    if (!eglQueryContext(of->display, of->context, EGL_CONFIG_ID, &id) || id == 0)
        return EGL_NO_CONFIG_KHR;
    const EGLint wanted[] = {EGL_CONFIG_ID, id, EGL_NONE};
    return eglChooseConfig(of->display, wanted, &config, 1, &count) && count ? config
                                                                             : EGL_NO_CONFIG_KHR;
}

static GLint ask(GLenum what)
{
    GLint value = 0;
    glGetIntegerv(what, &value);
    return value;
}

static bool has_reset_strategy(void)
{
    return (epoxy_gl_version() >= 45 || epoxy_has_gl_extension("GL_KHR_robustness")) &&
           ask(GL_RESET_NOTIFICATION_STRATEGY) == GL_LOSE_CONTEXT_ON_RESET;
}

/* Contexts share objects only if they agree in robustness and in the lack of errors. */
static EGLContext create(const struct egl_current *of)
{
    const GLint flags = ask(GL_CONTEXT_FLAGS), profile = ask(GL_CONTEXT_PROFILE_MASK);
    EGLint attributes[16] = {
        EGL_CONTEXT_MAJOR_VERSION,       ask(GL_MAJOR_VERSION),
        EGL_CONTEXT_MINOR_VERSION,       ask(GL_MINOR_VERSION),
        EGL_CONTEXT_OPENGL_PROFILE_MASK, profile ? profile : GL_CONTEXT_COMPATIBILITY_PROFILE_BIT};
    EGLint *next = attributes + 6;
    if (flags & GL_CONTEXT_FLAG_ROBUST_ACCESS_BIT) {
        *next++ = EGL_CONTEXT_OPENGL_ROBUST_ACCESS;
        *next++ = EGL_TRUE;
    }
    if (has_reset_strategy()) {
        *next++ = EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY;
        *next++ = EGL_LOSE_CONTEXT_ON_RESET;
    }
    if (flags & GL_CONTEXT_FLAG_NO_ERROR_BIT) {
        *next++ = EGL_CONTEXT_OPENGL_NO_ERROR_KHR;
        *next++ = EGL_TRUE;
    }
    *next = EGL_NONE;
    return eglBindAPI(EGL_OPENGL_API)
               ? eglCreateContext(of->display, config_of(of), of->context, attributes)
               : EGL_NO_CONTEXT;
}

void gl_private_give_up(struct gl_private *p, const char *why)
{
    gr_log(GR_LOG_INFO, "OpenGL reads framebuffers by glReadPixels: %s.", why);
    GR_LOCKED(&lock);
    p->kept = p->given_up = true;
}

static void make(struct gl_private *p)
{
    char why[80];
    const struct egl_current now = egl_current_save();
    if (!epoxy_has_egl_extension(now.display, "EGL_KHR_surfaceless_context")) {
        gl_private_give_up(p, "EGL has no EGL_KHR_surfaceless_context");
        return;
    }
    p->own.native = p->application.native;
    p->own.native.handle = create(&now);
    const EGLint code = p->own.native.handle ? EGL_SUCCESS : eglGetError();
    eglBindAPI(now.api);
    if (p->own.native.handle)
        return;
    snprintf(why, sizeof(why), "eglCreateContext of a shared context returned %s",
             egl_error_name(code));
    gl_private_give_up(p, why);
}

/* ---- The end --------------------------------------------------------------------------------- */

static bool enter(const struct gl_private *p)
{
    return eglMakeCurrent(p->own.native.display, EGL_NO_SURFACE, EGL_NO_SURFACE,
                          p->own.native.handle);
}

/*
 * Whether the private context is current. A context that was created after eglTerminate() may have
 * its handle.
 */
static bool is_own(struct gl_private *p)
{
    struct gl_context found;
    if (p->own.mark)
        return glIsProgramPipeline(p->own.mark);
    if (!gl_context_remember(&found) || !found.mark)
        return false;
    p->own = found;
    return true;
}

/* The context was removed from the list. */
static void end_context(struct gl_private *p)
{
    const struct egl_current before = egl_current_save();
    bool is_valid = p->own.native.handle, is_current = false;
    if (is_valid && can_return(&before)) {
        is_current = enter(p);
        is_valid = is_current ? is_own(p) : eglGetError() != EGL_BAD_ACCESS;
    }
    if (p->objects)
        p->end(p->objects, is_current && is_valid);
    if (is_current)
        egl_current_restore(&before);
    if (is_valid)
        eglDestroyContext(p->own.native.display, p->own.native.handle);
    p->objects = NULL;
    p->own.native.handle = NULL;
}

static void unlist(struct gl_private *p)
{
    struct gl_private **link = &contexts;
    while (*link && *link != p)
        link = &(*link)->next;
    if (*link)
        __atomic_store_n(link, p->next, __ATOMIC_RELEASE);
}

static bool end_use(struct gl_private *p)
{
    GR_LOCKED(&lock);
    const bool last = --p->users == 0 && !p->kept;
    if (last)
        unlist(p);
    return last;
}

void gl_private_drop(struct gl_private *p)
{
    if (!p || !end_use(p))
        return;
    end_context(p);
    free(p);
}

/* Removes one context from the list that can end, and adds a use. */
static struct gl_private *take_gone(const struct gl_context *now, const void *handle)
{
    GR_LOCKED(&lock);
    for (struct gl_private *p = contexts; p; p = p->next) {
        const bool is_gone =
            now ? !gl_context_identical(&p->application, now) && gl_context_is_gone(&p->application)
                : p->application.native.handle == handle;
        if (p->busy || !is_gone)
            continue;
        unlist(p);
        p->kept = false;
        p->users++;
        return p;
    }
    return NULL;
}

static void end_all(const struct gl_context *now, const void *handle)
{
    struct gl_private *p;
    while (__atomic_load_n(&contexts, __ATOMIC_ACQUIRE) && (p = take_gone(now, handle))) {
        end_context(p);
        gl_private_drop(p);
    }
}

void gl_private_collect(const struct gl_context *now)
{
    end_all(now, NULL);
}

void gl_private_end_of(const void *handle)
{
    end_all(NULL, handle);
}

/* ---- Uses ------------------------------------------------------------------------------------ */

struct gl_private *gl_private_hold(struct gl_private *p)
{
    GR_LOCKED(&lock);
    p->users++;
    return p;
}

void gl_private_keep(struct gl_private *p)
{
    GR_LOCKED(&lock);
    p->kept = true;
}

static struct gl_private *find(const struct gl_context *application)
{
    GR_LOCKED(&lock);
    struct gl_private *p = contexts;
    while (p && !gl_context_identical(&p->application, application))
        p = p->next;
    if (p)
        p->users++;
    return p;
}

static void list(struct gl_private *p)
{
    GR_LOCKED(&lock);
    p->next = contexts;
    __atomic_store_n(&contexts, p, __ATOMIC_RELEASE);
}

struct gl_private *gl_private_use(const struct gl_context *application)
{
    if (!application->mark || strcmp(application->native.interface, "EGL") != 0 ||
        application->version < 43)
        return NULL;
    struct gl_private *p = find(application);
    if (!p && (p = calloc(1, sizeof(*p)))) {
        p->application = *application;
        p->users = 1;
        list(p);
        make(p);
    }
    if (!p || !p->given_up)
        return p;
    gl_private_drop(p);
    return NULL;
}

/* ---- Work ------------------------------------------------------------------------------------ */

/* Ends the thread's use of the private context even if the application's cannot be current again.
 */
static gr_status go_back(const struct gl_private *p, const struct egl_current *to, const char *call)
{
    if (egl_current_restore(to) || egl_current_restore(to))
        return GR_OK;
    const EGLint code = eglGetError();
    eglMakeCurrent(p->own.native.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_EGL, code, egl_error_name(code), "eglMakeCurrent",
                        "%s: the OpenGL context could not be made current again after a transfer "
                        "in a context that shares objects with it. Make it current.",
                        call);
}

static void set_busy(struct gl_private *p, bool busy)
{
    GR_LOCKED(&lock);
    p->busy = busy;
}

/* Returns a fence after the work; NULL if there is none to wait for. */
static GLsync run_current(GLsync before, bool (*work)(void *of), void *of, bool *done)
{
    GLsync after = NULL;
    glWaitSync(before, 0, GL_TIMEOUT_IGNORED);
    *done = work(of) && gl_errors_take() == GL_NO_ERROR;
    after = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (after)
        glFlush();
    else
        glFinish();
    return after;
}

gr_status gl_private_run(struct gl_private *p, bool (*work)(void *of), void *of, bool *done,
                         const char *call)
{
    const struct egl_current application = egl_current_save();
    GLsync before, after = NULL;
    *done = false;
    if (application.context != p->application.native.handle || !can_return(&application) ||
        !(before = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0)))
        return GR_OK;
    glFlush();
    set_busy(p, true);
    gr_status status = GR_OK;
    if (enter(p)) {
        if (is_own(p))
            after = run_current(before, work, of, done);
        else
            gl_private_give_up(p, "the shared context cannot be recognised");
        status = go_back(p, &application, call);
        if (status == GR_OK && after)
            glWaitSync(after, 0, GL_TIMEOUT_IGNORED);
    }
    glDeleteSync(before);
    if (after)
        glDeleteSync(after);
    set_busy(p, false);
    if (status == GR_OK && gl_errors_take() != GL_NO_ERROR)
        *done = false;
    return status;
}
