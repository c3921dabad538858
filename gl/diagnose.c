/* SPDX-License-Identifier: Apache-2.0 */
/* Why CUDA refuses an OpenGL object: found out from both drivers, not guessed from the code. */
#include "diagnose.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "../lib/driver.h"

static bool is_wsl(void)
{
    char line[256] = "";
    FILE *f = fopen("/proc/version", "re");
    if (!f)
        return false;
    bool read = fgets(line, sizeof(line), f) != NULL;
    fclose(f);
    return read && (strstr(line, "microsoft") || strstr(line, "Microsoft"));
}

static bool is_cpu_renderer(const char *renderer)
{
    return strstr(renderer, "llvmpipe") || strstr(renderer, "softpipe") ||
           strstr(renderer, "swrast");
}

/* The UUID of the device that OpenGL draws on, by GL_EXT_memory_object; false where it is not told. */
static bool drawing_uuid(unsigned char uuid[16])
{
    GLint count = 0;
    if (!epoxy_has_gl_extension("GL_EXT_memory_object"))
        return false;
    glGetIntegerv(GL_NUM_DEVICE_UUIDS_EXT, &count);
    if (count < 1)
        return false;
    glGetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, uuid);
    return true;
}

static const char *advice(const char *vendor, const char *renderer, CUresult code)
{
    if (is_wsl())
        return "WSL does not support OpenGL interoperability; copy through the host instead.";
    if (is_cpu_renderer(renderer))
        return "OpenGL draws on the CPU, where CUDA cannot follow. Use NVIDIA's OpenGL: "
               "__GLX_VENDOR_LIBRARY_NAME=nvidia, for EGL the vendor file 10_nvidia.json, and in a "
               "container NVIDIA_DRIVER_CAPABILITIES with graphics in it.";
    if (!strstr(vendor, "NVIDIA"))
        return "OpenGL draws on another maker's GPU. Draw on the NVIDIA one: "
               "__NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia, or gr_egl_create().";
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        return "The GPU may be out of memory (nvidia-smi shows by whom).";
    return "Both must be one device: choose the CUDA device that draws (cuGLGetDevices names it), "
           "or "
           "draw on the CUDA device (gr_egl_create()).";
}

void gl_diagnose(CUresult code, char *text, size_t size)
{
    const gr_cuda_api *cu = gr_driver();
    const char *vendor = (const char *)glGetString(GL_VENDOR);
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    vendor = vendor ? vendor : "?";
    renderer = renderer ? renderer : "?";

    char drawing[96] = "";
    unsigned char uuid[16];
    if (drawing_uuid(uuid)) {
        char uuid_text[GR_UUID_TEXT_SIZE];
        gr_uuid_text(uuid, uuid_text);
        snprintf(drawing, sizeof(drawing), ", UUID %s", uuid_text);
    }
    char computing[220] = "no CUDA device";
    CUdevice device;
    if (cu->cuCtxGetDevice(&device) == CUDA_SUCCESS)
        gr_device_text(device, computing, sizeof(computing));
    snprintf(text, size, "OpenGL draws on %.120s (%.60s%s); CUDA computes on %s. %s", renderer,
             vendor, drawing, computing, advice(vendor, renderer, code));
}
