/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Selects the transports that the options allow, and the order in which they are tried, for created
 * and for existing OpenGL objects.
 */
#include <stdio.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/resource/choose_transport.h"
#include "gl/context/saved_state.h"
#include "gl/create/create.h"
#include "gl/interop/interop.h"
#include "gl/staging/staging.h"

/* Records that none of the requested transports is possible. */
static void refuse_set(unsigned wanted)
{
    if (wanted & GR_TRANSPORT_SHARED)
        gr_fail(GR_ERR_UNSUPPORTED,
                "GR_TRANSPORT_SHARED needs storage that grinterop allocates: OpenGL cannot share "
                "the storage of an existing object. %s.",
                gl_context_is_es() ? "Allow GR_TRANSPORT_INTEROP or GR_TRANSPORT_COPY"
                                   : "Create it by gr_create_gl_buffer() or gr_create_gl_image(), "
                                     "or allow another transport");
    else if (wanted & GR_TRANSPORT_PEER)
        gr_fail(GR_ERR_UNSUPPORTED,
                "GR_TRANSPORT_PEER needs `in_flight` for an object that grinterop creates: set "
                "it, or allow GR_TRANSPORT_SHARED.");
    else
        gr_fail(GR_ERR_UNSUPPORTED,
                "GR_TRANSPORT_EXTERNAL is for memory of Vulkan (vk.h) and of other APIs "
                "(external.h), not for OpenGL objects: allow another transport.");
}

gr_status gl_in_flight_check(const gr_gl_options *o, unsigned flags)
{
    GR_TRY(gr_in_flight_check(o->in_flight, flags));
    if (!o->in_flight)
        return GR_OK;
    GR_REFUSE_IF(
        o->share_group || o->packed,
        "`in_flight` and `%s` are set, but the copies between the object and its staging buffers "
        "belong to one context, and the object has its own memory: set one of the two.",
        o->share_group ? "share_group" : "packed");
    if (!o->transports || o->transports & GR_TRANSPORT_PEER)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "`in_flight` needs GR_TRANSPORT_PEER, which `transports` (0x%x) does not allow: "
                   "add it, or leave `transports` 0.",
                   o->transports);
}

bool gl_in_flight_gains(const struct gl_context *context, const struct gl_format *format, char *why,
                        size_t size)
{
    GL_SAVED(before, GL_SAVE(ERRORS)); /* an error of the application is not one of the shader */
    struct gl_shader *shader = gl_shader_use(context);
    const bool suits = shader && (!format || gl_format_has_image_units(format));
    gl_shader_drop(shader);
    snprintf(why, size, "`in_flight` needs compute shaders of NVIDIA's OpenGL%s",
             shader ? ", which do not access this format" : "");
    return suits;
}

unsigned gl_transports_select(const gr_gl_options *options, unsigned possible, unsigned otherwise)
{
    const unsigned wanted = options->transports ? options->transports : otherwise;
    if (gr_transports_check(wanted) != GR_OK)
        return 0;
    if (options->share_group && !(wanted & GR_TRANSPORT_INTEROP)) {
        gr_fail(GR_ERR_INVALID_VALUE,
                "`share_group` needs GR_TRANSPORT_INTEROP, which `transports` (0x%x) does not "
                "allow: add it, or leave `transports` 0.",
                wanted);
        return 0;
    }
    if (options->share_group)
        possible &= GR_TRANSPORT_INTEROP;
    if (!(wanted & possible))
        refuse_set(wanted);
    return wanted & possible;
}

/*
 * Whether CUDA can access memory of the GPU that draws, and OpenGL can copy the object from there.
 * If not, `text` receives the reason. Records no error. Without a current CUDA context, that of the
 * GPU that draws will be used. Between two GPUs the attempt to use peer refuses the format.
 */
static bool can_use_peer(struct gl_order *o, char *text, size_t size)
{
    CUcontext current = NULL;
    if (gr_driver()->CtxGetCurrent(&current) == CUDA_SUCCESS && current &&
        !gl_peer_reaches(o->reach, text, size))
        return false;
    return *o->reach == GL_REACH_PEER || !gl_staging_refuses(o->format, text, size);
}

/* Orders the transports of an existing object for two GPUs. `why` says why peer is impossible. */
static void order_across(struct gr_transport_choice *choice, unsigned allowed, bool reaches,
                         const char *why)
{
    if (reaches)
        gr_transport_add(choice, allowed, GR_TRANSPORT_PEER);
    gr_transport_add(choice, allowed, GR_TRANSPORT_COPY);
    gr_transport_add(choice, allowed, GR_TRANSPORT_INTEROP);
    snprintf(choice->reason, sizeof(choice->reason), "the fastest between two GPUs");
    if (!reaches && allowed & GR_TRANSPORT_PEER)
        gr_transport_skip(choice, GR_TRANSPORT_PEER, why);
}

/*
 * The error of the last transport is reported. So if peer is impossible, it is tried only if no
 * other transport is allowed: the error of interop says why CUDA refused the object, while the
 * error of peer would only say to allow interop.
 */
void gl_transports_order(struct gr_transport_choice *choice, struct gl_order *o, unsigned allowed)
{
    const bool are_several = allowed & (allowed - 1), is_created = o->is_created;
    const bool asks = are_several && (!is_created || allowed & GR_TRANSPORT_PEER);
    char why[560] = "";
    bool reaches = !asks || can_use_peer(o, why, sizeof(why));
    CUdevice computing;
    choice->crosses = asks && !is_created &&
                      gr_driver()->CtxGetDevice(&computing) == CUDA_SUCCESS &&
                      gl_query_draws_on(computing) != CUDA_SUCCESS;
    if (*o->reach >= GL_REACH_PEER && !is_created) {
        order_across(choice, allowed, reaches, why);
        return;
    }
    if (o->in_flight && reaches && asks)
        reaches = gl_in_flight_gains(o->context, o->format, why, sizeof(why));
    if (o->in_flight && reaches)
        gr_transport_add(choice, allowed, GR_TRANSPORT_PEER);
    gr_transport_add(choice, allowed, GR_TRANSPORT_SHARED);
    gr_transport_add(choice, allowed, GR_TRANSPORT_INTEROP);
    if (!o->in_flight && reaches)
        gr_transport_add(choice, allowed, GR_TRANSPORT_PEER);
    gr_transport_add(choice, allowed, GR_TRANSPORT_COPY);
    if (!reaches && allowed & GR_TRANSPORT_PEER &&
        (o->in_flight || !(allowed & GR_TRANSPORT_INTEROP)))
        gr_transport_skip(choice, GR_TRANSPORT_PEER, why);
}

const struct gl_maker *gl_maker_of(gr_transport transport)
{
    return transport == GR_TRANSPORT_INTEROP ? &gl_interop_maker
           : transport == GR_TRANSPORT_PEER  ? &gl_peer_maker
                                             : &gl_copy_maker;
}
