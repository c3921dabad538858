/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Watches the socket of a shared ring in a thread. A byte means that the page has changed. End of
 * file means that the peer has died, or has freed its ring after its last signal. A peer whose
 * semaphore falls back to a smaller value, which no grinterop peer does, also counts as dead,
 * because waits for the semaphore could last forever.
 */
#define _GNU_SOURCE
#include "lib/peer/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/peer/foreign_fd.h"

/* The headers of the C library may be older than the kernel. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/* The time, in milliseconds, for the GPU of a dead peer to finish its work. */
#define GRACE 100

/* The time between two checks of the semaphores, in milliseconds. */
#define CHECK_MS 500

/* Notifies the waiting threads of this process. */
static void notify(struct gr_peer_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    if (watch->ring)
        watch->changed(watch->ring);
    pthread_mutex_unlock(&watch->lock);
}

/*
 * Reads all available bytes. False at the end of the file, or if the peer sent descriptors. No
 * grinterop peer sends descriptors, and this process would have to keep closing them.
 */
static bool drain(struct gr_peer_watch *watch)
{
    char bytes[256];
    struct gr_foreign_fds fds;
    ssize_t got = gr_foreign_receive(watch->socket, bytes, sizeof(bytes), &fds);
    int error = errno;
    gr_foreign_close(fds.fds, fds.count);
    if (fds.count || fds.lost)
        atomic_store(&watch->descriptors, true);
    if (got >= 0)
        return got > 0 && !atomic_load(&watch->descriptors);
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

/*
 * Checks the semaphores if a check is due. The clock decides when, not the timeout of poll(),
 * because a peer may send bytes all the time. False if a semaphore has fallen back to a smaller
 * value.
 */
static bool check_when_due(struct gr_peer_watch *watch, double *due)
{
    double now = gr_clock_ms();
    if (now < *due)
        return true;
    *due = now + CHECK_MS;
    bool sound = gr_peer_semaphores_check(watch->semaphores);
    if (!sound)
        atomic_store(&watch->went_back, true);
    return sound;
}

/* Returns the number of ready descriptors; 0 on timeout or if poll() runs out of memory. */
static int wait_for(struct pollfd fds[], nfds_t n, int ms)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    int ready = poll(fds, n, ms);
    if (ready >= 0)
        return ready;
    nanosleep(&moment, NULL);
    return 0;
}

/* Watches until the peer is gone (true) or this thread has to end (false). */
static bool watch_peer(struct gr_peer_watch *watch)
{
    struct pollfd fds[] = {{.fd = watch->quit, .events = POLLIN},
                           {.fd = watch->socket, .events = POLLIN}};
    double due = gr_clock_ms() + CHECK_MS;
    bool alive = true;
    while (alive) {
        int ready = wait_for(fds, 2, CHECK_MS);
        if (ready > 0 && fds[0].revents)
            return false;
        bool heard = ready > 0;
        if (heard)
            alive = drain(watch);
        if (!check_when_due(watch, &due))
            alive = false;
        if (!alive)
            atomic_store(&watch->gone, true);
        if (heard || !alive)
            notify(watch);
    }
    return true;
}

/*
 * The function of the thread. After the peer is gone, signals the awaited values, and signals them
 * again if the semaphores fall back to smaller values.
 */
static void *run(void *user)
{
    struct gr_peer_watch *watch = user;
    struct pollfd quit = {.fd = watch->quit, .events = POLLIN};
    if (!watch_peer(watch))
        return NULL;
    int ready = wait_for(&quit, 1, GRACE);
    gr_peer_semaphores_signal(watch->semaphores);
    while (ready == 0) {
        ready = wait_for(&quit, 1, CHECK_MS);
        if (ready == 0)
            gr_peer_semaphores_check(watch->semaphores);
    }
    return NULL;
}

/* Starts the thread with all signals blocked, because signals are for the application's threads. */
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

/*
 * Sets the options of the socket. Out-of-band bytes are received inline, because the kernel would
 * otherwise close the descriptors of unread bytes in this process. Descriptors are refused if the
 * kernel can do so (Linux 6.16).
 */
static void take_socket(struct gr_peer_watch *watch)
{
    watch->oob_inline = gr_socket_option(watch->socket, SO_OOBINLINE, 1);
    watch->pass_rights = gr_socket_option(watch->socket, SO_PASSRIGHTS, 0);
}

void gr_peer_watch_restore_socket(struct gr_peer_watch *watch)
{
    gr_socket_option(watch->socket, SO_OOBINLINE, watch->oob_inline);
    gr_socket_option(watch->socket, SO_PASSRIGHTS, watch->pass_rights);
}

void gr_peer_watch_init(struct gr_peer_watch *watch, int socket,
                        struct gr_peer_semaphores *semaphores, gr_ring *ring,
                        gr_ring_changed *changed)
{
    *watch = (struct gr_peer_watch){
        .socket = socket,
        .quit = -1,
        .oob_inline = -1,
        .pass_rights = -1,
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
                             "Cannot create an eventfd for the thread that watches the other "
                             "process, perhaps for lack of file descriptors (ulimit -n)");
    take_socket(watch);
    int failed = start_thread(watch);
    if (failed)
        return gr_fail_errno(failed, call,
                             "Cannot create the thread that watches the other process, perhaps "
                             "because of the limit of processes (ulimit -u)");
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

bool gr_peer_watch_saw_value_fall(const struct gr_peer_watch *watch)
{
    return atomic_load(&watch->went_back);
}

bool gr_peer_watch_saw_descriptors(const struct gr_peer_watch *watch)
{
    return atomic_load(&watch->descriptors);
}

bool gr_peer_watch_saw_end(const struct gr_peer_watch *watch)
{
    return atomic_load(&watch->gone);
}
