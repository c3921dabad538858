/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Messages as sent on the socket, for tests that change them. */
#ifndef GR_TESTS_SHARE_WIRE_H
#define GR_TESTS_SHARE_WIRE_H

#include "share.h"

#define WIRE_HEADER   24
#define WIRE_ROOM     1024
#define WIRE_MOST_FDS 32

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A message. The test owns its descriptors. */
struct wire {
    unsigned char bytes[WIRE_ROOM];
    size_t size;
    int fds[WIRE_MOST_FDS];
    size_t fd_count;
};

/*
 * wire_take() receives one message from a socket. wire_try() sends one, with copies of its
 * descriptors.
 */
struct wire wire_take(int socket);
void wire_put(int socket, const struct wire *wire);
bool wire_try(int socket, const struct wire *wire, int flags); /* false: errno has the reason */
void wire_close(struct wire *wire);

/*
 * Checks that the message was refused with this error, and that no more descriptors are open than
 * before.
 */
void wire_assert_refused(gr_status status, const char *text, const char *what, int fds_before);

void wire_assert_closed(const char *what, int fds_before);

/* Creates a memory file with these seals, to replace a descriptor of a message. */
int wire_file(size_t size, int seals);

/* Writes an integer of `bytes` bytes into the message. */
void wire_change(struct wire *wire, size_t at, unsigned bytes, unsigned long long value);

#endif
