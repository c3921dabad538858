/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Publishes to rings: several frames in flight, or batches. OpenGL copies each frame, as a draw
 * would read it. The latency of a frame is from the begin of its call to the end of that copy, on
 * the clock of OpenGL, which is read once per block.
 */
#include <epoxy/gl.h>
#include <grinterop/ring.h>

#include "bench/publish/publish.h"

static const struct {
    const char *name;
    unsigned slots, group;
} kinds[RING_ROWS] = {
    {"in order", 1, 1}, {"4 in flight", 4, 1}, {"16 in flight", 16, 1}, {"batches of 16", 16, 16}};

#define MOST_FRAMES 1024
static unsigned queries[MOST_FRAMES];
static double began[MOST_FRAMES];

static bool write_batch(struct publish_bench *bench, gr_ring *ring, unsigned n)
{
    const gr_slot *slots[MOST_PAIRS];
    if (gr_ring_acquire_write(ring, bench->on.stream, slots, n, GR_WAIT_FOREVER) != GR_OK)
        return bench_grinterop_failed("gr_ring_acquire_write");
    for (unsigned i = 0; i < n; i++)
        if (gr_buffer_publish(slots[i]->buffer, bench->tensors[i], NULL, bench->on.stream) !=
            GR_OK) {
            gr_ring_cancel_write(ring, slots, n);
            return bench_grinterop_failed("gr_buffer_publish");
        }
    return gr_ring_hand_over(ring, slots, n) == GR_OK ||
           bench_grinterop_failed("gr_ring_hand_over");
}

static bool read_batch(gr_ring *ring, struct publish_size size, unsigned target, unsigned n,
                       const unsigned *query)
{
    const gr_slot *slots[MOST_PAIRS];
    if (gr_ring_acquire_read(ring, GR_STREAM_NONE, slots, n, GR_WAIT_FOREVER) != GR_OK)
        return bench_grinterop_failed("gr_ring_acquire_read");
    for (unsigned i = 0; i < n; i++) {
        glCopyImageSubData(gr_gl_name(slots[i]->resource), GL_TEXTURE_2D, 0, 0, 0, 0, target,
                           GL_TEXTURE_2D, 0, 0, 0, 0, (GLsizei)size.width, (GLsizei)size.height, 1);
        glQueryCounter(query[i], GL_TIMESTAMP);
    }
    return gr_ring_give_back(ring, slots, n) == GR_OK ||
           bench_grinterop_failed("gr_ring_give_back");
}

/* Publishes and draws `frames` frames. The last texture of the bench is the target of the draws. */
static bool one_block(struct publish_bench *bench, gr_ring *ring, struct ring_row *row,
                      unsigned frames, double *us, double *latency)
{
    GLint64 origin;
    bench->cuda->StreamSynchronize(bench->on.stream);
    glFinish();
    glGetInteger64v(GL_TIMESTAMP, &origin);
    const double before = bench_now_us();
    for (unsigned i = 0; i < frames; i += row->group) {
        for (unsigned k = 0; k < row->group; k++)
            began[i + k] = bench_now_us();
        const gr_tensor *tensor = bench->tensors[i % bench->pairs];
        if (row->group > 1 ? !write_batch(bench, ring, row->group)
                           : gr_ring_publish_tensor(ring, tensor, NULL, bench->on.stream,
                                                    GR_WAIT_FOREVER) != GR_OK)
            return bench_grinterop_failed("gr_ring_publish_tensor");
        if (!read_batch(ring, row->size, bench->names[bench->pairs - 1], row->group, &queries[i]))
            return false;
    }
    glFinish();
    *us = (bench_now_us() - before) / frames;
    double latencies[MOST_FRAMES];
    for (unsigned i = 0; i < frames; i++) {
        GLuint64 end;
        glGetQueryObjectui64v(queries[i], GL_QUERY_RESULT, &end);
        latencies[i] = (double)((GLint64)end - origin) / 1e3 - (began[i] - before);
    }
    *latency = bench_spread_of(latencies, frames).median;
    return true;
}

static bool measure_with(struct publish_bench *bench, gr_ring *ring,
                         const struct publish_effort *effort, struct ring_row *row)
{
    double us[1000], latency[1000];
    const unsigned frames = effort->ring_frames;
    if (!one_block(bench, ring, row, row->group, &us[0], &latency[0]))
        return false;
    for (unsigned block = 0; block < effort->blocks; block++)
        if (!one_block(bench, ring, row, frames, &us[block], &latency[block]))
            return false;
    row->us = bench_spread_of(us, effort->blocks);
    row->latency = bench_spread_of(latency, effort->blocks);
    return true;
}

bool ring_measure(struct publish_bench *bench, const struct publish_effort *effort, unsigned number,
                  struct ring_row *row)
{
    const unsigned most = bench->pairs > 1 ? bench->pairs - 1 : 1;
    row->name = kinds[number].name;
    row->group = kinds[number].group < most ? kinds[number].group : most;
    const unsigned slots = kinds[number].slots < most ? kinds[number].slots : most;
    gr_ring *ring = gr_ring_create(bench->resources, slots, NULL);
    if (!ring)
        return bench_grinterop_failed("gr_ring_create");
    glGenQueries(MOST_FRAMES, queries);
    bool good = measure_with(bench, ring, effort, row);
    glDeleteQueries(MOST_FRAMES, queries);
    gr_ring_free(ring);
    return good;
}
