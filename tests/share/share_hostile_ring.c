/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings that no grinterop sender sends: the test takes the messages of a valid ring off the socket,
 * changes them and sends them on.
 */
#define _GNU_SOURCE
#include "share_ring.h"
#include "share_wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/ring/link/page.h"

#define SLOTS      3
#define IN_TIME_MS 2000

/* The descriptors of the first message, by index. */
enum { PAGE, SENT, RECEIVED };

/* The offsets of the numbers in the messages. */
enum {
    SLOTS_AT = WIRE_HEADER,
    ROLE_AT = SLOTS_AT + 4,
    MODE_AT = ROLE_AT + 4,
    SENT_VALUE_AT = MODE_AT + 4,
    RECEIVED_VALUE_AT = SENT_VALUE_AT + 8,
    OFFSET_AT = WIRE_HEADER + 8 + 8 + 4 + 4 + 8 /* in the message of a slot */
};

/* The message of the ring, and one message for each slot. */
struct messages {
    struct wire wires[1 + SLOTS];
};

static struct messages capture(struct shared_ring *r)
{
    struct messages all;
    struct pair pair = pair_make();
    assert_ok(gr_ring_send(pair.here, r->ring, GR_RING_CONSUMER, NULL, 0, SOON));
    for (int i = 0; i <= SLOTS; i++)
        all.wires[i] = wire_take(pair.there);
    close(pair.there);
    return all;
}

static void messages_close(struct messages *all)
{
    for (int i = 0; i <= SLOTS; i++)
        wire_close(&all->wires[i]);
}

/* Receives a ring from the messages. Nothing follows them: the sender has closed its end. */
static gr_ring *receive(const struct messages *all)
{
    struct pair pair = pair_make();
    for (int i = 0; i <= SLOTS; i++)
        wire_put(pair.here, &all->wires[i]);
    close(pair.here);
    gr_clear_error();
    gr_ring *ring = gr_ring_receive(pair.there, NULL, 0, NULL, IN_TIME_MS);
    if (!ring)
        close(pair.there);
    return ring;
}

static void must_refuse(const struct messages *all, gr_status status, const char *text,
                        const char *what)
{
    int fds = open_fds();
    ck_assert_msg(!receive(all), "%s was taken", what);
    wire_assert_refused(status, text, what, fds);
}

GROUP("hostile rings", add_vulkan_case)

VULKAN_TEST(changed_numbers_in_a_rings_messages_are_refused)
{
    static const struct {
        int wire;
        size_t at;
        unsigned long long value;
        gr_status status;
        const char *text;
    } changes[] = {
        {0, SLOTS_AT, 0, GR_ERR_INVALID_VALUE, "0 slots"},
        {0, SLOTS_AT, SLOTS - 1, GR_ERR_INVALID_VALUE, "page"},
        {0, SLOTS_AT, SLOTS + 1, GR_ERR_SYSTEM, "closed its end"},
        {0, SLOTS_AT, 1024, GR_ERR_SYSTEM, "closed its end"},
        {0, SLOTS_AT, 1025, GR_ERR_INVALID_VALUE, "1025 slots"},
        {0, SLOTS_AT, 15000, GR_ERR_INVALID_VALUE, "15000 slots"},
        {0, SLOTS_AT, 0xffffffff, GR_ERR_INVALID_VALUE, "slots"},
        {0, ROLE_AT, 0, GR_ERR_INVALID_VALUE, "role 0"},
        {0, ROLE_AT, 3, GR_ERR_INVALID_VALUE, "role 3"},
        {0, MODE_AT, 0x100, GR_ERR_INVALID_VALUE, "mode 256"},
        {0, SENT_VALUE_AT + 4, 0xffffffff, GR_ERR_INVALID_VALUE, "below 2^63"},
        {0, RECEIVED_VALUE_AT + 4, 0x80000000, GR_ERR_INVALID_VALUE, "below 2^63"},
        {0, 8, 1, GR_ERR_INVALID_VALUE, "kind"},
        {0, 20, 1, GR_ERR_INVALID_VALUE, "room for 0"},
        {1, 20, 1, GR_ERR_INVALID_VALUE, "room for 0"},
        {0, 12, 8, GR_ERR_INVALID_VALUE, "bytes"},
        {1, 8, 1, GR_ERR_INVALID_VALUE, "kind"},
        {2, 0, 0, GR_ERR_INVALID_VALUE, "not a grinterop message"},
        {SLOTS, OFFSET_AT, 0x40000000, GR_ERR_INVALID_VALUE, "offset"},
        {2, WIRE_HEADER, 1, GR_ERR_INVALID_VALUE, "different GPUs"},
        {1, WIRE_HEADER, 1, GR_ERR_UNSUPPORTED, "CUDA_VISIBLE_DEVICES"},
    };
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct messages good = capture(&r);
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        char what[64];
        struct messages changed = good;
        snprintf(what, sizeof(what), "message %d, byte %zu = 0x%llx", changes[i].wire,
                 changes[i].at, changes[i].value);
        wire_change(&changed.wires[changes[i].wire], changes[i].at, 4, changes[i].value);
        must_refuse(&changed, changes[i].status, changes[i].text, what);
    }
    gr_ring *ring = must_make(receive(&good));
    gr_ring_free(ring);
    messages_close(&good);
    shared_ring_end(&r);
}

