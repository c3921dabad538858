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
#include "examples/support/kernel_image.h"
#include "examples/support/shader.h"

KERNEL_IMAGE(by_hand);

enum { WIDTH = 1920, HEIGHT = 1080, PIXELS = WIDTH * HEIGHT };

#define COLOUR      GL_RGBA8, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_UNSIGNED_BYTE
#define DEPTH(BITS) GL_DEPTH_COMPONENT##BITS, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT, GL_FLOAT
#define HWC                                                                                        \
    GR_DTYPE_U8, 3,                                                                                \
    {                                                                                              \
        HEIGHT, WIDTH, 4                                                                           \
    }
#define CHW                                                                                        \
    GR_DTYPE_F32, 3,                                                                               \
    {                                                                                              \
        3, HEIGHT, WIDTH                                                                           \
    }
#define PLANE                                                                                      \
    GR_DTYPE_F32, 2,                                                                               \
    {                                                                                              \
        HEIGHT, WIDTH                                                                              \
    }

/* BOTH: with a depth of 24 bits in the same call. GROUPS: GROUP frames at once. */
enum form { TEXTURE, RENDERBUFFER, BOTH, GROUPS };

/* The kinds of framebuffers, by the index of a row. */
static const struct kind {
    GLenum internal, attachment, format, type;
    gr_dtype dtype;
    int ndim;
    int64_t shape[3];
    const char *kernel; /* the kernel of the conversion by hand; NULL for a copy */
    enum form form;
} kinds[] = {
    {COLOUR, HWC, NULL, TEXTURE},
    {COLOUR, CHW, "planes", TEXTURE},
    {DEPTH(24), PLANE, NULL, TEXTURE},
    {DEPTH(32F), PLANE, NULL, TEXTURE},
    {DEPTH(24), PLANE, "distance", TEXTURE},
    {DEPTH(32F), PLANE, "distance", TEXTURE},
    {COLOUR, HWC, NULL, RENDERBUFFER},
    {DEPTH(24), PLANE, NULL, RENDERBUFFER},
    {COLOUR, HWC, NULL, BOTH},
    {COLOUR, CHW, "planes", GROUPS},
};

enum { GROUP = 16, SLOTS = 2 * GROUP + 2 };

/* publish_end() frees the staging buffers and both tensors, which `publish` has. */
static struct {
    const struct publish_kind *row;
    const struct kind *kind;
    GLuint framebuffer, renderbuffer, texture, depth, names[2];
    gr_tensor *depths; /* of BOTH */
    gr_ring *ring;     /* of GROUPS */
    CUgraphicsResource handles[2];
    CUmodule module;
    CUfunction kernel;
} on;

static void draw(void)
{
    glGenFramebuffers(1, &on.framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, on.framebuffer);
    if (on.kind->form == RENDERBUFFER) {
        glGenRenderbuffers(1, &on.renderbuffer);
        glBindRenderbuffer(GL_RENDERBUFFER, on.renderbuffer);
        glRenderbufferStorage(GL_RENDERBUFFER, on.kind->internal, WIDTH, HEIGHT);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, on.kind->attachment, GL_RENDERBUFFER,
                                  on.renderbuffer);
    } else {
        glGenTextures(1, &on.texture);
        glBindTexture(GL_TEXTURE_2D, on.texture);
        glTexStorage2D(GL_TEXTURE_2D, 1, on.kind->internal, WIDTH, HEIGHT);
        glFramebufferTexture(GL_FRAMEBUFFER, on.kind->attachment, on.texture, 0);
    }
    if (on.kind->form == BOTH) {
        glGenTextures(1, &on.depth);
        glBindTexture(GL_TEXTURE_2D, on.depth);
        glTexStorage2D(GL_TEXTURE_2D, 1, GL_DEPTH_COMPONENT24, WIDTH, HEIGHT);
        glFramebufferTexture(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, on.depth, 0);
    }
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
}

static bool make_ring(void)
{
    const gr_ring_options by_graphics = GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS);
    gr_resource *slots[SLOTS];
    size_t count = 0;
    while (count < SLOTS &&
           GR_NEW(slots[count], create_gl_buffer, (size_t)PIXELS * 4, GR_READ_ONLY, NULL))
        count++;
    if (count == SLOTS)
        GR_NEW(on.ring, ring_create, slots, SLOTS, &by_graphics);
    while (count > 0)
        gr_resource_free(slots[--count]);
    return on.ring;
}

