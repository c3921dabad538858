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

enum { MOST_SLOTS = 32, MOST_FRAMES = 1024 };

/* The row that is measured. */
static struct run {
    gr_ring *ring; /* NULL for a texture */
    unsigned queries[MOST_FRAMES];
    GLsync copied[MOST_SLOTS]; /* follows the last copy from each slot; NULL: none */
    double began[MOST_FRAMES];
} run;

static void make_ring(void)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = publish.size.width, .height = publish.size.height);
    gr_resource *slots[MOST_SLOTS];
    for (unsigned i = 0; i < publish.kind->slots; i++)
        GR_KEEP(slots[i], create_gl_image, &desc, GR_SURFACE_LOAD_STORE, NULL);
    GR_KEEP(run.ring, ring_create, slots, publish.kind->slots, NULL);
}

static void write_batch(unsigned frame)
{
    const gr_slot *slots[MOST_SLOTS];
    const unsigned n = publish.kind->group;
    const CUstream stream = publish.on.stream;
    if (publish.kind->texture) {
        GR(publish, publish.resources[PUBLISH_STAGED], publish.tensors[frame % publish.pairs], NULL,
           stream);
        return;
    }
    GR(ring_acquire_write, run.ring, stream, slots, n, GR_WAIT_FOREVER);
    for (unsigned i = 0; i < n; i++)
        GR(buffer_publish, slots[i]->buffer, publish.tensors[(frame + i) % publish.pairs], NULL,
           stream);
    GR(ring_hand_over, run.ring, slots, n);
}

/* Copies the texture as a draw would read it. */
static void copy_frame(unsigned frame, unsigned name)
{
    glCopyImageSubData(name, GL_TEXTURE_2D, 0, 0, 0, 0, publish.names[0], GL_TEXTURE_2D, 0, 0, 0, 0,
                       (GLsizei)publish.size.width, (GLsizei)publish.size.height, 1);
    glQueryCounter(run.queries[frame], GL_TIMESTAMP);
    run.copied[frame % publish.kind->slots] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

static void read_batch(unsigned frame)
{
    const gr_slot *slots[MOST_SLOTS];
    const unsigned n = publish.kind->group;
    if (publish.kind->texture) {
        copy_frame(frame, publish.names[PUBLISH_STAGED]);
        return;
    }
    GR(ring_acquire_read, run.ring, GR_STREAM_NONE, slots, n, GR_WAIT_FOREVER);
    for (unsigned i = 0; i < n; i++)
        copy_frame(frame + i, gr_gl_name(slots[i]->resource));
    GR(ring_give_back, run.ring, slots, n);
}

/* Waits until OpenGL has finished the last frame that used this place of the ring. */
static void await_copy(unsigned frame)
{
    GLsync *copied = &run.copied[frame % publish.kind->slots];
    if (*copied)
        glClientWaitSync(*copied, GL_SYNC_FLUSH_COMMANDS_BIT, GL_TIMEOUT_IGNORED);
    glDeleteSync(*copied);
    *copied = NULL;
}

enum { WALL, LATENCY, CPU_TIME, VALUES };

static void one_block(double *values)
{
    const unsigned frames = publish.block_frames, n = publish.kind->group;
    GLint64 origin;
    double latencies[MOST_FRAMES];
    bench_cuda->StreamSynchronize(publish.on.stream);
    glFinish();
    glGetInteger64v(GL_TIMESTAMP, &origin);
    const double cpu = bench_thread_cpu_us(), before = bench_now_us();
    for (unsigned i = 0; i < frames; i += n) {
        for (unsigned k = i; k < i + n; k++)
            await_copy(k);
        for (unsigned k = i; k < i + n; k++)
            run.began[k] = bench_now_us() - before;
        write_batch(i);
        read_batch(i);
    }
    values[CPU_TIME] = (bench_thread_cpu_us() - cpu) / frames;
    glFinish();
    values[WALL] = (bench_now_us() - before) / frames;
    for (unsigned i = 0; i < frames; i++) {
        GLuint64 end;
        glGetQueryObjectui64v(run.queries[i], GL_QUERY_RESULT, &end);
        latencies[i] = (double)((GLint64)end - origin) / 1e3 - run.began[i];
    }
    values[LATENCY] = bench_spread_of(latencies, frames).median;
}

static void end_copies(void)
{
    for (unsigned i = 0; i < publish.kind->slots; i++)
        await_copy(i);
    glDeleteQueries(MOST_FRAMES, run.queries);
}

static void measure_ring(const void *row)
{
    static const char *const names[VALUES] = {"frame_us", "latency_us", "cpu_us"};
    const struct publish_kind *kind = row;
    run = (struct run){.ring = NULL};
    publish.size = publish.quick ? (struct publish_size){64, 36} : publish_sizes[bench_size];
    publish_make(kind);
    if (!kind->texture)
        make_ring();
    glGenQueries(MOST_FRAMES, run.queries);
    bench_at_end(end_copies);
    struct bench_result *result =
        publish_measure(&kind->row, one_block, names, VALUES, kind->group, publish.ring_frames);
    bench_set_number(result, "frames_per_s", 1e6 / result->values[WALL].of.median);
}

/* Publishes CHW f16, as a network or a renderer in CUDA writes it. */
#define RING(name, count, n)                                                                       \
    {                                                                                              \
        {name, "", "Rings, CHW f16 to textures", measure_ring}, GR_DTYPE_F16, GR_LAYOUT_CHW, 3, 6, \
            1, .slots = (count), .group = (n)                                                      \
    }
/* The same to one registered texture, which OpenGL copies; at most `count` frames ahead of it. */
#define TEXTURE(name, count, n)                                                                    \
    {                                                                                              \
        {name, "", "One texture, CHW f16", measure_ring}, GR_DTYPE_F16, GR_LAYOUT_CHW, 3, 6, 1,    \
            .slots = (count), .group = 1, .texture = true, .in_flight = (n)                        \
    }

const struct publish_kind publish_ring_rows[] = {
    RING("in order", 1, 1),          RING("4 in flight", 4, 1),
    RING("16 in flight", 16, 1),     RING("batches of 16", 32, 16),
    TEXTURE("interop", 4, 0),        TEXTURE("in_flight 2", 2, 2),
    TEXTURE("in_flight 4", 4, 4),    TEXTURE("in_flight 8", 8, 8),
    TEXTURE("in_flight 16", 16, 16), {.slots = 0},
};
