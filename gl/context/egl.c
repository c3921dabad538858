/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates OpenGL contexts without a window on the device of CUDA. */
#include <grinterop/egl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/fork.h"
#include "lib/base/live_objects.h"
#include "lib/base/log.h"
#include "lib/base/struct_size.h"
#include "gl/context/context.h"
#include "gl/context/egl_device.h"

struct headless {
    gr_egl shown;
    EGLSurface surface; /* EGL_NO_SURFACE if the context needs no surface */
    int cuda_device;
    bool es;
    char text[320];
};

static const struct headless *of_shown(const gr_egl *egl)
{
    return (const struct headless *)egl;
}

/* The EGL state of the thread, which is restored if no context can be created. */
struct current {
    EGLenum api;
    EGLDisplay display;
    EGLSurface draw, read;
    EGLContext context;
};

static struct current save_current(void)
{
    return (struct current){.api = eglQueryAPI(),
                            .display = eglGetCurrentDisplay(),
                            .draw = eglGetCurrentSurface(EGL_DRAW),
                            .read = eglGetCurrentSurface(EGL_READ),
                            .context = eglGetCurrentContext()};
}

static void restore_current(const struct current *saved)
{
    eglBindAPI(saved->api);
    if (saved->context != EGL_NO_CONTEXT)
        eglMakeCurrent(saved->display, saved->draw, saved->read, saved->context);
    else if (eglGetCurrentDisplay() != EGL_NO_DISPLAY)
        eglMakeCurrent(eglGetCurrentDisplay(), EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

#define CREATE_CALL "eglCreateContext"
#define DEVICE_CALL "cuGLGetDevices"

static gr_status fail_egl(const char *call, const char *origin, const char *what)
{
    EGLint code = eglGetError();
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_EGL, code, egl_error_name(code), call, "%s on %s.",
                        what, origin);
}

static const char *api_name(const struct headless *egl)
{
    return egl->es ? "OpenGL ES" : "desktop OpenGL";
}

static bool bind_api(const struct headless *egl)
{
    return eglBindAPI(egl->es ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
}

static gr_status choose_config(struct headless *egl, const char *origin)
{
    const EGLint wanted[][2] = {
        {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT},
        {EGL_RENDERABLE_TYPE, egl->es ? EGL_OPENGL_ES3_BIT : EGL_OPENGL_BIT},
        {EGL_RED_SIZE, 8},
        {EGL_GREEN_SIZE, 8},
        {EGL_BLUE_SIZE, 8},
        {EGL_NONE},
    };
    EGLint n = 0;
    if (eglChooseConfig(egl->shown.display, *wanted, &egl->shown.config, 1, &n) && n > 0)
        return GR_OK;
    char what[60];
    snprintf(what, sizeof(what), "There is no configuration for %s", api_name(egl));
    return fail_egl("eglChooseConfig", origin, what);
}

static EGLContext context_of_version(const struct headless *egl, const gr_egl_options *o, int major,
                                     int minor)
{
    const EGLint profile = o->compatibility ? EGL_CONTEXT_OPENGL_COMPATIBILITY_PROFILE_BIT
                                            : EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT;
    const EGLint attributes[][2] = {
        {EGL_CONTEXT_MAJOR_VERSION, major},
        {EGL_CONTEXT_MINOR_VERSION, minor},
        {EGL_CONTEXT_OPENGL_DEBUG, o->debug ? EGL_TRUE : EGL_FALSE},
        {o->es ? EGL_NONE : EGL_CONTEXT_OPENGL_PROFILE_MASK, profile},
        {EGL_NONE},
    };
    EGLContext share = o->share ? o->share->context : EGL_NO_CONTEXT;
    return eglCreateContext(egl->shown.display, egl->shown.config, share, *attributes);
}

/* The versions of an API, the newest first, and a zero. */
static const int desktop_versions[] = {46, 45, 44, 43, 42, 41, 40, 33, 0};
static const int es_versions[] = {32, 31, 0};

/*
 * Returns the newest available version, or 0 if there is none. Tries each version, the newest
 * first: a request for 3.3 gives the newest version on Mesa, but exactly 3.3 on NVIDIA.
 */
static int create_newest(struct headless *egl, const gr_egl_options *o)
{
    const int *v = o->es ? es_versions : desktop_versions;
    while (*v &&
           (egl->shown.context = context_of_version(egl, o, *v / 10, *v % 10)) == EGL_NO_CONTEXT)
        v++;
    return *v;
}

static gr_status create_context(struct headless *egl, const gr_egl_options *o, const char *origin)
{
    char what[160];
    const char *kind = o->es ? " ES" : "", *oldest = o->es ? "3.1" : "3.3";
    const char *profile = o->es ? "" : o->compatibility ? " compatibility" : " core";
    const char *shares = o->share ? " that shares objects" : "";
    if (o->major)
        egl->shown.context = context_of_version(egl, o, o->major, o->minor);
    if (egl->shown.context != EGL_NO_CONTEXT)
        return GR_OK;
    EGLint code = eglGetError(); /* read before create_newest() tries other versions */
    const int newest = create_newest(egl, o);
    if (!o->major && newest)
        return GR_OK;
    if (!o->major) {
        snprintf(what, sizeof(what), "No%s context of OpenGL%s %s or newer%s could be created",
                 profile, kind, oldest, shares);
        return fail_egl(CREATE_CALL, origin, what);
    }
    if (!newest)
        snprintf(what, sizeof(what), "no version from %s on is available", oldest);
    else
        snprintf(
            what, sizeof(what),
            "%d.%d is the newest. Request that or an older one, or leave `major` 0 for the newest",
            newest / 10, newest % 10);
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_EGL, code, egl_error_name(code), CREATE_CALL,
                        "OpenGL%s %d.%d%s%s is not available on %s: %s.", kind, o->major, o->minor,
                        profile, shares, origin, what);
}

static gr_status make_current(struct headless *egl, const char *origin)
{
    if (!epoxy_has_egl_extension(egl->shown.display, "EGL_KHR_surfaceless_context")) {
        static const EGLint tiny[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
        egl->surface = eglCreatePbufferSurface(egl->shown.display, egl->shown.config, tiny);
    }
    if (eglMakeCurrent(egl->shown.display, egl->surface, egl->surface, egl->shown.context))
        return GR_OK;
    return fail_egl("eglMakeCurrent", origin, "The new context could not be made current");
}

/* Checks that the CUDA driver reports this device for the current OpenGL context. */
static gr_status check_device(int cuda_device, const char *origin)
{
    CUdevice wanted;
    CUresult result = gr_driver()->DeviceGet(&wanted, cuda_device);
    if (result == CUDA_SUCCESS)
        result = gl_query_draws_on(wanted);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    return gr_fail_cuda(
        result, DEVICE_CALL, "OpenGL on %s draws with %.100s, which is not CUDA device %d%s.",
        origin, renderer ? renderer : "?", cuda_device,
        gr_driver_traits()->mesa_draws ? ": it draws for the software driver's first "
                                         "device, which CUDA_VISIBLE_DEVICES may hide"
                                       : "");
}

static void destroy_context(struct headless *egl)
{
    if (egl->shown.context != EGL_NO_CONTEXT)
        eglDestroyContext(egl->shown.display, egl->shown.context);
    if (egl->surface != EGL_NO_SURFACE)
        eglDestroySurface(egl->shown.display, egl->surface);
    egl->shown.context = EGL_NO_CONTEXT;
    egl->surface = EGL_NO_SURFACE;
}

static gr_status try_candidate(struct headless *egl, const gr_egl_options *o,
                               const struct egl_candidate *c)
{
    egl->shown.display = c->display;
    if (!eglInitialize(egl->shown.display, NULL, NULL))
        return fail_egl("eglInitialize", c->origin, "The display could not be initialised");
    if (!bind_api(egl)) {
        char what[40];
        snprintf(what, sizeof(what), "EGL has no %s", api_name(egl));
        return fail_egl("eglBindAPI", c->origin, what);
    }
    GR_TRY(choose_config(egl, c->origin));
    GR_TRY(create_context(egl, o, c->origin));
    GR_TRY(make_current(egl, c->origin));
    GR_TRY(check_device(o->cuda_device, c->origin));
    snprintf(egl->text, sizeof(egl->text), "%s%.60s on %.100s, by %s", egl->es ? "" : "OpenGL ",
             (const char *)glGetString(GL_VERSION), (const char *)glGetString(GL_RENDERER),
             c->origin);
    return GR_OK;
}

static gr_status check_options(const gr_egl_options *o)
{
    CUdevice device;
    GR_TRY(gr_device_get(o->cuda_device, &device));
    GR_REFUSE_IF(o->major < 0 || o->minor < 0,
                 "There is no OpenGL %d.%d: pass a version such as 4.5, or 0 for the newest.",
                 o->major, o->minor);
    GR_REFUSE_IF(
        o->share && of_shown(o->share)->cuda_device != o->cuda_device,
        "`share` draws on CUDA device %d, but `cuda_device` is %d: pass the device of `share`.",
        of_shown(o->share)->cuda_device, o->cuda_device);
    GR_REFUSE_IF(o->share && of_shown(o->share)->es != o->es,
                 "`share` is a context of %s: pass its `es`, because contexts of OpenGL and OpenGL "
                 "ES share no objects.",
                 api_name(of_shown(o->share)));
    GR_REFUSE_IF(o->compatibility && o->es,
                 "`compatibility` and `es` are set, but OpenGL ES has no profiles: set one.");
    if (!epoxy_has_egl())
        return gr_fail(
            GR_ERR_GL,
            "libEGL.so.1 was not found. Install EGL (on Debian libegl1, and libegl-mesa0 or "
            "NVIDIA's libEGL_nvidia).");
    if (o->es && !gl_native_has_es())
        return gr_fail(GR_ERR_GL, GL_NATIVE_ES " was not found. Install it (on Debian libgles2).");
    return GR_OK;
}

/*
 * Records why no context was created: the error of the best candidate, with the devices that were
 * found.
 */
static gr_status explain(const gr_egl_options *o, size_t tried, const char *found)
{
    const bool mesa_draws = gr_driver_traits()->mesa_draws;
    struct gr_error_record last;
    char hint[420] = "";
    gr_error_save(&last);
    if (tried == 0 && o->share)
        return gr_fail(GR_ERR_GL,
                       "The display of the `share` context is no longer available; found: %.240s.",
                       found);
    /*
     * No driver is missing if the context was refused, for example for its version, or if Mesa
     * draws as intended but for another CUDA device.
     */
    if (tried == 0 || (strcmp(last.call, CREATE_CALL) != 0 &&
                       !(mesa_draws && strcmp(last.call, DEVICE_CALL) == 0)))
        egl_vendor_advise(mesa_draws, hint, sizeof(hint));
    if (tried == 0) {
        const EGLint error = eglGetError(); /* of the call that found no device, if it failed */
        const bool failed = error != EGL_SUCCESS;
        return gr_fail_code(GR_ERR_GL, failed ? GR_DOMAIN_EGL : GR_DOMAIN_NONE, failed ? error : 0,
                            failed ? egl_error_name(error) : "", gr_call,
                            "No EGL device belongs to CUDA device %d; found: %.200s. %s",
                            o->cuda_device, found, hint);
    }
    return gr_fail_code(GR_ERR_GL, last.domain, last.code, last.code_name, last.call,
                        "%.280s Found: %.*s.%s%s", last.message, *hint ? 100 : 200, found,
                        *hint ? " " : "", hint);
}

/* The devices for a context, the best one first, and the error of the first. */
struct search {
    struct headless *egl;
    const gr_egl_options *options;
    char found[320]; /* the names of the EGL devices, for messages */
    struct egl_candidate candidates[EGL_CANDIDATES_MAX];
    size_t count;
    struct current before;
    struct gr_error_record first;
};

/* The last failure becomes the error of the call. */
static gr_status open_candidate(void *of, size_t i)
{
    struct search *search = of;
    gr_status status = try_candidate(search->egl, search->options, &search->candidates[i]);
    if (status == GR_OK)
        return GR_OK;
    restore_current(&search->before);
    destroy_context(search->egl);
    if (i == 0)
        gr_error_save(&search->first);
    if (i + 1 < search->count)
        return status;
    gr_error_restore(&search->first);
    return explain(search->options, search->count, search->found);
}

static gr_status open_context(struct headless *egl, const gr_egl_options *o)
{
    struct search search = {.egl = egl, .options = o, .before = save_current()};
    const size_t found =
        egl_find_candidates(o->cuda_device, search.candidates, search.found, sizeof(search.found));
    for (size_t i = 0; i < found; i++) /* contexts can share objects on one display only */
        if (!o->share || search.candidates[i].display == o->share->display)
            search.candidates[search.count++] = search.candidates[i];
    return search.count ? gr_try(search.count, open_candidate, NULL, &search)
                        : explain(o, 0, search.found);
}

gr_egl *gr_egl_create(const gr_egl_options *options)
{
    GR_CALL();
    gr_egl_options o;
    if (GR_TAKE(gr_egl_options, &o, options) != GR_OK || !gr_driver_load() ||
        check_options(&o) != GR_OK)
        return NULL;
    struct headless *egl = gr_check_memory(calloc(1, sizeof(*egl)));
    if (!egl)
        return NULL;
    egl->cuda_device = o.cuda_device;
    egl->es = o.es;
    if (open_context(egl, &o) != GR_OK) {
        free(egl);
        return NULL;
    }
    egl->shown.description = egl->text;
    gr_live_add(GR_LIVE_EGL, &egl->shown);
    gr_log(GR_LOG_INFO, "%s", egl->text);
    return &egl->shown;
}

gr_status gr_egl_make_current(const gr_egl *egl)
{
    GR_CALL();
    EGLBoolean done;
    GR_TRY(egl ? gr_live_check(GR_LIVE_EGL, egl) : gr_fork_check());
    /* Without libEGL no EGL context can be current, and a call of epoxy would end the process. */
    if (!egl && !epoxy_has_egl())
        return GR_OK;
    if (egl)
        done = bind_api(of_shown(egl)) && eglMakeCurrent(egl->display, of_shown(egl)->surface,
                                                         of_shown(egl)->surface, egl->context);
    else
        done =
            eglGetCurrentDisplay() == EGL_NO_DISPLAY ||
            eglMakeCurrent(eglGetCurrentDisplay(), EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (done)
        return GR_OK;
    EGLint code = eglGetError();
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_EGL, code, egl_error_name(code), "eglMakeCurrent",
                        "The context could not be made current%s.",
                        code == EGL_BAD_ACCESS
                            ? ": it is current on another thread. Call gr_egl_make_current(NULL) "
                              "there first. If that thread has ended, create another context"
                            : "");
}

void gr_egl_free(gr_egl *egl)
{
    GR_CALL();
    if (!egl || !gr_live_end(GR_LIVE_EGL, egl))
        return;
    GR_NO_STATUS();
    if (eglGetCurrentContext() == egl->context)
        gr_egl_make_current(NULL);
    destroy_context((struct headless *)egl);
    gr_live_free_memory(GR_LIVE_EGL, egl);
    gl_context_ended();
}
