/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Staging in host memory. If possible and faster, this memory is an OpenGL buffer that stays mapped
 * and is registered with CUDA, so that the copy engines of both APIs access it, or the mapped
 * storage of the object itself. Otherwise CUDA allocates the memory, and the thread copies between
 * it and OpenGL. The thread waits for fences of OpenGL and events of CUDA.
 */
#include "gl/staging/staging.h"

#include <stdint.h>
#include <stdio.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "lib/base/machine.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "gl/context/saved_state.h"
#include "gl/texels/texels.h"

#define ACCESS (GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT)

/* A second in nanoseconds: the timeout of one wait; waits are repeated. */
#define A_SECOND 1000000000u

/*
 * The number of slots of mapped memory that CUDA only writes: CUDA writes one slot while OpenGL has
 * not yet copied the earlier frames from the others. A 16 MiB frame in order takes 1008 µs on an
 * H200 with these slots, against 1175 µs with one slot.
 */
#define WRITTEN_SLOTS 3

/* The maximum number of pieces of a large buffer. */
#define MOST_PIECES GL_FENCES

/*
 * The minimum size of a piece. Such a piece takes about 40 µs on the bus, so the overhead per
 * piece is small.
 */
#define LEAST_PIECE ((size_t)2 << 20)

struct host_staging {
    struct gl_staging staging;
    unsigned char *host; /* the slots, at a distance of `stride` */
    size_t stride;
    size_t first;      /* the offset of the first slot in the OpenGL buffer */
    bool is_mapped;    /* OpenGL has mapped the memory; names->buffer, or the object, has it */
    CUevent passed[2]; /* for reads by CUDA: events after the stream has read each slot */
    CUevent piece_ends[MOST_PIECES]; /* for large buffers: an event after each piece */
};

static struct host_staging *host_of(const struct gl_resource *r)
{
    return (struct host_staging *)r->staging;
}

static struct gl_place place(const struct gl_staging *s)
{
    const struct host_staging *h = (const struct host_staging *)s;
    const size_t at = s->turn * h->stride;
    return (struct gl_place){.buffer = h->is_mapped ? s->names->buffer : 0,
                             .offset = h->first + at,
                             .cuda = (CUdeviceptr)(uintptr_t)(h->host + at)};
}

/* ---- Fences: each is after OpenGL's last use of a slot, or after a piece --------------------- */

static void put_fence(struct gl_names *names, unsigned i)
{
    glDeleteSync(names->fences[i]); /* which may be NULL */
    names->fences[i] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!names->fences[i])
        glFinish(); /* nothing else waits for OpenGL; only a program without memory comes here */
}

/* Blocks the thread until the fence is signalled, if there is one. */
static gr_status wait_fence(const struct gl_resource *r, unsigned i)
{
    struct gl_names *names = r->staging->names;
    struct __GLsync *fence = names->fences[i];
    GLenum found;
    if (!fence)
        return GR_OK;
    names->fences[i] = NULL;
    do
        found = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, A_SECOND);
    while (found == GL_TIMEOUT_EXPIRED && !gr_context_has_failed(&r->base.context));
    glDeleteSync(fence);
    if (found == GL_TIMEOUT_EXPIRED) /* OpenGL may wait for a signal of CUDA */
        return gr_fail(GR_ERR_DEVICE_LOST,
                       "Earlier work in the CUDA context has failed, such as a kernel, and OpenGL "
                       "has not finished with %s. Check that work (compute-sanitizer).",
                       gl_object_text(&r->base).text);
    if (found != GL_WAIT_FAILED)
        return GR_OK;
    GR_TRY(gl_errors_check_lost());
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_OPENGL, (int)found, "GL_WAIT_FAILED",
                        "glClientWaitSync",
                        "%s: OpenGL did not report that it has finished with %s. Was its context "
                        "lost (glGetGraphicsResetStatus)?",
                        gr_call, gl_object_text(&r->base).text);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/*
 * Blocks the thread until the event is reached. If the copy is large, first flushes OpenGL, so that
 * OpenGL works in the meantime. A small copy ends before OpenGL would start, and a flush would make
 * a shared GPU switch contexts.
 */
