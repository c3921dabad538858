/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The processes of test_random_peer's peers; see random_peer.h. */
#define _GNU_SOURCE
#include "random_peer.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/support/fd_message.h"

uint32_t walk_start(uint32_t seed)
{
    return (seed * 2654435761u) | 1;
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
    signal(SIGCHLD, SIG_IGN);
    size_t count = PEER_FDS;
    while (fd_receive(server, &order, sizeof(order), fds, &count, 0) == sizeof(order)) {
        count = PEER_FDS;
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
    bool sent = fd_send(server, &order, sizeof(order), &socket, 1, MSG_NOSIGNAL) > 0;
    close(socket);
    return sent;
}

bool peer_teach(int server, const struct peer_messages *messages)
{
    struct order order = {.job.is_model = true, .messages = *messages};
    return fd_send(server, &order, sizeof(order), messages->fds, PEER_FDS, MSG_NOSIGNAL) > 0;
}
