/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Clears framebuffers and reads them into tensors by gr_fetch_framebuffer() with staging buffers,
 * and by hand. By hand means that glReadPixels() writes to a registered buffer, which is then
 * mapped for a copy or a kernel. Two buffers are used in turn, so that their reads overlap. A third
 * subject is the same frame without a transfer: the clear, the map, 4 bytes of work by CUDA, and
 * the release. In groups of 16, gr_copy_framebuffer() copies frames to the slots of a ring, and is
 * compared with the clear and the kernel alone. Other rows pass one staging buffer with in_flight,
 * or none.
 */
#define _GNU_SOURCE
#include <string.h>

#include <epoxy/gl.h>
#include <grinterop/framebuffer.h>
#include <grinterop/ring.h>

#include "bench/publish/publish.h"

KERNEL_IMAGE(by_hand);

enum { WIDTH = 1920, HEIGHT = 1080, PIXELS = WIDTH * HEIGHT };

enum { RGBA8, DEPTH24 };
static const struct format {
    GLenum internal, attachment, format, type;
} formats[] = {
    [RGBA8] = {GL_RGBA8, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_UNSIGNED_BYTE},
    [DEPTH24] = {GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT, GL_FLOAT},
};

/* BOTH: with a depth of 24 bits in the same call. GROUPS: GROUP frames at once. */
enum { TEXTURE, RENDERBUFFER, BOTH, GROUPS };

enum { GROUP = 16, SLOTS = 2 * GROUP + 2 };

/* The staging buffers and both tensors are in `publish`. */
static struct {
    const struct format *format;
    GLuint framebuffer, names[2];
    gr_tensor *depths; /* of BOTH */
    gr_ring *ring;     /* of GROUPS */
    CUgraphicsResource handles[2];
    CUfunction kernel;
} on;

static void attach_texture(GLenum internal, GLenum attachment)
{
    const unsigned texture = bench_gl_texture();
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexStorage2D(GL_TEXTURE_2D, 1, internal, WIDTH, HEIGHT);
    glFramebufferTexture(GL_FRAMEBUFFER, attachment, texture, 0);
}

static void draw(void)
{
    on.framebuffer = bench_gl_framebuffer();
    glBindFramebuffer(GL_FRAMEBUFFER, on.framebuffer);
    if (publish.kind->form == RENDERBUFFER) {
        const unsigned renderbuffer = bench_gl_renderbuffer();
        glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
        glRenderbufferStorage(GL_RENDERBUFFER, on.format->internal, WIDTH, HEIGHT);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, on.format->attachment, GL_RENDERBUFFER,
                                  renderbuffer);
    } else {
        attach_texture(on.format->internal, on.format->attachment);
    }
    if (publish.kind->form == BOTH)
        attach_texture(GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

static void make_ring(void)
{
    const gr_ring_options by_graphics = GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS);
    gr_resource *slots[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        GR_KEEP(slots[i], create_gl_buffer, (size_t)PIXELS * 4, GR_READ_ONLY, NULL);
    GR_KEEP(on.ring, ring_create, slots, SLOTS, &by_graphics);
}

/* Creates two buffers to use in turn, or one with in_flight, or none. */
static void make_staging(int i)
{
    const unsigned in_flight = publish.kind->in_flight;
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER, .in_flight = in_flight);
    publish.resources[i] = NULL;
    if (!publish.kind->library_staging && (!in_flight || i == 0))
        GR_KEEP(publish.resources[i], create_gl_buffer, (size_t)PIXELS * 8, GR_READ_ONLY,
                in_flight ? &options : NULL);
}

static void make(const struct publish_kind *kind)
{
    static const struct publish_kind depths = {.dtype = GR_DTYPE_F32};
    memset(&on, 0, sizeof(on));
    publish.kind = kind;
    publish.size = publish_sizes[bench_size];
    on.format = &formats[kind->format];
    draw();
    bench_at_end(publish_collect);
    for (int i = 0; i < 2; i++) {
        on.names[i] = bench_gl_buffer();
        glBindBuffer(GL_PIXEL_PACK_BUFFER, on.names[i]);
        glBufferData(GL_PIXEL_PACK_BUFFER, PIXELS * 8, NULL, GL_STREAM_READ);
        publish.tensors[i] = publish_tensor(kind);
        make_staging(i);
        on.handles[i] = bench_cuda_register(on.names[i], GR_READ_ONLY);
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    if (publish.kind->form == BOTH)
        on.depths = publish_tensor(&depths);
    if (publish.kind->form == GROUPS)
        make_ring();
    if (publish.kind->kernel)
        CU(ModuleGetFunction, &on.kernel, bench_cuda_module(&by_hand_image), publish.kind->kernel);
}

/* ---- The subjects ---------------------------------------------------------------------------- */

static void fetch(unsigned i)
{
    const bool distances = publish.kind->kernel && on.format->attachment == GL_DEPTH_ATTACHMENT;
    const gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .attachment = on.format->attachment,
                .z_near = distances ? 0.1f : 0, .z_far = distances ? 100 : 0,
                .staging = publish.resources[publish.kind->in_flight ? 0 : i % 2]);
    const gr_framebuffer_options depth =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT);
    const gr_framebuffer_options *const both[] = {&options, &depth};
    gr_tensor *const tensors[] = {publish.tensors[0], on.depths};
    if (publish.kind->form == BOTH)
        GR(fetch_framebuffer_many, on.framebuffer, tensors, both, 2, publish.on.stream);
    else
        GR(fetch_framebuffer, on.framebuffer, tensors[0], &options, publish.on.stream);
}

