/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Attacks on the socket itself: out-of-band bytes, and descriptors whose close() lasts as long as
 * the peer likes. Such a descriptor is a TCP socket with SO_LINGER and unread bytes.
 *
 * The setsockopt() of this program overrides that of the C library.
 */
#define _GNU_SOURCE
#include "hostile.h"
#include "tests/support/next.h"
#include "tests/share/share_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

/*
 * LINGER_S is how long such a close() takes. ENOUGH_MS is the limit for a call on a busy machine.
 */
#define LINGER_S   30
#define ENOUGH_MS  10000
#define TIMEOUT_MS 100

/* Simulates a kernel without SO_PASSRIGHTS, that is before Linux 6.16. */
static atomic_bool without_passrights;

int setsockopt(int socket, int level, int name, const void *value, socklen_t size)
{
    NEXT(setsockopt);
    if (!atomic_load(&without_passrights) || level != SOL_SOCKET || name != SO_PASSRIGHTS)
        return next(socket, level, name, value, size);
    errno = ENOPROTOOPT;
    return -1;
}

static TCase *add_sockets_case(Suite *suite, const char *name)
{
    return with_sharing(add_vulkan_case(suite, name));
}

GROUP("sockets", add_sockets_case)

static void *receive_either(int socket, bool ring, unsigned timeout_ms)
{
    gr_clear_error();
    return ring ? (void *)gr_ring_receive(socket, NULL, 0, NULL, timeout_ms)
                : (void *)gr_resource_receive(socket, NULL, 0, NULL, timeout_ms);
}

/*
 * Catches: the socket was readable, but nothing could be read. The timeout was never checked, and
 * the thread was in a busy loop until the peer ended.
 */
VULKAN_TEST(an_out_of_band_byte_does_not_extend_the_timeout, 2)
{
    static const unsigned timeouts[] = {0, TIMEOUT_MS};
    struct pair pair = pair_make();
    for (int i = 0; i < 2; i++) {
        if (send(pair.here, "x", 1, MSG_OOB) != 1) {
            pair_close(&pair);
            skip("Unix sockets have no out-of-band data here: %s", strerror(errno));
        }
        int64_t begin = clock_ms();
        ck_assert_ptr_null(receive_either(pair.there, _i, timeouts[i]));
        assert_error(GR_ERR_TIMEOUT, 0, "close the socket");
        ck_assert_int_lt(clock_ms() - begin, ENOUGH_MS);
    }
    pair_close(&pair);
}

/* ---- Descriptors with a blocking close() ----------------------------------------------------- */

/* A TCP connection whose other end reads nothing. */
struct connection {
    int fd, other;
};

static void listen_here(int fd, struct sockaddr_in *at)
{
    socklen_t size = sizeof(*at);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(fd, (struct sockaddr *)at, sizeof(*at)) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)at, &size) != 0)
        skip("there is no TCP here: %s", strerror(errno));
}

