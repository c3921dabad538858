/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One message with file descriptors over a Unix stream socket. Whatever arrives may come from a
 * hostile peer: a message has a bounded size and a bounded number of descriptors, and after an
 * error none stays open.
 */
#ifndef GR_LIB_SHARE_SOCKET_H
#define GR_LIB_SHARE_SOCKET_H

#include <stdint.h>

#include <grinterop/share.h>

/* The version of all messages; another one is refused. */
#define GR_MESSAGE_VERSION 2u

#define GR_MESSAGE_MOST_BYTES 512
#define GR_MESSAGE_MOST_FDS   3

enum gr_message_kind { GR_MESSAGE_RESOURCE = 1, GR_MESSAGE_RING, GR_MESSAGE_SLOT };

struct gr_message {
    enum gr_message_kind kind;
    size_t size; /* of the bytes */
    unsigned fd_count;
    int fds[GR_MESSAGE_MOST_FDS];
    unsigned char bytes[GR_MESSAGE_MOST_BYTES];

    /* The application's, which come after `bytes`: those to send, or how many came. */
    const void *data;
    size_t data_size;

    /* Where those that come go; a message that has more is refused, and stays in the socket. */
    void *room;
    size_t room_size;
};

/* When a call gives up, by the monotonic clock. */
struct gr_deadline {
    bool never;
    bool looks; /* a timeout of 0: what is not there at once is not ready */
    double at;  /* of gr_clock_ms() */
};
struct gr_deadline gr_deadline_in(unsigned timeout_ms); /* ~0u: never */

/* Milliseconds that are left, for poll(): -1 for ever, 0 once it has passed. */
int gr_deadline_left(const struct gr_deadline *deadline);

/* GR_ERR_TIMEOUT if it is over: for what consists of several messages, of which some have passed.
 */
gr_status gr_message_check_deadline(const struct gr_deadline *deadline, const char *call);

/* GR_ERR_INVALID_VALUE: it is no connected Unix stream socket. */
gr_status gr_socket_check(int socket, const char *call);

/* Refuses the application's bytes if they are too many, or NULL; else the message has them. */
gr_status gr_message_set_data(struct gr_message *message, const void *data, size_t size,
                              const char *call);

/* Likewise the room for those that come. */
gr_status gr_message_set_room(struct gr_message *message, void *room, size_t size,
                              const char *call);

/* The descriptors stay the caller's. GR_ERR_TIMEOUT, GR_ERR_SYSTEM. */
gr_status gr_message_send(int socket, const struct gr_message *message,
                          const struct gr_deadline *deadline, const char *call);

/*
 * Receives one of that kind, whose descriptors are the caller's then. Reads no byte beyond it.
 * data_size is written on success, and where there is not enough room for as many.
 * Errors: as above; GR_ERR_INVALID_VALUE: it is not one of grinterop's, of another version or kind,
 * too large, or with a descriptor that cannot be memory or a semaphore.
 */
gr_status gr_message_receive(int socket, enum gr_message_kind kind, struct gr_message *message,
                             const struct gr_deadline *deadline, const char *call);

/* Closes the descriptors that are not taken: this process's own, of a message to be sent. */
void gr_message_close_fds(struct gr_message *message);

/* Likewise those of a message that was received, which may be of anything. */
void gr_message_refuse_fds(struct gr_message *message);

/* A descriptor out of the message: the caller's from now on. -1 if it has been taken. */
int gr_message_take_fd(struct gr_message *message, unsigned i);

/* ---- Numbers, least significant byte first --------------------------------------------------- */

void gr_pack(unsigned char *bytes, uint64_t value, unsigned width);
uint64_t gr_unpack(const unsigned char *bytes, unsigned width);

#endif