/* Creates two buffers to use in turn, or one with in_flight, or none. */
static bool make_staging(int i)
{
    const unsigned in_flight = on.row->in_flight;
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER, .in_flight = in_flight);
    return on.row->library_staging || (in_flight && i > 0) ||
           GR_NEW(publish.resources[i], create_gl_buffer, (size_t)PIXELS * 8, GR_READ_ONLY,
                  in_flight ? &options : NULL);
}

static bool make(void)
{
    static const int64_t plane[] = {HEIGHT, WIDTH};
    const gr_tensor_desc depths =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2, .shape = plane);
    const gr_tensor_desc desc = GR_INIT(
        gr_tensor_desc, .dtype = on.kind->dtype, .ndim = on.kind->ndim, .shape = on.kind->shape,
        .layout = on.kind->shape[0] == 3 ? GR_LAYOUT_CHW : GR_LAYOUT_SHAPE);
    draw();
    glGenBuffers(2, on.names);
    for (int i = 0; i < 2; i++) {
        glBindBuffer(GL_PIXEL_PACK_BUFFER, on.names[i]);
        glBufferData(GL_PIXEL_PACK_BUFFER, PIXELS * 8, NULL, GL_STREAM_READ);
        if (!GR_NEW(publish.tensors[i], tensor_create, &desc, publish.on.stream) ||
            !make_staging(i) ||
            !CU(GraphicsGLRegisterBuffer, &on.handles[i], on.names[i], GR_READ_ONLY))
            return false;
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    if ((on.kind->form == BOTH && !GR_NEW(on.depths, tensor_create, &depths, publish.on.stream)) ||
        (on.kind->form == GROUPS && !make_ring()))
        return false;
    return !on.kind->kernel || (kernel_image_load(&by_hand_image, &on.module) &&
                                CU(ModuleGetFunction, &on.kernel, on.module, on.kind->kernel));
}

static void start(const struct bench_row *row)
{
    memset(&on, 0, sizeof(on));
    on.row = (const struct publish_kind *)(const void *)row;
    on.kind = &kinds[on.row->framebuffer];
}

static void end(void)
{
    for (int i = 0; i < 2; i++)
        if (on.handles[i])
            bench_cuda->GraphicsUnregisterResource(on.handles[i]);
    if (on.module)
        bench_cuda->ModuleUnload(on.module);
    publish_end();
    gr_ring_free(on.ring);
    gr_tensor_free(on.depths);
    glDeleteBuffers(2, on.names);
    glDeleteFramebuffers(1, &on.framebuffer);
    glDeleteRenderbuffers(1, &on.renderbuffer);
    glDeleteTextures(1, &on.texture);
    glDeleteTextures(1, &on.depth);
}

/* ---- The subjects ---------------------------------------------------------------------------- */

static bool fetch(unsigned i)
{
    const bool distances = on.kind->kernel && on.kind->attachment == GL_DEPTH_ATTACHMENT;
    const gr_framebuffer_options options = GR_INIT(
        gr_framebuffer_options, .attachment = on.kind->attachment, .z_near = distances ? 0.1f : 0,
        .z_far = distances ? 100 : 0, .staging = publish.resources[on.row->in_flight ? 0 : i % 2]);
    const gr_framebuffer_options depth =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT);
    const gr_framebuffer_options *const both[] = {&options, &depth};
    gr_tensor *const tensors[] = {publish.tensors[0], on.depths};
    return on.kind->form == BOTH
               ? GR(fetch_framebuffer_many, on.framebuffer, tensors, both, 2, publish.on.stream)
               : GR(fetch_framebuffer, on.framebuffer, tensors[0], &options, publish.on.stream);
}

/* One signal and one wait order a whole group. */
static bool copy_to_ring(unsigned i)
{
    static const gr_slot *slots[GROUP];
    if (i == 0 && !GR(ring_acquire_write, on.ring, GR_STREAM_NONE, slots, GROUP, 1000))
        return false;
    return GR(copy_framebuffer, on.framebuffer, slots[i]->resource, 0, NULL) &&
           (i < GROUP - 1 || GR(ring_hand_over, on.ring, slots, GROUP));
}

