/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Peers that do anything at any time, controlled by a seed: modified and truncated messages, wrong
 * descriptors, and pages and semaphores that are overwritten while both sides use them. Each call
 * must return in time, and no descriptor may stay open. GR_TEST_SEED sets the first seed. Each
 * failure prints its seed.
 */
#define _GNU_SOURCE
#include "hostile.h"
#include "tests/share/share_wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGES (1 + HOSTILE_SLOTS)

/*
 * The timeout for messages that are never complete, although their sender stays. It also limits the
 * time to import what has arrived, so a complete ring gets longer on a busy machine.
 */
#define AT_ONCE_MS 30

static uint32_t state;

/*
 * Uses the high half of the state, since the low bits of a linear congruential generator have short
 * periods.
 */
static uint32_t random_below(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * n >> 32);
}

static uint32_t first_seed(void)
{
    const char *text = getenv("GR_TEST_SEED");
    return text ? (uint32_t)strtoul(text, NULL, 0) : 20261121;
}

/* ---- A ring's messages ----------------------------------------------------------------------- */

struct messages {
    struct wire wires[MESSAGES];
};

static struct messages capture(struct shared_ring *r)
{
    struct messages all;
    struct pair pair = pair_make();
    *r = shared_ring_begin(HOSTILE_SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    assert_ok(gr_ring_send(pair.here, r->ring, GR_RING_CONSUMER, NULL, 0, SOON));
    for (int i = 0; i < MESSAGES; i++)
        all.wires[i] = wire_take(pair.there);
    close(pair.there);
    return all;
}

static void end_messages(struct messages *all, struct shared_ring *r)
{
    for (int i = 0; i < MESSAGES; i++)
        wire_close(&all->wires[i]);
    shared_ring_end(r);
}

/*
 * Whether a ring is received from the messages. The library must close their descriptors in either
 * case, which the callers check.
 */
static bool receives(const struct messages *all, bool sender_stays)
{
    struct pair pair = pair_make();
    for (int i = 0; i < MESSAGES; i++)
        if (all->wires[i].size > 0)
            wire_put(pair.here, &all->wires[i]);
    if (!sender_stays) {
        close(pair.here);
        pair.here = -1;
    }
    gr_clear_error();
    gr_ring *ring = gr_ring_receive(pair.there, NULL, 0, NULL, sender_stays ? AT_ONCE_MS : SOON);
    bool received = ring != NULL;
    if (received)
        pair.there = -1;
    else
        ck_assert_int_ne(gr_last_error()->status, GR_OK);
    gr_clear_error();
    gr_ring_free(ring);
    pair_close(&pair);
    return received;
}

/* Makes one to three changes: changes bytes, truncates messages, omits or swaps descriptors. */
static void change(struct messages *all, const struct messages *good)
{
    for (uint32_t changes = 1 + random_below(3); changes > 0; changes--) {
        struct wire *wire = &all->wires[random_below(MESSAGES)];
        uint32_t what = random_below(16);
        if (what == 0)
            *wire = good->wires[random_below(MESSAGES)];
        else if (what == 1)
            wire->size = random_below((uint32_t)wire->size + 1);
        else if (what == 2)
            wire->fd_count = random_below((uint32_t)wire->fd_count + 1);
        else if (what == 3 && wire->fd_count > 0)
            wire->fds[random_below((uint32_t)wire->fd_count)] = good->wires[0].fds[random_below(3)];
        else if (wire->size > 0)
            wire->bytes[random_below((uint32_t)wire->size)] ^=
                (unsigned char)(1 + random_below(255));
    }
}

GROUP("any peer", add_vulkan_case)

VULKAN_TEST(randomly_changed_messages_leak_no_descriptors)
{
    enum { ROUNDS = 400 };
    struct shared_ring r;
    struct messages good = capture(&r);
    int fds = open_fds(), taken = 0;
    uint32_t seed = first_seed();
    for (int i = 0; i < ROUNDS; i++) {
        struct messages changed = good;
        state = seed + (uint32_t)i;
        random_below(1);
        change(&changed, &good);
        taken += receives(&changed, i % 8 == 0);
        ck_assert_msg(open_fds_become(fds), "GR_TEST_SEED=%u left %d descriptors open", seed + i,
                      open_fds() - fds);
    }
    printf("hostile: seeds %u to %u: of %d changed rings %d were accepted, the others refused\n",
           seed, seed + ROUNDS - 1, ROUNDS, taken);
    ck_assert_int_lt(taken, ROUNDS);
    ck_assert(receives(&good, false));
    end_messages(&good, &r);
}

/* The messages are truncated at any byte. Then the sender ends, or stays and sends nothing more. */
VULKAN_TEST(truncated_messages_are_refused_in_time)
{
    struct shared_ring r;
    struct messages good = capture(&r);
    int fds = open_fds(), cuts = 0;
    for (int m = 0; m < MESSAGES; m++)
        for (size_t size = 0; size < good.wires[m].size; size += 1 + size / 4, cuts++) {
            struct messages cut = good;
            cut.wires[m].size = size;
            for (int i = m + 1; i < MESSAGES; i++)
                cut.wires[i].size = 0;
            bool stays = cuts % 8 == 0;
            ck_assert(!receives(&cut, stays));
            ck_assert(open_fds_become(fds));
        }
    printf("hostile: %d truncated rings were refused\n", cuts);
    end_messages(&good, &r);
}

/* Sends a byte every 2 ms. The deadline applies to the whole call, not to each byte. */
static void *drip(void *user)
{
    const int *socket = user;
    while (send(*socket, "g", 1, MSG_NOSIGNAL) == 1)
        sleep_ms(2);
    return NULL;
}

VULKAN_TEST(single_bytes_every_2_ms_do_not_extend_a_receive)
{
    struct pair pair = pair_make();
    struct shared_ring r;
    struct messages good = capture(&r);
    pthread_t thread;
    good.wires[0].size -= 8;
    wire_put(pair.here, &good.wires[0]);
    ck_assert_int_eq(pthread_create(&thread, NULL, drip, &pair.here), 0);
    int64_t begin = clock_ms();
    ck_assert_ptr_null(gr_ring_receive(pair.there, NULL, 0, NULL, 100));
    ck_assert_int_lt(clock_ms() - begin, 5000);
    gr_clear_error();
    close(pair.there);
    pair.there = -1;
    pthread_join(thread, NULL);
    pair_close(&pair);
    good.wires[0].size += 8;
    end_messages(&good, &r);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static int half_of_a_pair(void)
{
    struct pair pair = pair_make();
    close(pair.there);
    return pair.here;
}

static int half_of_a_pipe(void)
{
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    close(ends[1]);
    return ends[0];
}

/* A file on disk, or on the file system of /tmp, with the size of a semaphore. */
static int file_without_seals(void)
{
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
    ck_assert_int_eq(ftruncate(fd, 1 << 20), 0);
    fclose(file);
    return fd;
}

static int read_only(int fd)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    close(fd);
    return opened;
}

enum { THINGS = 12 };

static int make_thing(int number)
{
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    switch (number) {
    case 0:
        return half_of_a_pipe();
    case 1:
        return half_of_a_pair();
    case 2:
        return open("/", O_RDONLY | O_CLOEXEC);
    case 3:
        return epoll_create1(EPOLL_CLOEXEC);
    case 4:
        return eventfd(0, EFD_CLOEXEC);
    case 5:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    case 6:
        return open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    case 7:
        return file_without_seals();
    case 8:
        return wire_file(1 << 20, F_SEAL_GROW);
    case 9:
        return wire_file(0, seals);
    case 10:
        return wire_file(1, seals);
    default:
        return read_only(wire_file(1 << 20, seals));
    }
}

/* Each wrong descriptor replaces each descriptor of each message. */
VULKAN_TEST(descriptors_of_the_wrong_kind_are_refused)
{
    struct shared_ring r;
    struct messages good = capture(&r);
    int fds = open_fds(), tried = 0;
    for (int m = 0; m < MESSAGES; m++)
        for (size_t at = 0; at < good.wires[m].fd_count; at++)
            for (int number = 0; number < THINGS; number++, tried++) {
                struct messages changed = good;
                int thing = make_thing(number);
                ck_assert_int_ge(thing, 0);
                changed.wires[m].fds[at] = thing;
                ck_assert_msg(!receives(&changed, false), "thing %d was accepted as %d.%d", number,
                              m, (int)at);
                close(thing);
                wire_assert_closed("a descriptor of the wrong kind", fds);
            }
    printf("hostile: %d wrong descriptors were refused\n", tried);
    end_messages(&good, &r);
}

/* ---- In use ---------------------------------------------------------------------------------- */

/* A ring, its hostile peer, and the progress of both. */
struct walk {
    struct hostile peer;
    struct shared_ring r;
    bool here_writes; /* CUDA in this process writes; false: it reads */
};

static struct walk walk_begin(bool here_writes, bool newest)
{
    struct walk walk = {.here_writes = here_writes};
    walk.r = hostile_ring(&walk.peer, here_writes, newest ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    return walk;
}

static uint64_t random_word(void)
{
    static const uint64_t some[] = {0, 1, 2, 3, 4, 1 << 20, (uint64_t)1 << 63, ~(uint64_t)0};
    uint32_t n = sizeof(some) / sizeof(*some);
    return random_below(2) ? some[random_below(n)]
                           : (uint64_t)random_below(64) << 2 | random_below(4);
}

/* Does something that no grinterop peer does. */
static void be_bad(struct walk *walk)
{
    struct hostile *peer = &walk->peer;
    _Atomic uint64_t *words = (_Atomic uint64_t *)(void *)peer->page;
    switch (random_below(6)) {
    case 0:
        atomic_store(&words[random_below((uint32_t)(peer->page_size / sizeof(*words)))],
                     random_word());
        break;
    case 1:
        hostile_set(&peer->received, random_below(2) ? random_word() : random_below(8));
        break;
    case 2:
        hostile_set(&peer->sent, random_below(2) ? random_word() : random_below(8));
        break;
    case 3: /* hands over a slot whose work is never done */
        if (!walk->here_writes)
            hostile_publish(peer, random_below(HOSTILE_SLOTS), ++peer->frame, peer->value + 1);
        break;
    case 4:
        for (uint32_t n = random_below(2000); n > 0; n--)
            hostile_wake(peer);
        break;
    default:
        if (random_below(16) == 0)
            gr_ring_stop(walk->r.ring);
        break;
    }
    hostile_wake(peer);
}

/*
 * Calls the ring, and hands over or gives back the acquired slots. Returns whether the ring is
 * still usable.
 */
static bool use(struct walk *walk)
{
    const gr_slot *slots[HOSTILE_SLOTS];
    gr_ring *ring = walk->r.ring;
    size_t n = 1 + random_below(HOSTILE_SLOTS);
    CUstream stream = random_below(2) ? fx.stream : fx.other;
    gr_status status = (walk->here_writes ? gr_ring_acquire_write : gr_ring_acquire_read)(
        ring, stream, slots, n, random_below(4));
    ck_assert_ptr_nonnull(gr_ring_get_info(ring));
    if (status != GR_OK) {
        ck_assert_msg(status == GR_ERR_NOT_READY || status == GR_ERR_TIMEOUT ||
                          status == GR_ERR_STOPPED || status == GR_ERR_SYSTEM,
                      "%s", error_text());
        return status != GR_ERR_SYSTEM;
    }
    bool cancels = random_below(4) == 0;
    if (walk->here_writes)
        status = (cancels ? gr_ring_cancel_write : gr_ring_hand_over)(ring, slots, n);
    else
        status = (cancels ? gr_ring_cancel_read : gr_ring_give_back)(ring, slots, n);
    assert_ok(status);
    return true;
}

/* The peer dies. All streams must become idle, and the ring must be freed in time. */
static void walk_end(struct walk *walk, uint32_t seed)
{
    close(walk->peer.socket);
    walk->peer.socket = -1;
    if (random_below(2)) {
        bool end = stream_ends_within(fx.stream, 10000) && stream_ends_within(fx.other, 10000);
        ck_assert_msg(end, "GR_TEST_SEED=%u: a stream waits for a dead peer", seed);
    }
    int64_t begin = clock_ms();
    gr_ring_free(walk->r.ring);
    walk->r.ring = NULL;
    ck_assert_msg(clock_ms() - begin < 10000, "GR_TEST_SEED=%u: gr_ring_free() took %d ms", seed,
                  (int)(clock_ms() - begin));
    bool end = stream_ends_within(fx.stream, 10000) && stream_ends_within(fx.other, 10000);
    ck_assert_msg(end, "GR_TEST_SEED=%u: a stream still waits", seed);
    hostile_end(&walk->peer);
    shared_ring_end(&walk->r);
}

VULKAN_TEST(a_peer_that_overwrites_shared_memory_does_no_harm)
{
    need_memory_semaphores();
    enum { WALKS = 12, STEPS = 120 };
    uint32_t seed = first_seed();
    int over = 0;
    for (uint32_t i = 0; i < WALKS; i++) {
        struct walk walk = walk_begin(i % 2, i / 2 % 2);
        bool lives = true;
        state = seed + i;
        random_below(1);
        for (int step = 0; step < STEPS && lives; step++) {
            if (step > 8 && random_below(8) == 0)
                be_bad(&walk);
            else
                hostile_be_good(&walk.peer, walk.here_writes);
            lives = use(&walk);
        }
        over += !lives;
        gr_clear_error();
        walk_end(&walk, seed + i);
    }
    printf("hostile: seeds %u to %u: %d of %d rings detected their peer\n", seed, seed + WALKS - 1,
           over, WALKS);
}

/* The socket of an honest peer is closed after each number of steps. */
VULKAN_TEST(a_peer_may_die_after_any_step)
{
    enum { STEPS = 10 };
    for (int last = 0; last < STEPS; last++)
        for (int here_writes = 0; here_writes < 2; here_writes++) {
            struct walk walk = walk_begin(here_writes, false);
            state = first_seed() + (uint32_t)last;
            for (int step = 0; step < last; step++) {
                hostile_be_good(&walk.peer, walk.here_writes);
                ck_assert(use(&walk));
            }
            if (last % 3 == 2 && !here_writes)
                hostile_publish(&walk.peer, 0, walk.peer.frame + 1, walk.peer.value + 1);
            use(&walk);
            gr_clear_error();
            walk_end(&walk, first_seed() + (uint32_t)last);
        }
}
