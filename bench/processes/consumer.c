/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The side that copies frames with OpenGL, and starts the other side. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <epoxy/gl.h>

#include <grinterop/ring.h>
#include <grinterop/share.h>

#include "bench/processes/processes.h"

extern char **environ;

enum { PATIENCE_MS = 20000 };

/* ---- The other side -------------------------------------------------------------------------- */

struct producer {
    struct processes *p;
    pthread_t thread;
    pid_t pid;
    bool good;
};

static void *produce(void *user)
{
    struct producer *producer = user;
    producer->good = processes_produce(producer->p);
    return NULL;
}

/* Neither CUDA nor OpenGL survives a fork, so the process executes the program anew. */
static bool spawn(struct producer *producer, const char *descriptors)
{
    const struct processes *p = producer->p;
    char program[] = "/proc/self/exe", child[] = "--child", kind[32], list[512];
    char slots[32], frames[32], blocks[32], mesh[32], device[32];
    snprintf(kind, sizeof(kind), "--only=%s", p->kind->row.name);
    snprintf(list, sizeof(list), "%s", descriptors);
    snprintf(slots, sizeof(slots), "--slots=%d", p->slots);
    snprintf(frames, sizeof(frames), "--frames=%d", p->frames);
    snprintf(blocks, sizeof(blocks), "--blocks=%d", p->blocks);
    snprintf(mesh, sizeof(mesh), "--meshes=%d", p->f.mesh);
    snprintf(device, sizeof(device), "--cuda-device=%d", p->f.on.ordinal);
    char *arguments[] = {program, child, list, kind, slots, frames, blocks, mesh, device, NULL};
    const int failed = posix_spawn(&producer->pid, program, NULL, NULL, arguments, environ);
    if (failed != 0)
        fprintf(stderr, "%s: posix_spawn: %s\n", bench_program, strerror(failed));
    return failed == 0;
}

static bool start_ring(struct producer *producer)
{
    int ends[2];
    char list[16];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
        fcntl(ends[1], F_SETFD, 0) != 0) {
        perror("socketpair");
        return false;
    }
    snprintf(list, sizeof(list), "%d", ends[1]);
    const bool good = spawn(producer, list);
    close(ends[1]);
    if (good &&
        gr_ring_send(ends[0], producer->p->ring, GR_RING_CONSUMER, NULL, 0, PATIENCE_MS) == GR_OK)
        return true;
    close(ends[0]);
    return good && bench_grinterop_failed("gr_ring_send");
}

/* Appends a descriptor that the new process inherits. */
static bool add(char *list, size_t size, int fd, int *copy)
{
    const size_t length = strlen(list);
    *copy = fd < 0 ? -1 : dup(fd);
    snprintf(list + length, size - length, "%s%d", length ? "," : "", *copy);
    return *copy >= 0;
}

static bool export_all(struct processes *p, int page, char *list, size_t size, int *copies)
{
    int fds[2 + FRAMES_MOST_SLOTS] = {hand_timeline_export(&p->f, &p->hand, &p->hand.drawn),
                                      hand_timeline_export(&p->f, &p->hand, &p->hand.computed)};
    bool good = add(list, size, page, &copies[0]);
    for (int i = 0; i < p->slots; i++)
        fds[2 + i] = hand_buffer_export(&p->f, &p->hand.buffers[i]);
    for (int i = 0; i < 2 + p->slots; i++) {
        good = add(list, size, fds[i], &copies[1 + i]) && good;
        if (fds[i] >= 0)
            close(fds[i]);
    }
    return good || frames_print_error(false);
}

static bool start_by_hand(struct producer *producer, int page)
{
    struct processes *p = producer->p;
    int copies[3 + FRAMES_MOST_SLOTS];
    char list[512] = "";
    const bool good = export_all(p, page, list, sizeof(list), copies) && spawn(producer, list);
    for (int i = 0; i < 3 + p->slots; i++)
        if (copies[i] >= 0)
            close(copies[i]);
    return good;
}

static bool start(struct producer *producer, int page)
{
    const struct processes_kind *kind = producer->p->kind;
    if (kind->apart)
        return kind->raw ? start_by_hand(producer, page) : start_ring(producer);
    const int failed = pthread_create(&producer->thread, NULL, produce, producer);
    if (failed != 0)
        fprintf(stderr, "%s: pthread_create: %s\n", bench_program, strerror(failed));
    return failed == 0;
}

