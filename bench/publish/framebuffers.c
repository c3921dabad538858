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
#include <string.h>

#include <epoxy/gl.h>
#include <grinterop/framebuffer.h>
#include <grinterop/ring.h>

#include "bench/publish/publish.h"
#include "examples/support/kernel_image.h"
#include "examples/support/shader.h"

KERNEL_IMAGE(by_hand);

#define WIDTH  1920
#define HEIGHT 1080
#define PIXELS (WIDTH * HEIGHT)

#define COLOUR      GL_RGBA8, GL_COLOR_ATTACHMENT0, GL_RGBA, GL_UNSIGNED_BYTE
#define DISTANCE    "distance", 0.1f, 100
#define DEPTH(BITS) GL_DEPTH_COMPONENT##BITS, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT, GL_FLOAT

/* BOTH: with a depth of 24 bits in the same call. GROUPS: GROUP frames at once. */
enum form { TEXTURE, RENDERBUFFER, BOTH, GROUPS };

static const struct kind {
    const char *name;
    GLenum internal, attachment, format, type;
    gr_dtype dtype;
    int ndim;
    int64_t shape[3];
    const char *kernel; /* the kernel of the conversion by hand; NULL for a copy */
    float z_near, z_far;
    enum form form;
} kinds[] = {
    {"RGBA8, HWC u8", COLOUR, GR_DTYPE_U8, 3, {HEIGHT, WIDTH, 4}, NULL, 0, 0, TEXTURE},
    {"RGBA8, CHW f32", COLOUR, GR_DTYPE_F32, 3, {3, HEIGHT, WIDTH}, "planes", 0, 0, TEXTURE},
    {"depth 24, f32", DEPTH(24), GR_DTYPE_F32, 2, {HEIGHT, WIDTH}, NULL, 0, 0, TEXTURE},
    {"depth 32F, f32", DEPTH(32F), GR_DTYPE_F32, 2, {HEIGHT, WIDTH}, NULL, 0, 0, TEXTURE},
    {"depth 24, distance", DEPTH(24), GR_DTYPE_F32, 2, {HEIGHT, WIDTH}, DISTANCE, TEXTURE},
    {"depth 32F, distance", DEPTH(32F), GR_DTYPE_F32, 2, {HEIGHT, WIDTH}, DISTANCE, TEXTURE},
    {"RGBA8 buffer, HWC u8", COLOUR, GR_DTYPE_U8, 3, {HEIGHT, WIDTH, 4}, NULL, 0, 0, RENDERBUFFER},
    {"depth 24 buffer, f32", DEPTH(24), GR_DTYPE_F32, 2, {HEIGHT, WIDTH}, NULL, 0, 0, RENDERBUFFER},
    {"RGBA8 and depth 24", COLOUR, GR_DTYPE_U8, 3, {HEIGHT, WIDTH, 4}, NULL, 0, 0, BOTH},
    {"groups of 16", COLOUR, GR_DTYPE_F32, 3, {3, HEIGHT, WIDTH}, "planes", 0, 0, GROUPS},
};

enum { GROUP = 16, SLOTS = 2 * GROUP + 2 };

static struct {
    /* has the staging buffers and both tensors; publish_end() frees them */
    struct publish_bench *bench;
    const gr_cuda_api *cuda;
    const struct kind *kind;
    unsigned in_flight;
    GLuint framebuffer, renderbuffer, texture, depth, names[2];
    gr_tensor *depths; /* of BOTH */
    gr_ring *ring;     /* of GROUPS */
    CUgraphicsResource handles[2];
    CUmodule module;
    CUfunction kernel;
} on;

static bool ok(CUresult result)
{
    return bench_cuda_ok(result, on.kind->name);
}

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

static bool make_depths(void)
{
    static const int64_t shape[] = {HEIGHT, WIDTH};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shape);
    on.depths = gr_tensor_create(&desc, on.bench->on.stream);
    return on.depths || bench_grinterop_failed(on.kind->name);
}

static bool make_ring(void)
{
    const gr_ring_options by_graphics = GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS);
    gr_resource *slots[SLOTS];
    size_t count = 0;
    while (count < SLOTS &&
           (slots[count] = gr_create_gl_buffer((size_t)PIXELS * 4, GR_READ_ONLY, NULL)))
        count++;
    if (count == SLOTS)
        on.ring = gr_ring_create(slots, SLOTS, &by_graphics);
    while (count > 0)
        gr_resource_free(slots[--count]);
    return on.ring || bench_grinterop_failed(on.kind->name);
}

/* Creates two buffers to use in turn, or one with in_flight, or none. */
static bool make_staging(int i)
{
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER, .in_flight = on.in_flight);
    if (on.in_flight == PUBLISH_NO_STAGING || (on.in_flight && i > 0))
        return true;
    on.bench->resources[i] =
        gr_create_gl_buffer((size_t)PIXELS * 8, GR_READ_ONLY, on.in_flight ? &options : NULL);
    return on.bench->resources[i];
}

