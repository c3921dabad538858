/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Messages with file descriptors (SCM_RIGHTS). The functions return what the system call returns.
 */
#ifndef GR_TESTS_FD_MESSAGE_H
#define GR_TESTS_FD_MESSAGE_H

#include <string.h>
#include <sys/socket.h>

union fd_control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(32 * sizeof(int))];
};

static inline ssize_t fd_send(int socket, const void *bytes, size_t size, const int fds[],
                              size_t count, int flags)
{
    union fd_control control = {.bytes = ""};
    struct iovec part = {(void *)bytes, size};
    struct msghdr sent = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        sent.msg_control = control.bytes;
        sent.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&sent);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(header), fds, count * sizeof(int));
    }
    return sendmsg(socket, &sent, flags);
}

/* *count is the room in `fds`, and then the number of descriptors. */
static inline ssize_t fd_receive(int socket, void *bytes, size_t room, int fds[], size_t *count,
                                 int flags)
{
    union fd_control control;
    struct iovec part = {bytes, room};
    struct msghdr got = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = CMSG_LEN(*count * sizeof(int))};
    ssize_t size = recvmsg(socket, &got, flags | MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = size > 0 ? CMSG_FIRSTHDR(&got) : NULL;
    if (header && header->cmsg_type != SCM_RIGHTS)
        header = NULL;
    *count = header ? (header->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
    if (header)
        memcpy(fds, CMSG_DATA(header), *count * sizeof(int));
    return size;
}

#endif
