/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Frees the memory of a resource of the peer transport on the GPU that computes. */
#include "gl/peer/peer.h"

#include <stdlib.h>

#include "lib/driver.h"

void gl_peer_end(struct gr_retired *retired, bool alive)
{
    struct gl_peer *peer = (struct gl_peer *)retired;
    if (alive && peer->ptr)
        gr_driver()->MemFree(peer->ptr);
    free(peer);
}
