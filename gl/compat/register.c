/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions of compat.h that register OpenGL objects, set map flags and unregister. */
#include "gl/compat/compat.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <epoxy/gl.h>
#include <grinterop/gl.h>

#include "lib/base/error.h"
#include "lib/base/flags.h"
#include "lib/base/log.h"
#include "lib/base/machine.h"
#include "lib/resource/resource_types.h"

#define IN_FLIGHT 4 /* of GR_COMPAT=in_flight */

/* ---- The variable GR_COMPAT ------------------------------------------------------------------ */

static const struct {
    const char *name;
    unsigned bits;
} words[] = {
    {"any", GR_TRANSPORT_ANY},   {"copy", GR_TRANSPORT_COPY},     {"interop", GR_TRANSPORT_INTEROP},
    {"peer", GR_TRANSPORT_PEER}, {"shared", GR_TRANSPORT_SHARED},
};

/* The value of GR_COMPAT. */
struct selection {
    unsigned transports; /* gr_transport bits; 0 if no transport is named */
    unsigned in_flight;  /* 0 if frames in flight are not selected */
};

/* Records an error, and prints the first one, unless the log prints it. */
static gr_status refuse_word(const char *word, size_t length, const char *why, const char *call)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    gr_status status =
        gr_fail_code(GR_ERR_INVALID_VALUE, GR_DOMAIN_NONE, 0, NULL, call,
                     "GR_COMPAT names \"%.*s\", %s.", (int)(length < 40 ? length : 40), word, why);
    if (!atomic_flag_test_and_set(&said) && !gr_log_prints(GR_LOG_ERROR))
        fprintf(stderr, "grinterop: %s\n", gr_last_error()->message);
    return status;
}

/* Returns the number of frames; 0 if the text is not one. */
static unsigned count_of(const char *text, size_t length)
{
    unsigned count = 0;
    for (size_t i = 0; i < length && count <= GR_MOST_IN_FLIGHT; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        count = 10 * count + (unsigned)(text[i] - '0');
    }
    return count >= 2 && count <= GR_MOST_IN_FLIGHT ? count : 0;
}

/* Whether the word is in_flight or in_flight=N. After a wrong N, *in_flight is 0. */
static bool is_in_flight(const char *word, size_t length, unsigned *in_flight)
{
    static const char name[] = "in_flight";
    const size_t end = sizeof(name) - 1;
    if (length < end || memcmp(word, name, end) != 0 || (length > end && word[end] != '='))
        return false;
    *in_flight = length == end ? IN_FLIGHT : count_of(word + end + 1, length - end - 1);
    return true;
}

static gr_status select_word(struct selection *selection, const char *word, size_t length,
                             const char *call)
{
    if (is_in_flight(word, length, &selection->in_flight))
        return selection->in_flight
                   ? GR_OK
                   : refuse_word(word, length,
                                 "which is no number of frames: use in_flight=N with 2 to "
                                 "64 frames, or in_flight for 4",
                                 call);
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i].name) == length && memcmp(words[i].name, word, length) == 0)
            bits = words[i].bits;
    if (length && !bits)
        return refuse_word(word, length,
                           "which is not a transport: use interop, copy, peer, any or "
                           "in_flight, or leave it unset for interop",
                           call);
    selection->transports |= bits;
    return GR_OK;
}

/*
 * Reads GR_COMPAT. An unknown word is recorded as an error, and printed once on stderr, because the
 * program does not call grinterop itself.
 */
static gr_status read_selection(struct selection *selection, const char *call)
{
    const char *word = gr_machine_setting("GR_COMPAT");
    *selection = (struct selection){0};
    for (; word && *word; word += strspn(word, ",| ")) {
        const size_t length = strcspn(word, ",| ");
        GR_TRY(select_word(selection, word, length, call));
        word += length;
    }
    return GR_OK;
}

/* The number of frames in flight of a registration with these flags, or 0. */
static unsigned frames_of(const struct selection *selection, unsigned flags)
{
    const unsigned access = flags & GR_BUFFER_FLAGS;
    return access == GR_READ_ONLY || access == GR_WRITE_DISCARD ? selection->in_flight : 0;
}

/* Refuses here what the registration would refuse without naming the variable. */
static gr_status check_selection(const struct selection *selection, unsigned flags,
                                 const char *call)
{
    if (selection->transports != GR_TRANSPORT_SHARED || frames_of(selection, flags))
        return GR_OK;
    return gr_fail_code(
        GR_ERR_UNSUPPORTED, GR_DOMAIN_NONE, 0, NULL, call,
        "GR_COMPAT names \"shared\", but OpenGL cannot share the storage of an existing "
        "object: use interop, copy, peer or any, or leave it unset for interop. "
        "gr_create_gl_buffer() and gr_create_gl_image() create shared objects.");
}

/* ---- Register -------------------------------------------------------------------------------- */

struct wish {
    unsigned name, target, flags;
    struct selection selection;
    gr_resource *made;
};

