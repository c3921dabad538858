/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Data from another process: a resource or a ring that arrives on a socket, with descriptors of all
 * kinds, and the values that the other process then writes into the shared memory of the ring.
 *
 * The input selects: resource or ring, whether the sender stays, the size of its data buffer, and
 * the number of messages. The messages and the steps follow. A message is the number and kinds of
 * its descriptors, its size in two bytes, and its bytes.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <grinterop/ring.h>
#include <grinterop/share.h>
#include <grinterop/submit.h>

#include "lib/ring/link/page.h"
#include "tests/support/fd_message.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

enum { MEMORY_SIZE = 4096, MOST_SENT_FDS = 4, MOST_SLOTS = 4 };

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* What the sender keeps: its socket, and the semaphores and the page of its last message. */
static struct sender {
    int socket;
    int semaphores[2]; /* -1 if the descriptor was not sent */
    _Atomic uint64_t *page;
    size_t page_words;
} sender;

static int make_semaphore(struct fuzz_input *in, bool timeline)
{
    int fd = fuzz_semaphore_file(timeline, fuzz_byte(in));
    int kept = sender.semaphores[0] < 0 ? 0 : 1;
    if (sender.semaphores[kept] < 0)
        sender.semaphores[kept] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return fd;
}

/* Creates a page with some slots. The steps of the input write into it. */
static int make_page(struct fuzz_input *in)
{
    unsigned char bytes[sizeof(struct gr_page) + MOST_SLOTS * sizeof(struct gr_page_slot)] = {0};
    size_t size = sizeof(struct gr_page) + fuzz_below(in, 5) * sizeof(struct gr_page_slot), given;
    const unsigned char *from = fuzz_bytes(in, fuzz_byte(in) % (size + 1), &given);
    if (given)
        memcpy(bytes, from, given);
    int fd = fuzz_file(bytes, size, SEALS);
    if (!sender.page) {
        void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        FUZZ_CHECK(mapped != MAP_FAILED);
        sender.page = mapped;
        sender.page_words = size / sizeof(uint64_t);
    }
    return fd;
}

static int make_memory(struct fuzz_input *in)
{
    struct fuzz_file_head head = {.name = "grinterop", .device = fuzz_byte(in)};
    head.size = fuzz_size(in, FUZZ_FILE_HEAD + MEMORY_SIZE);
    head.offset = fuzz_size(in, FUZZ_FILE_HEAD);
    return fuzz_memory_file(MEMORY_SIZE, &head);
}

static int make_pipe_end(void)
{
    int ends[2];
    FUZZ_CHECK(pipe2(ends, O_CLOEXEC) == 0);
    close(ends[1]);
    return ends[0];
}

static int make_descriptor(struct fuzz_input *in)
{
    switch (fuzz_below(in, 13)) {
    case 0:
        return fuzz_memory_file(MEMORY_SIZE, NULL);
    case 1:
        return make_semaphore(in, true);
    case 2:
        return make_semaphore(in, false);
    case 3:
        return make_page(in);
    case 4:
        return make_memory(in);
    case 5:
        return make_pipe_end();
    case 6:
        return open("/", O_RDONLY | O_CLOEXEC);
    case 7:
        return eventfd(0, EFD_CLOEXEC);
    case 8:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    case 9:
        return fuzz_file("", 0, SEALS);
    case 10:
        return fuzz_file("unsealed", 8, 0);
    case 11:
        return fuzz_file("not to be written to", 20, SEALS | F_SEAL_WRITE);
    default:
        return fcntl(sender.socket, F_DUPFD_CLOEXEC, 0);
    }
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void send_message(struct fuzz_input *in)
{
    int fds[MOST_SENT_FDS];
    unsigned count = fuzz_below(in, MOST_SENT_FDS + 1);
    for (unsigned i = 0; i < count; i++) {
        fds[i] = make_descriptor(in);
        FUZZ_CHECK(fds[i] >= 0);
    }
    size_t size, wanted = (size_t)fuzz_number(in, 2);
    const unsigned char *bytes = fuzz_bytes(in, wanted, &size);
    if (size)
        FUZZ_CHECK(fd_send(sender.socket, bytes, size, fds, count, MSG_NOSIGNAL | MSG_DONTWAIT) ==
                   (ssize_t)size);
    for (unsigned i = 0; i < count; i++)
        close(fds[i]);
}

static void close_sender(void)
{
    if (sender.socket >= 0)
        close(sender.socket);
    sender.socket = -1;
}

static void end_sender(void)
{
    close_sender();
    for (unsigned i = 0; i < 2; i++)
        if (sender.semaphores[i] >= 0)
            close(sender.semaphores[i]);
    if (sender.page)
        munmap(sender.page, sender.page_words * sizeof(uint64_t));
    sender = (struct sender){.socket = -1, .semaphores = {-1, -1}};
}

/* ---- A resource ------------------------------------------------------------------------------ */

/* Checks that all bytes of the resource can be written. */
static void use_buffer(gr_resource *resource)
{
    size_t size = gr_resource_get_info(resource)->size;
    FUZZ_CHECK(size > 0 && size <= MEMORY_SIZE);
    if (gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE) != GR_OK) {
        gr_clear_error();
        return;
    }
    gr_buffer *buffer = gr_map(resource, fuzz_cuda.stream);
    FUZZ_CHECK(buffer && gr_buffer_size(buffer) == size);
    FUZZ_CHECK(fuzz_cuda.cu->MemsetD8Async(gr_buffer_ptr(buffer), 7, size, fuzz_cuda.stream) ==
               CUDA_SUCCESS);
    FUZZ_CHECK(gr_buffer_release(buffer) == GR_OK && fuzz_stream_ends());
}

