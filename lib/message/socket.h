/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sends and receives single messages with file descriptors over a Unix stream socket. The peer may
 * be hostile: the size and the number of descriptors are limited, and after an error no received
 * descriptor stays open.
 */
#ifndef GR_LIB_MESSAGE_SOCKET_H
#define GR_LIB_MESSAGE_SOCKET_H

#include <stdint.h>

#include <grinterop/share.h>

#include "lib/base/clock.h"

/* The version of all messages. Other versions are refused. */
#define GR_MESSAGE_VERSION 4u

#define GR_MESSAGE_MOST_BYTES 512
#define GR_MESSAGE_MOST_FDS   3

enum gr_message_kind { GR_MESSAGE_RESOURCE = 1, GR_MESSAGE_RING, GR_MESSAGE_SLOT };

struct gr_message {
    enum gr_message_kind kind;
    size_t size; /* the number of `bytes` */
    unsigned fd_count;
    int fds[GR_MESSAGE_MOST_FDS];
    unsigned char bytes[GR_MESSAGE_MOST_BYTES];

    /*
     * The application's data, which follows `bytes` in a message: the data to send; after
     * receiving, only `data_size` is set.
     */
    const void *data;
    size_t data_size;

    /*
     * The memory for the application's data. A message with more data is refused, and stays in the
     * socket.
     */
    void *room;
    size_t room_size;
};

/* Returns the milliseconds left, for poll(): -1: no limit, 0: expired. */
int gr_message_ms_left(const struct gr_deadline *deadline);

/*
 * Fails with GR_ERR_TIMEOUT if the deadline has expired. For sequences of messages, after some of
 * them have been transferred.
 */
gr_status gr_message_check_deadline(const struct gr_deadline *deadline);

/*
 * The milliseconds of one wait, if `left` are left (-1: no limit), and whether the call must end
 * then: GR_ERR_STOPPED by the function of gr_share_set_interrupt().
 */
int gr_share_slice(int left);
gr_status gr_share_check_interrupt(void);

/* Checks a socket. GR_ERR_INVALID_VALUE: it is not a connected Unix stream socket. */
gr_status gr_socket_check(int socket);

/* Sets the application's data to send. Refuses NULL, and more than GR_SHARE_MOST_DATA bytes. */
gr_status gr_message_set_data(struct gr_message *message, const void *data, size_t size);

/* Sets the memory for received application data. */
gr_status gr_message_set_room(struct gr_message *message, void *room, size_t size);

/* Sends a message. The caller keeps the descriptors. Errors: GR_ERR_TIMEOUT, GR_ERR_SYSTEM. */
gr_status gr_message_send(int socket, const struct gr_message *message,
                          const struct gr_deadline *deadline);

/*
 * Receives a message of the given kind, whose descriptors the caller then owns. Reads no byte
 * beyond the message. Sets data_size on success, and if the room is too small. Errors are those of
 * gr_message_send(), and GR_ERR_INVALID_VALUE if the message is not from grinterop, has another
 * version or kind, is too large, or has a descriptor that can be neither memory nor a semaphore.
 */
gr_status gr_message_receive(int socket, enum gr_message_kind kind, struct gr_message *message,
                             const struct gr_deadline *deadline);

/* Closes the descriptors that are left in a message to send, which this process created. */
void gr_message_close_fds(struct gr_message *message);

/* Closes the descriptors that are left in a received message, which may be of any kind. */
void gr_message_discard_fds(struct gr_message *message);

/* Takes a descriptor out of the message; the caller owns it. -1 if it was already taken. */
int gr_message_take_fd(struct gr_message *message, unsigned i);

/* ---- Integers, least significant byte first -------------------------------------------------- */

void gr_pack(unsigned char *bytes, uint64_t value, unsigned width);
uint64_t gr_unpack(const unsigned char *bytes, unsigned width);

#endif
