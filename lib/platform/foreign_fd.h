/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * File descriptors sent by another process, which can be of any kind. The owner of a TCP socket
 * with SO_LINGER, or of a FUSE file, decides how long close() blocks.
 */
#ifndef GR_LIB_FOREIGN_FD_H
#define GR_LIB_FOREIGN_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The most descriptors that Linux allows in one message (SCM_MAX_FD). */
#define GR_FOREIGN_FDS_MOST 253

struct gr_foreign_fds {
    size_t count;
    bool lost; /* more were sent, but this process could not open them; they are closed */
    int fds[GR_FOREIGN_FDS_MOST];
};

/*
 * Sets an option of SOL_SOCKET. Returns its previous value, or -1 if the kernel does not know it.
 * A `value` of -1 changes nothing and returns -1.
 */
int gr_socket_option(int socket, int option, int value);

/*
 * recv() without blocking, with all descriptors of the message: with too little room for them, the
 * kernel would close the rest in this thread, which can block.
 */
ssize_t gr_foreign_receive(int socket, void *bytes, size_t size, struct gr_foreign_fds *fds);

/*
 * Whether the descriptor can be memory or a semaphore: a file of memfd_create() with small pages,
 * or an export of a GPU driver. Never blocks.
 */
bool gr_foreign_is_shareable(int fd);

/* Closes descriptors, in a new thread if that may block. */
void gr_foreign_close(const int fds[], size_t n);

/*
 * Closes a connected stream socket whose unread messages may hold descriptors. The socket must
 * return out-of-band data in line (SO_OOBINLINE).
 */
void gr_foreign_close_socket(int socket);

#endif
