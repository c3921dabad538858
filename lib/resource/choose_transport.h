/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Chooses the transport of a resource or of a Vulkan device: the best one that works. */
#ifndef GR_LIB_RESOURCE_CHOOSE_TRANSPORT_H
#define GR_LIB_RESOURCE_CHOOSE_TRANSPORT_H

#include "lib/resource/resource_types.h"

struct gr_transport_choice {
    gr_transport order[4]; /* the allowed transports, the best one first */
    size_t count;
    /* the graphics API draws on another device than CUDA computes on */
    bool crosses;
    bool is_last; /* for the callback: there is no other transport to try */

    /*
     * The reason for the transport; "" if there is none to report. The caller may give the reason
     * for the first of `order`; the failure of that one replaces it. A longer one ends in "...".
     */
    char reason[560];
    char text[580]; /* the result: the name of the transport, and the reason */
};

/* Refuses a value of the option `transports` that has unknown bits. */
gr_status gr_transports_check(unsigned transports);

/* Refuses a value of the option `in_flight` that is impossible with these flags; 0 is possible. */
gr_status gr_in_flight_check(unsigned n, unsigned flags);

/* Appends a transport to the order if it is allowed. */
static inline void gr_transport_add(struct gr_transport_choice *choice, unsigned allowed,
                                    gr_transport transport)
{
    if (allowed & transport)
        choice->order[choice->count++] = transport;
}

/* Gives the reason why a transport is not among those to try. */
void gr_transport_skip(struct gr_transport_choice *choice, gr_transport transport, const char *why);

typedef gr_status gr_try_transport(void *of, const struct gr_transport_choice *choice,
                                   gr_transport transport);

/*
 * Tries the transports by attempt(), which records an error or succeeds. Returns the error of the
 * last transport that was tried; one that leads to another transport is not recorded.
 */
gr_status gr_choose_transport(struct gr_transport_choice *choice, gr_try_transport *attempt,
                              void *of);

#endif
