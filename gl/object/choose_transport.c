/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Chooses the transport for a resource of an existing OpenGL object. */
#include "gl/object/choose_transport.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/struct_size.h"
#include "gl/copy/copy.h"
#include "gl/copy/depth.h"
#include "gl/object/from_buffer.h"
#include "gl/object/from_image.h"
#include "gl/interop/interop.h"
#include "gl/interop/register.h"
#include "gl/peer/peer.h"

static gr_resource *copy_made(struct gl_resource *r, struct gl_names *made, unsigned flags,
                              const char *call)
{
    if (!r)
        return NULL;
    r->owned = made;
    gr_resource *resource = gl_copy_make(r, flags, call);
    if (!resource)
        free(r);
    return resource;
}

gr_resource *gl_copy_buffer(struct gl_names *made, unsigned flags, const char *call)
{
    return copy_made(gl_buffer_object(made->buffer, flags, call), made, flags, call);
}

gr_resource *gl_copy_image(struct gl_names *made, unsigned int target, unsigned flags,
                           const char *call)
{
    return copy_made(gl_image_object(made->texture, target, flags, GR_TRANSPORT_COPY, call), made,
                     flags, call);
}

/*
 * Microseconds per frame between two H200s: CUDA writes, then OpenGL draws, in order:
 *
 * bytes       driver interop    peer    copy    draw only
 * 64 KiB                 415     384      37           23
 * 1 MiB                  525     455     106           56
 * 16 MiB                1950    1435    1026          656
 *
 * With interop and peer, CUDA works on the GPU that draws, which then has to switch between both
 * APIs. If copy is not allowed, peer is chosen for sizes at which it is at least 1.3 times as fast
 * as interop. A smaller gain is not worth the memory on a second GPU. The limit of 8 MiB is
 * interpolated between the last two rows.
 *
 * The same with a texture between two H100s, where peer needs no CUDA work on the GPU that draws:
 *
 * 64 KiB                 414      52     120           23
 * 1 MiB                  551     136     146           57
 * 16 MiB                2397    1419    1408          656
 */
#define PEER_FROM ((size_t)8 << 20)

/* Records that none of the requested transports is possible. */
static void refuse_set(unsigned wanted, const char *call)
{
    if (wanted & GR_TRANSPORT_SHARED)
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "GR_TRANSPORT_SHARED needs storage that grinterop allocates: OpenGL cannot share "
                "the storage of an existing object. Create it by gr_gl_buffer_create() or "
                "gr_gl_image_create(), or allow another transport.");
    else if (wanted & GR_TRANSPORT_PEER)
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "GR_TRANSPORT_PEER is for existing objects (gr_from_gl_buffer_with(), "
                "gr_from_gl_image_with()). For an object that grinterop creates, allow "
                "GR_TRANSPORT_SHARED.");
    else
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "GR_TRANSPORT_EXTERNAL is for memory of Vulkan (vk.h) and of other APIs "
                "(external.h), not for OpenGL objects: allow another transport.");
}

unsigned gl_transports_select(const gr_gl_options *options, unsigned possible, unsigned otherwise,
                              const char *call)
{
    gr_gl_options own;
    if (GR_TAKE(gr_gl_options, &own, options, call) != GR_OK)
        return 0;
    unsigned wanted = own.transports ? own.transports : otherwise;
    if (wanted & ~(unsigned)GR_TRANSPORT_ANY) {
        gr_fail(GR_ERR_INVALID_VALUE, call,
                "`transports` is 0x%x, which has bits that are not in gr_transport: pass some of "
                "its values, or GR_TRANSPORT_ANY.",
                wanted);
        return 0;
    }
    if (!(wanted & possible))
        refuse_set(wanted, call);
    return wanted & possible;
}

/* ---- Choosing among several ------------------------------------------------------------------ */

/* A transport for existing objects, and why it is tried first between two GPUs. */
struct way {
    const struct gr_backend *backend;
    const char *why_across;
};

static const struct way
    by_copy = {&gl_copy, "the fastest between two GPUs"},
    by_peer = {&gl_peer, "from 8 MiB on faster than the driver's own interop between two GPUs"},
    by_interop = {&gl_interop, "between two GPUs, where peer gains little below 8 MiB"},
    image_by_peer = {&gl_peer_image, "the fastest between two GPUs"};

/* The transports to try, in order, and why the first transport was not used. */
struct choice {
    const struct way *order[3];
    size_t count;
    unsigned allowed;
    /* the buffer is on one GPU, and CUDA uses another GPU with access to its memory */
    bool is_across;
    char not_across[560]; /* the reason if `is_across` is false */
    const char *call;
    char reason[320];
};

/*
 * Whether a copy between two GPUs is possible. If not, `text` receives the reason. Records no
 * error.
 */
static bool can_use_peer(char *text, size_t size)
{
    CUdevice drawing;
    CUcontext current = NULL;
    if (gr_driver()->CtxGetCurrent(&current) == CUDA_SUCCESS && current)
        return gl_peer_reaches(&drawing, NULL, text, size);
    snprintf(text, size, "no CUDA context is current, so the GPU that draws also computes");
    return false;
}

static void add(struct choice *choice, const struct way *way)
{
    if (choice->allowed & way->backend->transport)
        choice->order[choice->count++] = way;
}

static void keep_reason(struct choice *choice, const struct way *way, const char *text)
{
    if (!choice->reason[0])
        snprintf(choice->reason, sizeof(choice->reason), "%s was not chosen: %.290s",
                 way->backend->name, text);
}

static void add_interop(struct choice *choice, const struct gl_resource *r)
{
    const bool is_depth = r->format && r->format->depth;
    if (is_depth && choice->allowed & GR_TRANSPORT_INTEROP)
        keep_reason(choice, &by_interop, r->format->refused);
    else
        add(choice, &by_interop);
}

