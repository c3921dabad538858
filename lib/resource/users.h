/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What refers to the bytes of a mapping beside its buffer: tensors. The mapping ends without asking
 * them, and revokes them; gr_buffer_release_later() waits for the last of them.
 *
 * Thread   a user may leave on any thread; all else as the resource
 */
#ifndef GR_LIB_RESOURCE_USERS_H
#define GR_LIB_RESOURCE_USERS_H

#include "lib/resource_types.h"
#include "lib/told.h"

struct gr_user {
    struct gr_user *next, *previous;
    gr_buffer *buffer; /* NULL: of no mapping, or of one that has ended */
    bool is_leaving;   /* for the rest of its life: nothing is lost when the mapping ends */
    struct gr_told_list told;
    void (*revoke)(struct gr_user *user); /* the mapping has ended. No driver is asked there */
};

void gr_users_add(gr_buffer *buffer, struct gr_user *user);

/*
 * Its streams stay with the mapping, whose release comes after them. Where it is the last one that
 * gr_buffer_release_later() waits for, the buffer is set aside by `set_aside`, and the user counts
 * until that is done: so the resource's thread finds a user, or a buffer that it can release.
 */
void gr_users_leave(struct gr_user *user, void (*set_aside)(gr_buffer *buffer));

/* How many there are; 0 is final, since users are added by the resource's thread only. */
static inline unsigned gr_users_count(const gr_buffer *buffer)
{
    return __atomic_load_n(&buffer->user_count, __ATOMIC_ACQUIRE);
}

/* Whether nobody uses the live mapping, and no stream of one that did is known. */
static inline bool gr_users_none(const gr_resource *resource)
{
    return !gr_users_count(resource->mapped) && gr_told_none(&resource->told);
}

/* Makes the stream of a release wait for what the users' streams have been given. */
gr_status gr_users_order(gr_resource *resource, CUstream stream, const char *call);

/* The mapping has ended: revokes them all. */
void gr_users_revoke(gr_buffer *buffer, const char *call);

/* The buffer is left to its users, who set it aside when the last leaves. False: there is none. */
bool gr_users_keep(gr_buffer *buffer);

/* Whether it was left to them, which is over: its mapping has ended. */
bool gr_users_unkeep(gr_buffer *buffer);

#endif
