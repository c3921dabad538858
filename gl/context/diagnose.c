/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds out why CUDA refuses an OpenGL object, by querying both drivers instead of guessing from
 * the error code.
 */
#include "gl/context/context.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/machine.h"
#include "lib/base/uuid_text.h"
#include "gl/context/native.h"
#include "gl/context/saved_state.h"

CUresult gl_drawing_device(CUdevice *device)
{
    unsigned int count = 0;
    CUresult result = gr_driver()->GLGetDevices(&count, device, 1, GR_GL_DEVICE_LIST_ALL);
    return result == CUDA_SUCCESS && count == 0 ? CUDA_ERROR_NO_DEVICE : result;
}

/*
 * Queries the UUID of the device that OpenGL draws on, by GL_EXT_memory_object. False if it is not
 * available: Mesa (22) refuses the query in OpenGL ES 3.1.
 */
static bool drawing_uuid(unsigned char uuid[16])
{
    GLint count = 0;
    if (!epoxy_has_gl_extension("GL_EXT_memory_object"))
        return false;
    GL_SAVED(before, GL_SAVE(ERRORS));
    glGetIntegerv(GL_NUM_DEVICE_UUIDS_EXT, &count);
    if (count < 1)
        return false;
    glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, uuid);
    return gl_errors_take() == GL_NO_ERROR;
}

/* The advice to copy, which works between any two devices if the program allows it. */
#define COPY_INSTEAD                                                                               \
    "allow a copy: GR_TRANSPORT_COPY or GR_TRANSPORT_ANY in gr_gl_options.transports."

/*
 * Whether CUDA does not see the device that OpenGL draws on. With Mesa, UUIDs are not compared:
 * OpenGL may report another UUID than the CUDA device.
 */
static bool is_unseen(void)
{
    const struct gr_driver_api *cu = gr_driver();
    unsigned char drawing[16];
    CUdevice device;
    CUuuid seen;
    int count = 0;
    if (gr_driver_traits()->mesa_draws)
        return gl_drawing_device(&device) == CUDA_ERROR_NO_DEVICE;
    if (!drawing_uuid(drawing) || cu->DeviceGetCount(&count) != CUDA_SUCCESS)
        return false;
    for (int i = 0; i < count; i++)
        if (cu->DeviceGet(&device, i) == CUDA_SUCCESS &&
            cu->DeviceGetUuid(&seen, device) == CUDA_SUCCESS && gr_uuid_is(&seen, drawing))
            return false;
    return true;
}

static const char *advice(const char *vendor, const char *renderer, bool same, CUresult code)
{
    if (gr_machine_is_wsl())
        return "WSL does not support sharing between OpenGL and CUDA: " COPY_INSTEAD;
    if (gr_machine_setting("VGL_ISACTIVE"))
        return "VirtualGL is active: its EGL back end hides the GPU from CUDA. Use its GLX back "
               "end (vglrun -d :0), or gr_egl_create().";
    if (gr_machine_setting("CUDA_VISIBLE_DEVICES") &&
        (gr_driver_traits()->mesa_draws || strstr(vendor, "NVIDIA")) && is_unseen())
        return "CUDA_VISIBLE_DEVICES hides the drawing device from CUDA: add that device to the "
               "variable, or draw on one that CUDA sees (" GL_NATIVE_CHOICE "). Or " COPY_INSTEAD;
    if (code == CUDA_ERROR_INVALID_VALUE && same)
        return "Both use the same device, so CUDA refuses the object itself, such as its format: "
               "docs/formats.md lists those that it accepts.";
    if (strstr(renderer, "llvmpipe") || strstr(renderer, "softpipe") || strstr(renderer, "swrast"))
        return "OpenGL draws on the CPU. " GL_NATIVE_USE_NVIDIA " Or " COPY_INSTEAD;
    if (!strstr(vendor, "NVIDIA"))
        return "OpenGL draws on a GPU of another vendor. Draw on the NVIDIA "
               "one: " GL_NATIVE_PREFER_NVIDIA " Or " COPY_INSTEAD;
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        return "The GPU may be out of memory.";
    if (same)
        return "Both use the same device, so the driver refuses to share there, as it does for "
               "textures that have a bindless handle already: " COPY_INSTEAD;
    return "OpenGL and CUDA must use the same device: choose the CUDA device that draws "
           "(cuGLGetDevices names it), or draw on the CUDA device (" GL_NATIVE_CHOICE
           "). Or " COPY_INSTEAD;
}

/* Writes "NVIDIA H200 (CUDA device 0, UUID GPU-...)", or "no CUDA device". */
static void write_computing_device(char *text, size_t size)
{
    CUdevice device;
    if (gr_driver()->CtxGetDevice(&device) == CUDA_SUCCESS)
        gr_device_text(device, text, size);
    else
        snprintf(text, size, "no CUDA device");
}

static const char *gl_string(GLenum name)
{
    const char *string = (const char *)glGetString(name);
    return string ? string : "?";
}

/* Writes ", UUID GPU-...", or "" if OpenGL does not report the UUID. */
static void write_drawing_uuid(char *text, size_t size)
{
    unsigned char uuid[16];
    char uuid_text[GR_UUID_TEXT_SIZE];
    *text = '\0';
    if (!drawing_uuid(uuid))
        return;
    gr_uuid_text(uuid, uuid_text);
    snprintf(text, size, ", UUID %s", uuid_text);
}

void gl_diagnose(CUresult code, char *text, size_t size)
{
    const char *vendor = gl_string(GL_VENDOR), *renderer = gl_string(GL_RENDERER);
    char drawing[64], computing[220];
    if (code == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
        snprintf(text, size, "The current CUDA context was destroyed or reset.");
        return;
    }
    write_drawing_uuid(drawing, sizeof(drawing));
    write_computing_device(computing, sizeof(computing));
    const bool same = drawing[0] && strstr(computing, drawing); /* the UUIDs are equal */
    snprintf(text, size, "OpenGL draws on %.80s (%.40s%s); CUDA computes on %s. %s", renderer,
             vendor, drawing, computing, advice(vendor, renderer, same, code));
}

void gl_diagnose_devices(char *text, size_t size)
{
    char drawing[64], computing[220];
    write_drawing_uuid(drawing, sizeof(drawing));
    write_computing_device(computing, sizeof(computing));
    snprintf(text, size, "OpenGL draws on %.60s%s, CUDA computes on %s", gl_string(GL_RENDERER),
             drawing, computing);
}