static bool read_group(void)
{
    static const int64_t shape[] = {HEIGHT, WIDTH, 4};
    const gr_tensor_desc pixels =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = shape);
    const gr_publish_options options = GR_INIT(gr_publish_options, .target = &pixels);
    const gr_slot *slots[GROUP];
    const CUstream stream = publish.on.stream;
    if (!GR(ring_acquire_read, on.ring, stream, slots, GROUP, 1000))
        return false;
    for (int i = 0; i < GROUP; i++)
        if (!GR(buffer_fetch, slots[i]->buffer, publish.tensors[0], &options, stream))
            return false;
    return GR(ring_give_back, on.ring, slots, GROUP);
}

static bool by_grinterop(unsigned i)
{
    return on.kind->form == GROUPS
               ? copy_to_ring(i % GROUP) && (i % GROUP < GROUP - 1 || read_group())
               : fetch(i);
}

static bool convert(CUdeviceptr from)
{
    const gr_tensor_info *to = gr_tensor_get_info(publish.tensors[1]);
    CUdeviceptr target = to->ptr;
    int count = PIXELS;
    void *arguments[] = {&from, &target, &count};
    if (on.kind->form == BOTH && !CU(MemcpyDtoDAsync, gr_tensor_get_info(on.depths)->ptr,
                                     from + PIXELS * 4, PIXELS * 4, publish.on.stream))
        return false;
    if (!on.kernel)
        return CU(MemcpyDtoDAsync, target, from, to->bytes, publish.on.stream);
    return CU(LaunchKernel, on.kernel, (PIXELS + 255) / 256, 1, 1, 256, 1, 1, 0, publish.on.stream,
              arguments, NULL);
}

static bool mapped(unsigned i, bool (*work)(CUdeviceptr pixels))
{
    CUdeviceptr pixels;
    size_t size;
    i %= 2;
    return CU(GraphicsMapResources, 1, &on.handles[i], publish.on.stream) &&
           CU(GraphicsResourceGetMappedPointer, &pixels, &size, on.handles[i]) && work(pixels) &&
           CU(GraphicsUnmapResources, 1, &on.handles[i], publish.on.stream);
}

static bool by_hand(unsigned i)
{
    glBindBuffer(GL_PIXEL_PACK_BUFFER, on.names[i % 2]);
    glReadPixels(0, 0, WIDTH, HEIGHT, on.kind->format, on.kind->type, NULL);
    if (on.kind->form == BOTH)
        glReadPixels(0, 0, WIDTH, HEIGHT, GL_DEPTH_COMPONENT, GL_FLOAT,
                     (void *)(uintptr_t)(PIXELS * 4));
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    return mapped(i, convert);
}

static bool set_word(CUdeviceptr pixels)
{
    return CU(MemsetD32Async, pixels, 0, 1, publish.on.stream);
}

static bool alone(unsigned i)
{
    return on.kind->form == GROUPS ? convert(gr_tensor_get_info(publish.tensors[0])->ptr)
                                   : mapped(i, set_word);
}

/* ---- Measurement ----------------------------------------------------------------------------- */

/* The subjects of both comparisons. */
typedef bool frame_fn(unsigned i);
static frame_fn *const subjects_of[][BENCH_SUBJECTS] = {{by_hand, by_grinterop},
                                                        {alone, by_grinterop}};

/*
 * Measures the wall time of pictures, from idle to idle. The other fields of the block remain NaN.
 */
static bool time_block(void *subjects, unsigned subject, struct bench_block *block)
{
    const unsigned count = (publish.frames + GROUP - 1) / GROUP * GROUP;
    glFinish();
    bench_cuda->StreamSynchronize(publish.on.stream);
    const double before = bench_now_us();
    for (unsigned i = 0; i < count; i++) {
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        if (!((frame_fn *const *)subjects)[subject](i))
            return false;
    }
    bench_cuda->StreamSynchronize(publish.on.stream);
    glFinish();
    block->wall = (bench_now_us() - before) / count;
    return true;
}

