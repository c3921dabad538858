/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Selects the transports that the options allow, and the order in which those of an existing OpenGL
 * object are tried.
 */

#include <stdio.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/struct_size.h"
#include "lib/resource/choose_transport.h"
#include "gl/copy/copy.h"
#include "gl/create/create.h"
#include "gl/interop/interop.h"
#include "gl/peer/peer.h"

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
                "the storage of an existing object. Create it by gr_create_gl_buffer() or "
                "gr_create_gl_image(), or allow another transport.");
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
    if (own.share_group && !(wanted & GR_TRANSPORT_INTEROP)) {
        gr_fail(GR_ERR_INVALID_VALUE, call,
                "`share_group` needs GR_TRANSPORT_INTEROP, which `transports` (0x%x) does not "
                "allow: add it, or leave `transports` 0.",
                wanted);
        return 0;
    }
    if (own.share_group)
        possible &= GR_TRANSPORT_INTEROP;
    if (!(wanted & possible))
        refuse_set(wanted, call);
    return wanted & possible;
}

/* ---- Existing objects ------------------------------------------------------------------------ */

static const struct gl_maker *maker_of(gr_transport transport)
{
    return transport == GR_TRANSPORT_INTEROP ? &gl_interop_maker
           : transport == GR_TRANSPORT_PEER  ? &gl_peer_maker
                                             : &gl_copy_maker;
}

/* Whether CUDA can copy between two GPUs. If not, `text` receives the reason. Records no error. */
static bool can_use_peer(char *text, size_t size)
{
    CUdevice drawing;
    CUcontext current = NULL;
    if (gr_driver()->CtxGetCurrent(&current) == CUDA_SUCCESS && current)
        return gl_peer_reaches(&drawing, NULL, text, size);
    snprintf(text, size, "no CUDA context is current, so the GPU that draws also computes");
    return false;
}

/* Orders the transports for two GPUs. */
static void order_across(struct gr_transport_choice *choice, const struct gl_resource *r,
                         unsigned allowed)
{
    const bool is_large = r->base.size >= PEER_FROM;
    if (r->base.is_image)
        gr_transport_add(choice, allowed, GR_TRANSPORT_PEER);
    gr_transport_add(choice, allowed, GR_TRANSPORT_COPY);
    if (!r->base.is_image && is_large)
        gr_transport_add(choice, allowed, GR_TRANSPORT_PEER);
    gr_transport_add(choice, allowed, GR_TRANSPORT_INTEROP);
    if (!r->base.is_image && !is_large)
        gr_transport_add(choice, allowed, GR_TRANSPORT_PEER);
    snprintf(choice->reason, sizeof(choice->reason), "%s",
             choice->order[0] == GR_TRANSPORT_INTEROP
                 ? "between two GPUs, where peer gains little below 8 MiB"
             : choice->order[0] == GR_TRANSPORT_COPY || r->base.is_image
                 ? "the fastest between two GPUs"
                 : "from 8 MiB on faster than the driver's own interop between two GPUs");
}

/*
 * Orders the transports. The error of the last one is reported. So if peer is impossible, it is
 * tried only if no other transport is allowed: the error of interop says why CUDA refused the
 * object, while the error of peer would only say to allow interop.
 */
static void order_transports(struct gr_transport_choice *choice, const struct gl_resource *r,
                             unsigned allowed)
{
    const bool are_several = allowed & (allowed - 1);
    char not_across[560] = "";
    CUdevice computing;
    choice->crosses = are_several && gr_driver()->CtxGetDevice(&computing) == CUDA_SUCCESS &&
                      !gl_draws_on(computing);
    if (are_several && can_use_peer(not_across, sizeof(not_across))) {
        order_across(choice, r, allowed);
        return;
    }
    gr_transport_add(choice, allowed, GR_TRANSPORT_INTEROP);
    gr_transport_add(choice, allowed, GR_TRANSPORT_COPY);
    if (choice->count == 0)
        gr_transport_add(choice, allowed, GR_TRANSPORT_PEER);
    else if (allowed & GR_TRANSPORT_PEER && !(allowed & GR_TRANSPORT_INTEROP))
        gr_transport_skip(choice, GR_TRANSPORT_PEER, not_across);
}

struct existing {
    struct gl_resource *r;
    unsigned flags;
};

static gr_status attempt(void *of, const struct gr_transport_choice *choice, gr_transport transport)
{
    const struct existing *existing = of;
    return gl_object_make(existing->r, maker_of(transport), existing->flags, choice->call);
}

static gr_resource *make(struct gl_resource *r, unsigned flags, unsigned allowed,
                         const gr_gl_options *options, const char *call)
{
    struct gr_transport_choice choice = {.call = call};
    struct existing existing = {r, flags};
    if (!r)
        return NULL;
    r->base.follows = options->follow_storage;
    gr_status status = options->share_group ? gl_context_join_group(&r->context, call) : GR_OK;
    if (status == GR_OK) {
        order_transports(&choice, r, allowed);
        status = gr_choose_transport(&choice, attempt, &existing);
    }
    return gl_object_finish(r, status, &choice, call);
}

/*
 * Copies the options, and returns the transports that they allow. Shared is not among them, because
 * existing storage cannot be shared.
 */
static unsigned take(gr_gl_options *own, const gr_gl_options *options, const char *call)
{
    if (GR_TAKE(gr_gl_options, own, options, call) != GR_OK)
        return 0;
    if (own->packed) {
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "`packed` is for new buffers, because existing storage stays where it is: create "
                "the buffer by gr_create_gl_buffer().");
        return 0;
    }
    return gl_transports_select(own, GR_TRANSPORT_INTEROP | GR_TRANSPORT_PEER | GR_TRANSPORT_COPY,
                                GR_TRANSPORT_INTEROP, call);
}

gr_resource *gr_from_gl_buffer_with(unsigned int name, unsigned flags, const gr_gl_options *options)
{
    gr_gl_options own;
    unsigned transports = take(&own, options, __func__);
    if (!transports)
        return NULL;
    return make(gl_buffer_object(name, flags, __func__), flags, transports, &own, __func__);
}

gr_resource *gr_from_gl_image_with(unsigned int name, unsigned int target, unsigned flags,
                                   const gr_gl_options *options)
{
    gr_gl_options own;
    unsigned transports = take(&own, options, __func__);
    if (!transports)
        return NULL;
    gl_depth_enable();
    return make(gl_image_object(name, target, flags, __func__), flags, transports, &own, __func__);
}
