/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Files that change: the peer truncates a file and seals it right after grinterop queries its size,
 * or punches holes into a sealed file.
 *
 * The fstat() of this program overrides that of the C library.
 */
#define _GNU_SOURCE
#include "hostile.h"
#include "tests/support/next.h"
#include "tests/share/share_wire.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* ---- The attack ------------------------------------------------------------------------------ */

/* The file that fstat() attacks; -1: none. */
static _Thread_local int attacked = -1;

static bool is_attacked(const struct stat *file)
{
    int fd = attacked;
    struct stat other;
    attacked = -1; /* so that the nested fstat() attacks nothing */
    bool same = fd >= 0 && fstat(fd, &other) == 0 && other.st_dev == file->st_dev &&
                other.st_ino == file->st_ino;
    attacked = fd;
    return same;
}

int fstat(int fd, struct stat *file)
{
    NEXT(fstat);
    int result = next(fd, file);
    if (result != 0 || attacked < 0 || !is_attacked(file))
        return result;
    /* A file that was already sealed cannot be truncated. */
    if (ftruncate(fd, 0) == 0)
        fcntl(fd, F_ADD_SEALS, ALL_SEALS);
    attacked = -1;
    return result;
}

/*
 * Whether the attack shrank the file. The attack fails if grinterop never queries the size, or if
 * seals prevent it.
 */
static bool has_shrunk(int fd)
{
    attacked = -1;
    return lseek(fd, 0, SEEK_END) == 0;
}

GROUP("files that shrink", add_vulkan_case)

/* Creates a file without seals that has the same bytes. */
static int unsealed_copy(int fd)
{
    static unsigned char bytes[1 << 20];
    ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
    int copy = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    ck_assert_int_gt(size, 0);
    ck_assert_int_eq(write(copy, bytes, (size_t)size), size);
    return copy;
}

VULKAN_TEST(a_memory_file_that_can_shrink_is_refused)
{
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_send(pair.here, resource, NULL, 0, SOON));
    struct wire wire = wire_take(pair.there);
    struct stat file;
    if (fstat(wire.fds[0], &file) != 0 || !S_ISREG(file.st_mode)) {
        wire_close(&wire);
        pair_close(&pair);
        skip("GPU memory is not a file");
    }
    int good = wire.fds[0];
    wire.fds[0] = unsealed_copy(good);
    wire_put(pair.here, &wire);
    attacked = wire.fds[0];
    assert_null_invalid(gr_resource_receive(pair.there, NULL, 0, NULL, SOON),
                        "not sealed against shrinking");
    attacked = -1;
    wire_close(&wire);
    close(good);
    pair_close(&pair);
}

/*
 * The file is the page or one of the two semaphores.
 *
 * Catches: the first read of a semaphore was a bus error.
 */
VULKAN_TEST(a_page_or_semaphore_file_that_can_shrink_is_refused, 3)
{
    if (_i > 0)
        need_memory_semaphores();
    struct pair pair = pair_make(), second = pair_make();
    struct shared_ring r = shared_ring_begin(HOSTILE_SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    assert_ok(gr_ring_send(pair.here, r.ring, GR_RING_CONSUMER, NULL, 0, SOON));
    struct wire head = wire_take(pair.there);
    int good = head.fds[_i];
    head.fds[_i] = unsealed_copy(good);
    wire_put(second.here, &head);
    for (int i = 0; i < HOSTILE_SLOTS; i++) {
        struct wire slot = wire_take(pair.there);
        wire_put(second.here, &slot);
        wire_close(&slot);
    }
    attacked = head.fds[_i];
    assert_null(gr_ring_receive(second.there, NULL, 0, NULL, SOON),
                _i == 0 ? GR_ERR_INVALID_VALUE : GR_ERR_CUDA, -1, _i == 0 ? "page" : "");
    ck_assert(!has_shrunk(head.fds[_i])); /* grinterop never queried its size */
    wire_close(&head);
    close(good);
    close(pair.there); /* the ring owns the other end */
    pair_close(&second);
    shared_ring_end(&r);
}

static TCase *add_holes_case(Suite *suite, const char *name)
{
    return with_sharing(add_vulkan_case(suite, name));
}

GROUP("files with holes", add_holes_case)

static void punch(int fd, off_t from)
{
    off_t size = lseek(fd, 0, SEEK_END);
    ck_assert_int_gt(size, from);
    ck_assert_int_eq(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, size - from),
                     0);
}

