/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The operations of a ring in one process, which do nothing. */
#include "lib/ring/link/operations.h"

static void do_nothing(struct gr_link *link)
{
    (void)link;
}

static gr_status update_nothing(struct gr_link *link, const struct gr_ring_side *side)
{
    (void)link, (void)side;
    return GR_OK;
}

static enum gr_link_peer await_nobody(struct gr_link *link)
{
    (void)link;
    return GR_LINK_NO_PEER;
}

static bool claim_nothing(struct gr_link *link, const struct gr_ring_side *side, size_t n)
{
    (void)link, (void)side, (void)n;
    return true;
}

static void write_nothing(struct gr_link *link, const struct gr_ring_side *side, size_t n, bool how)
{
    (void)link, (void)side, (void)n, (void)how;
}

static gr_status check_nothing(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                               bool *done)
{
    (void)link, (void)side, (void)n;
    *done = true;
    return GR_OK;
}

static gr_status use_nothing(struct gr_link *link, const struct gr_ring_side *side, size_t n)
{
    (void)link, (void)side, (void)n;
    return GR_OK;
}

static void follow_nothing(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                           CUstream stream, bool failed)
{
    (void)link, (void)side, (void)n, (void)stream, (void)failed;
}

const struct gr_link_operations gr_link_unshared = {
    .refresh = do_nothing,
    .update = update_nothing,
    .await = await_nobody,
    .claim = claim_nothing,
    .finish_claim = write_nothing,
    .push = write_nothing,
    .stop = do_nothing,
    .after_failure = do_nothing,
    .check_work = check_nothing,
    .begin_use = use_nothing,
    .follow = follow_nothing,
    .end_use = use_nothing,
    .end = do_nothing,
};
