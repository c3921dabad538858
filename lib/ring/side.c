/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The operations of a side of a ring: each calls the function for writing or for reading. */
#include "lib/ring/side.h"

#include <stdlib.h>

#include "lib/base/error.h"

gr_status gr_ring_side_reserve(struct gr_ring_side *side, size_t n, const char *call)
{
    if (n <= side->room)
        return GR_OK;
    struct gr_ring_side larger = {
        .resources = calloc(n, sizeof(*larger.resources)),
        .buffers = calloc(n, sizeof(*larger.buffers)),
        .submits = calloc(n, sizeof(*larger.submits)),
        .numbers = calloc(n, sizeof(*larger.numbers)),
    };
    if (!larger.resources || !larger.buffers || !larger.submits || !larger.numbers) {
        gr_ring_side_end(&larger);
        return gr_fail_memory(call);
    }
    gr_ring_side_end(side);
    side->room = n;
    side->resources = larger.resources;
    side->buffers = larger.buffers;
    side->submits = larger.submits;
    side->numbers = larger.numbers;
    return GR_OK;
}

void gr_ring_side_end(struct gr_ring_side *side)
{
    free(side->resources);
    free(side->buffers);
    free(side->submits);
    free(side->numbers);
}

bool gr_ring_side_claim(const struct gr_ring_side *side, struct gr_ring_state *state, size_t n)
{
    return side->writes ? gr_ring_claim_write(state, n, side->numbers)
                        : gr_ring_claim_read(state, n, side->numbers);
}

void gr_ring_side_commit(const struct gr_ring_side *side, struct gr_ring_state *state, size_t n)
{
    if (side->writes)
        gr_ring_commit_write(state, n, side->numbers);
    else
        gr_ring_commit_read(state, n, side->numbers);
}

void gr_ring_side_undo(const struct gr_ring_side *side, struct gr_ring_state *state, size_t n)
{
    if (side->writes)
        gr_ring_undo_write(state, n, side->numbers);
    else
        gr_ring_undo_read(state, n, side->numbers);
}
