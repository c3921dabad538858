/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Watches the socket of a shared ring in a thread. A byte means that the page has changed. End of
 * file means that the peer has died, or has freed its ring after its last signal. If the peer's end
 * is still open in another process, there is no end of file. Then a pidfd of the process that sent
 * the first byte reports its end. A peer whose semaphore falls back to a smaller value, which no
 * grinterop peer does, also counts as dead, because waits for the semaphore could last forever.
 */
#define _GNU_SOURCE
#include "lib/ring/link/link.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/message/foreign_fd.h"
#include "lib/ring/ring.h"

/* The headers of the C library may be older than the kernel. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* The time, in milliseconds, for the GPU of a dead peer to finish its work. */
#define GRACE 100

/* The time between two checks of the semaphores, in milliseconds. */
#define CHECK_MS 500

/* Notifies the waiting threads of this process. */
static void notify(struct gr_link *link)
{
    GR_LOCKED(&link->ring_lock);
    if (link->ring)
        gr_ring_peer_changed(link->ring);
}

/*
 * Opens the process of the peer. Without a pidfd, as before Linux 5.3 or in a sandbox, only the
 * socket reports its end. False if the process has ended.
 */
static bool open_peer(struct gr_link *link, pid_t pid)
{
    if (link->peer >= 0 || pid <= 0 || pid == getpid())
        return true;
    link->peer = (int)syscall(SYS_pidfd_open, pid, 0);
    return link->peer >= 0 || errno != ESRCH;
}

/*
 * Reads all available bytes. Returns why the peer is gone: at the end of the file, or if the peer
 * sent descriptors. No grinterop peer sends descriptors, and this process would have to keep
 * closing them.
 */
static enum gr_gone drain(struct gr_link *link)
{
    char bytes[256];
    struct gr_foreign_fds fds;
    ssize_t got = gr_foreign_receive(link->socket, bytes, sizeof(bytes), &fds);
    int error = errno;
    gr_foreign_close(fds.fds, fds.count);
    if (fds.count || fds.lost)
        return GR_GONE_DESCRIPTORS;
    if (got > 0 && !open_peer(link, fds.sender))
        return GR_GONE_SOCKET;
    if (got > 0 || (got < 0 && (error == EAGAIN || error == EWOULDBLOCK || error == EINTR)))
        return GR_GONE_NOT;
    return GR_GONE_SOCKET;
}

/* Returns the number of ready descriptors; 0 on timeout or if poll() runs out of memory. */
static int wait_for(struct pollfd fds[], nfds_t n, int ms)
{
    int ready = poll(fds, n, ms);
    if (ready >= 0)
        return ready;
    gr_sleep_us(10000);
    return 0;
}

/*
 * Watches until the peer is gone (true) or this thread has to end (false). The clock decides when
 * the semaphores are checked, not the timeout of poll(), because a peer may send bytes all the
 * time.
 */
static bool watch_peer(struct gr_link *link)
{
    struct pollfd fds[] = {{.fd = link->quit, .events = POLLIN},
                           {.fd = link->socket, .events = POLLIN},
                           {.fd = -1, .events = POLLIN}};
    double due = gr_clock_ms() + CHECK_MS;
    for (;;) {
        enum gr_gone gone = GR_GONE_NOT;
        unsigned before = GR_GONE_NOT;
        fds[2].fd = link->peer;
        int ready = wait_for(fds, 3, CHECK_MS);
        if (ready > 0 && fds[0].revents)
            return false;
        if (ready > 0 && fds[1].revents)
            gone = drain(link);
        if (ready > 0 && fds[2].revents && !gone)
            gone = GR_GONE_SOCKET;
        if (gr_clock_ms() >= due) {
            due = gr_clock_ms() + CHECK_MS;
            if (!gr_link_check_values(link))
                gone = GR_GONE_VALUE;
        }
        if (gone) /* a page that contradicts itself remains the reason */
            atomic_compare_exchange_strong(&link->gone, &before, gone);
        if (ready > 0 || gone)
            notify(link);
        if (gone)
            return true;
    }
}

/*
 * The function of the thread. After the peer is gone, signals the awaited values, and signals them
 * again if the semaphores fall back to smaller values.
 */
static void *run(void *user)
{
    struct gr_link *link = user;
    struct pollfd quit = {.fd = link->quit, .events = POLLIN};
    if (!watch_peer(link))
        return NULL;
    int ready = wait_for(&quit, 1, GRACE);
    gr_link_serve(link);
    while (ready == 0) {
        ready = wait_for(&quit, 1, CHECK_MS);
        if (ready == 0)
            gr_link_check_values(link);
    }
    return NULL;
}

/*
 * Sets the options of the socket. Out-of-band bytes are received inline, because the kernel would
 * otherwise close the descriptors of unread bytes in this process. Descriptors are refused if the
 * kernel can do so (Linux 6.16). The kernel names the sender of each byte.
 */
static void take_over_socket(struct gr_link *link)
{
    link->oob_inline = gr_socket_option(link->socket, SO_OOBINLINE, 1);
    link->pass_rights = gr_socket_option(link->socket, SO_PASSRIGHTS, 0);
    link->pass_pidfd = gr_socket_option(link->socket, SO_PASSPIDFD, 0);
    link->pass_cred = gr_socket_option(link->socket, SO_PASSCRED, 1);
}

void gr_link_restore_socket(struct gr_link *link)
{
    gr_socket_option(link->socket, SO_OOBINLINE, link->oob_inline);
    gr_socket_option(link->socket, SO_PASSRIGHTS, link->pass_rights);
    gr_socket_option(link->socket, SO_PASSPIDFD, link->pass_pidfd);
    gr_socket_option(link->socket, SO_PASSCRED, link->pass_cred);
}

gr_status gr_link_start_watch(struct gr_link *link)
{
    link->quit = eventfd(0, EFD_CLOEXEC);
    if (link->quit < 0)
        return gr_fail_errno(errno,
                             "Cannot create an eventfd for the thread that watches the other "
                             "process, perhaps for lack of file descriptors (ulimit -n)");
    take_over_socket(link);
    int failed = gr_thread_start(&link->thread, run, link);
    if (failed)
        return gr_fail_errno(failed,
                             "Cannot create the thread that watches the other process, perhaps "
                             "because of the limit of processes (ulimit -u)");
    link->watches = true;
    return GR_OK;
}

void gr_link_end_watch(struct gr_link *link)
{
    const uint64_t one = 1;
    if (link->watches) {
        while (write(link->quit, &one, sizeof(one)) < 0 && errno == EINTR)
            ;
        pthread_join(link->thread, NULL);
    }
    if (link->quit >= 0)
        close(link->quit);
    if (link->peer >= 0)
        close(link->peer);
    gr_lock_end(&link->ring_lock);
}

void gr_link_forget_ring(struct gr_link *link)
{
    GR_LOCKED(&link->ring_lock);
    link->ring = NULL;
}