static bool join(struct producer *producer)
{
    int status = 1;
    if (producer->p->kind->apart)
        return waitpid(producer->pid, &status, 0) > 0 && status == 0;
    pthread_join(producer->thread, NULL);
    return producer->good;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static void copy(const struct processes *p, unsigned name)
{
    glCopyNamedBufferSubData(name, p->target, 0, 0, (GLsizeiptr)p->f.bytes);
}

static bool copy_slot(struct processes *p)
{
    const gr_slot *slot;
    if (gr_ring_acquire_read(p->ring, GR_STREAM_NONE, &slot, 1, PATIENCE_MS) != GR_OK)
        return bench_grinterop_failed("gr_ring_acquire_read");
    copy(p, gr_gl_name(slot->resource));
    return gr_ring_give_back(p->ring, &slot, 1) == GR_OK ||
           bench_grinterop_failed("gr_ring_give_back");
}

static bool copy_by_hand(struct processes *p, int frame)
{
    const unsigned *name = &p->hand.buffers[frame % p->slots].name;
    if (!processes_await(p->page, &p->page->handed, (uint64_t)frame))
        return false;
    hand_gl_wait(&p->hand, (uint64_t)frame, name);
    copy(p, *name);
    hand_gl_signal(&p->hand, (uint64_t)frame, name);
    glFlush();
    atomic_store(&p->page->given, (uint64_t)frame);
    return true;
}

/* The first block is not measured. */
static bool copy_all(struct processes *p, double *us)
{
    double before = 0;
    for (int frame = 1; frame <= processes_total(p); frame++) {
        if (!(p->kind->raw ? copy_by_hand(p, frame) : copy_slot(p)))
            return false;
        if (frame % p->frames != 0)
            continue;
        glFinish();
        const double now = bench_now_us();
        if (frame > p->frames)
            us[frame / p->frames - 2] = (now - before) / p->frames;
        before = now;
    }
    return true;
}

static bool last_is_right(const struct processes *p)
{
    const unsigned wanted = (unsigned)processes_total(p);
    unsigned first = 0, last = 0;
    glGetNamedBufferSubData(p->target, 0, sizeof(first), &first);
    glGetNamedBufferSubData(p->target, (GLintptr)(p->f.bytes - sizeof(last)), sizeof(last), &last);
    if (first == wanted && last == wanted)
        return true;
    fprintf(stderr, "%s: the last frame has the values %u and %u, not %u\n", bench_program, first,
            last, wanted);
    return false;
}

/* ---- A row ----------------------------------------------------------------------------------- */

static bool make_ring(struct processes *p)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED);
    gr_resource *slots[FRAMES_MOST_SLOTS] = {NULL};
    int made = 0;
    while (made < p->slots &&
           (slots[made] = gr_create_gl_buffer(p->f.bytes, GR_WRITE_DISCARD, &options)) != NULL)
        made++;
    p->ring = made == p->slots ? gr_ring_create(slots, (size_t)made, NULL) : NULL;
    if (!p->ring)
        bench_grinterop_failed(made == p->slots ? "gr_ring_create" : "gr_create_gl_buffer");
    while (made-- > 0)
        gr_resource_free(slots[made]);
    return p->ring != NULL;
}

static bool make_by_hand(struct processes *p)
{
    bool good = hand_timelines_make(&p->f, &p->hand);
    for (int i = 0; good && i < p->slots; i++)
        good = hand_buffer_make(&p->f, &p->hand.buffers[i]);
    return good || frames_print_error(false);
}

static void end_all(struct processes *p)
{
    gr_ring_free(p->ring);
    for (int i = 0; i < p->slots; i++)
        hand_buffer_end(&p->f, &p->hand.buffers[i]);
    hand_timelines_end(&p->f, &p->hand);
    processes_page_unmap(p->page);
    p->ring = NULL;
    p->page = NULL;
    p->hand = (struct frames_hand){0};
}

static bool run(struct processes *p, double *us)
{
    struct producer producer = {.p = p};
    const int page = processes_page_create();
    p->page = page < 0 ? NULL : processes_page_map(page);
    bool good = p->page && (p->kind->raw ? make_by_hand(p) : make_ring(p));
    glFinish();
    const bool started = good && start(&producer, page);
    good = started && copy_all(p, us);
    if (started && !good) {
        atomic_store(&p->page->failed, true);
        gr_ring_stop(p->ring);
    }
    good = (!started || join(&producer)) && good;
    if (page >= 0)
        close(page);
    return good && last_is_right(p);
}

bool processes_consume(struct processes *p, double *us)
{
    glCreateBuffers(1, &p->target);
    glNamedBufferStorage(p->target, (GLsizeiptr)p->f.bytes, NULL, 0);
    const bool good = run(p, us);
    glFinish();
    end_all(p);
    glDeleteBuffers(1, &p->target);
    return good;
}
