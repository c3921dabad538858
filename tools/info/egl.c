/* SPDX-License-Identifier: Apache-2.0 */
/* EGL's devices, and which CUDA device each of them is; where there is none, why. */
#include <stdio.h>

#include <epoxy/egl.h>

#include <grinterop/cuda.h>

#include "gl/egl_vendor.h"
#include "tools/info/egl_list.h"
#include "tools/info/finders.h"
#include "tools/info/say.h"

static void say_device(EGLDeviceEXT device, int number)
{
    const char *extensions = eglQueryDeviceStringEXT(device, EGL_EXTENSIONS);
    bool software = extensions && epoxy_extension_in_string(extensions, "EGL_MESA_device_software");
    EGLAttrib cuda = -1;
    char id[32], is[64] = "", label[128];
    if (extensions && epoxy_extension_in_string(extensions, "EGL_NV_device_cuda") &&
        eglQueryDeviceAttribEXT(device, EGL_CUDA_DEVICE_NV, &cuda) && cuda >= 0)
        snprintf(is, sizeof(is), "CUDA device %d", (int)cuda);
    snprintf(id, sizeof(id), "egl/device/%d", number);
    snprintf(label, sizeof(label), "EGL device %d: %s", number,
             *is        ? is
             : software ? "the processor (Mesa)"
                        : "no CUDA device");
    say(id, MARK_NOTE, label, "%s", "");
    say_fact("extensions", "%s", extensions ? extensions : "");
    say_fact("software", "%s", software ? "yes" : "no");
    if (*is)
        say_fact("cuda_device", "%d", (int)cuda);
}

void find_egl(const struct find *find)
{
    EGLDeviceEXT devices[EGL_LIST_MOST];
    char advice[600];
    (void)find;
    gr_cuda_load(false); /* the drivers that are wanted are its */
    if (!epoxy_has_egl()) {
        say("egl/loader", MARK_BAD, "no EGL",
            "libEGL.so.1 was not found. Install it (on Debian libegl1).");
        return;
    }
    int count = egl_list(devices);
    for (int i = 0; i < count; i++)
        say_device(devices[i], i);
    if (count)
        return;
    egl_vendor_advise(gr_cuda_is_software(), advice, sizeof(advice));
    if (gr_cuda()) /* then OpenGL's own finder says the same in the place of a way */
        say_detail("egl/drivers", MARK_BAD, "EGL has no devices", "%s", advice);
    else
        say("egl/drivers", MARK_BAD, "EGL has no devices", "%s", advice);
}
