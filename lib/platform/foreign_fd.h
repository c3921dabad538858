/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * File descriptors that another process sends, which may be of anything. The last close() of a TCP
 * socket with SO_LINGER, or any of a FUSE file, lasts as long as their owner likes.
 */
#ifndef GR_LIB_FOREIGN_FD_H
#define GR_LIB_FOREIGN_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Linux puts no more into one message (SCM_MAX_FD). */
#define GR_FOREIGN_FDS_MOST 253

struct gr_foreign_fds {
    size_t count;
    bool lost; /* this process had no descriptor left for others, which are closed */
    int fds[GR_FOREIGN_FDS_MOST];
};

/*
 * Sets an option of SOL_SOCKET. Returns its value before, or -1 where the kernel does not know it;
 * -1 as the new one changes nothing.
 */
int gr_socket_option(int socket, int option, int value);

/*
 * recv() without blocking, with all descriptors that come along: those that the kernel has no room
 * for would be closed in this thread.
 */
ssize_t gr_foreign_receive(int socket, void *bytes, size_t size, struct gr_foreign_fds *fds);

/*
 * Whether it can be memory or a semaphore: a file of memfd_create(), with small pages, or what a
 * GPU driver exports. Never blocks.
 */
bool gr_foreign_is_shareable(int fd);

/* Closes them, in a thread of its own where that may block. */
void gr_foreign_close(const int fds[], size_t n);

/*
 * Closes a connected stream socket, whose unread messages may have descriptors, and which returns
 * out-of-band data in line.
 */
void gr_foreign_close_socket(int socket);

#endif