/* The second attempt is without frames in flight. */
static gr_status attempt(void *of, size_t i)
{
    struct wish *wish = of;
    const unsigned in_flight = i ? 0 : wish->selection.in_flight;
    const unsigned named = wish->selection.transports;
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .in_flight = in_flight,
                .transports = in_flight && named ? named | GR_TRANSPORT_PEER : named);
    wish->made = wish->target
                     ? gr_from_gl_image_with(wish->name, wish->target, wish->flags, &options)
                     : gr_from_gl_buffer_with(wish->name, wish->flags, &options);
    return wish->made ? GR_OK : gr_last_error()->status;
}

/* Some formats cannot have frames in flight. */
static bool is_unsupported(void *of, size_t i, const struct gr_error_record *error)
{
    const struct wish *wish = of;
    if (wish->selection.in_flight && i == 0 && error->status == GR_ERR_UNSUPPORTED)
        gr_log(GR_LOG_INFO, "GR_COMPAT=in_flight: %s", error->message);
    return error->status == GR_ERR_UNSUPPORTED;
}

static gr_status attempt_both(struct wish *wish)
{
    return gr_try(wish->selection.in_flight ? 2 : 1, attempt, is_unsupported, wish);
}

/* With the target of a 3D image, the driver registers an array of layers, too. */
static gr_status attempt_target(void *of, size_t i)
{
    struct wish *wish = of;
    wish->target = i ? GL_TEXTURE_3D : GL_TEXTURE_2D_ARRAY;
    return attempt_both(wish);
}

static bool is_other_target(void *of, size_t i, const struct gr_error_record *error)
{
    (void)of;
    (void)i;
    return error->status == GR_ERR_INVALID_VALUE;
}

static gr_resource *make(unsigned name, unsigned target, unsigned flags, struct selection selection)
{
    struct wish wish = {name, target, flags, selection, NULL};
    wish.selection.in_flight = frames_of(&selection, flags);
    if (target == GL_TEXTURE_3D)
        gr_try(2, attempt_target, is_other_target, &wish);
    else
        attempt_both(&wish);
    return wish.made;
}

/*
 * Converts errors that grinterop itself found to the driver's codes. The driver distinguishes a
 * missing object from an object without storage, and has no code for a missing OpenGL context. A
 * target or format that no transport supports is an "invalid value" for the driver; if GR_COMPAT
 * excludes interop, the code of grinterop's error is returned.
 */
