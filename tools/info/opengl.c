/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Examines OpenGL on each CUDA device, on other EGL devices such as the CPU, and on the display.
 * Reports what CUDA can share with each OpenGL.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include <grinterop/egl.h>
#include <grinterop/gl.h>

#include "lib/cuda/driver_outside.h"
#include "tools/info/finding.h"
#include "tools/info/try.h"

/* ---- Transports ------------------------------------------------------------------------------ */

/*
 * Whether a transport that does not work is a defect. An OpenGL that draws on no CUDA device
 * supports only copies, and with one GPU peer only adds frames in flight.
 */
static bool is_wanted(gr_transport transport, int cuda_device)
{
    int drawing;
    if (gr_gl_cuda_device(&drawing) != GR_OK)
        return transport == GR_TRANSPORT_COPY;
    return transport != GR_TRANSPORT_PEER || drawing != cuda_device;
}

static void say_transport(const struct transport *transport, const char *id, const char *where,
                          int cuda_device)
{
    const gr_transport_info *info = gr_gl_probe(transport->transport);
    const char *whole = text_of("%s/%s", id, transport->name);
    const char *label = text_of("%s: %s", where, transport->words);
    if (!info) {
        say_error(whole, label);
    } else if (!info->usable && !is_wanted(info->transport, cuda_device)) {
        say(whole, MARK_NOTE | DETAIL, label, "%s", info->reason);
    } else {
        say(whole, info->usable ? MARK_GOOD : MARK_BAD, label, "%s", info->reason);
        say_fact("path", "%s", transport->name);
        say_fact("cuda_device", "%d", cuda_device);
    }
}

/*
 * Reports the transports between the current OpenGL context and the CUDA device. `id` is the prefix
 * of the ids; `where` is the prefix of the labels, such as "CUDA device 0".
 */
static void say_transports(const char *id, const char *where, int cuda_device)
{
    gr_cuda_context *context = gr_cuda_context_create(cuda_device);
    if (!context) {
        say_error(text_of("%s/context", id), where);
        say_fact("path", "none");
        return;
    }
    for (size_t i = 0; i < TRANSPORTS; i++)
        say_transport(&transports[i], id, where, cuda_device);
    gr_cuda_context_free(context);
}

/* ---- The current OpenGL ---------------------------------------------------------------------- */

static const char *string_of(GLenum name)
{
    const char *string = (const char *)glGetString(name);
    return string ? string : "?";
}

static void say_opengl(const char *id, const char *where, const char *described)
{
    /* The extensions that grinterop uses if they are available. */
    static const char *const extensions[] = {
        "GL_ARB_buffer_storage", "GL_ARB_copy_image",       "GL_ARB_direct_state_access",
        "GL_EXT_memory_object",  "GL_EXT_memory_object_fd", "GL_EXT_semaphore",
        "GL_EXT_semaphore_fd",   "GL_NV_timeline_semaphore"};
    char has[300] = "", lacks[300] = "";
    say(id, MARK_GOOD, text_of("%s: OpenGL on %.100s", where, string_of(GL_RENDERER)), "%s",
        described);
    say_fact("renderer", "%s", string_of(GL_RENDERER));
    say_fact("vendor", "%s", string_of(GL_VENDOR));
    say_fact("version", "%s", string_of(GL_VERSION));
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
        char *list = epoxy_has_gl_extension(extensions[i]) ? has : lacks;
        strcat(strcat(list, *list ? " " : ""), extensions[i]);
    }
    say(text_of("%s/extensions", id), MARK_NOTE | DETAIL, "OpenGL extensions for sharing",
        "It has %s; it lacks %s.", *has ? has : "none", *lacks ? lacks : "none");
    say_fact("has", "%s", has);
    say_fact("lacks", "%s", lacks);
}

/* ---- The finders ----------------------------------------------------------------------------- */

void find_opengl(const struct find *find)
{
    const gr_egl_options options = GR_INIT(gr_egl_options, .cuda_device = find->device);
    char id[48], where[80];
    int count = 0;
    snprintf(id, sizeof(id), "opengl/%d", find->device);
    snprintf(where, sizeof(where), "CUDA device %d", find->device);
    gr_egl *egl = gr_egl_create(&options);
    if (!egl) {
        say_error(id, text_of("%s: no OpenGL", where));
        say_fact("path", "opengl");
        return;
    }
    say_opengl(id, where, egl->description);
    say_transports(id, where, find->device);
    /* Also tries CUDA on the next device. Trying all pairs would take too long. */
    if (gr_driver_functions()->DeviceGetCount(&count) != CUDA_SUCCESS || count < 2)
        return;
    int next = (find->device + 1) % count;
    snprintf(id, sizeof(id), "opengl/%d/cuda/%d", find->device, next);
    snprintf(where, sizeof(where), "OpenGL on %d, CUDA on %d", find->device, next);
    say_transports(id, where, next);
}

void find_renderer(const struct find *find)
{
    char id[48], where[80];
    snprintf(id, sizeof(id), "renderer/%d", find->device);
    snprintf(where, sizeof(where), "EGL device %d", find->device);
    const char *missing = egl_make_current(find->device);
    if (missing) {
        say(id, MARK_NOTE | DETAIL, where, "No OpenGL on it: %s.", missing);
    } else {
        say_opengl(id, where, string_of(GL_VERSION));
        say_transports(id, where, 0);
    }
}

/* The OpenGL of windows may differ from that of EGL, and may run on a GPU without CUDA. */
void find_glx(const struct find *find)
{
    char where[80];
    int device = 0;
    (void)find;
    snprintf(where, sizeof(where), "the display %.50s", getenv("DISPLAY") ? getenv("DISPLAY") : "");
    const char *missing = glx_make_current();
    if (missing) {
        say("glx", MARK_NOTE, where, "No OpenGL for windows on it: %s.", missing);
        return;
    }
    say_opengl("glx", where, "");
    if (gr_gl_cuda_device(&device) != GR_OK)
        say("glx/device", MARK_NOTE, "no CUDA device draws the windows", "%s",
            gr_last_error()->message);
    say_transports("glx", where, device);
}
