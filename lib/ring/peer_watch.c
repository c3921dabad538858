/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the death of a shared ring's peer is noticed: a thread watches the socket. A byte means
 * that there is something new in the page, the end of file that the peer has died, or has freed its
 * ring and all that it had to signal is signalled.
 */
#define _GNU_SOURCE
#include "lib/ring/peer_watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/error.h"

/* What a dead peer's GPU still does shall come first; in milliseconds. */
#define GRACE 100

/* Wakes who waits in this process. */
static void notify(struct gr_peer_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    if (watch->ring)
        watch->changed(watch->ring);
    pthread_mutex_unlock(&watch->lock);
}

/* Reads what there is; descriptors that come along are closed by the kernel. False: the end. */
static bool drain(int socket)
{
    char bytes[256];
    ssize_t got = recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

static void *run(void *user)
{
    struct gr_peer_watch *watch = user;
    struct pollfd fds[] = {{.fd = watch->quit, .events = POLLIN},
                           {.fd = watch->socket, .events = POLLIN}};
    bool alive = true;
    while (alive) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[0].revents)
            return NULL;
        alive = drain(watch->socket);
        if (!alive)
            atomic_store(&watch->gone, true);
        notify(watch);
    }
    poll(fds, 1, GRACE);
    gr_peer_semaphores_serve(watch->semaphores);
    return NULL;
}

/* The application's signals are for its own threads. */
static int start_thread(struct gr_peer_watch *watch)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&watch->thread, NULL, run, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static void end_thread(struct gr_peer_watch *watch)
{
    const uint64_t one = 1;
    while (write(watch->quit, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    pthread_join(watch->thread, NULL);
}

void gr_peer_watch_init(struct gr_peer_watch *watch, int socket,
                        struct gr_peer_semaphores *semaphores, gr_ring *ring,
                        gr_ring_changed *changed)
{
    *watch = (struct gr_peer_watch){
        .socket = socket,
        .quit = -1,
        .semaphores = semaphores,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .ring = ring,
        .changed = changed,
    };
}

gr_status gr_peer_watch_start(struct gr_peer_watch *watch, const char *call)
{
    watch->quit = eventfd(0, EFD_CLOEXEC);
    if (watch->quit < 0)
        return gr_fail_errno(errno, call,
                             "The thread that watches the other process could have no eventfd "
                             "(ulimit -n)");
    int failed = start_thread(watch);
    if (failed)
        return gr_fail_errno(failed, call,
                             "The thread that watches the other process could not be had "
                             "(ulimit -u)");
    watch->runs = true;
    return GR_OK;
}

void gr_peer_watch_finish(struct gr_peer_watch *watch)
{
    if (watch->runs)
        end_thread(watch);
    if (watch->quit >= 0)
        close(watch->quit);
    pthread_mutex_destroy(&watch->lock);
}

void gr_peer_watch_forget_ring(struct gr_peer_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    watch->ring = NULL;
    pthread_mutex_unlock(&watch->lock);
}

bool gr_peer_watch_saw_end(const struct gr_peer_watch *watch)
{
    return atomic_load(&watch->gone);
}
