/* SPDX-License-Identifier: Apache-2.0 */
/* Messages as they are on the socket, for tests that change them. */
#ifndef GR_TESTS_SHARE_WIRE_H
#define GR_TESTS_SHARE_WIRE_H

#include "share.h"

#define WIRE_HEADER   20
#define WIRE_ROOM     1024
#define WIRE_MOST_FDS 32

/* Its descriptors are the test's. */
struct wire {
    unsigned char bytes[WIRE_ROOM];
    size_t size;
    int fds[WIRE_MOST_FDS];
    size_t fd_count;
};

/* Takes one message off a socket; sends one, with copies of its descriptors. */
struct wire wire_take(int socket);
void wire_put(int socket, const struct wire *wire);
void wire_close(struct wire *wire);

/* Writes a number of some bytes into it. */
void wire_change(struct wire *wire, size_t at, unsigned bytes, unsigned long long value);

#endif
