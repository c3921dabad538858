/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * File descriptors of any kind from another process. close() can block on such a descriptor for as
 * long as the owner chooses, for example on a TCP socket with SO_LINGER or on a FUSE file.
 */
#ifndef GR_LIB_MESSAGE_FOREIGN_FD_H
#define GR_LIB_MESSAGE_FOREIGN_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The maximum number of descriptors that Linux allows in one message (SCM_MAX_FD). */
#define GR_FOREIGN_FDS_MOST 253

struct gr_foreign_fds {
    size_t count;
    /* some descriptors were lost, because this process could not open all; the others are closed */
    bool lost;
    /* the process that sent the bytes, if the socket has SO_PASSCRED and sees it; otherwise 0 */
    pid_t sender;
    int fds[GR_FOREIGN_FDS_MOST];
};

/*
 * Sets an option of SOL_SOCKET. Returns its previous value, or -1 if the kernel does not know the
 * option. A `value` of -1 changes nothing and returns -1.
 */
int gr_socket_option(int socket, int option, int value);

/*
 * Calls recv() without blocking, with room for all descriptors of the message. With too little room
 * the kernel would close the other descriptors on this thread, which can block.
 */
ssize_t gr_foreign_receive(int socket, void *bytes, size_t size, struct gr_foreign_fds *fds);

/*
 * Whether the descriptor can be memory or a semaphore: a file from memfd_create() with small pages,
 * or an export of a GPU driver. Never blocks.
 */
bool gr_foreign_is_shareable(int fd);

/* Closes descriptors, in a new thread if close() may block. */
void gr_foreign_close(const int fds[], size_t n);

/*
 * Closes a connected stream socket whose unread messages may contain descriptors. The socket must
 * have the option SO_OOBINLINE, to receive out-of-band data inline.
 */
void gr_foreign_close_socket(int socket);

#endif
