/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A hostile peer in its own process, for test_random_peer. A server process, which is forked before
 * CUDA starts, forks a peer for each ring. The seed of the ring determines the actions of its peer.
 */
#ifndef GR_TESTS_RANDOM_PEER_H
#define GR_TESTS_RANDOM_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_SLOTS    3
#define PEER_MESSAGES (1 + PEER_SLOTS)
#define PEER_FDS      (3 + PEER_SLOTS)
#define PEER_ROOM     512

/*
 * The messages of an honest sender: the message of the ring, with three descriptors, and one
 * message for each slot.
 */
struct peer_messages {
    unsigned char bytes[PEER_MESSAGES][PEER_ROOM];
    size_t sizes[PEER_MESSAGES];
    int fds[PEER_FDS];
};

/* What a peer does. */
struct peer_job {
    uint32_t seed;
    /* This is not a job, but announces the messages that later peers modify and send. */
    bool is_model;
    bool sends;  /* the peer sends the ring; false: the peer receives it */
    bool writes; /* the peer is the producer */
};

/* The start value for walk_random(): not 0, and different for each seed. */
uint32_t walk_start(uint32_t seed);

/* Forks the server. Returns the socket for jobs. The server exits when that socket is closed. */
int peer_server_start(void);

/*
 * Makes the server start a peer with that end of a socket, and closes the end in this process.
 * Returns false if the server has gone.
 */
bool peer_start(int server, const struct peer_job *job, int socket);

/* Sends the server the messages that peers modify. */
bool peer_teach(int server, const struct peer_messages *messages);

/* The code of a peer, in the process of that peer. */
void peer_attack(int socket, const struct peer_job *job, const struct peer_messages *model);

#endif
