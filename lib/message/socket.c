/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Messages between processes: see socket.h. The descriptors are sent with the header. */
#define _GNU_SOURCE
#include "lib/message/socket.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/fork.h"
#include "lib/cuda/import_handle.h"
#include "lib/message/foreign_fd.h"

/*
 * The header: "grsh", the version, the kind, and the numbers of bytes, of descriptors and of
 * application bytes. Each has 4 bytes.
 */
#define MAGIC       0x68737267u
#define HEADER_SIZE 24

/* The time, in milliseconds, in which a call with timeout 0 may transfer available data. */
#define LOOK_MS 1000

struct header {
    uint32_t magic, version, kind, size, fd_count, data_size;
};

/* ---- Integers -------------------------------------------------------------------------------- */

void gr_pack(unsigned char *bytes, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
}

uint64_t gr_unpack(const unsigned char *bytes, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void pack_header(const struct gr_message *message, unsigned char *bytes)
{
    const uint32_t words[] = {MAGIC,
                              GR_MESSAGE_VERSION,
                              (uint32_t)message->kind,
                              (uint32_t)message->size,
                              message->fd_count,
                              (uint32_t)message->data_size};
    for (unsigned i = 0; i < HEADER_SIZE / 4; i++)
        gr_pack(bytes + 4 * i, words[i], 4);
}

static struct header unpack_header(const unsigned char *bytes)
{
    return (struct header){
        .magic = (uint32_t)gr_unpack(bytes, 4),
        .version = (uint32_t)gr_unpack(bytes + 4, 4),
        .kind = (uint32_t)gr_unpack(bytes + 8, 4),
        .size = (uint32_t)gr_unpack(bytes + 12, 4),
        .fd_count = (uint32_t)gr_unpack(bytes + 16, 4),
        .data_size = (uint32_t)gr_unpack(bytes + 20, 4),
    };
}

/* ---- Time ------------------------------------------------------------------------------------ */

int gr_message_ms_left(const struct gr_deadline *deadline)
{
    const double left = gr_deadline_left(deadline);
    if (isinf(left))
        return -1;
    return left <= 0 ? 0 : left >= 0x7fffffff ? 0x7fffffff : (int)left + 1;
}

/*
 * Whether a call has to stop, even if more data can be transferred at once. With a timeout of 0 a
 * call transfers available data for at most a second.
 */
static bool is_over(const struct gr_deadline *deadline)
{
    return gr_deadline_left(deadline) <= (deadline->timeout_ms == 0 ? -LOOK_MS : 0);
}

/* ---- Interrupts ------------------------------------------------------------------------------ */

#define SLICE_MS 50

static _Thread_local struct {
    bool (*function)(void *user);
    void *user;
} interrupt;

void gr_share_set_interrupt(bool (*function)(void *user), void *user)
{
    interrupt.function = function;
    interrupt.user = user;
}

int gr_share_slice(int left)
{
    return interrupt.function && (left < 0 || left > SLICE_MS) ? SLICE_MS : left;
}

gr_status gr_share_check_interrupt(void)
{
    if (!interrupt.function || !interrupt.function(interrupt.user))
        return GR_OK;
    return gr_fail(GR_ERR_STOPPED,
                   "The interrupt function ended the call. Close the socket: a part of a message "
                   "may have been transferred.");
}

/* ---- The socket ------------------------------------------------------------------------------ */

gr_status gr_socket_check(int socket)
{
    int domain = 0, type = 0;
    socklen_t size = sizeof(int);
    struct sockaddr_storage peer;
    socklen_t peer_size = sizeof(peer);
    GR_TRY(gr_fork_check());
    if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
        getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || domain != AF_UNIX ||
        type != SOCK_STREAM)
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "The descriptor %d is not a Unix stream socket: create one by "
                       "socketpair(AF_UNIX, SOCK_STREAM, ...) or connect().",
                       socket);
    if (getpeername(socket, (struct sockaddr *)&peer, &peer_size) != 0)
        return errno == ENOTCONN
                   ? gr_fail(GR_ERR_INVALID_VALUE,
                             "The socket %d is not connected: connect it, or use socketpair().",
                             socket)
                   : gr_fail_errno(errno, "Cannot query the peer of socket %d", socket);
    return GR_OK;
}

