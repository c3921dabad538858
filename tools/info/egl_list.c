/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/egl_list.h"

#include <stdbool.h>
#include <stddef.h>

static bool has(EGLDisplay display, const char *extension)
{
    return epoxy_has_egl_extension(display, extension);
}

int egl_list(EGLDeviceEXT devices[EGL_LIST_MOST])
{
    EGLint count = 0;
    bool can = has(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
               (has(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") ||
                has(EGL_NO_DISPLAY, "EGL_EXT_device_base"));
    if (!can || !eglQueryDevicesEXT(EGL_LIST_MOST, devices, &count))
        return 0;
    return count;
}
