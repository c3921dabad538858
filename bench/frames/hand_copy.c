/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The copy transport by raw calls, to measure what its parts cost: the number of buffers and of
 * pieces, the flushes of OpenGL, and the wait before CUDA reuses a buffer.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include <epoxy/gl.h>

#include "bench/frames/frames.h"

enum { MOST_PIECES = 64, PAGE = 4096 };

/* The buffers of one frame. */
struct turn {
    CUdeviceptr memory;    /* CUDA memory */
    unsigned mapped, name; /* OpenGL buffers: one mapped for staging, and one that is drawn */
    size_t first;          /* the offset of the first whole page in the mapping */
    unsigned char *host;   /* points into the mapping or to CUDA host memory */
    bool registered;
    CUevent ends[MOST_PIECES];
    GLsync fence;
};

struct frames_hand_copy {
    unsigned written, drawn, scratch;
    struct turn turns[FRAMES_MOST_COPIES];
};

/* ---- Setup ----------------------------------------------------------------------------------- */

static bool map_buffer(const struct frames *f, struct turn *t)
{
    const GLbitfield access =
        GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    const GLsizeiptr size = (GLsizeiptr)(f->bytes + 2 * PAGE);
    glCreateBuffers(1, &t->mapped);
    glNamedBufferStorage(t->mapped, size, NULL, access | GL_CLIENT_STORAGE_BIT);
    unsigned char *bytes = glMapNamedBufferRange(t->mapped, 0, size, access);
    if (!bytes)
        return frames_gl_ok("glMapNamedBufferRange");
    t->first = (PAGE - (uintptr_t)bytes % PAGE) % PAGE;
    t->host = bytes + t->first;
    t->registered =
        frames_cuda_ok(f, f->cuda->MemHostRegister(t->host, (f->bytes + PAGE - 1) / PAGE * PAGE, 0),
                       "cuMemHostRegister");
    return t->registered;
}

static bool alloc_host(const struct frames *f, struct turn *t)
{
    void *host = NULL;
    const bool good = frames_cuda_ok(f, f->cuda->MemAllocHost(&host, f->bytes), "cuMemAllocHost");
    t->host = host;
    return good;
}

static bool make_turn(const struct frames *f, const struct frames_hand_copy_kind *how,
                      struct turn *t)
{
    glCreateBuffers(1, &t->name);
    glNamedBufferStorage(t->name, (GLsizeiptr)f->bytes, NULL, 0);
    bool good = frames_gl_ok("glNamedBufferStorage") &&
                frames_cuda_ok(f, f->cuda->MemAlloc(&t->memory, f->bytes), "cuMemAlloc") &&
                (how->by_cpu ? alloc_host(f, t) : map_buffer(f, t));
    for (unsigned i = 0; good && i < how->pieces; i++)
        good = frames_cuda_ok(f, f->cuda->EventCreate(&t->ends[i], CU_EVENT_DISABLE_TIMING),
                              "cuEventCreate");
    return good;
}

bool frames_hand_copy_open(struct frames *f, struct frames_run *run)
{
    struct frames_hand_copy *h = run->hand_copy = calloc(1, sizeof(*h));
    bool good = h;
    if (!h)
        frames_set_error("out of memory");
    for (unsigned i = 0; good && i < run->kind->slots; i++)
        good = make_turn(f, &run->kind->copy, &h->turns[i]);
    return good;
}

static void free_turn(const struct frames *f, struct turn *t)
{
    glDeleteSync(t->fence);
    if (t->registered)
        f->cuda->MemHostUnregister(t->host);
    else if (t->host)
        f->cuda->MemFreeHost(t->host);
    if (t->memory)
        f->cuda->MemFree(t->memory);
    for (unsigned i = 0; i < MOST_PIECES && t->ends[i]; i++)
        f->cuda->EventDestroy(t->ends[i]);
    glDeleteBuffers(1, &t->mapped);
    glDeleteBuffers(1, &t->name);
}

