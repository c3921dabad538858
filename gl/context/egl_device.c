/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Matches EGL devices and displays with CUDA devices by the properties that they report, never by
 * index.
 */
#include "gl/context/egl_device.h"

#include <stdio.h>

#include "lib/cuda/driver.h"

#define DEVICES_MAX 32

static bool has(const char *extension)
{
    return epoxy_has_egl_extension(EGL_NO_DISPLAY, extension);
}

static void add(struct egl_candidate candidates[], size_t *count, EGLenum platform, void *native,
                const char *origin)
{
    EGLDisplay display = eglGetPlatformDisplayEXT(platform, native, NULL);
    if (display == EGL_NO_DISPLAY || *count == EGL_CANDIDATES_MAX)
        return;
    candidates[*count].display = display;
    snprintf(candidates[*count].origin, sizeof(candidates[*count].origin), "%s", origin);
    ++*count;
}

/* Returns the CUDA device that an EGL device reports, or -1. */
static int cuda_ordinal(EGLDeviceEXT device)
{
    EGLAttrib ordinal = -1;
    const char *extensions = eglQueryDeviceStringEXT(device, EGL_EXTENSIONS);
    if (!epoxy_extension_in_string(extensions, "EGL_NV_device_cuda") ||
        !eglQueryDeviceAttribEXT(device, EGL_CUDA_DEVICE_NV, &ordinal))
        return -1;
    return (int)ordinal;
}

struct device {
    EGLDeviceEXT handle;
    int ordinal; /* the CUDA device, or -1 */
    char text[120];
};

static EGLint list_devices(struct device devices[DEVICES_MAX])
{
    EGLDeviceEXT handles[DEVICES_MAX];
    EGLint n = 0;
    bool can_list = has("EGL_EXT_platform_device") &&
                    (has("EGL_EXT_device_enumeration") || has("EGL_EXT_device_base"));
    if (!can_list || !eglQueryDevicesEXT(DEVICES_MAX, handles, &n))
        return 0;
    for (EGLint i = 0; i < n; i++) {
        struct device *d = &devices[i];
        d->handle = handles[i];
        d->ordinal = cuda_ordinal(handles[i]);
        if (d->ordinal >= 0)
            snprintf(d->text, sizeof(d->text), "EGL device %d (CUDA device %d)", i, d->ordinal);
        else
            snprintf(d->text, sizeof(d->text), "EGL device %d (no CUDA device)", i);
    }
    return n;
}

size_t egl_find_candidates(int cuda_device, struct egl_candidate candidates[EGL_CANDIDATES_MAX],
                           char *found, size_t found_size)
{
    size_t count = 0, used = 0;
    const bool mesa_draws = gr_driver_traits()->mesa_draws;
    struct device devices[DEVICES_MAX];
    if (!has("EGL_EXT_platform_base")) {
        snprintf(found, found_size, "no driver, or an EGL without EGL_EXT_platform_base");
        return 0;
    }
    EGLint n = list_devices(devices);
    snprintf(found, found_size, "no EGL device");
    for (EGLint i = 0; i < n && used < found_size; i++)
        used += (size_t)snprintf(found + used, found_size - used, "%s%s", i ? ", " : "",
                                 devices[i].text);

    if (mesa_draws && has("EGL_MESA_platform_surfaceless"))
        add(candidates, &count, EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY,
            "Mesa's surfaceless platform");
    for (EGLint i = 0; i < n; i++)
        if (devices[i].ordinal == cuda_device)
            add(candidates, &count, EGL_PLATFORM_DEVICE_EXT, devices[i].handle, devices[i].text);
    for (EGLint i = 0; i < n; i++)
        if (devices[i].ordinal != cuda_device && (mesa_draws || devices[i].ordinal >= 0))
            add(candidates, &count, EGL_PLATFORM_DEVICE_EXT, devices[i].handle, devices[i].text);
    return count;
}

const char *egl_error_name(EGLint code)
{
    static const char *const names[] = {
        "EGL_SUCCESS",       "EGL_NOT_INITIALIZED",     "EGL_BAD_ACCESS",
        "EGL_BAD_ALLOC",     "EGL_BAD_ATTRIBUTE",       "EGL_BAD_CONFIG",
        "EGL_BAD_CONTEXT",   "EGL_BAD_CURRENT_SURFACE", "EGL_BAD_DISPLAY",
        "EGL_BAD_MATCH",     "EGL_BAD_NATIVE_PIXMAP",   "EGL_BAD_NATIVE_WINDOW",
        "EGL_BAD_PARAMETER", "EGL_BAD_SURFACE",         "EGL_CONTEXT_LOST",
    };
    EGLint index = code - EGL_SUCCESS;
    return index >= 0 && index < (EGLint)(sizeof(names) / sizeof(names[0])) ? names[index]
                                                                            : "EGL error";
}
