/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL by EGL, on the device that a CUDA device is or on another EGL device, such as the
 * processor beside a GPU; and what of it CUDA can share.
 */
#include "tools/info/opengl.h"

#include <stdio.h>

#include <epoxy/gl.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>

#include "tools/info/egl_context.h"
#include "tools/info/egl_list.h"
#include "tools/info/finders.h"
#include "tools/info/formats.h"
#include "tools/info/say.h"
#include "tools/info/transports.h"

/* What grinterop uses where it is there. */
static const char *const extensions[] = {"GL_ARB_buffer_storage",      "GL_ARB_copy_image",
                                         "GL_ARB_direct_state_access", "GL_EXT_memory_object",
                                         "GL_EXT_memory_object_fd",    "GL_EXT_semaphore",
                                         "GL_EXT_semaphore_fd",        "GL_NV_timeline_semaphore"};
#define EXTENSIONS (sizeof(extensions) / sizeof(extensions[0]))

static void list_extensions(bool there, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < EXTENSIONS && used < size; i++)
        if (epoxy_has_gl_extension(extensions[i]) == there)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", extensions[i]);
}

static void say_extensions(const char *id)
{
    char whole[64], has[300], lacks[300];
    list_extensions(true, has, sizeof(has));
    list_extensions(false, lacks, sizeof(lacks));
    snprintf(whole, sizeof(whole), "%s/extensions", id);
    say_detail(whole, MARK_NOTE, "OpenGL's extensions for sharing", "It has %s; it lacks %s.",
               *has ? has : "none", *lacks ? lacks : "none");
    say_fact("has", "%s", has);
    say_fact("lacks", "%s", lacks);
}

static const char *string_of(GLenum name)
{
    const char *string = (const char *)glGetString(name);
    return string ? string : "?";
}

void opengl_say(const char *id, const char *where, const char *described)
{
    char label[200];
    snprintf(label, sizeof(label), "%s: OpenGL on %.100s", where, string_of(GL_RENDERER));
    say(id, MARK_GOOD, label, "%s", described);
    say_fact("renderer", "%s", string_of(GL_RENDERER));
    say_fact("vendor", "%s", string_of(GL_VENDOR));
    say_fact("version", "%s", string_of(GL_VERSION));
    say_extensions(id);
}

/* ---- On a CUDA device ------------------------------------------------------------------------ */

/* CUDA on the next device, where there are several: all pairs would take long. */
static void say_next_device(int drawing)
{
    int count = 0;
    char id[48], where[80];
    if (gr_cuda()->DeviceGetCount(&count) != CUDA_SUCCESS || count < 2)
        return;
    int next = (drawing + 1) % count;
    snprintf(id, sizeof(id), "opengl/%d/cuda/%d", drawing, next);
    snprintf(where, sizeof(where), "OpenGL on %d, CUDA on %d", drawing, next);
    transports_say(id, where, next);
}

void find_opengl(const struct find *find)
{
    char id[32], where[64], described[320];
    const gr_egl_options options = GR_INIT(gr_egl_options, .cuda_device = find->device);
    snprintf(id, sizeof(id), "opengl/%d", find->device);
    snprintf(where, sizeof(where), "CUDA device %d", find->device);
    gr_egl *egl = gr_egl_create(&options);
    if (!egl) {
        snprintf(described, sizeof(described), "%s: no OpenGL", where);
        say_error(id, described);
        say_fact("path", "opengl");
        return;
    }
    gr_egl_describe(egl, described, sizeof(described));
    opengl_say(id, where, described);
    transports_say(id, where, find->device);
    formats_say(id, find->device);
    say_next_device(find->device);
}

/* ---- On another EGL device ------------------------------------------------------------------- */

void find_renderer(const struct find *find)
{
    EGLDeviceEXT devices[EGL_LIST_MOST];
    char id[32], where[64];
    snprintf(id, sizeof(id), "renderer/%d", find->device);
    snprintf(where, sizeof(where), "EGL device %d", find->device);
    if (!epoxy_has_egl() || find->device < 0 || find->device >= egl_list(devices))
        return;
    const char *missing = egl_make_current(devices[find->device]);
    if (missing) {
        say_detail(id, MARK_NOTE, where, "No OpenGL on it: %s.", missing);
        return;
    }
    opengl_say(id, where, string_of(GL_VERSION));
    transports_say(id, where, 0);
}
