/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostile peer in a process of its own for test_random_peer. A server, which is forked before
 * CUDA starts, forks a peer for each ring. What a peer does follows from the ring's seed.
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

/* The messages of an honest sender: the ring's, with three descriptors, and a slot's each. */
struct peer_messages {
    unsigned char bytes[PEER_MESSAGES][PEER_ROOM];
    size_t sizes[PEER_MESSAGES];
    int fds[PEER_FDS];
};

/* What a peer is to be. */
struct peer_job {
    uint32_t seed;
    bool is_model; /* no job: the messages that later peers send, changed */
    bool sends;    /* it sends the ring; else it receives one */
    bool writes;   /* it is the producer */
};

/* What walk_random() starts from: not 0, and another one for each seed. */
uint32_t walk_start(uint32_t seed);

/* Forks the server; returns the socket by which it gets jobs, and at whose end it exits. */
int peer_server_start(void);

/* Has the server start a peer with that end of a socket, which is closed here. False: no server. */
bool peer_start(int server, const struct peer_job *job, int socket);

/* Gives the server the messages that peers change. */
bool peer_teach(int server, const struct peer_messages *messages);

/* One message with its descriptors, as it is on a socket; the number of descriptors, or -1. */
int peer_receive(int socket, void *bytes, size_t room, size_t *size, int fds[], int most_fds);
bool peer_send(int socket, const void *bytes, size_t size, const int fds[], int count);

/* The peer itself, in its process. */
void peer_attack(int socket, const struct peer_job *job, const struct peer_messages *model);

#endif