static void receive_resource(int socket, void *data, size_t room)
{
    size_t size = SIZE_MAX;
    gr_resource *resource = gr_resource_receive(socket, data, room, &size, 0);
    if (!resource) {
        FUZZ_CHECK(size == SIZE_MAX || (size > room && size <= GR_SHARE_MOST_DATA));
        fuzz_check_refused();
        return;
    }
    FUZZ_CHECK(size <= room);
    if (gr_resource_get_info(resource)->kind == GR_KIND_BUFFER)
        use_buffer(resource);
    gr_resource_free(resource);
}

/* ---- A ring ---------------------------------------------------------------------------------- */

struct use {
    gr_ring *ring;
    const gr_slot *slots[MOST_SLOTS];
    size_t held;
    bool writes;
};

static void check_info(gr_ring *ring)
{
    const gr_ring_info *info = gr_ring_get_info(ring);
    FUZZ_CHECK(info && info->slots > 0 && info->slots <= MOST_SLOTS);
    FUZZ_CHECK(info->free + info->writing + info->ready + info->reading == info->slots);
}

static void acquire(struct use *use, struct fuzz_input *in)
{
    if (use->held)
        return;
    use->writes = fuzz_below(in, 2);
    size_t n = 1 + fuzz_below(in, MOST_SLOTS);
    gr_status status = (use->writes ? gr_ring_acquire_write : gr_ring_acquire_read)(
        use->ring, fuzz_cuda.stream, use->slots, n, 0);
    if (status == GR_OK) {
        use->held = n;
        for (size_t i = 0; i < n; i++)
            FUZZ_CHECK(use->slots[i]->index < MOST_SLOTS && use->slots[i]->buffer);
        return;
    }
    FUZZ_CHECK(status == GR_ERR_NOT_READY || status == GR_ERR_STOPPED || status == GR_ERR_STATE ||
               status == GR_ERR_SYSTEM || status == GR_ERR_INVALID_VALUE);
    fuzz_check_error(status);
}

static void hand_back(struct use *use, bool cancels)
{
    gr_status status;
    if (!use->held)
        return;
    if (use->writes)
        status =
            (cancels ? gr_ring_cancel_write : gr_ring_hand_over)(use->ring, use->slots, use->held);
    else
        status =
            (cancels ? gr_ring_cancel_read : gr_ring_give_back)(use->ring, use->slots, use->held);
    FUZZ_CHECK(status == GR_OK);
    use->held = 0;
}

/* Writes a word of the page, usually a small number, as real peers do. */
static void write_page(struct fuzz_input *in)
{
    size_t at = fuzz_byte(in);
    uint64_t value = fuzz_below(in, 4) == 3 ? fuzz_number(in, 8) : fuzz_byte(in);
    if (sender.page)
        atomic_store(&sender.page[at % sender.page_words], value);
}

static void write_semaphore(struct fuzz_input *in)
{
    int fd = sender.semaphores[fuzz_below(in, 2)];
    uint64_t value = fuzz_below(in, 4) == 3 ? fuzz_number(in, 8) : fuzz_byte(in);
    if (fd >= 0)
        FUZZ_CHECK(pwrite(fd, &value, sizeof(value), FUZZ_SEMAPHORE_VALUE) == 8);
}

static void step(struct use *use, struct fuzz_input *in)
{
    switch (fuzz_below(in, 8)) {
    case 0:
    case 1:
        acquire(use, in);
        break;
    case 2:
        hand_back(use, false);
        break;
    case 3:
        hand_back(use, true);
        break;
    case 4:
    case 5:
        write_page(in);
        break;
    case 6:
        write_semaphore(in);
        break;
    default:
        if (sender.socket >= 0)
            send(sender.socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
        break;
    }
    check_info(use->ring);
}

/* Uses the ring. Whatever the peer wrote, all streams must become idle after the peer ends. */
static void use_ring(gr_ring *ring, struct fuzz_input *in)
{
    struct use use = {.ring = ring};
    check_info(ring);
    for (int steps = 0; in->left > 0 && steps < 32; steps++)
        step(&use, in);
    hand_back(&use, true);
    close_sender();
    gr_ring_free(ring);
    FUZZ_CHECK(fuzz_stream_ends());
    gr_clear_error();
}

/* Receives a ring. A successful call takes the socket. */
static bool receive_ring(int socket, void *data, size_t room, struct fuzz_input *in)
{
    size_t size = SIZE_MAX;
    gr_ring *ring = gr_ring_receive(socket, data, room, &size, 0);
    if (!ring) {
        FUZZ_CHECK(size == SIZE_MAX || (size > room && size <= GR_SHARE_MOST_DATA));
        fuzz_check_refused();
        return false;
    }
    FUZZ_CHECK(size <= room);
    use_ring(ring, in);
    return true;
}

/* ---- The target ------------------------------------------------------------------------------ */

static void run(struct fuzz_input in)
{
    int ends[2];
    uint8_t what = fuzz_byte(&in);
    const size_t room = (const size_t[]){0, 8, 64, GR_SHARE_MOST_DATA}[what >> 2 & 3];
    unsigned messages = fuzz_below(&in, 8);
    end_sender();
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    sender.socket = ends[0];
    for (unsigned i = 0; i < messages; i++)
        send_message(&in);
    if (!(what & 2))
        close_sender();
    void *data = malloc(room ? room : 1);
    FUZZ_CHECK(data);
    bool taken = false;
    if (what & 1)
        taken = receive_ring(ends[1], data, room, &in);
    else
        receive_resource(ends[1], data, room);
    free(data);
    if (!taken)
        close(ends[1]);
    end_sender();
}

static void set_up(void)
{
    fuzz_cuda_set_up();
    sender = (struct sender){.socket = -1, .semaphores = {-1, -1}};
}

const struct fuzz_target fuzz_message = {"message", set_up, run};
