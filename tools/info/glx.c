/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL of the display, which windows have: it need not be that of EGL's devices, nor be drawn by
 * a GPU that CUDA computes on.
 */
#include <stdio.h>
#include <stdlib.h>

#include <grinterop/cuda.h>
#include <grinterop/gl.h>

#include "tools/info/finders.h"
#include "tools/info/glx_context.h"
#include "tools/info/opengl.h"
#include "tools/info/say.h"
#include "tools/info/transports.h"

void find_glx(const struct find *find)
{
    char where[80];
    int device = 0;
    const char *display = getenv("DISPLAY");
    (void)find;
    snprintf(where, sizeof(where), "the display %.50s", display ? display : "");
    const char *missing = glx_make_current();
    if (missing) {
        say("glx", MARK_NOTE, where, "No OpenGL for windows on it: %s.", missing);
        return;
    }
    opengl_say("glx", where, "");
    if (gr_gl_cuda_device(&device) != GR_OK)
        say("glx/device", MARK_NOTE, "no CUDA device draws the windows", "%s",
            gr_last_error()->message);
    transports_say("glx", where, device);
}
