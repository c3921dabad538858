/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Publishes to rings of textures that grinterop created, or to one registered texture, with
 * in_flight or by interop. OpenGL copies each frame, as a draw would read it. A frame is published
 * once OpenGL has finished the frame as many frames before as the ring has slots, or the texture
 * has staging buffers, so that the CPU does not run ahead. The latency of a frame is from the begin
 * of its call to the end of that copy, on the clock of OpenGL, which is read once per block.
 */
#include <epoxy/gl.h>
#include <grinterop/ring.h>

#include "bench/publish/publish.h"

#define MOST_SLOTS  32
#define MOST_FRAMES 1024

/* A ring while it is measured. */
struct run {
    struct publish_bench *bench;
    struct publish_size size;
    gr_ring *ring;
    gr_resource *texture; /* instead of the ring */
    unsigned name;        /* of `texture` */
    unsigned slots, group, target, queries[MOST_FRAMES];
    GLsync copied[MOST_SLOTS]; /* follows the last copy from each slot; NULL: none */
    double began[MOST_FRAMES];
};

static gr_ring *make_ring(struct publish_size size, unsigned count)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = size.width, .height = size.height);
    gr_resource *slots[MOST_SLOTS] = {NULL};
    unsigned made = 0;
    while (made < count &&
           (slots[made] = gr_create_gl_image(&desc, GR_SURFACE_LOAD_STORE, NULL)) != NULL)
        made++;
    gr_ring *ring = made == count ? gr_ring_create(slots, count, NULL) : NULL;
    if (!ring)
        bench_grinterop_failed(made == count ? "gr_ring_create" : "gr_create_gl_image");
    while (made-- > 0)
        gr_resource_free(slots[made]);
    return ring;
}

static bool write_batch(const struct run *run, unsigned frame)
{
    const gr_slot *slots[MOST_SLOTS];
    const struct publish_bench *bench = run->bench;
    const CUstream stream = bench->on.stream;
    if (run->texture)
        return gr_publish(run->texture, bench->tensors[frame % bench->pairs], NULL, stream) ==
                   GR_OK ||
               bench_grinterop_failed("gr_publish");
    if (gr_ring_acquire_write(run->ring, stream, slots, run->group, GR_WAIT_FOREVER) != GR_OK)
        return bench_grinterop_failed("gr_ring_acquire_write");
    for (unsigned i = 0; i < run->group; i++)
        if (gr_buffer_publish(slots[i]->buffer, bench->tensors[(frame + i) % bench->pairs], NULL,
                              stream) != GR_OK) {
            gr_ring_cancel_write(run->ring, slots, run->group);
            return bench_grinterop_failed("gr_buffer_publish");
        }
    return gr_ring_hand_over(run->ring, slots, run->group) == GR_OK ||
           bench_grinterop_failed("gr_ring_hand_over");
}

/* Copies the texture as a draw would read it. */
static void copy_frame(struct run *run, unsigned frame, unsigned name)
{
    glCopyImageSubData(name, GL_TEXTURE_2D, 0, 0, 0, 0, run->target, GL_TEXTURE_2D, 0, 0, 0, 0,
                       (GLsizei)run->size.width, (GLsizei)run->size.height, 1);
    glQueryCounter(run->queries[frame], GL_TIMESTAMP);
    run->copied[frame % run->slots] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

static bool read_batch(struct run *run, unsigned frame)
{
    const gr_slot *slots[MOST_SLOTS];
    if (run->texture) {
        copy_frame(run, frame, run->name);
        return true;
    }
    if (gr_ring_acquire_read(run->ring, GR_STREAM_NONE, slots, run->group, GR_WAIT_FOREVER) !=
        GR_OK)
        return bench_grinterop_failed("gr_ring_acquire_read");
    for (unsigned i = 0; i < run->group; i++)
        copy_frame(run, frame + i, gr_gl_name(slots[i]->resource));
    return gr_ring_give_back(run->ring, slots, run->group) == GR_OK ||
           bench_grinterop_failed("gr_ring_give_back");
}

/* Waits until OpenGL has finished the last frame that used this place of the ring. */
static void await_copy(struct run *run, unsigned frame)
{
    GLsync *copied = &run->copied[frame % run->slots];
    if (*copied)
        glClientWaitSync(*copied, GL_SYNC_FLUSH_COMMANDS_BIT, GL_TIMEOUT_IGNORED);
    glDeleteSync(*copied);
    *copied = NULL;
}

static bool one_block(struct run *run, unsigned frames, double *us, double *latency)
{
    GLint64 origin;
    double latencies[MOST_FRAMES];
    run->bench->cuda->StreamSynchronize(run->bench->on.stream);
    glFinish();
    glGetInteger64v(GL_TIMESTAMP, &origin);
    const double before = bench_now_us();
    for (unsigned i = 0; i < frames; i += run->group) {
        for (unsigned k = i; k < i + run->group; k++)
            await_copy(run, k);
        for (unsigned k = i; k < i + run->group; k++)
            run->began[k] = bench_now_us() - before;
        if (!write_batch(run, i) || !read_batch(run, i))
            return false;
    }
    glFinish();
    *us = (bench_now_us() - before) / frames;
    for (unsigned i = 0; i < frames; i++) {
        GLuint64 end;
        glGetQueryObjectui64v(run->queries[i], GL_QUERY_RESULT, &end);
        latencies[i] = (double)((GLint64)end - origin) / 1e3 - run->began[i];
    }
    *latency = bench_spread_of(latencies, frames).median;
    return true;
}

static bool measure_with(struct run *run, const struct bench_row *row)
{
    const unsigned blocks = run->bench->blocks;
    double us[MOST_BLOCKS], latency[MOST_BLOCKS];
    if (!one_block(run, run->group, &us[0], &latency[0]))
        return false;
    for (unsigned block = 0; block < blocks; block++)
        if (!one_block(run, run->bench->ring_frames, &us[block], &latency[block]))
            return false;
    struct bench_result *result = publish_add(row, run->size);
    bench_set(result, "frame_us", bench_spread_of(us, blocks));
    bench_set(result, "latency_us", bench_spread_of(latency, blocks));
    bench_set_number(result, "frames_per_s", 1e6 / result->values[0].of.median);
    return true;
}

static bool measure(const struct publish_kind *kind, struct publish_size size)
{
    static struct run run;
    const bool has_ring = kind->row.run == publish_ring;
    run = (struct run){.bench = &publish_bench,
                       .size = size,
                       .ring = has_ring ? make_ring(size, kind->slots) : NULL,
                       .texture = has_ring ? NULL : publish_bench.resources[PUBLISH_STAGED],
                       .name = publish_bench.names[PUBLISH_STAGED],
                       .slots = kind->slots,
                       .group = kind->group,
                       .target = publish_bench.names[0]};
    if (has_ring && !run.ring)
        return false;
    glGenQueries(MOST_FRAMES, run.queries);
    bool good = measure_with(&run, &kind->row);
    for (unsigned i = 0; i < run.slots; i++)
        await_copy(&run, i);
    glDeleteQueries(MOST_FRAMES, run.queries);
    gr_ring_free(run.ring);
    return good;
}

bool publish_ring(const struct bench_row *row, size_t number)
{
    const struct publish_kind *kind = (const struct publish_kind *)(const void *)row;
    const struct publish_size size =
        publish_bench.quick ? (struct publish_size){64, 36} : publish_sizes[number];
    const bool good = publish_make(&publish_bench, kind, size) && measure(kind, size);
    publish_end(&publish_bench);
    return good;
}

bool publish_texture(const struct bench_row *row, size_t number)
{
    return publish_ring(row, number);
}
