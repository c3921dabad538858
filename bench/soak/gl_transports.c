/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames between CUDA and OpenGL: through a buffer that is mapped each time, a ring, and an image.
 */
#include <epoxy/gl.h>

#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/image.h>
#include <grinterop/ring.h>

#include "bench/soak/soak.h"

enum { SLOTS = 2 * SOAK_GROUP };

/* The state of a thread. */
struct side {
    struct soak_transport *way;
    const gr_cuda_api *cuda;
    CUstream stream;
    gr_resource *resource; /* the resource, if no ring is used */
    gr_ring *ring;
    GLuint collected; /* an OpenGL buffer that collects the bytes of a group that OpenGL reads */
    CUdeviceptr cuda_collects; /* CUDA memory that collects the bytes of a group that CUDA reads */
};

/* ---- One frame ------------------------------------------------------------------------------- */

static bool cuda_writes(const struct side *s, const gr_buffer *buffer, uint64_t frame)
{
    return s->cuda->MemsetD32Async(gr_buffer_ptr(buffer), soak_word(frame), SOAK_WORDS,
                                   s->stream) == CUDA_SUCCESS;
}

static bool cuda_collects(const struct side *s, const gr_buffer *buffer, size_t at)
{
    return s->cuda->MemcpyDtoDAsync(s->cuda_collects + at * SOAK_BYTES, gr_buffer_ptr(buffer),
                                    SOAK_BYTES, s->stream) == CUDA_SUCCESS;
}

static void gl_writes(const gr_resource *resource, uint64_t frame)
{
    const uint32_t word = soak_word(frame), words[SOAK_WORDS] = {word, word, word, word};
    glBindBuffer(GL_COPY_WRITE_BUFFER, (GLuint)gr_gl_name(resource));
    glBufferSubData(GL_COPY_WRITE_BUFFER, 0, SOAK_BYTES, words);
}

static void gl_collects(const struct side *s, const gr_resource *resource, size_t at)
{
    glBindBuffer(GL_COPY_READ_BUFFER, (GLuint)gr_gl_name(resource));
    glBindBuffer(GL_COPY_WRITE_BUFFER, s->collected);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, (GLintptr)(at * SOAK_BYTES),
                        SOAK_BYTES);
}

/* ---- A group of frames ----------------------------------------------------------------------- */

static const char *fetch(const struct side *s, uint64_t first)
{
    soak_group words;
    if (s->way->cuda_reads) {
        if (s->cuda->MemcpyDtoHAsync(words, s->cuda_collects, sizeof(words), s->stream) ||
            s->cuda->StreamSynchronize(s->stream))
            return "the copy to the host";
    } else {
        glBindBuffer(GL_COPY_WRITE_BUFFER, s->collected);
        glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, sizeof(words), words);
    }
    return soak_check(s->way, words, first, SOAK_GROUP) ? NULL : "the bytes";
}

static const char *map_group(const struct side *s, uint64_t first)
{
    for (size_t i = 0; i < SOAK_GROUP; i++) {
        if (s->way->cuda_reads)
            gl_writes(s->resource, first + i);
        gr_buffer *buffer = gr_map(s->resource, s->stream);
        if (!buffer)
            return "gr_map";
        if (!(s->way->cuda_reads ? cuda_collects(s, buffer, i) : cuda_writes(s, buffer, first + i)))
            return "the work on the stream";
        if (gr_buffer_release(buffer) != GR_OK)
            return "gr_buffer_release";
        if (!s->way->cuda_reads)
            gl_collects(s, s->resource, i);
    }
    return fetch(s, first);
}

static const char *ring_group(const struct side *s, uint64_t first)
{
    const gr_slot *slots[SOAK_GROUP];
    const CUstream writer = s->way->cuda_reads ? GR_STREAM_NONE : s->stream;
    const CUstream reader = s->way->cuda_reads ? s->stream : GR_STREAM_NONE;
    if (gr_ring_acquire_write(s->ring, writer, slots, SOAK_GROUP, GR_WAIT_FOREVER) != GR_OK)
        return "gr_ring_acquire_write";
    for (size_t i = 0; i < SOAK_GROUP; i++)
        if (s->way->cuda_reads)
            gl_writes(slots[i]->resource, first + i);
        else if (!cuda_writes(s, slots[i]->buffer, first + i))
            return "the work on the stream";
    if (gr_ring_hand_over(s->ring, slots, SOAK_GROUP) != GR_OK)
        return "gr_ring_hand_over";
    if (gr_ring_acquire_read(s->ring, reader, slots, SOAK_GROUP, GR_WAIT_FOREVER) != GR_OK)
        return "gr_ring_acquire_read";
    for (size_t i = 0; i < SOAK_GROUP; i++)
        if (!s->way->cuda_reads)
            gl_collects(s, slots[i]->resource, i);
        else if (!cuda_collects(s, slots[i]->buffer, i))
            return "the work on the stream";
    const char *failed = fetch(s, first);
    return failed || gr_ring_give_back(s->ring, slots, SOAK_GROUP) == GR_OK ? failed
                                                                            : "gr_ring_give_back";
}