static gr_status wait_event(CUevent event, const struct gl_resource *r)
{
    CUresult result = gr_driver()->EventQuery(event);
    if (result == CUDA_ERROR_NOT_READY && r->staging->size > GL_COPY_BY_CPU)
        glFlush();
    if (result == CUDA_ERROR_NOT_READY)
        result = gr_event_finish(event);
    return gr_copy_check(result, "cuEventQuery", &r->base);
}

static gr_status mark_passed(const struct gl_resource *r, CUstream stream)
{
    return gr_copy_check(gr_driver()->EventRecord(host_of(r)->passed[r->staging->turn], stream),
                         "cuEventRecord", &r->base);
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/*
 * Large buffers are copied in pieces of `step` bytes; the last piece may be shorter. OpenGL copies
 * one piece while CUDA transfers the next piece; otherwise each API would wait for the whole
 * buffer. There is only one piece if splitting would not be faster, or for a copy that a ring
 * fetches ahead.
 */
struct pieces {
    struct gl_span all;
    size_t step;
    unsigned count;
};

static struct pieces pieces_of(const struct gl_resource *r, bool read)
{
    const struct host_staging *h = host_of(r);
    struct pieces pieces = {.all = gl_span_of(r), .count = 1};
    const size_t size = pieces.step = pieces.all.size;
    const bool waits = read && (!h->is_mapped || !r->base.current || h->staging.fetched);
    if (r->base.is_image || !h->piece_ends[0] || size < 2 * LEAST_PIECE || waits)
        return pieces;
    pieces.step = (size + MOST_PIECES - 1) / MOST_PIECES;
    pieces.step = (pieces.step + LEAST_PIECE - 1) / LEAST_PIECE * LEAST_PIECE;
    pieces.count = (unsigned)((size + pieces.step - 1) / pieces.step);
    return pieces;
}

static struct gl_span piece_at(const struct pieces *pieces, unsigned i)
{
    const size_t at = i * pieces->step, rest = pieces->all.size - at;
    return (struct gl_span){pieces->all.offset + at, rest < pieces->step ? rest : pieces->step};
}

static bool has_pieces(const struct gl_resource *r, bool read)
{
    return pieces_of(r, read).count > 1;
}

/* ---- Copies of buffers ----------------------------------------------------------------------- */

static void move_piece(const struct gl_resource *r, struct gl_span span, bool read)
{
    const struct gl_place slot = place(r->staging);
    const GLintptr object = (GLintptr)span.offset, staging = (GLintptr)(slot.offset + span.offset);
    if (slot.buffer && read)
        glCopyNamedBufferSubData(r->name, slot.buffer, object, staging, (GLsizeiptr)span.size);
    else if (slot.buffer)
        glCopyNamedBufferSubData(slot.buffer, r->name, staging, object, (GLsizeiptr)span.size);
    if (slot.buffer)
        return;
    /* OpenGL has not mapped the host memory */
    void *host = (void *)(uintptr_t)(slot.cuda + span.offset);
    const struct gl_buffer buffer = {.name = r->name,
                                     .es = r->context.es,
                                     .is_immutable = gl_buffer_is_immutable(r->name, &r->context),
                                     .scratch = &r->staging->names->buffer};
    if (read)
        gl_buffer_read(&buffer, span.offset, span.size, host);
    else
        gl_buffer_write(&buffer, span.offset, span.size, host);
}

/* Writes a piece while the next one is in transit to host memory, or starts to read all pieces. */
static gr_status move(const struct gl_resource *r, bool read)
{
    const struct pieces pieces = pieces_of(r, read);
    for (unsigned i = 0; i < pieces.count; i++) {
        if (pieces.count > 1 && !read)
            GR_TRY(wait_event(host_of(r)->piece_ends[i], r));
        move_piece(r, piece_at(&pieces, i), read);
        if (pieces.count > 1 && read) {
            put_fence(r->staging->names, i);
            glFlush();
        }
    }
    return GR_OK;
}

static gr_status copy_buffer(const struct gl_resource *r, bool up, CUstream stream)
{
    const struct gr_driver_api *cu = gr_driver();
    const struct pieces pieces = pieces_of(r, up);
    for (unsigned i = 0; i < pieces.count; i++) {
        const struct gl_span span = piece_at(&pieces, i);
        void *host = (void *)(uintptr_t)(place(r->staging).cuda + span.offset);
        const CUdeviceptr own = r->staging->own + span.offset;
        if (pieces.count > 1 && up)
            GR_TRY(wait_fence(r, i));
        const CUresult result = up ? cu->MemcpyHtoDAsync(own, host, span.size, stream)
                                   : cu->MemcpyDtoHAsync(host, own, span.size, stream);
        GR_TRY(gr_copy_check(result, up ? "cuMemcpyHtoDAsync" : "cuMemcpyDtoHAsync", &r->base));
        if (pieces.count > 1 && !up)
            GR_TRY(gr_copy_check(cu->EventRecord(host_of(r)->piece_ends[i], stream),
                                 "cuEventRecord", &r->base));
    }
    return GR_OK;
}

static gr_status copy(const struct gl_resource *r, bool up, CUstream stream)
{
    if (r->staging->in_place && !up && !gl_object_intact(&r->base))
        return GR_OK;
    GR_TRY(r->base.is_image ? gl_arrays_stream(r, place(r->staging), up, stream)
                            : copy_buffer(r, up, stream));
    return up ? mark_passed(r, stream) : GR_OK;
}

/* ---- Order ----------------------------------------------------------------------------------- */

/*
 * Waits until CUDA has read the slots, or written them. The pieces of a large buffer are waited for
 * when each is copied.
 */
static gr_status to_gl(gr_resource *const resources[], size_t n, bool read)
{
    for (size_t i = n; i-- > 0;) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        if (!r->staging->chosen || (read ? r->staging->in_place : has_pieces(r, false)))
            continue;
        GR_TRY(
            wait_event(read ? host_of(r)->passed[r->staging->turn] : r->base.sync.work.event, r));
        if (!read && resources[i]->mapped)
            break; /* a release has marked all in one stream, the last one last */
    }
    return GR_OK;
}