/* One signal and one wait order a whole group. */
static void copy_to_ring(unsigned i)
{
    static const gr_slot *slots[GROUP];
    if (i == 0)
        GR(ring_acquire_write, on.ring, GR_STREAM_NONE, slots, GROUP, 1000);
    GR(copy_framebuffer, on.framebuffer, slots[i]->resource, 0, NULL);
    if (i == GROUP - 1)
        GR(ring_hand_over, on.ring, slots, GROUP);
}

static void read_group(void)
{
    static const int64_t shape[] = {HEIGHT, WIDTH, 4};
    const gr_tensor_desc pixels =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = shape);
    const gr_publish_options options = GR_INIT(gr_publish_options, .target = &pixels);
    const gr_slot *slots[GROUP];
    const CUstream stream = publish.on.stream;
    GR(ring_acquire_read, on.ring, stream, slots, GROUP, 1000);
    for (int i = 0; i < GROUP; i++)
        GR(buffer_fetch, slots[i]->buffer, publish.tensors[0], &options, stream);
    GR(ring_give_back, on.ring, slots, GROUP);
}

static void by_grinterop(unsigned i)
{
    if (publish.kind->form != GROUPS) {
        fetch(i);
        return;
    }
    copy_to_ring(i % GROUP);
    if (i % GROUP == GROUP - 1)
        read_group();
}

static void convert(CUdeviceptr from)
{
    const gr_tensor_info *to = gr_tensor_get_info(publish.tensors[1]);
    CUdeviceptr target = to->ptr;
    int count = PIXELS;
    void *arguments[] = {&from, &target, &count};
    if (publish.kind->form == BOTH)
        CU(MemcpyDtoDAsync, gr_tensor_get_info(on.depths)->ptr, from + PIXELS * 4, PIXELS * 4,
           publish.on.stream);
    if (on.kernel)
        CU(LaunchKernel, on.kernel, (PIXELS + 255) / 256, 1, 1, 256, 1, 1, 0, publish.on.stream,
           arguments, NULL);
    else
        CU(MemcpyDtoDAsync, target, from, to->bytes, publish.on.stream);
}

static void mapped(unsigned i, void (*work)(CUdeviceptr pixels))
{
    CUgraphicsResource handle = on.handles[i % 2];
    CUdeviceptr pixels;
    size_t size;
    CU(GraphicsMapResources, 1, &handle, publish.on.stream);
    CU(GraphicsResourceGetMappedPointer, &pixels, &size, handle);
    work(pixels);
    CU(GraphicsUnmapResources, 1, &handle, publish.on.stream);
}

static void by_hand(unsigned i)
{
    glBindBuffer(GL_PIXEL_PACK_BUFFER, on.names[i % 2]);
    glReadPixels(0, 0, WIDTH, HEIGHT, on.format->format, on.format->type, NULL);
    if (publish.kind->form == BOTH)
        glReadPixels(0, 0, WIDTH, HEIGHT, GL_DEPTH_COMPONENT, GL_FLOAT,
                     (void *)(uintptr_t)(PIXELS * 4));
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    mapped(i, convert);
}

static void set_word(CUdeviceptr pixels)
{
    CU(MemsetD32Async, pixels, 0, 1, publish.on.stream);
}

static void alone(unsigned i)
{
    if (publish.kind->form == GROUPS)
        convert(gr_tensor_get_info(publish.tensors[0])->ptr);
    else
        mapped(i, set_word);
}

/* ---- Measurement ----------------------------------------------------------------------------- */

/* The subjects of both comparisons. */
typedef void frame_fn(unsigned i);
static frame_fn *const subjects_of[][BENCH_SUBJECTS] = {{by_hand, by_grinterop},
                                                        {alone, by_grinterop}};

static void drain(void)
{
    CU(StreamSynchronize, publish.on.stream);
    glFinish();
}

static void enqueue(void *subjects, unsigned subject, unsigned frames)
{
    for (unsigned i = 0; i < frames; i++) {
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        ((frame_fn *const *)subjects)[subject](i);
    }
}

