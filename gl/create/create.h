/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The choice of the transport for created and existing OpenGL objects. */
#ifndef GR_GL_CREATE_CREATE_H
#define GR_GL_CREATE_CREATE_H

#include <grinterop/gl.h>

#include "gl/object/object.h"

/*
 * Returns those of the `possible` transports that the options, which the caller took, allow.
 * `otherwise` is the default if the options name no transport. If none is left, records an error
 * and returns 0.
 */
unsigned gl_transports_select(const gr_gl_options *options, unsigned possible, unsigned otherwise);

/* What the order of the transports depends on. */
struct gl_order {
    bool is_created; /* grinterop allocates the storage */
    const struct gl_context *context;
    const struct gl_format *format; /* NULL for buffers */
    unsigned in_flight;
    enum gl_reach *reach; /* receives the answer of gl_peer_reaches(), if that was asked */
};

/* Adds the allowed transports to the choice, the best one first. */
void gl_transports_order(struct gr_transport_choice *choice, struct gl_order *order,
                         unsigned allowed);

/* Returns how a transport makes an object of OpenGL a resource. */
const struct gl_maker *gl_maker_of(gr_transport transport);

/* Checks `in_flight`, with the flags of the resource and the other options. */
gr_status gl_in_flight_check(const gr_gl_options *options, unsigned flags);

/*
 * Whether frames in flight gain: a shader copies objects of the format, which is NULL for buffers.
 * If not, `why` receives the reason.
 */
bool gl_in_flight_gains(const struct gl_context *context, const struct gl_format *format, char *why,
                        size_t size);

#endif
