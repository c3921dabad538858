/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the current OpenGL context by WGL. epoxy links opengl32.dll, so this DLL is always loaded.
 */
#include "gl/context/native.h"

#include <stddef.h>
#include <string.h>

/* Without this macro the Windows headers define `interface` as a macro. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

bool gl_native_current(struct gl_native *native)
{
    void *handle = wglGetCurrentContext();
    *native = (struct gl_native){.interface = handle ? "WGL" : "none", .handle = handle};
    return handle;
}

bool gl_native_is_callable(const struct gl_native *native)
{
    (void)native;
    return true;
}

void gl_native_find_display(struct gl_native *native)
{
    (void)native;
}

bool gl_native_is_gone(const struct gl_native *native)
{
    (void)native;
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
