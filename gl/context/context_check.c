/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks the OpenGL context at the start of a call, and records errors. */
#include "gl/context/context.h"

#include <stdarg.h>
#include <stdio.h>

#include <epoxy/gl.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/fork.h"
#include "gl/context/saved_state.h"

gr_status gl_context_begin(struct gl_context *context, const char *format, ...)
{
    *context = (struct gl_context){0};
    if (gr_driver_load() && gl_context_remember(context) &&
        context->version >= (context->es ? 31 : 32)) {
        gl_deferred_run(context);
        return GR_OK;
    }
    if (gr_forked)
        return gr_refuse_forked();
    if (!gr_driver())
        return GR_ERR_NO_DRIVER; /* the error is already recorded */
    if (context->native.handle && !context->version)
        return gr_fail(GR_ERR_UNSUPPORTED, "The current context is OpenGL ES, but " GL_NATIVE_ES
                                           " was not found. Install it (on Debian libgles2).");
    if (context->native.handle)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "The current context is OpenGL%s %d.%d. grinterop needs OpenGL 3.2, or "
                       "OpenGL ES 3.1, or newer, which the NVIDIA driver provides on request.",
                       context->es ? " ES" : "", context->version / 10, context->version % 10);
    char what[80];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return gr_fail(GR_ERR_GL,
                   "No OpenGL context is current on this thread. Make current the context that %s "
                   "(" GL_NATIVE_MAKE ").",
                   what);
}

bool gl_context_is_es(void)
{
    struct gl_native native;
    return gl_native_current(&native) && gl_native_is_callable(&native) && !epoxy_is_desktop_gl();
}

gr_status gl_context_refuse_es(const struct gl_context *context, const char *what,
                               const char *lacks, const char *instead)
{
    if (!context->es)
        return GR_OK;
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "%s needs %s, which OpenGL ES does not have. Use %s, or a context of OpenGL.",
                   what, lacks, instead);
}

static gr_status refuse_group(const struct gl_native *own, const struct gl_native *now,
                              const char *object)
{
    if (!now->handle)
        return gr_fail(GR_ERR_GL,
                       "No OpenGL context is current on this thread, but %s needs one of the share "
                       "group of the %s context %p. Call from a thread where one is current.",
                       object, own->interface, own->handle);
    GR_TRY(gl_errors_check_lost()); /* a lost context has no shader objects */
    return gr_fail(GR_ERR_GL,
                   "%s was registered in the share group of the %s context %p, but the context "
                   "that is current on this thread (%s context %p) is not in that share group. "
                   "Make a context current that shares objects with the first.",
                   object, own->interface, own->handle, now->interface, now->handle);
}

gr_status gl_context_refuse(const struct gl_context *context, const char *object,
                            const char *advice)
{
    struct gl_native now;
    const struct gl_native *own = &context->native;
    bool any = gl_native_current(&now);
    if (context->group)
        return refuse_group(own, &now, object);
    if (any && now.handle == own->handle)
        GR_TRY(gl_errors_check_lost()); /* a lost context has no mark */
    if (gl_context_is_gone(context))
        return gr_fail(GR_ERR_GL,
                       "%s was registered in the %s context %p, which has been destroyed, so the "
                       "resource can no longer be used, and what CUDA had not handed back is lost. "
                       "Free the resource, and create it again in an existing context; keep that "
                       "context until its resources are closed.",
                       object, own->interface, own->handle);
    if (!any)
        return gr_fail(
            GR_ERR_GL,
            "No OpenGL context is current on this thread, but %s needs the one that it was "
            "registered in (%s context %p). Call from the thread where that context is current.%s",
            object, own->interface, own->handle, advice);
    return gr_fail(
        GR_ERR_GL,
        "%s was registered in another context (%s context %p) than the one that is current on this "
        "thread (%s context %p). Make the context of the resource current first; if both share "
        "objects, gr_gl_options.share_group lets either be current.%s",
        object, own->interface, own->handle, now.interface, now.handle, advice);
}
