/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The processes of test_random_peer's peers; see random_peer.h. */
#define _GNU_SOURCE
#include "random_peer.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

uint32_t walk_start(uint32_t seed)
{
    return (seed * 2654435761u) | 1;
}

/* ---- Messages -------------------------------------------------------------------------------- */

union control {
    char bytes[CMSG_SPACE(16 * sizeof(int))];
    struct cmsghdr align;
};

int peer_receive(int socket, void *bytes, size_t room, size_t *size, int fds[], int most_fds)
{
    union control control;
    struct iovec part = {bytes, room};
    struct msghdr got = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = CMSG_SPACE((size_t)most_fds * sizeof(int))};
    ssize_t count = recvmsg(socket, &got, MSG_CMSG_CLOEXEC);
    if (count <= 0)
        return -1;
    *size = (size_t)count;
    struct cmsghdr *header = CMSG_FIRSTHDR(&got);
    if (!header)
        return 0;
    size_t n = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds, CMSG_DATA(header), n * sizeof(int));
    return (int)n;
}

bool peer_send(int socket, const void *bytes, size_t size, const int fds[], int count)
{
    union control control;
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    struct msghdr sent = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        memset(&control, 0, sizeof(control));
        sent.msg_control = control.bytes;
        sent.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&sent);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN((size_t)count * sizeof(int));
        memcpy(CMSG_DATA(header), fds, (size_t)count * sizeof(int));
    }
    return sendmsg(socket, &sent, MSG_NOSIGNAL) == (ssize_t)size;
}

/* ---- The server ------------------------------------------------------------------------------ */

struct order {
    struct peer_job job;
    struct peer_messages messages;
};

static void start(int server, int socket, const struct order *order,
                  const struct peer_messages *model)
{
    if (fork() != 0) {
        close(socket);
        return;
    }
    close(server);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    peer_attack(socket, &order->job, model);
    _exit(0);
}

static void serve(int server)
{
    static struct order order;
    static struct peer_messages model;
    int fds[PEER_FDS];
    size_t size;
    signal(SIGCHLD, SIG_IGN);
    while (peer_receive(server, &order, sizeof(order), &size, fds, PEER_FDS) >= 0 &&
           size == sizeof(order)) {
        if (!order.job.is_model) {
            start(server, fds[0], &order, &model);
            continue;
        }
        model = order.messages;
        memcpy(model.fds, fds, sizeof(fds));
    }
    _exit(0);
}

int peer_server_start(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    pid_t server = fork();
    if (server == 0) {
        close(ends[0]);
        serve(ends[1]);
    }
    close(ends[1]);
    return server < 0 ? -1 : ends[0];
}

bool peer_start(int server, const struct peer_job *job, int socket)
{
    struct order order = {.job = *job};
    bool sent = peer_send(server, &order, sizeof(order), &socket, 1);
    close(socket);
    return sent;
}

bool peer_teach(int server, const struct peer_messages *messages)
{
    struct order order = {.job.is_model = true, .messages = *messages};
    return peer_send(server, &order, sizeof(order), messages->fds, PEER_FDS);
}