/*
 * Records a timeout. `begun`: a part of the message was transferred, so the stream is out of sync.
 */
static gr_status fail_timeout(const struct gr_deadline *deadline, const char *what, bool begun)
{
    if (deadline->timeout_ms == 0 && !begun)
        return gr_fail(GR_ERR_NOT_READY, "The message was not %s.", what);
    return gr_fail(GR_ERR_TIMEOUT, "The message was not %s in time%s.", what,
                   begun ? "; part of it was transferred: close the socket" : "");
}

gr_status gr_message_check_deadline(const struct gr_deadline *deadline)
{
    return is_over(deadline) ? fail_timeout(deadline, "complete", true) : GR_OK;
}

static gr_status fail_gone(int error)
{
    if (!error)
        return gr_fail(GR_ERR_SYSTEM,
                       "The other process has closed its end of the socket: end of file.");
    return gr_fail_errno(error, error == EPIPE || error == ECONNRESET
                                    ? "The other process has closed its end of the socket"
                                    : "The message could not be transferred");
}

/*
 * Waits until the socket is readable or writable; the next transfer reports errors. The deadline is
 * checked first, because a peer may keep the socket ready without ever completing the message.
 */
static gr_status wait_for(int socket, short events, const struct gr_deadline *deadline, bool begun)
{
    struct pollfd one = {.fd = socket, .events = events};
    int left, slice;
    do {
        left = is_over(deadline) ? 0 : gr_message_ms_left(deadline);
        slice = gr_share_slice(left);
        int ready = is_over(deadline) ? 0 : poll(&one, 1, slice);
        int error = errno;
        GR_TRY(gr_share_check_interrupt());
        if (ready > 0 || (ready < 0 && error == EINTR))
            return GR_OK;
        if (ready < 0)
            return fail_gone(error);
    } while (slice != left);
    return fail_timeout(deadline, events == POLLIN ? "received" : "sent", begun);
}

static bool is_temporary(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* Room for the descriptors, aligned as cmsg(3) requires. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(GR_MESSAGE_MOST_FDS * sizeof(int))];
};

static void attach_fds(struct msghdr *sent, union control *control,
                       const struct gr_message *message)
{
    size_t size = message->fd_count * sizeof(int);
    memset(control, 0, sizeof(*control));
    sent->msg_control = control->bytes;
    sent->msg_controllen = CMSG_SPACE(size);
    struct cmsghdr *header = CMSG_FIRSTHDR(sent);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), message->fds, size);
}

gr_status gr_message_set_data(struct gr_message *message, const void *data, size_t size)
{
    GR_REFUSE_IF(size > GR_SHARE_MOST_DATA,
                 "`size` is %zu, but a message has room for only %d application bytes: send more "
                 "over the socket directly.",
                 size, GR_SHARE_MOST_DATA);
    GR_REFUSE_IF(!data && size, "`data` is NULL, but `size` is %zu.", size);
    message->data = data;
    message->data_size = size;
    return GR_OK;
}

gr_status gr_message_set_room(struct gr_message *message, void *room, size_t size)
{
    GR_REFUSE_IF(!room && size, "`data` is NULL, but `room` is %zu.", size);
    message->room = room;
    message->room_size = size;
    return GR_OK;
}

/* Sends bytes. If `message` is not NULL, its descriptors are sent with the first byte. */
static gr_status send_bytes(int socket, const void *bytes, size_t size,
                            const struct gr_message *message, const struct gr_deadline *deadline)
{
    size_t done = 0;
    union control control;
    while (done < size) {
        struct iovec part = {.iov_base = (char *)bytes + done, .iov_len = size - done};
        struct msghdr sent = {.msg_iov = &part, .msg_iovlen = 1};
        if (done == 0 && message && message->fd_count > 0)
            attach_fds(&sent, &control, message);
        ssize_t count = sendmsg(socket, &sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            done += (size_t)count;
            continue;
        }
        if (!is_temporary(errno))
            return fail_gone(errno);
        GR_TRY(wait_for(socket, POLLOUT, deadline, done > 0 || !message));
    }
    return GR_OK;
}