/* In a ring, a fence already follows the last use of an object's own storage. */
static bool has_fence(const struct gl_resource *r)
{
    return r->staging->in_place && r->base.in_a_ring && r->staging->names->fences[0];
}

static gr_status from_gl(gr_resource *const resources[], size_t n, bool read)
{
    for (size_t i = n; i-- > 0;) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        const bool maps = read && r->base.current;
        if (!r->staging->chosen || !host_of(r)->is_mapped || (r->staging->in_place && !read) ||
            (maps && (has_fence(r) || has_pieces(r, true))))
            continue;
        put_fence(r->staging->names, r->staging->turn);
        if (maps)
            break; /* the map waits for all, of which this one is the last */
    }
    return GR_OK;
}

static gr_status to_cuda(gr_resource *const resources[], size_t n, CUstream stream)
{
    (void)stream; /* the thread has waited before it enqueues the copies */
    for (size_t i = 0; i < n; i++) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        if (gr_resource_reads(&r->base) && !has_pieces(r, true))
            GR_TRY(wait_fence(r, r->staging->turn));
    }
    return GR_OK;
}

static void undo(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_status status = GR_OK;
    for (size_t i = 0; i < n && status == GR_OK; i++)
        if (gr_resource_reads(resources[i]))
            status = mark_passed((const struct gl_resource *)resources[i], stream);
    if (status != GR_OK)
        (void)gr_stream_finish(stream); /* the memory may be freed next */
}

static unsigned next_slot(const struct gl_staging *s)
{
    return (s->turn + 1) % s->count;
}