bool frames_hand_copy_close(struct frames *f, struct frames_run *run)
{
    struct frames_hand_copy *h = run->hand_copy;
    const bool good = frames_drain(f);
    for (unsigned i = 0; h && i < FRAMES_MOST_COPIES; i++)
        free_turn(f, &h->turns[i]);
    if (h)
        glDeleteBuffers(1, &h->scratch);
    free(h);
    return good;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

static void await_opengl(struct turn *t)
{
    if (t->fence)
        glClientWaitSync(t->fence, GL_SYNC_FLUSH_COMMANDS_BIT, GL_TIMEOUT_IGNORED);
    glDeleteSync(t->fence);
    t->fence = NULL;
}

static size_t piece_begin(const struct frames *f, const struct frames_kind *kind, unsigned i)
{
    return f->bytes * i / kind->copy.pieces;
}

static bool write_one(struct frames *f, struct frames_run *run)
{
    struct frames_hand_copy *h = run->hand_copy;
    struct turn *t = &h->turns[h->written++ % run->kind->slots];
    if (run->kind->copy.waits_early)
        await_opengl(t);
    if (!frames_launch(f, t->memory))
        return false;
    await_opengl(t);
    for (unsigned i = 0; i < run->kind->copy.pieces; i++) {
        const size_t at = piece_begin(f, run->kind, i), end = piece_begin(f, run->kind, i + 1);
        if (!frames_cuda_ok(
                f, f->cuda->MemcpyDtoHAsync(t->host + at, t->memory + at, end - at, f->on.stream),
                "cuMemcpyDtoHAsync") ||
            !frames_cuda_ok(f, f->cuda->EventRecord(t->ends[i], f->on.stream), "cuEventRecord"))
            return false;
    }
    return true;
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

static bool await_cuda(const struct frames *f, CUevent event, bool flushes)
{
    if (flushes && f->cuda->EventQuery(event) == CUDA_ERROR_NOT_READY)
        glFlush();
    return frames_cuda_ok(f, f->cuda->EventSynchronize(event), "cuEventSynchronize");
}

static void move_piece(struct frames_hand_copy *h, const struct turn *t, size_t at, size_t size)
{
    if (!t->registered) {
        if (!h->scratch)
            glCreateBuffers(1, &h->scratch);
        glNamedBufferData(h->scratch, (GLsizeiptr)size, t->host + at, GL_STREAM_COPY);
    }
    glCopyNamedBufferSubData(t->registered ? t->mapped : h->scratch, t->name,
                             t->registered ? (GLintptr)(t->first + at) : 0, (GLintptr)at,
                             (GLsizeiptr)size);
}

static bool draw_one(struct frames *f, struct frames_run *run)
{
    const struct frames_hand_copy_kind *how = &run->kind->copy;
    struct frames_hand_copy *h = run->hand_copy;
    struct turn *t = &h->turns[h->drawn++ % run->kind->slots];
    for (unsigned i = 0; i < how->pieces; i++) {
        const size_t at = piece_begin(f, run->kind, i), end = piece_begin(f, run->kind, i + 1);
        if (!await_cuda(f, t->ends[i], how->flush == FRAMES_FLUSH_WAITING))
            return false;
        move_piece(h, t, at, end - at);
        if (how->flush == FRAMES_FLUSH_EACH)
            glFlush();
    }
    if (how->until_drawn)
        frames_draw(f, t->name);
    if (t->registered)
        t->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!how->until_drawn)
        frames_draw(f, t->name);
    return true;
}

/*
 * A frame. At the start of a block the writer gets ahead of the reader. At the end of the block
 * only the reader still has frames.
 */
bool frames_hand_copy_frame(struct frames *f, struct frames_run *run)
{
    const struct frames_hand_copy *h = run->hand_copy;
    const unsigned ahead = run->kind->copy.ahead ? run->kind->copy.ahead : 1;
    while (f->frames_left > 0 && h->written - h->drawn < ahead)
        if (!write_one(f, run))
            return false;
    return draw_one(f, run);
}