static bool measure_framebuffer(const struct bench_row *row, size_t size)
{
    static const char *const subjects[] = {"by_hand", "grinterop"};
    struct bench_pairs pairs = {.key = row->name,
                                .subjects = BENCH_SUBJECTS,
                                .warm_ups = 1,
                                .blocks = publish.blocks,
                                .seconds = INFINITY,
                                .block = time_block,
                                .of = (void *)subjects_of[0]};
    struct bench_comparison times, against_alone;
    start(row);
    bool good = make() && bench_compare(&pairs, &times);
    pairs.of = (void *)subjects_of[1];
    good = good && bench_compare(&pairs, &against_alone);
    if (good) {
        struct bench_result *result = publish_add(row, publish_sizes[size]);
        bench_set_comparison(result, &times, subjects);
        bench_set(result, "alone_us", against_alone.wall[0]);
        bench_set(result, "ratio_alone", against_alone.ratio);
    }
    end();
    return good;
}

/* ---- Draws before and after the first read --------------------------------------------------- */

enum { DRAWS = 20000 };

/*
 * The CPU time of small draws. The first read creates an OpenGL context that shares objects with
 * this one, which must not make them slower.
 */
static bool draw_block(void *of, unsigned number, double *us)
{
    (void)of, (void)number;
    glFinish();
    const double before = bench_thread_cpu_us();
    for (int i = 0; i < DRAWS; i++)
        glDrawArrays(GL_TRIANGLES, 0, 3);
    *us = (bench_thread_cpu_us() - before) / DRAWS;
    return true;
}

static bool measure_draws(const struct bench_row *row, size_t size)
{
    const struct bench_blocks draws = {row->name, 1, publish.blocks, INFINITY, 1, draw_block, NULL};
    const GLuint program =
        shader_program("#version 330\nvoid main() { gl_Position = vec4(0); }\n",
                       "#version 330\nout vec4 colour;\nvoid main() { colour = vec4(1); }\n");
    GLuint vertices;
    struct bench_spread before, after;
    start(row);
    glGenVertexArrays(1, &vertices);
    bool good = make();
    glBindVertexArray(vertices);
    glUseProgram(program);
    glViewport(0, 0, 1, 1);
    good =
        good && bench_measure(&draws, &before) && by_grinterop(0) && bench_measure(&draws, &after);
    glFinish();
    if (good) {
        struct bench_result *result = publish_add(row, publish_sizes[size]);
        bench_set(result, "before_us", before);
        bench_set(result, "after_us", after);
        bench_set_number(result, "ratio", after.median / before.median);
    }
    end();
    glUseProgram(0);
    glDeleteProgram(program);
    glDeleteVertexArrays(1, &vertices);
    return good;
}

/* ---- The rows -------------------------------------------------------------------------------- */

#define FRAMEBUFFER(name, index)                                                                   \
    {                                                                                              \
        .row = {name, "", "Framebuffers to tensors", measure_framebuffer}, .framebuffer = index,   \
        .one_size = true                                                                           \
    }
/* One `staging` with in_flight, or none, so that the library uses its own. */
#define STAGED(name, what, index, ...)                                                             \
    {                                                                                              \
        .row = {name, what, "Framebuffers to tensors, in_flight", measure_framebuffer},            \
        .framebuffer = index, .one_size = true, __VA_ARGS__                                        \
    }

const struct publish_kind publish_framebuffer_rows[] = {
    {.row = {"small draws", "", "Framebuffers: 20,000 draws before and after the first read",
             measure_draws},
     .one_size = true},
    FRAMEBUFFER("RGBA8, HWC u8", 0),
    FRAMEBUFFER("RGBA8, CHW f32", 1),
    FRAMEBUFFER("depth 24, f32", 2),
    FRAMEBUFFER("depth 32F, f32", 3),
    FRAMEBUFFER("depth 24, distance", 4),
    FRAMEBUFFER("depth 32F, distance", 5),
    FRAMEBUFFER("RGBA8 buffer, HWC u8", 6),
    FRAMEBUFFER("depth 24 buffer, f32", 7),
    FRAMEBUFFER("RGBA8 and depth 24", 8),
    FRAMEBUFFER("groups of 16", 9),
    STAGED("no staging, colour", "RGBA8", 0, .library_staging = true),
    STAGED("in_flight 4, colour", "RGBA8", 0, .in_flight = 4),
    STAGED("in_flight 8, colour", "RGBA8", 0, .in_flight = 8),
    STAGED("no staging, both", "RGBA8 and depth 24", 8, .library_staging = true),
    STAGED("in_flight 4, both", "RGBA8 and depth 24", 8, .in_flight = 4),
    STAGED("in_flight 8, both", "RGBA8 and depth 24", 8, .in_flight = 8),
    {.slots = 0},
};
