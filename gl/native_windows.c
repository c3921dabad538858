/* SPDX-License-Identifier: Apache-2.0 */
/* The current OpenGL context by WGL. epoxy needs opengl32.dll too, so that it is always there. */
#include "gl/native.h"

#include <stddef.h>
#include <string.h>

/* All of it would make a macro of `interface`. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

bool gl_native_current(struct gl_native *native)
{
    native->handle = wglGetCurrentContext();
    native->interface = native->handle ? "WGL" : "none";
    return native->handle;
}

void *gl_native_display(const struct gl_native *native)
{
    (void)native;
    return NULL;
}

bool gl_native_is_gone(const struct gl_native *native, void *display)
{
    (void)native, (void)display;
    return false;
}

void *gl_proc_address(const struct gl_native *native, const char *name)
{
    void *found;
    PROC function = wglGetProcAddress(name);
    (void)native;
    memcpy(&found, &function, sizeof(found));
    return found;
}
