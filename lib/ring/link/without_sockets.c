/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions for Windows, where rings cannot be sent or received. */
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
