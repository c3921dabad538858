/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions for Windows, whose sockets cannot transfer descriptors: all fail. */
#include <grinterop/share.h>

#include "lib/base/error.h"

static gr_status refuse(const char *call)
{
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "Sharing resources with other processes needs file descriptors over Unix "
                   "sockets, which this system does not have.");
}

gr_status gr_resource_send(int socket, gr_resource *resource, const void *data, size_t size,
                           unsigned timeout_ms)
{
    (void)socket, (void)resource, (void)data, (void)size, (void)timeout_ms;
    return refuse(__func__);
}

gr_resource *gr_resource_receive(int socket, void *data, size_t room, size_t *size,
                                 unsigned timeout_ms)
{
    (void)socket, (void)data, (void)room, (void)size, (void)timeout_ms;
    refuse(__func__);
    return NULL;
}

gr_status gr_ring_send(int socket, gr_ring *ring, gr_ring_role role, const void *data, size_t size,
                       unsigned timeout_ms)
{
    (void)socket, (void)ring, (void)role, (void)data, (void)size, (void)timeout_ms;
    return refuse(__func__);
}

gr_ring *gr_ring_receive(int socket, void *data, size_t room, size_t *size, unsigned timeout_ms)
{
    (void)socket, (void)data, (void)room, (void)size, (void)timeout_ms;
    refuse(__func__);
    return NULL;
}
