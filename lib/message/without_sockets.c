/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions for Windows, whose sockets cannot transfer descriptors: all of them fail. */
#include "lib/message/message.h"

#include "lib/base/error.h"

gr_status gr_share_refuse(const char *call)
{
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "Sharing with another process needs file descriptors over Unix sockets, which "
                   "Windows does not have. Import a handle of the memory there, by "
                   "gr_from_external_memory().");
}

gr_status gr_resource_send(int socket, gr_resource *resource, const void *data, size_t size,
                           unsigned timeout_ms)
{
    (void)socket, (void)resource, (void)data, (void)size, (void)timeout_ms;
    return gr_share_refuse(__func__);
}

gr_resource *gr_resource_receive(int socket, void *data, size_t room, size_t *size,
                                 unsigned timeout_ms)
{
    (void)socket, (void)data, (void)room, (void)size, (void)timeout_ms;
    gr_share_refuse(__func__);
    return NULL;
}

void gr_share_set_interrupt(bool (*function)(void *user), void *user)
{
    (void)function, (void)user;
}