static struct connection connection_make(void)
{
    static const unsigned char bytes[65536];
    const struct linger linger = {.l_onoff = 1, .l_linger = LINGER_S};
    struct connection c;
    struct sockaddr_in at;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    listen_here(listening, &at);
    c.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(c.fd, (struct sockaddr *)&at, sizeof(at)), 0);
    c.other = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    ck_assert_int_ge(c.other, 0);
    close(listening);
    while (send(c.fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        continue;
    ck_assert_int_eq(setsockopt(c.fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
    return c;
}

/* Ends the connection, so that a close() of the first end no longer blocks. */
static void connection_end(struct connection *c, int fds)
{
    const struct linger at_once = {.l_onoff = 1};
    setsockopt(c->other, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(c->other);
    wire_assert_closed("lingering descriptors", fds);
}

/* Sends the descriptor of the connection `times` times, together with bytes of a message. */
static void send_connection(int socket, const struct connection *c, const void *bytes, size_t size,
                            size_t times, int flags)
{
    struct wire wire = {.size = size, .fd_count = times};
    memcpy(wire.bytes, bytes, size);
    for (size_t i = 0; i < times; i++)
        wire.fds[i] = c->fd;
    ck_assert(wire_try(socket, &wire, flags));
}

static struct wire take_message(bool ring)
{
    struct pair pair = pair_make();
    struct wire wire;
    if (ring) {
        struct shared_ring r = shared_ring_begin(1, GR_SIDE_CUDA, GR_RING_LOSSLESS);
        assert_ok(gr_ring_send(pair.here, r.ring, GR_RING_CONSUMER, NULL, 0, SOON));
        wire = wire_take(pair.there);
        close(pair.there);
        shared_ring_end(&r);
    } else {
        GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
        assert_ok(gr_resource_send(pair.here, resource, NULL, 0, SOON));
        wire = wire_take(pair.there);
        pair_close(&pair);
    }
    return wire;
}

/*
 * Lingering descriptors replace those of the message, exceed their number, or come with an
 * out-of-band byte.
 *
 * Catches: this thread, or the kernel in this thread, ran the last close(), and
 * gr_resource_receive(100 ms) took 15 s.
 */
VULKAN_TEST(lingering_descriptors_do_not_delay_a_receive, 6)
{
    static const char *const texts[] = {"memfd", "more than 3", "close the socket"};
    bool ring = _i & 1;
    enum { INSTEAD, MANY, OUT_OF_BAND } how = _i / 2;
    struct wire good = take_message(ring);
    int fds = open_fds();
    struct pair pair = pair_make();
    struct connection c = connection_make();
    if (how == OUT_OF_BAND) {
        ck_assert_int_eq(send(pair.here, good.bytes, 1, 0), 1);
        send_connection(pair.here, &c, good.bytes + 1, 1, 1, MSG_OOB);
    } else {
        size_t times = how == MANY ? WIRE_MOST_FDS : good.fd_count;
        send_connection(pair.here, &c, good.bytes, good.size, times, 0);
    }
    close(c.fd);
    int64_t begin = clock_ms();
    ck_assert_ptr_null(receive_either(pair.there, ring, TIMEOUT_MS));
    ck_assert_int_lt(clock_ms() - begin, ENOUGH_MS);
    assert_error(how == OUT_OF_BAND ? GR_ERR_TIMEOUT : GR_ERR_INVALID_VALUE, 0, texts[how]);
    pair_close(&pair);
    connection_end(&c, fds);
    wire_close(&good);
}

/*
 * The peer of a ring sends lingering descriptors, on a kernel that allows it.
 *
 * Catches: the thread that watches the peer blocked in close() and noticed nothing else.
 * gr_ring_free() took 12.7 s.
 */
VULKAN_TEST(lingering_descriptors_do_not_delay_a_ring, 2)
{
    const gr_slot *slot;
    struct hostile peer;
    /* Creates the pair of semaphores that the device keeps open. */
    gr_resource_free(must_create(SHARE_SIZE, GR_READ_WRITE));
    int fds = open_fds();
    atomic_store(&without_passrights, true);
    struct shared_ring r = hostile_ring(&peer, false, GR_RING_LOSSLESS);
    atomic_store(&without_passrights, false);
    struct connection c = connection_make();
    for (int i = 0; i < 3; i++)
        send_connection(peer.socket, &c, "x", 1, 2, _i ? MSG_OOB : 0);
    close(c.fd);
    assert_fails(gr_ring_acquire_read(r.ring, fx.stream, &slot, 1, ENOUGH_MS), GR_ERR_SYSTEM, 0,
                 "descriptors");
    int64_t begin = clock_ms();
    gr_ring_free(r.ring);
    r.ring = NULL;
    ck_assert_int_lt(clock_ms() - begin, ENOUGH_MS);
    hostile_end(&peer);
    shared_ring_end(&r);
    connection_end(&c, fds);
}

VULKAN_TEST(the_socket_of_a_ring_refuses_descriptors)
{
    struct hostile peer;
    int socket, passes = 1;
    socklen_t size = sizeof(passes);
    peer = hostile_pair(&socket);
    if (getsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &passes, &size) != 0) {
        hostile_end(&peer);
        close(socket);
        skip("the kernel has no SO_PASSRIGHTS");
    }
    struct shared_ring r =
        shared_ring_sent(socket, HOSTILE_SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS, GR_RING_PRODUCER);
    hostile_take(&peer);
    ck_assert_int_eq(getsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &passes, &size), 0);
    ck_assert_int_eq(passes, 0);
    struct wire wire = {.size = 1, .fd_count = 1, .fds = {peer.socket}};
    ck_assert(!wire_try(peer.socket, &wire, 0));
    ck_assert_int_eq(errno, EPERM);
    assert_ok(cuda_writes(r.ring));
    hostile_end(&peer);
    shared_ring_end(&r);
}

/* A failed send leaves the options of the socket unchanged. */
VULKAN_TEST(a_failed_send_restores_the_socket_options)
{
    int socket, inline_before = 1;
    socklen_t size = sizeof(inline_before);
    struct hostile peer = hostile_pair(&socket);
    struct shared_ring r = shared_ring_begin(HOSTILE_SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    shutdown(peer.socket, SHUT_RD);
    assert_fails(gr_ring_send(socket, r.ring, GR_RING_CONSUMER, NULL, 0, SOON), GR_ERR_SYSTEM, -1,
                 "closed its end");
    ck_assert_int_eq(getsockopt(socket, SOL_SOCKET, SO_OOBINLINE, &inline_before, &size), 0);
    ck_assert_int_eq(inline_before, 0);
    struct wire wire = {.size = 1, .fd_count = 1, .fds = {peer.socket}};
    ck_assert(wire_try(peer.socket, &wire, 0));
    close(socket);
    hostile_end(&peer);
    shared_ring_end(&r);
}