static const char *run_groups(const struct side *s,
                              const char *(*group)(const struct side *, uint64_t))
{
    const char *failed = NULL;
    for (uint64_t next = 1; !failed && !atomic_load(&soak_over); next += SOAK_GROUP) {
        failed = group(s, next);
        if (!failed)
            atomic_fetch_add(&s->way->frames, SOAK_GROUP);
    }
    return failed;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static gr_resource *make(const struct soak_transport *way)
{
    const unsigned flags = way->cuda_reads ? GR_READ_ONLY : GR_WRITE_DISCARD;
    return gr_gl_buffer_create(SOAK_BYTES, flags,
                               &GR_INIT(gr_gl_options, .transports = way->transport));
}

static bool make_ring(struct side *s)
{
    gr_resource *slots[SLOTS] = {NULL};
    bool good = true;
    for (int i = 0; i < SLOTS && good; i++) {
        slots[i] = make(s->way);
        good = slots[i];
    }
    if (good)
        s->ring = gr_ring_create(slots, SLOTS,
                                 &GR_INIT(gr_ring_options, .producer = s->way->cuda_reads
                                                                           ? GR_SIDE_GRAPHICS
                                                                           : GR_SIDE_CUDA));
    for (int i = 0; i < SLOTS; i++)
        gr_resource_free(slots[i]);
    return s->ring;
}

static const char *run_buffers(struct side *s)
{
    glGenBuffers(1, &s->collected);
    glBindBuffer(GL_COPY_WRITE_BUFFER, s->collected);
    glBufferData(GL_COPY_WRITE_BUFFER, sizeof(soak_group), NULL, GL_STREAM_READ);
    if (s->cuda->MemAlloc(&s->cuda_collects, sizeof(soak_group)) != CUDA_SUCCESS)
        return "cuMemAlloc";
    if (s->way->ring)
        return make_ring(s) ? run_groups(s, ring_group) : "gr_ring_create";
    s->resource = make(s->way);
    return s->resource ? run_groups(s, map_group) : "gr_gl_buffer_create";
}

/* ---- Images ---------------------------------------------------------------------------------- */

/*
 * Passes a group through an image. A row of four texels has the words of a frame. CUDA fills CUDA
 * memory with the words and copies them to the row.
 */
static const char *image_group(const struct side *s, uint64_t first)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = s->cuda_collects,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = SOAK_BYTES,
                          .Height = 1};
    for (size_t i = 0; i < SOAK_GROUP; i++) {
        gr_buffer *buffer = gr_map(s->resource, s->stream);
        if (!buffer || !(copy.dstArray = gr_buffer_array(buffer, 0, 0)))
            return "gr_map";
        if (s->cuda->MemsetD32Async(copy.srcDevice, soak_word(first + i), SOAK_WORDS, s->stream) ||
            s->cuda->Memcpy2DAsync(&copy, s->stream))
            return "the work on the stream";
        if (gr_buffer_release(buffer) != GR_OK)
            return "gr_buffer_release";
        glReadPixels(0, 0, SOAK_WORDS, 1, GL_RGBA, GL_UNSIGNED_BYTE, (void *)(i * SOAK_BYTES));
    }
    return fetch(s, first);
}

static const char *run_image(struct side *s)
{
    GLuint texture, framebuffer;
    glGenBuffers(1, &s->collected);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, s->collected);
    glBufferData(GL_PIXEL_PACK_BUFFER, sizeof(soak_group), NULL, GL_STREAM_READ);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SOAK_WORDS, 1);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    if (s->cuda->MemAlloc(&s->cuda_collects, SOAK_BYTES) != CUDA_SUCCESS)
        return "cuMemAlloc";
    s->resource = gr_from_gl_image_with(texture, GL_TEXTURE_2D, GR_WRITE_DISCARD,
                                        &GR_INIT(gr_gl_options, .transports = s->way->transport));
    return s->resource ? run_groups(s, image_group) : "gr_from_gl_image_with";
}

/* ---- The thread ------------------------------------------------------------------------------ */

static void end(struct side *s)
{
    gr_ring_free(s->ring);
    gr_resource_free(s->resource);
    if (s->cuda_collects)
        s->cuda->MemFree(s->cuda_collects);
}

static const char *run(struct soak_transport *way, const char *(*what)(struct side *))
{
    struct side s = {.way = way, .cuda = gr_cuda()};
    GR_AUTO(gr_egl) *egl = gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = way->ordinal));
    if (!egl)
        return "gr_egl_create";
    const gr_transport_info *info = gr_gl_probe((gr_transport)way->transport);
    if (!info)
        return "gr_gl_probe";
    if (!info->usable) {
        snprintf(way->skipped, sizeof(way->skipped), "%s", info->reason);
        return NULL;
    }
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(way->ordinal);
    if (!context)
        return "gr_cuda_context_create";
    s.stream = context->stream;
    const char *failed = what(&s);
    end(&s);
    return failed;
}

const char *soak_gl_buffer(struct soak_transport *way)
{
    return run(way, run_buffers);
}

const char *soak_gl_image(struct soak_transport *way)
{
    return run(way, run_image);
}
