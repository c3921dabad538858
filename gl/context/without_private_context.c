/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Without EGL there are no private contexts, and OpenGL reads framebuffers by glReadPixels(). */
#include "gl/context/private_context.h"

struct gl_private *gl_private_use(const struct gl_context *application)
{
    (void)application;
    return NULL;
}

void gl_private_drop(struct gl_private *context)
{
    (void)context;
}

void gl_private_keep(struct gl_private *context)
{
    (void)context;
}

struct gl_private *gl_private_hold(struct gl_private *context)
{
    return context;
}

gr_status gl_private_run(struct gl_private *context, bool (*work)(void *of), void *of, bool *done,
                         const char *call)
{
    (void)context, (void)work, (void)of, (void)call;
    *done = false;
    return GR_OK;
}

void gl_private_give_up(struct gl_private *context, const char *why)
{
    (void)context, (void)why;
}

void gl_private_collect(const struct gl_context *now)
{
    (void)now;
}