/*
 * Orders the transports. The error of the last transport is reported. So if peer is not possible
 * and would come last, it is omitted: the error of interop says why CUDA refused the object, while
 * the error of peer would only say to allow interop.
 */
static void order_transports(struct choice *choice, const struct gl_resource *r)
{
    const unsigned others = GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY;
    const struct way *peer = r->base.is_image ? &image_by_peer : &by_peer;
    bool are_several = (choice->allowed & (choice->allowed - 1)) != 0;
    choice->is_across = are_several && can_use_peer(choice->not_across, sizeof(choice->not_across));
    if (!choice->is_across) {
        add_interop(choice, r);
        if ((choice->allowed & others) != GR_TRANSPORT_INTEROP)
            add(choice, peer);
        add(choice, &by_copy);
    } else if (r->base.is_image) {
        add(choice, peer);
        add(choice, &by_copy);
        add_interop(choice, r);
    } else if (r->base.size >= PEER_FROM) {
        add(choice, &by_copy);
        add(choice, peer);
        add_interop(choice, r);
    } else {
        add(choice, &by_copy);
        add_interop(choice, r);
        add(choice, peer);
    }
}

/*
 * Writes why this transport was chosen, for gr_resource_describe() and the log. False if there is
 * no reason to report.
 */
static bool write_reason(struct gl_resource *r, const struct choice *choice, const char *name)
{
    if (!choice->reason[0] && !choice->is_across)
        return false;
    snprintf(r->transport, sizeof(r->transport), "%s (%s)", name,
             choice->reason[0] ? choice->reason : choice->order[0]->why_across);
    gr_log(GR_LOG_INFO, "%s: %s uses transport %s", choice->call, gl_object_text(&r->base).text,
           r->transport);
    return true;
}

/* Whether another transport may work despite this error. If so, the error is dropped. */
static bool can_fall_back(struct choice *choice, const struct way *way,
                          const struct gr_error_record *before)
{
    struct gr_error_record error;
    gr_error_save(&error);
    if (error.status != GR_ERR_UNSUPPORTED && error.status != GR_ERR_CUDA &&
        error.status != GR_ERR_NO_MEMORY) {
        gr_error_stands(&error);
        return false;
    }
    keep_reason(choice, way, error.message);
    gr_error_restore(before);
    return true;
}

static gr_resource *try_interop(struct gl_resource *r, struct choice *choice, unsigned flags,
                                bool last, bool *ended)
{
    char reason[300] = "";
    if (last)
        return gl_interop_register(r, flags, NULL, 0, choice->call);
    gr_resource *made = gl_interop_register(r, flags, reason, sizeof(reason), choice->call);
    *ended = made || !reason[0];
    if (!*ended)
        keep_reason(choice, &by_interop, reason);
    return made;
}

/* Tries the peer transport or the copy transport. */
static gr_resource *try_copying(struct gl_resource *r, struct choice *choice, size_t i,
                                unsigned flags, bool last, bool *ended)
{
    const struct way *way = choice->order[i];
    bool is_peer = way != &by_copy;
    struct gr_error_record before;
    if (is_peer && !last && !choice->is_across) {
        keep_reason(choice, way, choice->not_across);
        *ended = false;
        return NULL;
    }
    gr_error_save(&before);
    if (!is_peer)
        write_reason(r, choice, gl_copy.name);
    if (!last)
        gr_attempt_begin();
    gr_resource *made = (is_peer ? gl_peer_make : gl_copy_make)(r, flags, choice->call);
    if (!last)
        gr_attempt_end();
    *ended = made || last || !can_fall_back(choice, way, &before);
    if (!made && *ended)
        free(r);
    return made;
}

/*
 * Tries one transport. *ended is true if no other transport is left to try: `r` became a resource
 * or was freed.
 */
static gr_resource *try_one(struct gl_resource *r, struct choice *choice, size_t i, unsigned flags,
                            bool *ended)
{
    bool last = i + 1 == choice->count;
    *ended = true;
    if (choice->order[i]->backend == &gl_interop)
        return try_interop(r, choice, flags, last, ended);
    return try_copying(r, choice, i, flags, last, ended);
}

static gr_resource *make(struct gl_resource *r, unsigned flags, unsigned allowed, const char *call)
{
    struct choice choice = {.allowed = allowed, .call = call};
    gr_resource *made = NULL;
    bool ended = !r;
    if (r)
        order_transports(&choice, r);
    for (size_t i = 0; i < choice.count && !ended; i++)
        made = try_one(r, &choice, i, flags, &ended);
    if (made && made->backend != &gl_copy && write_reason(r, &choice, made->backend->name))
        made->transport = r->transport;
    return made;
}

/*
 * Returns the transports that the options allow. Shared is not among them, because existing storage
 * cannot be shared.
 */
static unsigned take(const gr_gl_options *options, const char *call)
{
    return gl_transports_select(options,
                                GR_TRANSPORT_INTEROP | GR_TRANSPORT_PEER | GR_TRANSPORT_COPY,
                                GR_TRANSPORT_INTEROP, call);
}

gr_resource *gr_from_gl_buffer_with(unsigned int name, unsigned flags, const gr_gl_options *options)
{
    unsigned transports = take(options, __func__);
    if (!transports)
        return NULL;
    return make(gl_buffer_object(name, flags, __func__), flags, transports, __func__);
}

gr_resource *gr_from_gl_image_with(unsigned int name, unsigned int target, unsigned flags,
                                   const gr_gl_options *options)
{
    unsigned transports = take(options, __func__);
    if (!transports)
        return NULL;
    gl_depth_enable();
    return make(gl_image_object(name, target, flags, transports, __func__), flags, transports,
                __func__);
}