static bool make(void)
{
    const gr_tensor_desc desc = GR_INIT(
        gr_tensor_desc, .dtype = on.kind->dtype, .ndim = on.kind->ndim, .shape = on.kind->shape,
        .layout = on.kind->shape[0] == 3 ? GR_LAYOUT_CHW : GR_LAYOUT_SHAPE);
    draw();
    glGenBuffers(2, on.names);
    for (int i = 0; i < 2; i++) {
        glBindBuffer(GL_PIXEL_PACK_BUFFER, on.names[i]);
        glBufferData(GL_PIXEL_PACK_BUFFER, PIXELS * 8, NULL, GL_STREAM_READ);
        on.bench->tensors[i] = gr_tensor_create(&desc, on.bench->on.stream);
        if (!make_staging(i) || !on.bench->tensors[i])
            return bench_grinterop_failed(on.kind->name);
        if (!ok(on.cuda->GraphicsGLRegisterBuffer(&on.handles[i], on.names[i], GR_READ_ONLY)))
            return false;
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    if ((on.kind->form == BOTH && !make_depths()) || (on.kind->form == GROUPS && !make_ring()))
        return false;
    return !on.kind->kernel ||
           (kernel_image_load(&by_hand_image, &on.module) &&
            ok(on.cuda->ModuleGetFunction(&on.kernel, on.module, on.kind->kernel)));
}

static bool fetch(unsigned i)
{
    const gr_framebuffer_options options = GR_INIT(
        gr_framebuffer_options, .attachment = on.kind->attachment, .z_near = on.kind->z_near,
        .z_far = on.kind->z_far, .staging = on.bench->resources[on.in_flight ? 0 : i % 2]);
    const gr_framebuffer_options depth =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT);
    const gr_framebuffer_options *const both[] = {&options, &depth};
    gr_tensor *const tensors[] = {on.bench->tensors[0], on.depths};
    return (on.kind->form == BOTH
                ? gr_fetch_framebuffer_many(on.framebuffer, tensors, both, 2, on.bench->on.stream)
                : gr_fetch_framebuffer(on.framebuffer, on.bench->tensors[0], &options,
                                       on.bench->on.stream)) == GR_OK;
}

/* One signal and one wait order a whole group. */
static bool copy_to_ring(unsigned i)
{
    static const gr_slot *slots[GROUP];
    if (i == 0 && gr_ring_acquire_write(on.ring, GR_STREAM_NONE, slots, GROUP, 1000) != GR_OK)
        return false;
    return gr_copy_framebuffer(on.framebuffer, slots[i]->resource, 0, NULL) == GR_OK &&
           (i < GROUP - 1 || gr_ring_hand_over(on.ring, slots, GROUP) == GR_OK);
}

static bool read_group(void)
{
    static const int64_t shape[] = {HEIGHT, WIDTH, 4};
    const gr_tensor_desc pixels =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = shape);
    const gr_publish_options options = GR_INIT(gr_publish_options, .target = &pixels);
    const gr_slot *slots[GROUP];
    const CUstream stream = on.bench->on.stream;
    if (gr_ring_acquire_read(on.ring, stream, slots, GROUP, 1000) != GR_OK)
        return false;
    for (int i = 0; i < GROUP; i++)
        if (gr_buffer_fetch(slots[i]->buffer, on.bench->tensors[0], &options, stream) != GR_OK)
            return false;
    return gr_ring_give_back(on.ring, slots, GROUP) == GR_OK;
}

static bool by_grinterop(unsigned i)
{
    const bool good = on.kind->form == GROUPS
                          ? copy_to_ring(i % GROUP) && (i % GROUP < GROUP - 1 || read_group())
                          : fetch(i);
    return good || bench_grinterop_failed(on.kind->name);
}

static CUresult convert(CUdeviceptr from)
{
    const gr_tensor_info *to = gr_tensor_get_info(on.bench->tensors[1]);
    CUdeviceptr target = to->ptr;
    int count = PIXELS;
    void *arguments[] = {&from, &target, &count};
    if (on.kind->form == BOTH) {
        const CUresult result = on.cuda->MemcpyDtoDAsync(
            gr_tensor_get_info(on.depths)->ptr, from + PIXELS * 4, PIXELS * 4, on.bench->on.stream);
        if (result != CUDA_SUCCESS)
            return result;
    }
    if (!on.kernel)
        return on.cuda->MemcpyDtoDAsync(target, from, to->bytes, on.bench->on.stream);
    return on.cuda->LaunchKernel(on.kernel, (PIXELS + 255) / 256, 1, 1, 256, 1, 1, 0,
                                 on.bench->on.stream, arguments, NULL);
}