static void measure_framebuffer(const void *of)
{
    const struct publish_kind *kind = of;
    static const char *const subjects[] = {"by_hand", "grinterop"};
    const unsigned frames = (publish.frames + GROUP - 1) / GROUP * GROUP;
    struct bench_pairs pairs = {.key = kind->row.name,
                                .mode = BENCH_FINISHED,
                                .frames = {frames, frames},
                                .warm_ups = 1,
                                .blocks = publish.blocks,
                                .seconds = INFINITY,
                                .drain = drain,
                                .enqueue = enqueue,
                                .of = (void *)subjects_of[0]};
    make(kind);
    const struct bench_comparison times = bench_compare(&pairs);
    pairs.of = (void *)subjects_of[1];
    const struct bench_comparison against_alone = bench_compare(&pairs);
    struct bench_result *result = publish_add(&kind->row);
    bench_set_comparison(result, &times, subjects);
    bench_set(result, "alone_us", against_alone.wall[0]);
    bench_set(result, "ratio_alone", against_alone.ratio);
}

/* ---- Draws before and after the first read --------------------------------------------------- */

enum { DRAWS = 20000 };

/*
 * The CPU time of small draws. The first read creates an OpenGL context that shares objects with
 * this one, which must not make them slower.
 */
static void draw_block(double *us)
{
    glFinish();
    const double before = bench_thread_cpu_us();
    for (int i = 0; i < DRAWS; i++)
        glDrawArrays(GL_TRIANGLES, 0, 3);
    *us = (bench_thread_cpu_us() - before) / DRAWS;
}

static void measure_draws(const void *of)
{
    const struct publish_kind *kind = of;
    const struct bench_blocks draws = {kind->row.name, 1, publish.blocks, INFINITY, 1, draw_block};
    struct bench_spread before, after;
    make(kind);
    glBindVertexArray(bench_gl_vertex_array());
    glUseProgram(
        bench_gl_program("#version 330\nvoid main() { gl_Position = vec4(0); }\n",
                         "#version 330\nout vec4 colour;\nvoid main() { colour = vec4(1); }\n"));
    glViewport(0, 0, 1, 1);
    bench_measure(&draws, &before);
    by_grinterop(0);
    bench_measure(&draws, &after);
    glFinish();
    glUseProgram(0);
    struct bench_result *result = publish_add(&kind->row);
    bench_set(result, "before_us", before);
    bench_set(result, "after_us", after);
    bench_set_number(result, "ratio", after.median / before.median);
}

/* ---- The rows -------------------------------------------------------------------------------- */

/* The element type, layout and channels of the tensors. */
#define BYTES  GR_DTYPE_U8, GR_LAYOUT_SHAPE, 4
#define FLOATS GR_DTYPE_F32, GR_LAYOUT_CHW, 3
#define DEPTHS GR_DTYPE_F32, GR_LAYOUT_SHAPE, 0

#define ROW(part, name, what, of, ...)                                                             \
    {                                                                                              \
        {name, what, part, measure_framebuffer}, __VA_ARGS__, .one_size = true, .format = of       \
    }
#define FRAMEBUFFER(name, of, tensor, by, made)                                                    \
    ROW("Framebuffers to tensors", name, "", of, tensor, .kernel = by, .form = made)
/* One `staging` with in_flight, or none, so that the library uses its own. */
#define STAGED(name, what, ...)                                                                    \
    ROW("Framebuffers to tensors, in_flight", name, what, RGBA8, BYTES, __VA_ARGS__)

const struct publish_kind publish_framebuffer_rows[] = {
    {{"small draws", "", "Framebuffers: 20,000 draws before and after the first read",
      measure_draws},
     BYTES,
     .one_size = true},
    FRAMEBUFFER("RGBA8, HWC u8", RGBA8, BYTES, NULL, TEXTURE),
    FRAMEBUFFER("RGBA8, CHW f32", RGBA8, FLOATS, "planes", TEXTURE),
    ROW("Framebuffers to tensors", "RGBA8, NV12", "by hand as many bytes, unconverted", RGBA8,
        GR_DTYPE_U8, GR_LAYOUT_NV12, 0, .form = TEXTURE),
    FRAMEBUFFER("depth 24, f32", DEPTH24, DEPTHS, NULL, TEXTURE),
    FRAMEBUFFER("depth 24, distance", DEPTH24, DEPTHS, "distance", TEXTURE),
    FRAMEBUFFER("RGBA8 buffer, HWC u8", RGBA8, BYTES, NULL, RENDERBUFFER),
    FRAMEBUFFER("depth 24 buffer, f32", DEPTH24, DEPTHS, NULL, RENDERBUFFER),
    FRAMEBUFFER("RGBA8 and depth 24", RGBA8, BYTES, NULL, BOTH),
    FRAMEBUFFER("groups of 16", RGBA8, FLOATS, "planes", GROUPS),
    STAGED("no staging, colour", "RGBA8", .library_staging = true),
    STAGED("in_flight 8, colour", "RGBA8", .in_flight = 8),
    STAGED("no staging, both", "RGBA8 and depth 24", .library_staging = true, .form = BOTH),
    STAGED("in_flight 8, both", "RGBA8 and depth 24", .in_flight = 8, .form = BOTH),
    {.slots = 0},
};
