/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Users of the bytes of a mapping besides its buffer: tensors. The end of the mapping revokes them;
 * gr_buffer_release_later() waits for the last of them.
 *
 * Thread   a user may leave on any thread; otherwise as the resource
 */
#ifndef GR_LIB_RESOURCE_USERS_H
#define GR_LIB_RESOURCE_USERS_H

#include "lib/resource_types.h"
#include "lib/told.h"

struct gr_user {
    struct gr_user *next, *previous;
    gr_buffer *buffer; /* NULL: without a mapping, or the mapping has ended */
    bool is_leaving;   /* until its end: nothing is lost when the mapping ends */
    struct gr_told_list told;
    void (*revoke)(struct gr_user *user); /* the mapping has ended; must not call a driver */
};

void gr_users_add(gr_buffer *buffer, struct gr_user *user);

/*
 * Its streams stay with the mapping, whose release waits for them. If gr_buffer_release_later()
 * waits for this last user, `set_aside` defers the buffer, and the user counts until that is done:
 * so the resource's thread finds either a user or a buffer to release.
 */
void gr_users_leave(struct gr_user *user, void (*set_aside)(gr_buffer *buffer));

/* The number of users; 0 is final, because only the resource's thread adds users. */
static inline unsigned gr_users_count(const gr_buffer *buffer)
{
    return __atomic_load_n(&buffer->user_count, __ATOMIC_ACQUIRE);
}

/* Whether the live mapping has no users, and no known streams of earlier ones. */
static inline bool gr_users_none(const gr_resource *resource)
{
    return !gr_users_count(resource->mapped) && gr_told_none(&resource->told);
}

/* Makes the stream of a release wait for the streams of the users. */
gr_status gr_users_order(gr_resource *resource, CUstream stream, const char *call);

/* Revokes all users, because the mapping has ended. */
void gr_users_revoke(gr_buffer *buffer, const char *call);

/* Leaves the buffer to its users: the last one defers it. False if there is none. */
bool gr_users_keep(gr_buffer *buffer);

/* Whether it was left to them, which ends with its mapping. */
bool gr_users_unkeep(gr_buffer *buffer);

#endif
