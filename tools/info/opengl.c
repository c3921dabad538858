/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the EGL devices, and examines OpenGL on each CUDA device, on other EGL devices such as the
 * CPU, and on the display. Reports what CUDA can share with each OpenGL.
 */
#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>

#include <grinterop/cuda.h>
#include <grinterop/egl.h>

#include "gl/egl_vendor.h"
#include "tools/info/find.h"
#include "tools/info/opengl.h"

/* ---- EGL devices ----------------------------------------------------------------------------- */

static void say_egl_device(EGLDeviceEXT device, int number)
{
    const char *extensions = eglQueryDeviceStringEXT(device, EGL_EXTENSIONS);
    bool software = extensions && epoxy_extension_in_string(extensions, "EGL_MESA_device_software");
    EGLAttrib cuda = -1;
    const char *is = software ? "the CPU (Mesa)" : "no CUDA device";
    if (extensions && epoxy_extension_in_string(extensions, "EGL_NV_device_cuda") &&
        eglQueryDeviceAttribEXT(device, EGL_CUDA_DEVICE_NV, &cuda) && cuda >= 0)
        is = text_of("CUDA device %d", (int)cuda);
    say(text_of("egl/device/%d", number), MARK_NOTE, text_of("EGL device %d: %s", number, is), "%s",
        "");
    say_fact("extensions", "%s", extensions ? extensions : "");
    say_fact("software", "%s", software ? "yes" : "no");
    if (cuda >= 0)
        say_fact("cuda_device", "%d", (int)cuda);
}

void find_egl(const struct find *find)
{
    EGLDeviceEXT devices[EGL_MOST_DEVICES];
    char advice[600];
    (void)find;
    gr_cuda_load(false); /* if CUDA is loaded, EGL loads the drivers that match it */
    if (!epoxy_has_egl()) {
        say("egl/loader", MARK_BAD, "no EGL",
            "libEGL.so.1 was not found: install it (on Debian libegl1).");
        return;
    }
    int count = egl_list(devices);
    for (int i = 0; i < count; i++)
        say_egl_device(devices[i], i);
    if (count)
        return;
    egl_vendor_advise(gr_cuda_is_software(), advice, sizeof(advice));
    /*
     * With CUDA, this finding is only a DETAIL, because the OpenGL finder reports the failure, too.
     */
    say("egl/drivers", gr_cuda() ? MARK_BAD | DETAIL : MARK_BAD, "EGL has no devices", "%s",
        advice);
}

/* ---- Transports ------------------------------------------------------------------------------ */

const struct transport transports[TRANSPORTS] = {
    {GR_TRANSPORT_INTEROP, "interop", "OpenGL objects registered with CUDA (interop)"},
    {GR_TRANSPORT_SHARED, "shared", "shared storage, several frames at once (shared)"},
    {GR_TRANSPORT_COPY, "copy", "copies through host memory (copy)"},
    {GR_TRANSPORT_PEER, "peer", "copies from GPU to GPU (peer)"},
};

/*
 * Whether a transport that does not work is a defect. An OpenGL that draws on no CUDA device
 * supports only copies, and copies between GPUs need two GPUs.
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
    for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++)
        list_add(epoxy_has_gl_extension(extensions[i]) ? has : lacks, sizeof(has), extensions[i]);
    say(text_of("%s/extensions", id), MARK_NOTE | DETAIL, "OpenGL extensions for sharing",
        "It has %s; it lacks %s.", *has ? has : "none", *lacks ? lacks : "none");
    say_fact("has", "%s", has);
    say_fact("lacks", "%s", lacks);
}

/* ---- Texture formats ------------------------------------------------------------------------- */

/* The formats that CUDA supports, which have 1, 2 or 4 channels (docs/formats.md). */
#define FOR_CHANNELS(X, type) X(R##type) X(RG##type) X(RGBA##type)
#define FORMATS(X)                                                                                 \
    FOR_CHANNELS(X, 8)                                                                             \
    X(SRGB8_ALPHA8)                                                                                \
    FOR_CHANNELS(X, 8I)                                                                            \
    FOR_CHANNELS(X, 8UI)                                                                           \
    FOR_CHANNELS(X, 16)                                                                            \
    FOR_CHANNELS(X, 16I)                                                                           \
    FOR_CHANNELS(X, 16UI)                                                                          \
    FOR_CHANNELS(X, 16F)                                                                           \
    FOR_CHANNELS(X, 32I)                                                                           \
    FOR_CHANNELS(X, 32UI)                                                                          \
    FOR_CHANNELS(X, 32F)

static const struct {
    GLenum format;
    const char *name;
} formats[] = {
#define FORMAT(name) {GL_##name, #name},
    FORMATS(FORMAT)};
#define COUNT (sizeof(formats) / sizeof(formats[0]))

/* Tries a small texture of each format in the current OpenGL context. */
static void say_formats(const char *id, int cuda_device)
{
    char taken[600] = "", refused[600] = "";
    size_t count = 0;
    bool can = epoxy_gl_version() >= 42 || epoxy_has_gl_extension("GL_ARB_texture_storage");
    gr_cuda_context *context = can ? gr_cuda_context_create(cuda_device) : NULL;
    if (!context)
        return;
    for (size_t i = 0; i < COUNT; i++) {
        GLuint name = 0;
        glGenTextures(1, &name);
        glBindTexture(GL_TEXTURE_2D, name);
        glTexStorage2D(GL_TEXTURE_2D, 1, formats[i].format, 4, 4);
        gr_resource *resource = gr_from_gl_image(name, GL_TEXTURE_2D, GR_READ_WRITE);
        list_add(resource ? taken : refused, sizeof(taken), formats[i].name);
        count += resource != NULL;
        gr_resource_free(resource);
        glDeleteTextures(1, &name);
    }
    say(text_of("%s/formats", id), (count ? MARK_GOOD : MARK_NOTE) | DETAIL,
        text_of("CUDA supports %zu of %zu texture formats", count, COUNT), "%s%s%s", taken,
        *refused ? "; not " : "", refused);
    say_fact("taken", "%s", taken);
    say_fact("refused", "%s", refused);
    gr_cuda_context_free(context);
}

/* ---- The finders ----------------------------------------------------------------------------- */

void find_opengl(const struct find *find)
{
    char id[48], where[80];
    const gr_egl_options options = GR_INIT(gr_egl_options, .cuda_device = find->device);
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
    say_formats(id, find->device);
    /*
     * Also tries CUDA on the next device, if there are several. Trying all pairs would take too
     * long.
     */
    if (gr_cuda()->DeviceGetCount(&count) != CUDA_SUCCESS || count < 2)
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
        return;
    }
    say_opengl(id, where, string_of(GL_VERSION));
    say_transports(id, where, 0);
}

/*
 * Examines the OpenGL of windows. It may differ from that of EGL, and may run on a GPU without
 * CUDA.
 */
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
    say_opengl("glx", where, "");
    if (gr_gl_cuda_device(&device) != GR_OK)
        say("glx/device", MARK_NOTE, "no CUDA device draws the windows", "%s",
            gr_last_error()->message);
    say_transports("glx", where, device);
}