static CUresult code_of_registration(unsigned name, unsigned target, unsigned flags,
                                     unsigned transports)
{
    const gr_error *error = gr_last_error();
    if (error->status == GR_ERR_UNSUPPORTED && target &&
        (!transports || transports & GR_TRANSPORT_INTEROP))
        return CUDA_ERROR_INVALID_VALUE;
    if (error->domain == GR_DOMAIN_CUDA && error->code)
        return (CUresult)error->code;
    if (error->status == GR_ERR_GL)
        return CUDA_ERROR_INVALID_VALUE;
    if (error->status != GR_ERR_INVALID_VALUE)
        return compat_code();
    if (name == 0 || (!target && flags > GR_WRITE_DISCARD))
        return CUDA_ERROR_INVALID_VALUE;
    if (target)
        return glIsTexture(name) || glIsRenderbuffer(name) ? CUDA_ERROR_INVALID_VALUE
                                                           : CUDA_ERROR_INVALID_HANDLE;
    return glIsBuffer(name) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult begin_registration(CUgraphicsResource *resource, CUcontext *current,
                                   const char *call)
{
    COMPAT_TRY(compat_begin());
    COMPAT_TRY(compat_current(current, call));
    if (!resource)
        return COMPAT_REFUSE(CUDA_ERROR_INVALID_VALUE, call,
                             "`resource` is NULL: pass a pointer for the handle.");
    return CUDA_SUCCESS;
}

/* Stores a resource that was created in the CUDA context `current`. */
static void keep(struct compat_handle *handle, gr_resource *resource, CUcontext current)
{
    handle->resource = resource;
    handle->context = current;
    handle->is_interop = gr_resource_get_info(resource)->transport == GR_TRANSPORT_INTEROP;
}

/* Logs whether a resource has frames in flight by GR_COMPAT. Returns true if it has. */
static bool note_frames(const gr_resource *made, bool suits, const char *call)
{
    const bool has = suits && gr_resource_get_info(made)->transport == GR_TRANSPORT_PEER;
    gr_log(GR_LOG_INFO, "%s: GR_COMPAT=in_flight: %s", call,
           has     ? "frames in flight"
           : suits ? "no frames in flight, for the reason above"
                   : "no frames in flight, since the flags are neither WriteDiscard nor ReadOnly");
    return has;
}

static CUresult register_object(CUgraphicsResource *resource, unsigned name, unsigned target,
                                unsigned flags, const char *call)
{
    CUcontext current;
    struct selection selection;
    COMPAT_TRY(begin_registration(resource, &current, call));
    if (read_selection(&selection, call) != GR_OK)
        return CUDA_ERROR_INVALID_VALUE;
    if (check_selection(&selection, flags, call) != GR_OK)
        return compat_code();
    gr_error_call_begin(call);
    gr_resource *made = make(name, target, flags, selection);
    gr_error_call_end();
    if (!made)
        return code_of_registration(name, target, flags, selection.transports);
    struct compat_handle *handle = compat_handle_new();
    if (!handle) {
        gr_resource_free(made);
        return compat_no_memory(call);
    }
    handle->map_flags = flags & GR_BUFFER_FLAGS;
    handle->is_image = target != 0;
    handle->has_slices = target == GL_TEXTURE_3D && gr_gl_target(made) != target;
    keep(handle, made, current);
    handle->in_flight =
        selection.in_flight && note_frames(made, frames_of(&selection, flags), call);
    handle->transports =
        selection.in_flight ? selection.transports : gr_resource_get_info(made)->transport;
    *resource = (CUgraphicsResource)handle;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI compat_register_buffer(CUgraphicsResource *resource, unsigned int buffer,
                                        unsigned int flags)
{
    return register_object(resource, buffer, 0, flags, "cuGraphicsGLRegisterBuffer");
}

CUresult CUDAAPI compat_register_image(CUgraphicsResource *resource, unsigned int image,
                                       unsigned int target, unsigned int flags)
{
    static const char call[] = "cuGraphicsGLRegisterImage";
    if (target)
        return register_object(resource, image, target, flags, call);
    CUcontext current;
    COMPAT_TRY(begin_registration(resource, &current, call));
    return COMPAT_REFUSE(CUDA_ERROR_INVALID_VALUE, call,
                         "The target is 0: pass that of the texture, such as GL_TEXTURE_2D.");
}

/* ---- Map flags ------------------------------------------------------------------------------- */

CUresult CUDAAPI compat_set_map_flags(CUgraphicsResource resource, unsigned int flags)
{
    static const char call[] = "cuGraphicsResourceSetMapFlags";
    struct compat_handle *handle;
    COMPAT_TRY(compat_handle_begin(resource, call, &handle));
    if (!handle)
        return compat_cuda()->GraphicsResourceSetMapFlags(resource, flags);
    if (handle->buffer)
        return COMPAT_REFUSE(CUDA_ERROR_ALREADY_MAPPED, call,
                             "The resource is mapped: set the flags before the map.");
    if (flags > GR_WRITE_DISCARD)
        return COMPAT_REFUSE(CUDA_ERROR_INVALID_VALUE, call,
                             "The flags are 0x%x: pass 0, read-only (1) or write-discard (2).",
                             flags);
    CUresult code = CUDA_SUCCESS;
    if (handle->is_interop)
        code = compat_cuda()->GraphicsResourceSetMapFlags(
            gr_resource_get_info(handle->resource)->graphics, flags);
    if (code != CUDA_SUCCESS)
        return COMPAT_REFUSE(code, call, "The driver refused the flags 0x%x.", flags);
    handle->map_flags = flags;
    return CUDA_SUCCESS;
}

gr_status compat_widen(struct compat_handle *handle, const char *call)
{
    if (handle->is_interop)
        return GR_OK;
    const gr_resource_info *info = gr_resource_get_info(handle->resource);
    unsigned made_for = info->flags & GR_BUFFER_FLAGS;
    if (!made_for || made_for == handle->map_flags)
        return GR_OK;
    CUcontext current;
    if (compat_current(&current, call) != CUDA_SUCCESS)
        return gr_last_error()->status;
    gr_resource *wider =
        make(gr_gl_name(handle->resource), handle->is_image ? gr_gl_target(handle->resource) : 0,
             info->flags & ~(unsigned)GR_BUFFER_FLAGS,
             (struct selection){.transports = handle->transports});
    if (!wider)
        return gr_last_error()->status;
    if (handle->in_flight)
        gr_log(GR_LOG_INFO,
               "%s: GR_COMPAT=in_flight: no frames in flight any more, since the flags of the map "
               "are not those of the registration",
               call);
    handle->in_flight = false;
    gr_resource_free(handle->resource);
    keep(handle, wider, current);
    return GR_OK;
}

/* ---- Unregister ------------------------------------------------------------------------------ */

CUresult CUDAAPI compat_unregister(CUgraphicsResource resource)
{
    static const char call[] = "cuGraphicsUnregisterResource";
    struct compat_handle *handle;
    COMPAT_TRY(compat_handle_begin(resource, call, &handle));
    if (!handle)
        return compat_cuda()->GraphicsUnregisterResource(resource);
    if (handle->buffer)
        return COMPAT_REFUSE(CUDA_ERROR_ALREADY_MAPPED, call,
                             "The resource is mapped: unmap it first. It is still registered.");
    gr_error_call_begin(call);
    gr_status status = gr_resource_close(handle->resource, GR_STREAM_OF_MAP);
    gr_error_call_end();
    if (status != GR_OK && status != GR_ERR_PARTIAL)
        return compat_code();
    const CUresult code = status == GR_OK ? CUDA_SUCCESS : compat_code();
    gr_resource_free(handle->resource);
    compat_handle_end(handle);
    return code;
}
