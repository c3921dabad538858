/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Users of a mapping: the tensors that refer to the mapped bytes. The end of the mapping revokes
 * its users; gr_buffer_release_later() waits for the last user.
 *
 * Thread   a user may join another one and be removed on any thread; the other functions follow the
 *          thread rule of the resource
 */
#ifndef GR_LIB_RESOURCE_MAPPING_USERS_H
#define GR_LIB_RESOURCE_MAPPING_USERS_H

#include "lib/resource/resource_types.h"
#include "lib/cuda/stream_uses.h"

struct gr_mapping_user {
    struct gr_mapping_user *next, *previous;
    gr_buffer *buffer; /* NULL: the user has no mapping, or the mapping has ended */
    bool is_leaving;   /* the user is being removed, so the end of the mapping does not revoke it */
    struct gr_stream_uses uses;
    /* called when the mapping has ended; must not call a driver */
    void (*revoke)(struct gr_mapping_user *user);
};

/* Adds a user whose fields are complete, because it may be revoked at once. */
void gr_mapping_users_add(gr_buffer *buffer, struct gr_mapping_user *user);

/*
 * The same for the mapping of another user, whose stream is written to `stream` unless that is
 * NULL. Revokes the new user if that mapping has ended.
 */
void gr_mapping_users_join(const struct gr_mapping_user *other, struct gr_mapping_user *user,
                           CUstream *stream);

/*
 * Removes a user. The mapping keeps the user's streams, and the release of the mapping waits for
 * them. If this is the last user and gr_buffer_release_later() was called, `defer` must defer
 * the buffer. The user is counted until `defer` returns, so that the thread of the resource
 * always finds either a user or a buffer to release.
 */
void gr_mapping_users_leave(struct gr_mapping_user *user, void (*defer)(gr_buffer *buffer));

/* Makes the stream of a release wait for the streams of the users. */
gr_status gr_mapping_users_order(gr_resource *resource, CUstream stream);

/* Revokes all users, because the mapping has ended. */
void gr_mapping_users_revoke(gr_buffer *buffer);

/*
 * Makes the users keep the buffer: the last user to be removed defers the release of the buffer.
 * False if there is no user.
 */
bool gr_mapping_users_keep(gr_buffer *buffer);

/*
 * Clears the mark that gr_mapping_users_keep() set, because the mapping ends. Returns whether the
 * mark was set.
 */
bool gr_mapping_users_unkeep(gr_buffer *buffer);

#endif
