/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions for Windows, where rings cannot be sent or received, and no ring has a link. */
#include "lib/ring/link/link.h"

#include "lib/base/error.h"
#include "lib/message/message.h"

gr_status gr_ring_send(int socket, gr_ring *ring, gr_ring_role role, const void *data, size_t size,
                       unsigned timeout_ms)
{
    (void)socket, (void)ring, (void)role, (void)data, (void)size, (void)timeout_ms;
    return gr_share_refuse(__func__);
}

gr_ring *gr_ring_receive(int socket, void *data, size_t room, size_t *size, unsigned timeout_ms)
{
    (void)socket, (void)data, (void)room, (void)size, (void)timeout_ms;
    gr_share_refuse(__func__);
    return NULL;
}

/* ---- The link -------------------------------------------------------------------------------- */

void gr_link_refresh(struct gr_link *link)
{
    (void)link;
}

gr_status gr_link_update(struct gr_link *link, const struct gr_ring_side *side, const char *call)
{
    (void)link, (void)side, (void)call;
    return GR_OK;
}

bool gr_link_await(struct gr_link *link)
{
    (void)link;
    return false;
}

gr_status gr_link_fail_gone(const struct gr_link *link, const char *call)
{
    (void)link;
    return gr_fail(
        GR_ERR_SYSTEM, call,
        "Sharing a ring with another process needs Unix sockets, which this system does not have.");
}

bool gr_link_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n)
{
    (void)link, (void)side, (void)n;
    return true;
}

void gr_link_finish_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          bool final)
{
    (void)link, (void)side, (void)n, (void) final;
}

void gr_link_push(struct gr_link *link, const struct gr_ring_side *side, size_t n, bool unread)
{
    (void)link, (void)side, (void)n, (void)unread;
}

void gr_link_stop(struct gr_link *link)
{
    (void)link;
}

void gr_link_after_failure(const struct gr_link *link)
{
    (void)link;
}

gr_status gr_link_begin_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                            const char *call)
{
    (void)link, (void)side, (void)n, (void)call;
    return GR_OK;
}

void gr_link_follow(struct gr_link *link, CUstream stream, bool failed)
{
    (void)link, (void)stream, (void)failed;
}

gr_status gr_link_peer_is_done(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                               bool *come, const char *call)
{
    (void)link, (void)side, (void)n, (void)call;
    *come = true;
    return GR_OK;
}

gr_status gr_link_end_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          const char *call)
{
    (void)link, (void)side, (void)n, (void)call;
    return GR_OK;
}

void gr_link_end(struct gr_link *link)
{
    (void)link;
}
