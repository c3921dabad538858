/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks whether OpenGL and CUDA can share storage, and explains why not. */
#include "gl/memory/memory.h"

#include <stdio.h>

#include <epoxy/gl.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/device.h"
#include "gl/context/context.h"
#include "gl/context/saved_state.h"

#define INSTEAD                                                                                    \
    "Allow GR_TRANSPORT_INTEROP, or GR_TRANSPORT_COPY if one device draws and another computes; "  \
    "GR_TRANSPORT_ANY uses the best that works."

/* A buffer in the memory of a tensor has no other transport. */
#define INSTEAD_OF_TENSOR                                                                          \
    "Copy the tensor by gr_publish() to a buffer of gr_from_gl_buffer_with() that allows "         \
    "GR_TRANSPORT_ANY."

static const char *instead_of(const struct gl_wish *wish)
{
    return wish && wish->memory ? INSTEAD_OF_TENSOR : INSTEAD;
}

/* Whether CUDA exports memory to OpenGL as a file descriptor, which Windows does not have. */
#ifdef _WIN32
#define HAS_DESCRIPTORS false
#else
#define HAS_DESCRIPTORS true
#endif

static gr_status check_opengl(const struct gl_context *context, const struct gl_wish *wish)
{
    GR_TRY(gl_context_refuse_es(context, "Sharing storage (GR_TRANSPORT_SHARED, GR_TRANSPORT_PEER)",
                                "direct state access",
                                "GR_TRANSPORT_INTEROP or GR_TRANSPORT_COPY with an object of your "
                                "own"));
    if (!HAS_DESCRIPTORS)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "OpenGL storage is shared by file descriptors, which Windows does not have. "
                       "%s",
                       instead_of(wish));
    const char *memory = epoxy_has_gl_extension("GL_EXT_memory_object") ? "" : "memory_object";
    const char *fd = epoxy_has_gl_extension("GL_EXT_memory_object_fd") ? "" : "memory_object_fd";
    if (context->direct && !*memory && !*fd)
        return GR_OK;
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    return gr_fail(
        GR_ERR_UNSUPPORTED, "OpenGL storage cannot be shared here: %.120s lacks%s%s%s%s%s. %s",
        renderer ? renderer : "this OpenGL", *memory ? " GL_EXT_" : "", memory,
        *fd ? " GL_EXT_" : "", fd,
        context->direct ? "" : " GL_ARB_direct_state_access (OpenGL 4.5)", instead_of(wish));
}

/* ---- The devices ----------------------------------------------------------------------------- */

/*
 * Chooses the device of the current CUDA context if OpenGL draws on it, otherwise the first device
 * that draws.
 */
static gr_status find_drawing(CUdevice current, CUdevice *drawing, const struct gl_wish *wish)
{
    CUresult result = gl_drawing_device(drawing);
    if (result == CUDA_SUCCESS) {
        if (gl_query_draws_on(current) == CUDA_SUCCESS)
            *drawing = current;
        return GR_OK;
    }
    char text[620];
    gl_diagnose(result, text, sizeof(text));
    bool says = result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_INVALID_GRAPHICS_CONTEXT ||
                result == CUDA_ERROR_OPERATING_SYSTEM;
    if (!says)
        return gr_fail_cuda(result, "cuGLGetDevices", "%s: %s", gr_call, text);
    if (wish && wish->memory) {
        gl_diagnose_devices(text, sizeof(text));
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "OpenGL storage cannot be shared: OpenGL draws on no CUDA device. %s. %s",
                       text, instead_of(wish));
    }
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "OpenGL storage cannot be shared: OpenGL draws on no CUDA device. %s", text);
}