static bool mapped(unsigned i, CUresult (*work)(CUdeviceptr pixels))
{
    CUdeviceptr pixels;
    size_t size;
    i %= 2;
    return ok(on.cuda->GraphicsMapResources(1, &on.handles[i], on.bench->on.stream)) &&
           ok(on.cuda->GraphicsResourceGetMappedPointer(&pixels, &size, on.handles[i])) &&
           ok(work(pixels)) &&
           ok(on.cuda->GraphicsUnmapResources(1, &on.handles[i], on.bench->on.stream));
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

static CUresult set_word(CUdeviceptr pixels)
{
    return on.cuda->MemsetD32Async(pixels, 0, 1, on.bench->on.stream);
}

static bool alone(unsigned i)
{
    return on.kind->form == GROUPS ? ok(convert(gr_tensor_get_info(on.bench->tensors[0])->ptr))
                                   : mapped(i, set_word);
}

/* The subjects of both comparisons. */
typedef bool frame_fn(unsigned i);
static frame_fn *const subjects_of[][BENCH_SUBJECTS] = {{by_hand, by_grinterop},
                                                        {alone, by_grinterop}};

/*
 * Measures the wall time of pictures, from idle to idle. The other fields of the block remain NaN.
 */
static bool time_block(void *subjects, unsigned subject, struct bench_block *block)
{
    const unsigned count = (on.bench->frames + GROUP - 1) / GROUP * GROUP;
    glFinish();
    on.cuda->StreamSynchronize(on.bench->on.stream);
    const double before = bench_now_us();
    for (unsigned i = 0; i < count; i++) {
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        if (!((frame_fn *const *)subjects)[subject](i))
            return false;
    }
    on.cuda->StreamSynchronize(on.bench->on.stream);
    glFinish();
    block->wall = (bench_now_us() - before) / count;
    return true;
}

static void end(void)
{
    for (int i = 0; i < 2; i++)
        if (on.handles[i])
            on.cuda->GraphicsUnregisterResource(on.handles[i]);
    if (on.module)
        on.cuda->ModuleUnload(on.module);
    publish_end(on.bench);
    gr_ring_free(on.ring);
    gr_tensor_free(on.depths);
    glDeleteBuffers(2, on.names);
    glDeleteFramebuffers(1, &on.framebuffer);
    glDeleteRenderbuffers(1, &on.renderbuffer);
    glDeleteTextures(1, &on.texture);
    glDeleteTextures(1, &on.depth);
}

bool publish_framebuffer(const struct bench_row *row, size_t size)
{
    static const char *const subjects[] = {"by_hand", "grinterop"};
    struct publish_bench *bench = &publish_bench;
    struct bench_pairs pairs = {.key = row->name,
                                .subjects = BENCH_SUBJECTS,
                                .warm_ups = 1,
                                .blocks = bench->blocks,
                                .seconds = INFINITY,
                                .block = time_block,
                                .of = (void *)subjects_of[0]};
    struct bench_comparison times = {0}, against_alone = {0};
    memset(&on, 0, sizeof(on));
    on.bench = bench;
    on.cuda = bench->cuda;
    const struct publish_kind *kind = (const struct publish_kind *)(const void *)row;
    on.kind = &kinds[kind->framebuffer];
    on.in_flight = kind->in_flight;
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
static struct bench_spread time_draws(unsigned blocks)
{
    double times[MOST_BLOCKS];
    for (unsigned block = 0; block < blocks; block++) {
        glFinish();
        const double before = bench_thread_cpu_us();
        for (int i = 0; i < DRAWS; i++)
            glDrawArrays(GL_TRIANGLES, 0, 3);
        times[block] = (bench_thread_cpu_us() - before) / DRAWS;
    }
    glFinish();
    return bench_spread_of(times, blocks);
}

bool publish_draws(const struct bench_row *row, size_t size)
{
    const unsigned blocks = publish_bench.blocks;
    const GLuint program =
        shader_program("#version 330\nvoid main() { gl_Position = vec4(0); }\n",
                       "#version 330\nout vec4 colour;\nvoid main() { colour = vec4(1); }\n");
    GLuint vertices;
    memset(&on, 0, sizeof(on));
    on.bench = &publish_bench;
    on.cuda = publish_bench.cuda;
    on.kind = &kinds[0];
    glGenVertexArrays(1, &vertices);
    bool good = make();
    glBindVertexArray(vertices);
    glUseProgram(program);
    glViewport(0, 0, 1, 1);
    time_draws(1);
    const struct bench_spread before = time_draws(blocks);
    good = good && by_grinterop(0);
    const struct bench_spread after = time_draws(blocks);
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