gr_status gr_message_send(int socket, const struct gr_message *message,
                          const struct gr_deadline *deadline)
{
    unsigned char bytes[HEADER_SIZE + GR_MESSAGE_MOST_BYTES];
    size_t size = HEADER_SIZE + message->size;
    pack_header(message, bytes);
    memcpy(bytes + HEADER_SIZE, message->bytes, message->size);
    GR_TRY(send_bytes(socket, bytes, size, message, deadline));
    return send_bytes(socket, message->data, message->data_size, NULL, deadline);
}

/* ---- Receiving ------------------------------------------------------------------------------- */

void gr_message_close_fds(struct gr_message *message)
{
    for (unsigned i = 0; i < message->fd_count; i++)
        if (message->fds[i] >= 0)
            close(message->fds[i]);
    message->fd_count = 0;
}

void gr_message_discard_fds(struct gr_message *message)
{
    for (unsigned i = 0; i < message->fd_count; i++)
        if (message->fds[i] >= 0)
            gr_foreign_close(&message->fds[i], 1);
    message->fd_count = 0;
}

int gr_message_take_fd(struct gr_message *message, unsigned i)
{
    int fd = message->fds[i];
    message->fds[i] = -1;
    return fd;
}

/* Receives some bytes and their descriptors. *count is 0 if none are available. */
static gr_status receive_some(int socket, unsigned char *bytes, size_t size,
                              struct gr_message *message, size_t *count)
{
    struct gr_foreign_fds fds;
    *count = 0;
    ssize_t received = gr_foreign_receive(socket, bytes, size, &fds);
    if (received < 0)
        return is_temporary(errno) ? GR_OK : fail_gone(errno);
    if (received == 0)
        return fail_gone(0);
    *count = (size_t)received;
    /* Keeps the descriptors that fit into the message, and closes the others. */
    const size_t room = GR_MESSAGE_MOST_FDS - message->fd_count;
    const size_t kept = fds.count < room ? fds.count : room;
    memcpy(message->fds + message->fd_count, fds.fds, kept * sizeof(int));
    message->fd_count += (unsigned)kept;
    gr_foreign_close(fds.fds + kept, fds.count - kept);
    if (kept == fds.count && !fds.lost)
        return GR_OK;
    if (fds.lost)
        GR_TRY(gr_fd_check_left());
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The message has more than %d file descriptors, or some that this process may "
                   "not receive: grinterop did not send it.",
                   GR_MESSAGE_MOST_FDS);
}

static gr_status receive_all(int socket, unsigned char *bytes, size_t size, bool begun,
                             struct gr_message *message, const struct gr_deadline *deadline)
{
    size_t done = 0;
    while (done < size) {
        size_t count;
        gr_status status = receive_some(socket, bytes + done, size - done, message, &count);
        done += count;
        if (status == GR_OK && count == 0)
            status = wait_for(socket, POLLIN, deadline, begun || done > 0);
        else if (status == GR_OK && done < size)
            status = gr_message_check_deadline(deadline);
        if (status != GR_OK)
            return status;
    }
    return GR_OK;
}

static gr_status check_header(const struct header *header, enum gr_message_kind kind)
{
    GR_REFUSE_IF(header->magic != MAGIC,
                 "The received data is not a grinterop message (it begins with 0x%08x): does the "
                 "other process send by grinterop, and nothing else, on this socket?",
                 header->magic);
    GR_REFUSE_IF(header->version != GR_MESSAGE_VERSION,
                 "The message has version %u, but this grinterop (%s) supports only %u: use one "
                 "version of grinterop in both processes.",
                 header->version, gr_library_version(), GR_MESSAGE_VERSION);
    if (header->size > GR_MESSAGE_MOST_BYTES || header->fd_count > GR_MESSAGE_MOST_FDS ||
        header->data_size > GR_SHARE_MOST_DATA)
        return gr_fail(GR_ERR_INVALID_VALUE,
                       "The message claims impossible sizes (bytes: %u, descriptors: %u, "
                       "application bytes: %u): grinterop did not send it.",
                       header->size, header->fd_count, header->data_size);
    GR_REFUSE_IF(header->kind != (uint32_t)kind,
                 "The message is of kind %u instead of %u (1 resource, 2 ring, 3 slot): use the "
                 "gr_receive function that matches the gr_send function.",
                 header->kind, (unsigned)kind);
    return GR_OK;
}

