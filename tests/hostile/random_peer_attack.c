/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The actions of a peer of test_random_peer. Most are those of an honest peer, so that the ring
 * makes progress, and some are hostile. The process of the peer uses neither grinterop nor CUDA.
 */
#define _GNU_SOURCE
#include "random_peer.h"
#include "tests/support/random_walk.h"
#include "tests/support/support.h"

#include "lib/ring/link/page.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/fd_message.h"

#define PAGE_SIZE 4096
#define STEPS     400

enum { PAGE, SENT, RECEIVED };

struct peer {
    uint32_t random;
    int socket;
    bool writes;
    struct gr_page *page;
    size_t page_size;
    /* The semaphore values that this peer and the other side signal. */
    _Atomic uint64_t *mine, *theirs;
    uint64_t frame, value;
};

static uint32_t below(struct peer *peer, uint32_t n)
{
    return walk_random(&peer->random, n);
}

static void pause_us(struct peer *peer, uint32_t most)
{
    usleep(below(peer, most));
}

static uint64_t any_number(struct peer *peer)
{
    static const uint64_t some[] = {0, 1, 2, 3, 4, 1 << 20, (uint64_t)1 << 63, ~(uint64_t)0};
    uint32_t n = sizeof(some) / sizeof(*some);
    return below(peer, 2) ? some[below(peer, n)] : (uint64_t)below(peer, 64) << 2 | below(peer, 4);
}

/* ---- The ring -------------------------------------------------------------------------------- */

static void *map(int fd, size_t *size)
{
    struct stat file;
    if (fstat(fd, &file) != 0 || file.st_size <= 0)
        _exit(1);
    *size = (size_t)file.st_size;
    void *mapped = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        _exit(1);
    return mapped;
}

/* Maps the value of a semaphore: the software driver stores it in the last word of the file. */
static _Atomic uint64_t *map_value(int fd)
{
    size_t size;
    unsigned char *mapped = map(fd, &size);
    return (_Atomic uint64_t *)(void *)(mapped + size - sizeof(uint64_t));
}

static void open_files(struct peer *peer, const int fds[], bool sends)
{
    peer->page = map(fds[PAGE], &peer->page_size);
    peer->mine = map_value(fds[sends ? SENT : RECEIVED]);
    peer->theirs = map_value(fds[sends ? RECEIVED : SENT]);
}