VULKAN_TEST(wrong_descriptors_in_a_rings_messages_are_refused)
{
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct messages good = capture(&r), changed = good;
    size_t size = (size_t)lseek(good.wires[0].fds[PAGE], 0, SEEK_END);
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    int unsealed = wire_file(size, F_SEAL_GROW | F_SEAL_SEAL), small = wire_file(size - 1, seals);
    int *fds = changed.wires[0].fds;
    fds[PAGE] = unsealed;
    must_refuse(&changed, GR_ERR_INVALID_VALUE, "page", "a page that can shrink");
    fds[PAGE] = small;
    must_refuse(&changed, GR_ERR_INVALID_VALUE, "page", "a page that is too small");
    fds[PAGE] = good.wires[0].fds[SENT];
    must_refuse(&changed, GR_ERR_INVALID_VALUE, "page", "a semaphore as the page");
    fds[PAGE] = good.wires[0].fds[PAGE];
    fds[SENT] = unsealed;
    must_refuse(&changed, GR_ERR_CUDA, "", "a file as a semaphore");
    fds[SENT] = good.wires[0].fds[SENT];
    fds[RECEIVED] = good.wires[1].fds[0];
    /*
     * The software driver refuses a descriptor of the wrong kind. The NVIDIA driver accepts any of
     * its own descriptors.
     */
    if (gr_cuda_is_software())
        must_refuse(&changed, GR_ERR_CUDA, "", "memory as a semaphore");
    changed = good;
    changed.wires[0].fd_count = 2;
    must_refuse(&changed, GR_ERR_INVALID_VALUE, "descriptors", "two descriptors");
    changed = good;
    changed.wires[2].fd_count = 0;
    must_refuse(&changed, GR_ERR_INVALID_VALUE, "descriptors", "a slot without memory");
    close(unsealed);
    close(small);
    messages_close(&good);
    shared_ring_end(&r);
}

static int read_only_file(int seals)
{
    char path[64];
    int fd = wire_file(1 << 20, seals);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    close(fd);
    return opened;
}

/* Each of them replaces each descriptor of each message. */
VULKAN_TEST(descriptors_of_the_wrong_kind_are_refused_at_each_place)
{
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct messages good = capture(&r);
    struct pair pair = pair_make();
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    const int others[] = {pair.here,
                          epoll_create1(EPOLL_CLOEXEC),
                          eventfd(0, EFD_CLOEXEC),
                          open("/", O_RDONLY | O_CLOEXEC),
                          open("/dev/null", O_RDWR | O_CLOEXEC),
                          open("/proc/self/status", O_RDONLY | O_CLOEXEC),
                          open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
                          wire_file(1 << 20, F_SEAL_GROW),
                          wire_file(0, seals),
                          wire_file(1, seals),
                          read_only_file(seals)};
    int fds = open_fds();
    for (int i = 0; i < COUNT(others); i++) {
        ck_assert_int_ge(others[i], 0);
        for (int m = 0; m <= SLOTS; m++)
            for (size_t at = 0; at < good.wires[m].fd_count; at++) {
                struct messages changed = good;
                changed.wires[m].fds[at] = others[i];
                ck_assert_msg(!receive(&changed), "%d was accepted as %d.%zu", i, m, at);
                wire_assert_closed("a descriptor of the wrong kind", fds);
            }
        close(others[i]);
        fds--;
    }
    close(pair.there);
    messages_close(&good);
    shared_ring_end(&r);
}

VULKAN_TEST(a_page_with_impossible_frame_numbers_is_refused)
{
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct messages good = capture(&r);
    const unsigned long long frames = 1ull << 61;
    ck_assert_int_eq(pwrite(good.wires[0].fds[PAGE], &frames, sizeof(frames), 0), sizeof(frames));
    must_refuse(&good, GR_ERR_INVALID_VALUE, "written 2305843009213693952", "2^61 frames");
    const uint32_t read = 1;
    ck_assert_int_eq(pwrite(good.wires[0].fds[PAGE], &(uint64_t){0}, sizeof(uint64_t), 0), 8);
    ck_assert_int_eq(
        pwrite(good.wires[0].fds[PAGE], &read, sizeof(read), offsetof(struct gr_page, read)),
        sizeof(read));
    must_refuse(&good, GR_ERR_INVALID_VALUE, "read 1", "more read frames than written");
    messages_close(&good);
    shared_ring_end(&r);
}
