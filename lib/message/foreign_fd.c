/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* File descriptors from another process: receives, checks and closes them without blocking. */
#define _GNU_SOURCE
#include "lib/message/foreign_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/base/loader.h"
#include "lib/base/thread.h"

#define TMPFS 0x01021994 /* the file system of memfd_create() files without MFD_HUGETLB */

/* Since Linux 6.5 a message can contain the sender's pidfd, if the program enabled SO_PASSPIDFD. */
#define RIGHTS_OF_PIDFD 4

/* Room for credentials and security labels, which the program may have enabled. */
#define OTHER_CONTROL 1024

/* ---- Receiving ------------------------------------------------------------------------------- */

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(GR_FOREIGN_FDS_MOST * sizeof(int)) + OTHER_CONTROL];
};

static void take_fds(const struct cmsghdr *header, struct gr_foreign_fds *fds)
{
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
        int fd;
        memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(fd));
        if (fds->count < GR_FOREIGN_FDS_MOST) {
            fds->fds[fds->count++] = fd;
        } else {
            gr_foreign_close(&fd, 1);
            fds->lost = true;
        }
    }
}

int gr_socket_option(int socket, int option, int value)
{
    int before = -1;
    socklen_t size = sizeof(before);
    if (value == -1 || getsockopt(socket, SOL_SOCKET, option, &before, &size) != 0)
        return -1;
    setsockopt(socket, SOL_SOCKET, option, &value, sizeof(value));
    return before;
}

ssize_t gr_foreign_receive(int socket, void *bytes, size_t size, struct gr_foreign_fds *fds)
{
    union control control;
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    struct msghdr got = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    fds->count = 0;
    fds->sender = 0;
    ssize_t received = recvmsg(socket, &got, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    fds->lost = received >= 0 && got.msg_flags & MSG_CTRUNC;
    for (struct cmsghdr *h = received < 0 ? NULL : CMSG_FIRSTHDR(&got); h;
         h = CMSG_NXTHDR(&got, h)) {
        int pidfd;
        struct ucred sender;
        if (h->cmsg_level != SOL_SOCKET)
            continue;
        if (h->cmsg_type == SCM_RIGHTS) {
            take_fds(h, fds);
        } else if (h->cmsg_type == RIGHTS_OF_PIDFD) {
            /* the program asked for it: it is not part of a message of grinterop */
            memcpy(&pidfd, CMSG_DATA(h), sizeof(pidfd));
            close(pidfd);
        } else if (h->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&sender, CMSG_DATA(h), sizeof(sender));
            fds->sender = sender.pid;
        }
    }
    return received;
}

/* ---- Kinds ----------------------------------------------------------------------------------- */

/*
 * Whether the file is in memory. The query of the seals succeeds for every such file, even without
 * seals, and fails for all other files. The query never waits for a file system.
 */
static bool is_memory(int fd)
{
    return fcntl(fd, F_GET_SEALS) >= 0;
}

bool gr_foreign_is_shareable(int fd)
{
    struct statfs system;
    struct statx file;
    /*
     * The pages of memory must have the normal size: reading a hole in huge pages raises SIGBUS if
     * the system has no free huge page.
     */
    if (is_memory(fd))
        return fstatfs(fd, &system) == 0 && system.f_type == TMPFS;
    /* GPU drivers export character devices, or files without a type */
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &file) == 0 &&
           (S_ISCHR(file.stx_mode) || (file.stx_mode & S_IFMT) == 0);
}

/* ---- Closing --------------------------------------------------------------------------------- */

struct closing {
    size_t count;
    int fds[];
};

static void *close_all(void *user)
{
    struct closing *closing = user;
    for (size_t i = 0; i < closing->count; i++)
        close(closing->fds[i]);
    free(closing);
    return NULL;
}

static struct closing *add(struct closing *closing, int fd, size_t most)
{
    if (!closing)
        closing = calloc(1, sizeof(*closing) + most * sizeof(int));
    if (closing)
        closing->fds[closing->count++] = fd;
    else
        close(fd);
    return closing;
}

/*
 * If there is no memory or no thread, closes the descriptors on this thread: they must not stay
 * open.
 */
void gr_foreign_close(const int fds[], size_t n)
{
    struct closing *closing = NULL;
    pthread_t thread;
    for (size_t i = 0; i < n; i++)
        if (is_memory(fds[i]))
            close(fds[i]);
        else
            closing = add(closing, fds[i], n - i);
    if (!closing)
        return;
    gr_loader_stay();
    if (gr_thread_start(&thread, close_all, closing) == 0)
        pthread_detach(thread);
    else
        close_all(closing);
}

/*
 * After shutdown() the peer can send no more messages. Once the socket is empty, close() cannot
 * block on unread descriptors.
 */
void gr_foreign_close_socket(int socket)
{
    struct gr_foreign_fds fds;
    char bytes[256];
    ssize_t got;
    shutdown(socket, SHUT_RDWR);
    do {
        got = gr_foreign_receive(socket, bytes, sizeof(bytes), &fds);
        gr_foreign_close(fds.fds, fds.count);
        /* the socket reports this error only once */
    } while ((got > 0 && fds.count == 0) || (got < 0 && errno == ECONNRESET));
    if (got == 0)
        close(socket);
    else
        gr_foreign_close(&socket, 1);
}
