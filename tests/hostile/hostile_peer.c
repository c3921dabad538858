/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The hostile peer of test_hostile; see hostile.h. */
#define _GNU_SOURCE
#include "hostile.h"
#include "tests/share/share_wire.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAGE_SIZE 4096

/* The descriptors of a ring's first message, by index. */
enum { PAGE, SENT, RECEIVED };

struct hostile hostile_pair(int *socket)
{
    struct pair pair = pair_make();
    *socket = pair.here;
    return (struct hostile){.socket = pair.there};
}

static void *map(int fd, size_t *size)
{
    *size = (size_t)lseek(fd, 0, SEEK_END);
    void *mapped = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(mapped, MAP_FAILED);
    return mapped;
}

/* Maps the value of a semaphore, which is the last word of its file. */
static struct hostile_semaphore take_semaphore(int fd)
{
    struct hostile_semaphore semaphore = {.value = NULL};
    if (gr_cuda_is_software()) {
        size_t size;
        unsigned char *mapped = map(fd, &size);
        ck_assert_uint_lt(size, PAGE_SIZE);
        semaphore.value = (_Atomic uint64_t *)(void *)(mapped + size - sizeof(uint64_t));
        return semaphore;
    }
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD,
        .handle.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)};
    CU(ImportExternalSemaphore(&semaphore.imported, &desc));
    return semaphore;
}

static void end_semaphore(struct hostile_semaphore *semaphore)
{
    if (semaphore->value)
        munmap((void *)((uintptr_t)semaphore->value & ~(uintptr_t)(PAGE_SIZE - 1)), PAGE_SIZE);
    if (semaphore->imported)
        CU(DestroyExternalSemaphore(semaphore->imported));
}

void hostile_set(const struct hostile_semaphore *semaphore, uint64_t value)
{
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    CUstream stream;
    if (semaphore->value) {
        atomic_store(semaphore->value, value);
        return;
    }
    CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(SignalExternalSemaphoresAsync(&semaphore->imported, &params, 1, stream));
    ck_assert(stream_ends_within(stream, SOON));
    CU(StreamDestroy(stream));
}

void hostile_take(struct hostile *peer)
{
    int fds[3];
    hostile_take_files(peer, fds);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
}

void hostile_take_files(struct hostile *peer, int fds[3])
{
    struct wire head = wire_take(peer->socket);
    ck_assert_uint_eq(head.fd_count, 3);
    peer->page = map(head.fds[PAGE], &peer->page_size);
    peer->sent = take_semaphore(head.fds[SENT]);
    peer->received = take_semaphore(head.fds[RECEIVED]);
    memcpy(fds, head.fds, 3 * sizeof(int));
    for (int i = 0; i < HOSTILE_SLOTS; i++) {
        struct wire slot = wire_take(peer->socket);
        wire_close(&slot);
    }
}

struct shared_ring hostile_ring(struct hostile *peer, bool here_writes, gr_ring_mode mode)
{
    int socket;
    *peer = hostile_pair(&socket);
    struct shared_ring r =
        shared_ring_sent(socket, HOSTILE_SLOTS, here_writes ? GR_SIDE_CUDA : GR_SIDE_GRAPHICS, mode,
                         here_writes ? GR_RING_PRODUCER : GR_RING_CONSUMER);
    hostile_take(peer);
    return r;
}

gr_ring *hostile_opengl_ring(struct hostile *peer, gr_side producer, gr_ring_role role)
{
    gr_resource *resources[HOSTILE_SLOTS];
    int socket;
    for (int i = 0; i < HOSTILE_SLOTS; i++) {
        resources[i] = gr_create_gl_buffer(SLOT_SIZE, GR_READ_WRITE, &by_sharing);
        if (!resources[i])
            return NULL;
    }
    gr_ring *ring = must_make(
        gr_ring_create(resources, HOSTILE_SLOTS, &GR_INIT(gr_ring_options, .producer = producer)));
    free_resources(resources, HOSTILE_SLOTS);
    *peer = hostile_pair(&socket);
    assert_ok(gr_ring_send(socket, ring, role, NULL, 0, SOON));
    hostile_take(peer);
    return ring;
}

void hostile_end(struct hostile *peer)
{
    if (peer->page)
        munmap(peer->page, peer->page_size);
    end_semaphore(&peer->sent);
    end_semaphore(&peer->received);
    if (peer->socket >= 0)
        close(peer->socket);
}

void hostile_wake(const struct hostile *peer)
{
    send(peer->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void hostile_publish(struct hostile *peer, unsigned i, uint64_t frame, uint64_t value)
{
    atomic_store(&peer->page->slots[i].written, value);
    atomic_store(&peer->page->slots[i].word, frame << 2 | GR_OWNER_READY);
    gr_page_mark(&peer->page->changes[0], i);
    atomic_store(&peer->page->written, frame);
    hostile_wake(peer);
}

void hostile_give_back(struct hostile *peer, unsigned i, uint64_t frame, uint64_t value)
{
    atomic_store(&peer->page->slots[i].given_back, value);
    atomic_store(&peer->page->slots[i].word, frame << 2 | GR_OWNER_PRODUCER);
    gr_page_mark(&peer->page->changes[1], i);
    hostile_wake(peer);
}

bool hostile_be_good(struct hostile *peer, bool here_writes)
{
    for (unsigned i = 0; i < HOSTILE_SLOTS; i++) {
        uint64_t word = atomic_load(&peer->page->slots[i].word);
        if ((word & 3) != (here_writes ? GR_OWNER_READY : GR_OWNER_PRODUCER))
            continue;
        hostile_set(&peer->received, ++peer->value);
        if (here_writes)
            hostile_give_back(peer, i, word >> 2, peer->value);
        else
            hostile_publish(peer, i, ++peer->frame, peer->value);
        return true;
    }
    return false;
}

int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool stream_ends_within(CUstream stream, int ms)
{
    int64_t end = clock_ms() + ms;
    CUresult result;
    while ((result = fx.cu->StreamQuery(stream)) == CUDA_ERROR_NOT_READY && clock_ms() < end)
        sleep_ms(2);
    return result == CUDA_SUCCESS;
}
