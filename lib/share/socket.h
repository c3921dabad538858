/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sends and receives one message with file descriptors over a Unix stream socket. The peer may be
 * hostile: size and number of descriptors are bounded, and an error leaves no received descriptor
 * open.
 */
#ifndef GR_LIB_SHARE_SOCKET_H
#define GR_LIB_SHARE_SOCKET_H

#include <stdint.h>

#include <grinterop/share.h>

/* The version of all messages. Other versions are refused. */
#define GR_MESSAGE_VERSION 2u

#define GR_MESSAGE_MOST_BYTES 512
#define GR_MESSAGE_MOST_FDS   3

enum gr_message_kind { GR_MESSAGE_RESOURCE = 1, GR_MESSAGE_RING, GR_MESSAGE_SLOT };

struct gr_message {
    enum gr_message_kind kind;
    size_t size; /* of `bytes` */
    unsigned fd_count;
    int fds[GR_MESSAGE_MOST_FDS];
    unsigned char bytes[GR_MESSAGE_MOST_BYTES];

    /* The application's bytes, which follow `bytes`: those to send, or the number received. */
    const void *data;
    size_t data_size;

    /* Receives the application's bytes. A message with more is refused, and stays in the socket. */
    void *room;
    size_t room_size;
};

/* When a call times out, by the monotonic clock. */
struct gr_deadline {
    bool never;
    bool looks; /* a timeout of 0: returns not ready instead of waiting */
    double at;  /* in the time of gr_clock_ms() */
};
struct gr_deadline gr_deadline_in(unsigned timeout_ms); /* ~0u: never */

/* Milliseconds left, for poll(): -1: no limit, 0: expired. */
int gr_deadline_left(const struct gr_deadline *deadline);

/*
 * Fails with GR_ERR_TIMEOUT if the deadline has expired. For sequences of messages of which some
 * have been transferred.
 */
gr_status gr_message_check_deadline(const struct gr_deadline *deadline, const char *call);

/* GR_ERR_INVALID_VALUE: not a connected Unix stream socket. */
gr_status gr_socket_check(int socket, const char *call);

/* Sets the application's bytes. Refuses too many, or NULL. */
gr_status gr_message_set_data(struct gr_message *message, const void *data, size_t size,
                              const char *call);

/* Sets where received application bytes go. */
gr_status gr_message_set_room(struct gr_message *message, void *room, size_t size,
                              const char *call);

/* The caller keeps the descriptors. GR_ERR_TIMEOUT, GR_ERR_SYSTEM. */
gr_status gr_message_send(int socket, const struct gr_message *message,
                          const struct gr_deadline *deadline, const char *call);

/*
 * Receives a message of that kind; the caller then owns its descriptors. Reads no byte beyond it.
 * Sets data_size on success, and if the room is too small. Errors: as above; GR_ERR_INVALID_VALUE:
 * not a grinterop message, another version or kind, too large, or with a descriptor that can be
 * neither memory nor a semaphore.
 */
gr_status gr_message_receive(int socket, enum gr_message_kind kind, struct gr_message *message,
                             const struct gr_deadline *deadline, const char *call);

/* Closes the remaining descriptors of a message to send, which this process created. */
void gr_message_close_fds(struct gr_message *message);

/* The same for a received message, whose descriptors may be anything. */
void gr_message_discard_fds(struct gr_message *message);

/* Takes a descriptor out of the message; the caller owns it. -1 if it was already taken. */
int gr_message_take_fd(struct gr_message *message, unsigned i);

/* ---- Integers, least significant byte first -------------------------------------------------- */

void gr_pack(unsigned char *bytes, uint64_t value, unsigned width);
uint64_t gr_unpack(const unsigned char *bytes, unsigned width);

#endif
