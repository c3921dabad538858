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
static bool spawn(char *descriptors)
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
    const int failed = posix_spawn(&producer.pid, program, NULL, NULL, arguments, environ);
    return failed == 0 || bench_failed("posix_spawn: %s", strerror(failed));
}

static bool start_ring(void)
{
    int ends[2];
    char list[16];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
        fcntl(ends[1], F_SETFD, 0) != 0)
        return bench_failed("socketpair: %s", strerror(errno));
    snprintf(list, sizeof(list), "%d", ends[1]);
    const bool good = spawn(list);
    close(ends[1]);
    if (good &&
        GR(ring_send, ends[0], processes.ring, GR_RING_CONSUMER, NULL, 0, PROCESSES_PATIENCE_MS))
        return true;
    close(ends[0]);
    return false;
}

/* Appends a copy of the descriptor that the new process inherits. */
static bool add(char *list, size_t size, int fd, int *copy)
{
    const size_t length = strlen(list);
    *copy = fd < 0 ? -1 : dup(fd);
    snprintf(list + length, size - length, "%s%d", length ? "," : "", *copy);
    return *copy >= 0;
}

/* The descriptors of the page, of both timelines, and of the slots. */
static bool start_by_hand(int page)
{
    const struct frames_hand *hand = &processes.hand;
    const int count = 3 + processes.slots;
    int fds[3 + FRAMES_MOST_SLOTS] = {page, bench_vk_export(hand->drawn.vulkan),
                                      bench_vk_export(hand->computed.vulkan)};
    int copies[3 + FRAMES_MOST_SLOTS];
    char list[512] = "";
    bool good = true;
    for (int i = 0; i < count; i++) {
        if (i >= 3)
            fds[i] = hand_buffer_export(&hand->buffers[i - 3]);
        good = add(list, sizeof(list), fds[i], &copies[i]) && good;
        if (i > 0 && fds[i] >= 0)
            close(fds[i]);
    }
    good = good && spawn(list);
    for (int i = 0; i < count; i++)
        if (copies[i] >= 0)
            close(copies[i]);
    return good;
}

static bool start(int page)
{
    const struct processes_kind *kind = processes.kind;
    if (kind->apart)
        return kind->raw ? start_by_hand(page) : start_ring();
    const int failed = pthread_create(&producer.thread, NULL, produce, NULL);
    return failed == 0 || bench_failed("pthread_create: %s", strerror(failed));
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

static bool copy_slot(void)
{
    const gr_slot *slot;
    if (!GR(ring_acquire_read, processes.ring, GR_STREAM_NONE, &slot, 1, PROCESSES_PATIENCE_MS))
        return false;
    copy(gr_gl_name(slot->resource));
    return GR(ring_give_back, processes.ring, &slot, 1);
}

static bool copy_by_hand(int frame)
{
    const unsigned *name = &processes.hand.buffers[frame % processes.slots].name;
    if (!processes_await(&processes.page->handed, (uint64_t)frame))
        return false;
    hand_gl_wait(&processes.hand, (uint64_t)frame, name);
    copy(*name);
    hand_gl_signal(&processes.hand, (uint64_t)frame, name);
    glFlush();
    atomic_store(&processes.page->given, (uint64_t)frame);
    return true;
}

/* The first block is not measured. */
static bool copy_all(double *us)
{
    double before = 0;
    for (int frame = 1; frame <= processes_total(); frame++) {
        if (!(processes.kind->raw ? copy_by_hand(frame) : copy_slot()))
            return false;
        if (frame % processes.frames != 0)
            continue;
        glFinish();
        const double now = bench_now_us();
        if (frame > processes.frames)
            us[frame / processes.frames - 2] = (now - before) / processes.frames;
        before = now;
    }
    return true;
}

static bool last_is_right(void)
{
    const unsigned wanted = (unsigned)processes_total();
    unsigned first = 0, last = 0;
    glGetNamedBufferSubData(processes.target, 0, sizeof(first), &first);
    glGetNamedBufferSubData(processes.target, (GLintptr)(scene.bytes - sizeof(last)), sizeof(last),
                            &last);
    return (first == wanted && last == wanted) ||
           bench_failed("the last frame has the values %u and %u, not %u", first, last, wanted);
}

/* ---- A row ----------------------------------------------------------------------------------- */

static bool make_ring(void)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED);
    gr_resource *slots[FRAMES_MOST_SLOTS] = {NULL};
    int made = 0;
    while (made < processes.slots &&
           GR_NEW(slots[made], create_gl_buffer, scene.bytes, GR_WRITE_DISCARD, &options))
        made++;
    if (made == processes.slots)
        GR_NEW(processes.ring, ring_create, slots, (size_t)made, NULL);
    while (made-- > 0)
        gr_resource_free(slots[made]);
    return processes.ring;
}

static bool run(int page, double *us)
{
    if (page < 0 || ftruncate(page, sizeof(*processes.page)) != 0)
        return bench_failed("memfd_create: %s", strerror(errno));
    if (!processes_page_map(page) ||
        !(processes.kind->raw ? hand_make(&processes.hand, (unsigned)processes.slots)
                              : make_ring()))
        return false;
    glFinish();
    if (!start(page))
        return false;
    bool good = copy_all(us);
    if (!good) {
        atomic_store(&processes.page->failed, true);
        gr_ring_stop(processes.ring);
    }
    good = join() && good;
    return good && last_is_right();
}

bool processes_consume(double *us)
{
    const int page = memfd_create("bench_processes", 0);
    glCreateBuffers(1, &processes.target);
    glNamedBufferStorage(processes.target, (GLsizeiptr)scene.bytes, NULL, 0);
    const bool good = run(page, us);
    glFinish();
    gr_ring_free(processes.ring);
    hand_end(&processes.hand);
    if (processes.page)
        munmap(processes.page, sizeof(*processes.page));
    if (page >= 0)
        close(page);
    glDeleteBuffers(1, &processes.target);
    processes.ring = NULL;
    processes.page = NULL;
    processes.hand = (struct frames_hand){0};
    return good;
}
