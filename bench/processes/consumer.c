/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The side that copies frames with OpenGL, and starts the other side. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <epoxy/gl.h>

#include <grinterop/share.h>

#include "bench/processes/processes.h"

extern char **environ;

/* ---- The other side -------------------------------------------------------------------------- */

static struct {
    pthread_t thread;
    pid_t pid;
    bool good;
} producer;

static void *produce(void *user)
{
    (void)user;
    producer.good = processes_produce();
    return NULL;
}

/* Neither CUDA nor OpenGL survives a fork, so the process executes the program anew. */
static void spawn(char *descriptors)
{
    char program[] = "/proc/self/exe", child[] = "--child", texts[6][48];
    char *arguments[] = {program,  child,    descriptors, texts[0], texts[1],
                         texts[2], texts[3], texts[4],    texts[5], NULL};
    snprintf(texts[0], sizeof(texts[0]), "--only=%s", processes.kind->row.name);
    snprintf(texts[1], sizeof(texts[1]), "--slots=%d", processes.slots);
    snprintf(texts[2], sizeof(texts[2]), "--frames=%d", processes.frames);
    snprintf(texts[3], sizeof(texts[3]), "--blocks=%d", processes.blocks);
    snprintf(texts[4], sizeof(texts[4]), "--meshes=%d", scene.mesh);
    snprintf(texts[5], sizeof(texts[5]), "--cuda-device=%d", scene.on.ordinal);
    errno = posix_spawn(&producer.pid, program, NULL, NULL, arguments, environ);
    if (errno != 0)
        bench_fail("posix_spawn: %s", strerror(errno));
}

static void start_ring(void)
{
    int ends[2];
    char list[16];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
        fcntl(ends[1], F_SETFD, 0) != 0)
        bench_fail("socketpair: %s", strerror(errno));
    snprintf(list, sizeof(list), "%d", ends[1]);
    spawn(list);
    close(ends[1]);
    GR(ring_send, ends[0], processes.ring, GR_RING_CONSUMER, NULL, 0, PROCESSES_PATIENCE_MS);
}

/*
 * The descriptors of the page, of both timelines, and of the slots. The new process inherits copies
 * of them.
 */
static void start_by_hand(int page)
{
    const struct frames_hand *hand = &processes.hand;
    const int count = 3 + processes.slots;
    int copies[3 + FRAMES_MOST_SLOTS];
    char list[16 * (3 + FRAMES_MOST_SLOTS)] = "";
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        const int fd = i == 0   ? page
                       : i == 1 ? bench_vk_export(hand->drawn.vulkan)
                       : i == 2 ? bench_vk_export(hand->computed.vulkan)
                                : hand_buffer_export(&hand->buffers[i - 3]);
        copies[i] = dup(fd);
        if (copies[i] < 0)
            bench_fail("dup: %s", strerror(errno));
        if (i > 0)
            close(fd);
        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%d", i > 0 ? "," : "",
                                   copies[i]);
    }
    spawn(list);
    for (int i = 0; i < count; i++)
        close(copies[i]);
}

static void start(int page)
{
    const struct processes_kind *kind = processes.kind;
    if (kind->apart && kind->raw)
        start_by_hand(page);
    else if (kind->apart)
        start_ring();
    else if ((errno = pthread_create(&producer.thread, NULL, produce, NULL)) != 0)
        bench_fail("pthread_create: %s", strerror(errno));
}

/* The other side has printed its error. */
static bool join(void)
{
    int status = 1;
    if (processes.kind->apart)
        return waitpid(producer.pid, &status, 0) > 0 && status == 0;
    pthread_join(producer.thread, NULL);
    return producer.good;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void copy(unsigned name)
{
    glCopyNamedBufferSubData(name, processes.target, 0, 0, (GLsizeiptr)scene.bytes);
}

static void copy_slot(void)
{
    const gr_slot *slot;
    GR(ring_acquire_read, processes.ring, GR_STREAM_NONE, &slot, 1, PROCESSES_PATIENCE_MS);
    copy(gr_gl_name(slot->resource));
    GR(ring_give_back, processes.ring, &slot, 1);
}

static void copy_by_hand(int frame)
{
    const unsigned *name = &processes.hand.buffers[frame % processes.slots].name;
    processes_await(&processes.page->handed, (uint64_t)frame);
    hand_gl_wait(&processes.hand, (uint64_t)frame, name);
    copy(*name);
    hand_gl_signal(&processes.hand, (uint64_t)frame, name);
    glFlush();
    atomic_store(&processes.page->given, (uint64_t)frame);
}

/* The first block is not measured. */
static void copy_all(void *us)
{
    double before = 0;
    for (int frame = 1; frame <= processes_total(); frame++) {
        if (processes.kind->raw)
            copy_by_hand(frame);
        else
            copy_slot();
        if (frame % processes.frames != 0)
            continue;
        glFinish();
        const double now = bench_now_us();
        if (frame > processes.frames)
            ((double *)us)[frame / processes.frames - 2] = (now - before) / processes.frames;
        before = now;
    }
}

static void check_last(void)
{
    const unsigned wanted = (unsigned)processes_total();
    unsigned first = 0, last = 0;
    glGetNamedBufferSubData(processes.target, 0, sizeof(first), &first);
    glGetNamedBufferSubData(processes.target, (GLintptr)(scene.bytes - sizeof(last)), sizeof(last),
                            &last);
    if (first != wanted || last != wanted)
        bench_fail("the last frame has the values %u and %u, not %u", first, last, wanted);
}

/* ---- A row ----------------------------------------------------------------------------------- */

static void make_ring(void)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED);
    gr_resource *slots[FRAMES_MOST_SLOTS];
    for (int i = 0; i < processes.slots; i++)
        GR_KEEP(slots[i], create_gl_buffer, scene.bytes, GR_WRITE_DISCARD, &options);
    GR_KEEP(processes.ring, ring_create, slots, (size_t)processes.slots, NULL);
}

static void close_page(void *page)
{
    close((int)(intptr_t)page);
}

void processes_consume(double *us)
{
    const int page = memfd_create("bench_processes", 0);
    bench_later(close_page, (void *)(intptr_t)page);
    if (page < 0 || ftruncate(page, sizeof(*processes.page)) != 0)
        bench_fail("memfd_create: %s", strerror(errno));
    processes_page_map(page);
    processes.target = bench_gl_buffer();
    glBindBuffer(GL_COPY_WRITE_BUFFER, processes.target);
    glBufferStorage(GL_COPY_WRITE_BUFFER, (GLsizeiptr)scene.bytes, NULL, 0);
    processes.ring = NULL;
    processes.hand = (struct frames_hand){0};
    if (processes.kind->raw)
        hand_make(&processes.hand, (unsigned)processes.slots);
    else
        make_ring();
    bench_at_end(glFinish);
    glFinish();
    start(page);
    const bool good = bench_try(copy_all, us);
    if (!good) {
        atomic_store(&processes.page->failed, true);
        gr_ring_stop(processes.ring);
    }
    if (!join() || !good)
        bench_give_up();
    check_last();
}