/* Waits until OpenGL has finished with the slots that CUDA writes next. */
static gr_status select_slots(gr_resource *const resources[], size_t n)
{
    for (size_t i = n; i-- > 0;) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        if (r->staging->in_place && !has_fence(r)) { /* CUDA writes the object's own storage */
            glMemoryBarrier(GL_ALL_BARRIER_BITS);
            put_fence(r->staging->names, 0);
            break;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        if (gr_resource_writes(&r->base))
            GR_TRY(wait_fence(r, next_slot(r->staging)));
    }
    for (size_t i = 0; i < n; i++) {
        struct gl_staging *s = ((const struct gl_resource *)resources[i])->staging;
        if (gr_resource_writes(resources[i]))
            s->turn = next_slot(s);
    }
    return GR_OK;
}

/* CUDA may still read an object's own storage, which OpenGL may write next. */
static gr_status from_cuda(gr_resource *const resources[], size_t n, CUstream stream)
{
    (void)stream;
    for (size_t i = 0; i < n; i++) {
        const struct gl_resource *r = (const struct gl_resource *)resources[i];
        if (r->staging->in_place && !r->base.in_a_ring && !gr_resource_writes(&r->base))
            GR_TRY(wait_event(r->base.sync.work.event, r));
    }
    return GR_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

bool gl_staging_supported(const struct gl_context *context)
{
    return context->direct && context->storage;
}

/* The flags place the storage in host memory, which the copy engines of both APIs access. */
unsigned int gl_staging_storage_flags(void)
{
    return ACCESS | GL_CLIENT_STORAGE_BIT;
}

static void note_fallback(struct gl_staging *s, const char *why, const char *code)
{
    snprintf(s->way, sizeof(s->way), "through pinned host memory, since %s%s%s", why,
             code[0] ? ": " : "", code);
}

/* Maps a buffer and registers `size` bytes with CUDA, from the next multiple of `alignment` on. */
static bool map_buffer(struct host_staging *h, unsigned int name, size_t size, size_t alignment)
{
    unsigned char *bytes =
        glMapNamedBufferRange(name, 0, (GLsizeiptr)(size + alignment - 1), ACCESS);
    if (gl_errors_take() != GL_NO_ERROR || !bytes) {
        note_fallback(&h->staging, "OpenGL could not keep a buffer of that size mapped", "");
        return false;
    }
    const size_t first = (alignment - (uintptr_t)bytes % alignment) % alignment;
    const CUresult result = gr_driver()->MemHostRegister(bytes + first, size, 0);
    if (result != CUDA_SUCCESS) {
        note_fallback(&h->staging, "cuMemHostRegister refused the memory that OpenGL has mapped",
                      gr_cuda_error_name(result));
        glUnmapNamedBuffer(name);
        return false;
    }
    h->first = first;
    h->host = bytes + first;
    h->is_mapped = true;
    return true;
}

static void take_buffer(struct host_staging *h, unsigned flags)
{
    struct gl_staging *s = &h->staging;
    const unsigned count = flags & GR_READ_ONLY ? 2 : flags & GR_WRITE_DISCARD ? WRITTEN_SLOTS : 1;
    const size_t size = count * h->stride, page = gr_machine_page();
    glCreateBuffers(1, &s->names->buffer);
    glNamedBufferStorage(s->names->buffer, (GLsizeiptr)(size + page), NULL,
                         gl_staging_storage_flags());
    if (!map_buffer(h, s->names->buffer, size, page)) {
        glDeleteBuffers(1, &s->names->buffer);
        s->names->buffer = 0;
        return;
    }
    s->count = count;
    s->reads_ahead = true;
    snprintf(s->way, sizeof(s->way), "through a buffer that OpenGL has mapped");
}

/* If mapped memory is not possible or not faster, `way` receives the reason. */
static void make_mapped(const struct gl_resource *r, struct host_staging *h, unsigned flags)
{
    const char *why = gl_copy_by_cpu(h->staging.size, flags) ? "up to " GL_COPY_BY_CPU_TEXT
                                                               " the CPU copy is faster"
                      : !gl_staging_supported(&r->context)
                          ? "OpenGL lacks GL_ARB_buffer_storage or GL_ARB_direct_state_access"
                          : NULL;
    if (why) {
        note_fallback(&h->staging, why, "");
        return;
    }
    GLint storage = 0;
    struct gl_staging *s = &h->staging;
    GL_SAVED(before, GL_SAVE(ERRORS));
    if (r->owned && !r->base.is_image && !(flags & GR_READ_ONLY))
        glGetNamedBufferParameteriv(r->name, GL_BUFFER_STORAGE_FLAGS, &storage);
    /* with the object's own storage as the staging memory only CUDA copies */
    s->in_place = ((unsigned)storage & ACCESS) == ACCESS && map_buffer(h, r->name, s->size, 1);
    if (s->in_place)
        snprintf(s->way, sizeof(s->way), "into its own storage, which OpenGL has mapped");
    else
        take_buffer(h, flags);
}

static gr_status make_pinned(const struct gl_resource *r, struct host_staging *h, unsigned flags)
{
    void *memory = NULL;
    h->staging.count = flags & GR_READ_ONLY ? 2 : 1;
    const size_t size = (h->staging.count - 1) * h->stride + h->staging.size;
    GR_TRY_CUDA(gr_driver()->MemAllocHost(&memory, size), "cuMemAllocHost",
                "%s: %zu byte%s of pinned host memory for the copy of %s could not be allocated.",
                gr_call, size, gr_s(size), gl_object_text(&r->base).text);
    h->host = memory;
    return GR_OK;
}

/* Slots are whole pages apart, so that no other allocation shares a registered page. */
static gr_status make(struct gl_resource *r, struct gl_staging *s, unsigned flags)
{
    struct host_staging *h = (struct host_staging *)s;
    const size_t page = gr_machine_page();
    s->count = 1;
    h->stride = (s->size + page - 1) / page * page;
    GR_TRY(gr_event_create(&h->passed[0]));
    if (flags & GR_READ_ONLY)
        GR_TRY(gr_event_create(&h->passed[1]));
    make_mapped(r, h, flags);
    const bool has_parts = !s->arrays && !s->in_place && s->size >= 2 * LEAST_PIECE;
    for (unsigned i = 0; has_parts && i < MOST_PIECES; i++)
        GR_TRY(gr_event_create(&h->piece_ends[i]));
    return h->is_mapped ? GR_OK : make_pinned(r, h, flags);
}

/* With mapped memory a shader may copy the image. */
static void prepare(struct gl_resource *r)
{
    if (r->base.is_image && ((struct host_staging *)r->staging)->is_mapped)
        gl_arrays_prepare(r);
}

static void end(struct gl_staging *s)
{
    const struct gr_driver_api *cu = gr_driver();
    struct host_staging *h = (struct host_staging *)s;
    if (h->is_mapped)
        cu->MemHostUnregister(h->host);
    else if (h->host)
        cu->MemFreeHost(h->host);
    for (int i = 0; i < MOST_PIECES && h->piece_ends[i]; i++)
        cu->EventDestroy(h->piece_ends[i]);
    for (int i = 0; i < 2; i++)
        if (h->passed[i])
            cu->EventDestroy(h->passed[i]);
}

const struct gl_staging_kind gl_host_memory = {
    .size = sizeof(struct host_staging),
    .gl_calls = "glCopyNamedBufferSubData, glMapBufferRange, glTexSubImage",
    .make = make,
    .prepare = prepare,
    .end = end,
    .place = place,
    .move = move,
    .copy = copy,
    .to_gl = to_gl,
    .from_gl = from_gl,
    .to_cuda = to_cuda,
    .undo = undo,
    .select = select_slots,
    .from_cuda = from_cuda,
};
