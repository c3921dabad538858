/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The message that begins a sent ring. A message for each slot follows it. */
#ifndef GR_LIB_RING_LINK_RING_MESSAGE_H
#define GR_LIB_RING_LINK_RING_MESSAGE_H

#include "lib/message/message.h"

/* The descriptors: the page, the sender's semaphore and the receiver's semaphore. */
enum { GR_RING_PAGE_FD, GR_RING_SENT_FD, GR_RING_RECEIVED_FD, GR_RING_FD_COUNT };

struct gr_ring_description {
    uint64_t slots;
    uint64_t role; /* the role of the receiver */
    uint64_t mode;
    uint64_t sent_value;     /* the value of the sender's semaphore */
    uint64_t received_value; /* the value of the receiver's semaphore */
};

/* The fields of the description, in this order. */
static const struct gr_field gr_ring_fields[] = {
    {offsetof(struct gr_ring_description, slots), 4},
    {offsetof(struct gr_ring_description, role), 4},
    {offsetof(struct gr_ring_description, mode), 4},
    {offsetof(struct gr_ring_description, sent_value), 8},
    {offsetof(struct gr_ring_description, received_value), 8},
};
#define GR_RING_FIELD_COUNT (sizeof(gr_ring_fields) / sizeof(gr_ring_fields[0]))

#endif