static gr_status refuse_pair(CUdevice drawing, CUdevice current, const struct gl_wish *wish)
{
    char draws[200], computes[200];
    gr_device_text(drawing, draws, sizeof(draws));
    gr_device_text(current, computes, sizeof(computes));
    if (wish && wish->image)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "Images cannot be shared between two devices: OpenGL draws on %s, CUDA "
                       "computes on %s. Share a buffer (gr_create_gl_buffer()) and let OpenGL copy "
                       "from it, bound to GL_PIXEL_UNPACK_BUFFER, by glTextureSubImage2D; or copy "
                       "an existing texture by GR_TRANSPORT_PEER. " INSTEAD,
                       draws, computes);
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "OpenGL storage cannot be shared between these two devices: OpenGL draws on %s; "
                   "CUDA computes on %s, which has no peer access to the OpenGL device "
                   "(cuDeviceCanAccessPeer; nvidia-smi topo -p2p r). %s",
                   draws, computes, instead_of(wish));
}

static gr_status check_devices(const struct gl_wish *wish, CUdevice *drawing)
{
    CUdevice current;
    gr_status status = gr_current_device(&current);
    bool reaches = false;
    if (status == GR_OK)
        status = find_drawing(current, drawing, wish);
    if (status != GR_OK || *drawing == current)
        return status;
    if (!wish || !wish->image)
        status = gr_device_reaches(current, *drawing, &reaches);
    return status != GR_OK || reaches ? status : refuse_pair(*drawing, current, wish);
}

void gl_memory_format_devices(CUdevice drawing, char *text, size_t size)
{
    CUdevice current;
    char draws[200], computes[200];
    *text = '\0';
    if (gr_driver()->CtxGetDevice(&current) != CUDA_SUCCESS || current == drawing)
        return;
    gr_device_text(drawing, draws, sizeof(draws));
    gr_device_text(current, computes, sizeof(computes));
    snprintf(text, size, "storage on %s, CUDA on %s, which reaches it by peer access", draws,
             computes);
}

static gr_status check_driver(CUdevice device, const struct gl_wish *wish)
{
    const struct gr_driver_api *cu = gr_driver();
    int maps = 0, exports = 0;
    CUresult result = cu->DeviceGetAttribute(
        &maps, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
    if (result == CUDA_SUCCESS)
        result = cu->DeviceGetAttribute(
            &exports, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuDeviceGetAttribute",
                            "%s: CUDA device %d does not report what memory it can export.",
                            gr_call, (int)device);
    if (maps && exports)
        return GR_OK;
    char text[200];
    gr_device_text(device, text, sizeof(text));
    return gr_fail(GR_ERR_UNSUPPORTED, "%s cannot %s, which sharing needs. %s", text,
                   maps ? "export memory as file descriptors" : "map exported memory",
                   instead_of(wish));
}

gr_status gl_memory_check(const struct gl_context *context, const struct gl_wish *wish,
                          CUdevice *drawing)
{
    GR_TRY(check_opengl(context, wish));
    GR_TRY(check_devices(wish, drawing));
    return check_driver(*drawing, wish);
}

/* ---- For the application --------------------------------------------------------------------- */

static gr_status probe(const struct gl_context *context, const struct gr_context *cuda,
                       char *reason, size_t size)
{
    CUdevice drawing;
    char devices[480];
    GR_TRY(gl_memory_check(context, NULL, &drawing));
    GL_SAVED(before, GL_SAVE(ERRORS));
    struct gl_timeline *t = gl_timeline_hold(context, cuda, drawing);
    if (!t)
        return gr_last_error()->status;
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    gl_memory_format_devices(t->device, devices, sizeof(devices));
    size_t used = (size_t)snprintf(
        reason, size, "%.120s imports CUDA memory; both wait for each other by %s%s%s%s.",
        renderer ? renderer : "this OpenGL", gl_timeline_text(t), t->why[0] ? " (" : "", t->why,
        t->why[0] ? ")" : "");
    if (*devices && used < size)
        snprintf(reason + used, size - used, " Buffers only: %s.", devices);
    gl_timeline_drop(t);
    return GR_OK;
}

bool gl_memory_probe(const struct gl_context *context, const struct gr_context *cuda, char *reason,
                     size_t size)
{
    GR_KEEP_ERROR();
    const bool usable = probe(context, cuda, reason, size) == GR_OK;
    if (!usable)
        snprintf(reason, size, "%s", gr_last_error()->message);
    return usable;
}