/*
 * Checks that the application's data fits. `taken`: the header has been read from the socket, so
 * the message cannot be received again.
 */
static gr_status check_room(const struct header *header, struct gr_message *message, bool taken)
{
    if (header->data_size <= message->room_size)
        return GR_OK;
    message->data_size = header->data_size;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The sender's data has the size %u, but there is room for %zu%s.",
                   header->data_size, message->room_size,
                   taken ? "; part of the message has been read: close the socket"
                         : ". Nothing was consumed: receive the message again, with more room");
}

/*
 * Checks the header before it is removed from the socket, if the whole header has arrived. Senders
 * send the header in one piece.
 */
static gr_status peek_header(int socket, enum gr_message_kind kind, struct gr_message *message,
                             const struct gr_deadline *deadline)
{
    unsigned char bytes[HEADER_SIZE];
    ssize_t seen;
    while ((seen = recv(socket, bytes, HEADER_SIZE, MSG_PEEK | MSG_DONTWAIT)) < 0) {
        if (!is_temporary(errno))
            return fail_gone(errno);
        GR_TRY(wait_for(socket, POLLIN, deadline, false));
    }
    if (seen < HEADER_SIZE)
        return GR_OK;
    const struct header header = unpack_header(bytes);
    GR_TRY(check_header(&header, kind));
    return check_room(&header, message, false);
}

static gr_status receive_header(int socket, enum gr_message_kind kind, struct header *header,
                                struct gr_message *message, const struct gr_deadline *deadline)
{
    unsigned char bytes[HEADER_SIZE];
    GR_TRY(peek_header(socket, kind, message, deadline));
    GR_TRY(receive_all(socket, bytes, HEADER_SIZE, false, message, deadline));
    *header = unpack_header(bytes);
    GR_TRY(check_header(header, kind));
    return check_room(header, message, true);
}

static gr_status receive(int socket, enum gr_message_kind kind, struct gr_message *message,
                         const struct gr_deadline *deadline)
{
    struct header header;
    GR_TRY(receive_header(socket, kind, &header, message, deadline));
    message->kind = kind;
    message->size = header.size;
    GR_TRY(receive_all(socket, message->bytes, header.size, true, message, deadline));
    GR_TRY(receive_all(socket, message->room, header.data_size, true, message, deadline));
    GR_REFUSE_IF(message->fd_count != header.fd_count,
                 "Wrong number of descriptors: the message names %u, and %u arrived.",
                 header.fd_count, message->fd_count);
    /* before any other use of them: on a file system of the peer even fstat() could block */
    for (unsigned i = 0; i < message->fd_count; i++)
        GR_REFUSE_IF(!gr_foreign_is_shareable(message->fds[i]),
                     "Descriptor %u of the message is neither a memfd with small pages nor a GPU "
                     "driver's file: grinterop did not send it.",
                     i);
    message->data_size = header.data_size;
    return GR_OK;
}

/*
 * Receives out-of-band bytes inline during the call. Otherwise the socket would be readable
 * although reads return nothing, and the kernel would close the descriptors of these bytes on this
 * thread.
 */
gr_status gr_message_receive(int socket, enum gr_message_kind kind, struct gr_message *message,
                             const struct gr_deadline *deadline)
{
    message->fd_count = 0;
    message->size = 0;
    message->data_size = 0;
    int before = gr_socket_option(socket, SO_OOBINLINE, 1);
    gr_status status = receive(socket, kind, message, deadline);
    gr_socket_option(socket, SO_OOBINLINE, before);
    if (status != GR_OK)
        gr_message_discard_fds(message);
    return status;
}