/*
 * The offset at which the data begins. The hole starts at this offset and spares the header before
 * it, because Mesa passes values of the header to munmap(). With zeros Mesa would pass a length
 * that the kernel refuses, and on which ThreadSanitizer's munmap() crashes.
 */
static off_t data_of(int fd)
{
    uint64_t head[2]; /* the size of the file, and the offset of the data */
    ck_assert_int_eq(pread(fd, head, sizeof(head), 0), sizeof(head));
    ck_assert_uint_ge(head[1], sizeof(head));
    return (off_t)head[1];
}

/* Seals do not prevent a hole. All bytes are 0 afterwards and remain writable. */
VULKAN_TEST(a_hole_in_a_memory_file_reads_as_zeros)
{
    static unsigned char bytes[SHARE_SIZE];
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    vulkan_write_pattern(gr_vk_buffer(resource), SHARE_SIZE, 1);
    assert_ok(gr_resource_send(pair.here, resource, NULL, 0, SOON));
    struct wire wire = wire_take(pair.there);
    if (fcntl(wire.fds[0], F_GET_SEALS) < 0) {
        wire_close(&wire);
        pair_close(&pair);
        skip("GPU memory is not a file");
    }
    wire_put(pair.here, &wire);
    gr_resource *received = must_make(gr_resource_receive(pair.there, NULL, 0, NULL, SOON));
    assert_ok(gr_resource_set_sync(received, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
    gr_buffer *buffer = must_make(gr_map(received, fx.stream));
    punch(wire.fds[0], data_of(wire.fds[0]));
    CU(MemcpyDtoH(bytes, gr_buffer_ptr(buffer), SHARE_SIZE));
    assert_bytes(bytes, SHARE_SIZE, 0);
    CU(MemsetD8(gr_buffer_ptr(buffer), 7, SHARE_SIZE));
    CU(MemcpyDtoH(bytes, gr_buffer_ptr(buffer), SHARE_SIZE));
    assert_bytes(bytes, SHARE_SIZE, 7);
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(received);
    wire_close(&wire);
    pair_close(&pair);
}

/* A hole in the page makes the values in the page contradict each other. */
VULKAN_TEST(a_hole_in_the_page_ends_the_ring)
{
    need_memory_semaphores();
    const gr_slot *slot;
    struct pair pair = pair_make();
    struct hostile peer = {.socket = pair.there};
    struct shared_ring r = shared_ring_begin(HOSTILE_SLOTS, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS);
    assert_ok(gr_ring_send(pair.here, r.ring, GR_RING_CONSUMER, NULL, 0, SOON));
    int fds[3];
    hostile_take_files(&peer, fds);
    hostile_set(&peer.received, 1);
    hostile_publish(&peer, 0, 1, 1);
    assert_ok(gr_ring_acquire_read(r.ring, fx.stream, &slot, 1, SOON));
    assert_ok(gr_ring_give_back(r.ring, &slot, 1));
    CU(StreamSynchronize(fx.stream));
    punch(fds[0], 0);
    hostile_wake(&peer);
    assert_fails(gr_ring_acquire_read(r.ring, fx.stream, &slot, 1, SOON), GR_ERR_SYSTEM, 0,
                 "contradicts itself");
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    hostile_end(&peer);
    shared_ring_end(&r);
}

/*
 * Huge pages are refused. Catches: a hole in huge pages is a bus error when no huge page is left.
 */
VULKAN_TEST(a_memory_file_of_huge_pages_is_refused)
{
    struct pair pair = pair_make();
    int huge = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
    if (huge < 0) {
        pair_close(&pair);
        skip("the kernel has no huge pages");
    }
    ck_assert_int_eq(ftruncate(huge, 64 << 20), 0);
    ck_assert_int_eq(fcntl(huge, F_ADD_SEALS, ALL_SEALS), 0);
    GR_AUTO(gr_resource) *resource = must_create(SHARE_SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_send(pair.here, resource, NULL, 0, SOON));
    struct wire wire = wire_take(pair.there);
    close(wire.fds[0]);
    wire.fds[0] = huge;
    wire_put(pair.here, &wire);
    assert_null_invalid(gr_resource_receive(pair.there, NULL, 0, NULL, SOON), "small pages");
    wire_close(&wire);
    pair_close(&pair);
}