/* Creates a sealed file with the same bytes. */
static int copy_of(int fd)
{
    char bytes[PAGE_SIZE];
    ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
    int made = memfd_create("peer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (size <= 0 || made < 0 || pwrite(made, bytes, (size_t)size, 0) != size ||
        fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        _exit(1);
    return made;
}

static bool take_ring(struct peer *peer)
{
    unsigned char bytes[PEER_ROOM];
    size_t count = PEER_FDS;
    int fds[PEER_FDS];
    if (fd_receive(peer->socket, bytes, sizeof(bytes), fds, &count, 0) <= 0 || count != 3)
        return false;
    open_files(peer, fds, false);
    return true;
}

struct message {
    unsigned char bytes[PEER_ROOM];
    uint32_t size, count;
    int fds[3];
};

static struct message message_of(const struct peer_messages *all, uint32_t i)
{
    struct message message = {.size = (uint32_t)all->sizes[i], .count = i == 0 ? 3 : 1};
    memcpy(message.bytes, all->bytes[i], message.size);
    memcpy(message.fds, all->fds + (i == 0 ? 0 : 2 + i), message.count * sizeof(int));
    return message;
}

/* Changes a byte, truncates the message, omits or swaps descriptors, or takes another message. */
static void change(struct peer *peer, struct message *message, const struct peer_messages *all)
{
    uint32_t what = below(peer, 8);
    if (what == 0 && message->size > 0)
        message->size = below(peer, message->size);
    else if (what == 1)
        message->count = below(peer, message->count + 1);
    else if (what == 2 && message->count > 0)
        message->fds[below(peer, message->count)] =
            below(peer, 4) ? all->fds[below(peer, PEER_FDS)] : peer->socket;
    else if (what == 3)
        *message = message_of(all, below(peer, PEER_MESSAGES));
    else if (message->size > 0)
        message->bytes[below(peer, message->size)] ^= (unsigned char)(1 + below(peer, 255));
}

/* Sends the message. A slow one is sent byte by byte and takes longer than any call may. */
static void put(const struct peer *peer, const struct message *message, bool is_slow)
{
    uint32_t sent = is_slow ? 1 : message->size;
    if (message->size == 0)
        return;
    fd_send(peer->socket, message->bytes, sent, message->fds, message->count, MSG_NOSIGNAL);
    for (; sent < message->size; sent++) {
        usleep(100000);
        if (send(peer->socket, message->bytes + sent, 1, MSG_NOSIGNAL) != 1)
            return;
    }
}

/*
 * Sends a bad message: changed, slow, late, or truncated. Returns false after a truncated one,
 * after which nothing follows.
 */
static bool send_bad(struct peer *peer, const struct peer_messages *all, uint32_t i)
{
    struct message message = message_of(all, i);
    uint32_t how = below(peer, 8);
    if (how == 0)
        message.size = below(peer, message.size);
    else if (how == 1)
        pause_us(peer, 50000);
    for (uint32_t changes = how > 2 ? 1 + below(peer, 3) : 0; changes > 0; changes--)
        change(peer, &message, all);
    put(peer, &message, how == 2);
    return how != 0;
}

/* Returns false if a part of the ring is missing: the peer ends, or stays and is silent. */
static bool send_ring(struct peer *peer, const struct peer_messages *model)
{
    struct peer_messages all = *model;
    bool is_bad = below(peer, 2);
    for (int i = 0; i < 3; i++)
        all.fds[i] = copy_of(model->fds[i]);
    open_files(peer, all.fds, true);
    atomic_store(peer->mine, 0);
    atomic_store(peer->theirs, 0);
    enum { ROLE_AT = 24 + 4, MODE_AT = ROLE_AT + 4 };
    all.bytes[0][ROLE_AT] = peer->writes ? GR_RING_CONSUMER : GR_RING_PRODUCER;
    all.bytes[0][MODE_AT] = below(peer, 2) ? GR_RING_NEWEST : GR_RING_LOSSLESS;
    for (uint32_t i = 0; i < PEER_MESSAGES; i++) {
        const struct message good = message_of(&all, i);
        if (!is_bad || below(peer, 3)) {
            put(peer, &good, false);
        } else if (!send_bad(peer, &all, i)) {
            pause_us(peer, below(peer, 2) ? 400000 : 1);
            return false;
        }
    }
    return true;
}

/* ---- Actions --------------------------------------------------------------------------------- */

/* Returns false once the other side has closed its end. */
static bool is_connected(const struct peer *peer)
{
    char bytes[256];
    ssize_t got = recv(peer->socket, bytes, sizeof(bytes), MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

static void wake(const struct peer *peer)
{
    send(peer->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void hand_on(struct peer *peer, uint32_t i, uint64_t frame, uint64_t value)
{
    struct gr_page_slot *slot = &peer->page->slots[i];
    atomic_store(peer->writes ? &slot->written : &slot->given_back, value);
    atomic_store(&slot->word, frame << 2 | (peer->writes ? GR_OWNER_READY : GR_OWNER_PRODUCER));
    gr_page_mark(&peer->page->changes[!peer->writes], i);
    if (peer->writes)
        atomic_store(&peer->page->written, frame);
    wake(peer);
}

/*
 * Hands over the next slot with that semaphore value. The caller decides whether the peer signals
 * the value.
 */
static void hand_next_on(struct peer *peer, uint64_t value)
{
    for (uint32_t i = 0; i < PEER_SLOTS; i++) {
        uint64_t word = atomic_load(&peer->page->slots[i].word);
        if ((word & 3) != (peer->writes ? GR_OWNER_PRODUCER : GR_OWNER_READY))
            continue;
        hand_on(peer, i, peer->writes ? ++peer->frame : word >> 2, value);
        return;
    }
}

static void be_good(struct peer *peer)
{
    atomic_store(peer->mine, ++peer->value);
    hand_next_on(peer, peer->value);
}

/* Hands over a slot with a value that is reached, and resets the value a moment later. */
static void take_back(struct peer *peer)
{
    be_good(peer);
    pause_us(peer, 3000);
    atomic_store(peer->mine, below(peer, 2) ? 0 : peer->value - 1);
}

static void flip(struct peer *peer, _Atomic uint64_t *value)
{
    uint64_t before = atomic_load(value);
    for (uint32_t n = 1 + below(peer, 20); n > 0; n--) {
        atomic_store(value, any_number(peer));
        pause_us(peer, 300);
        atomic_store(value, before);
    }
}

static void write_words(struct peer *peer)
{
    _Atomic uint64_t *words = (_Atomic uint64_t *)(void *)peer->page;
    for (uint32_t n = 1 + below(peer, 3); n > 0; n--)
        atomic_store(&words[below(peer, (uint32_t)(peer->page_size / sizeof(*words)))],
                     any_number(peer));
    wake(peer);
}

/* Sends unexpected bytes, some with a descriptor. */
static void send_anything(struct peer *peer)
{
    char bytes[64] = {0};
    int fd = below(peer, 2) ? open("/dev/null", O_RDWR | O_CLOEXEC) : dup(peer->socket);
    for (uint32_t n = below(peer, 100); n > 0; n--) {
        struct iovec part = {bytes, 1 + below(peer, sizeof(bytes))};
        struct msghdr sent = {.msg_iov = &part, .msg_iovlen = 1};
        sendmsg(peer->socket, &sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    if (below(peer, 4) == 0)
        fd_send(peer->socket, bytes, 1, &fd, 1, MSG_NOSIGNAL);
    close(fd);
}

static void be_bad(struct peer *peer)
{
    _Atomic uint64_t *value = below(peer, 3) ? peer->mine : peer->theirs;
    switch (below(peer, 9)) {
    case 0:
        write_words(peer);
        break;
    case 1:
        atomic_store(value, any_number(peer));
        break;
    case 2:
        flip(peer, value);
        break;
    case 3:
    case 4:
        take_back(peer);
        break;
    case 5: /* hands over a slot whose work is never done */
        hand_next_on(peer, peer->value + 1 + below(peer, 3));
        break;
    case 6:
        send_anything(peer);
        break;
    case 7:
        atomic_store(&peer->page->waiting[below(peer, 2)], 1);
        atomic_store(below(peer, 8) ? &peer->page->waiting[below(peer, 2)] : &peer->page->stopped,
                     1);
        break;
    default:
        pause_us(peer, 50000);
        break;
    }
}

/*
 * Ends the peer: closes the socket, exits, or keeps the socket open. The semaphores keep changing
 * meanwhile.
 */
static void end(struct peer *peer, bool is_first)
{
    if (is_first && below(peer, 3) == 0)
        _exit(0);
    if (is_first && below(peer, 2))
        shutdown(peer->socket, (int)below(peer, 3));
    atomic_store(peer->mine, 0);
    for (uint32_t n = below(peer, 300); n > 0; n--) {
        atomic_store(peer->mine, below(peer, 2) ? 0 : any_number(peer));
        pause_us(peer, 5000);
    }
}

void peer_attack(int socket, const struct peer_job *job, const struct peer_messages *model)
{
    struct peer peer = {.random = walk_start(job->seed), .socket = socket, .writes = job->writes};
    if (!(job->sends ? send_ring(&peer, model) : take_ring(&peer)))
        return;
    uint32_t honesty = 1 + below(&peer, 20), last = below(&peer, STEPS);
    bool lives = true;
    for (uint32_t step = 0; step < last && (lives = is_connected(&peer)); step++) {
        if (below(&peer, honesty) == 0)
            be_bad(&peer);
        else
            be_good(&peer);
        pause_us(&peer, 1000);
    }
    end(&peer, lives);
}
