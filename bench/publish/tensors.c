/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The pairs of tensors and textures, and the rows that publish and fetch them. Events before and
 * after many pictures measure the GPU time. All pictures are enqueued before the first one begins,
 * since a call can take longer than the work on the GPU.
 */
#define _GNU_SOURCE
#include <semaphore.h>
#include <string.h>

#include <epoxy/gl.h>
#include <grinterop/image.h>

#include "bench/publish/publish.h"

/* ---- The objects ----------------------------------------------------------------------------- */

const struct publish_size publish_sizes[] = {{1920, 1080}, {3840, 2160}};
const size_t publish_size_count = sizeof(publish_sizes) / sizeof(*publish_sizes);

struct bench_result *publish_add(const struct bench_row *row)
{
    char text[32];
    snprintf(text, sizeof(text), "%u x %u", publish.size.width, publish.size.height);
    return bench_add(row, text);
}

struct bench_result *publish_measure(const struct bench_row *row, void (*block)(double *values),
                                     const char *const names[], size_t count, unsigned warm_up,
                                     unsigned frames)
{
    struct bench_spread spreads[BENCH_BLOCK_VALUES];
    double values[BENCH_BLOCK_VALUES];
    publish.block_frames = warm_up;
    block(values);
    publish.block_frames = frames;
    bench_measure(&(struct bench_blocks){row->name, 0, publish.blocks, INFINITY, count, block},
                  spreads);
    struct bench_result *result = publish_add(row);
    for (size_t i = 0; i < count; i++)
        bench_set(result, names[i], spreads[i]);
    return result;
}

/* Fills the tensor. Its values do not affect the time, but memory that was never written would. */
static gr_tensor *make_tensor(const gr_tensor_desc *desc)
{
    gr_tensor *tensor;
    GR_KEEP(tensor, tensor_create, desc, publish.on.stream);
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    CU(MemsetD8Async, info->ptr, 0x35, info->bytes, publish.on.stream);
    return tensor;
}

gr_tensor *publish_tensor(const struct publish_kind *kind)
{
    const int64_t width = publish.size.width, height = publish.size.height;
    const int64_t channels = kind->channels;
    const int64_t hwc[] = {height, width, channels}, chw[] = {channels, height, width};
    const bool is_half = kind->layout == GR_LAYOUT_NV12 || kind->layout == GR_LAYOUT_P016;
    const int64_t rows = is_half                          ? height * 3 / 2
                         : kind->layout == GR_LAYOUT_NV16 ? height * 2
                                                          : height;
    const int64_t flat[] = {rows, width};
    const bool planes = kind->layout == GR_LAYOUT_CHW || kind->layout == GR_LAYOUT_YUV444;
    const int64_t n = kind->columns,
                  tiles[] = {n * n, channels, height / (n + !n), width / (n + !n)};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = kind->dtype, .layout = kind->layout,
                .ndim = n          ? 4
                        : channels ? 3
                                   : 2,
                .shape = n           ? tiles
                         : !channels ? flat
                         : planes    ? chw
                                     : hwc);
    return make_tensor(&desc);
}

static void make_source(const struct publish_kind *kind, unsigned i)
{
    const int64_t width = publish.size.width, height = publish.size.height;
    const bool apart = kind->layout == GR_LAYOUT_YUV420 || kind->layout == GR_LAYOUT_YUV422;
    const int64_t half[] = {kind->layout == GR_LAYOUT_YUV420 ? height / 2 : height, width / 2};
    const gr_tensor_desc chroma =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2, .shape = half);
    publish.tensors[i] = publish_tensor(kind);
    for (unsigned c = 0; c < 2; c++)
        publish.chroma[i][c] = apart ? make_tensor(&chroma) : NULL;
}

static void make_buffer(unsigned i)
{
    GR_KEEP(publish.resources[i], create_gl_buffer, publish.target_bytes, GR_READ_ONLY, NULL);
    publish.names[i] = gr_gl_name(publish.resources[i]);
}

static void make_texture(const struct publish_kind *kind, unsigned i)
{
    static const unsigned transports[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_COPY,
                                          GR_TRANSPORT_PEER};
    const unsigned in_flight = i == PUBLISH_STAGED ? kind->in_flight : 0;
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .in_flight = in_flight,
                .transports = in_flight               ? GR_TRANSPORT_PEER
                              : publish.transport < 0 ? 0
                                                      : transports[publish.transport]);
    publish.names[i] = bench_gl_texture();
    glBindTexture(GL_TEXTURE_2D, publish.names[i]);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, (GLsizei)publish.size.width,
                   (GLsizei)publish.size.height);
    glBindTexture(GL_TEXTURE_2D, 0);
    GR_KEEP(publish.resources[i], from_gl_image_with, publish.names[i], GL_TEXTURE_2D,
            (kind->fetch ? 0 : GR_WRITE_DISCARD) | (publish.plain ? 0 : GR_SURFACE_LOAD_STORE),
            &options);
}

void publish_collect(void)
{
    gr_tensor_collect(10000);
}

void publish_make(const struct publish_kind *kind)
{
    const size_t pixels = (size_t)publish.size.width * publish.size.height;
    publish.source_bytes = pixels * kind->bytes / kind->pixels;
    publish.target_bytes = pixels * 4;
    publish.kind = kind;
    publish.pixels_shape[0] = publish.size.height;
    publish.pixels_shape[1] = publish.size.width;
    publish.pixels_shape[2] = 4;
    publish.pixels =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = publish.pixels_shape);
    publish.host = bench_alloc(publish.target_bytes);
    memset(publish.host, 0x53, publish.target_bytes);
    const size_t room = (size_t)publish.mebibytes << 20;
    const size_t count = room / (publish.source_bytes + publish.target_bytes) + 1;
    bench_at_end(publish_collect);
    for (publish.pairs = 0; publish.pairs < count && publish.pairs < PUBLISH_PAIRS;
         publish.pairs++) {
        make_source(kind, publish.pairs);
        if (kind->linear)
            make_buffer(publish.pairs);
        else
            make_texture(kind, publish.pairs);
    }
}

/* ---- GPU time -------------------------------------------------------------------------------- */

/*
 * The stream waits for `gate`, and the events enclose the pictures. The baseline is the driver copy
 * of an RGBA8 picture to a texture, or from a buffer. Its source is a separate allocation, since
 * the tensor may be smaller than an RGBA8 picture.
 */
static struct {
    sem_t gate;
    CUevent begin, end;
    CUdeviceptr copy_from;
} timing;

static void CUDA_CB wait_for(void *semaphore)
{
    sem_wait(semaphore);
}

/* The options of the pair: its further tensors, and the bits. */
static gr_publish_options options_of(unsigned i)
{
    return GR_INIT(gr_publish_options, .chroma = publish.chroma[i][0],
                   .chroma_v = publish.chroma[i][1], .bits = publish.kind->bits,
                   .high_bits = publish.kind->bits != 0,
                   .columns = publish.kind->columns > 1 ? publish.kind->columns : 0,
                   .target = publish.kind->linear ? &publish.pixels : NULL);
}

static void publish_one(unsigned i)
{
    const gr_publish_options options = options_of(i);
    if (publish.kind->fetch)
        GR(buffer_fetch, publish.buffers[i], publish.tensors[i], &options, publish.on.stream);
    else
        GR(buffer_publish, publish.buffers[i], publish.tensors[i], &options, publish.on.stream);
}

static void copy_one(unsigned i)
{
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (publish.kind->linear) {
        CU(MemcpyDtoDAsync, timing.copy_from + i * publish.target_bytes,
           gr_buffer_ptr(publish.buffers[i]), publish.target_bytes, publish.on.stream);
        return;
    }
    GR_NEW(array, buffer_array, publish.buffers[i], 0, 0);
    bench_cuda->Array3DGetDescriptor(&d, array);
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = timing.copy_from + i * publish.target_bytes,
                                .srcPitch = d.Width * 4,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = array,
                                .WidthInBytes = d.Width * 4,
                                .Height = d.Height};
    CU(Memcpy2DAsync, &copy, publish.on.stream);
}

static void time_on_gpu(void (*one)(unsigned i), unsigned frames, double *gpu, double *call)
{
    float ms = 0;
    CU(LaunchHostFunc, publish.on.stream, wait_for, &timing.gate);
    CU(EventRecord, timing.begin, publish.on.stream);
    const double before = bench_now_us();
    for (unsigned i = 0; i < frames; i++)
        one(i % publish.pairs);
    *call = (bench_now_us() - before) / frames;
    CU(EventRecord, timing.end, publish.on.stream);
    sem_post(&timing.gate);
    CU(StreamSynchronize, publish.on.stream);
    CU(EventElapsedTime, &ms, timing.begin, timing.end);
    *gpu = (double)ms * 1e3 / frames;
}

/* After an error the stream may still wait for the gate. */
static void open_gate(void)
{
    sem_post(&timing.gate);
    CU(StreamSynchronize, publish.on.stream);
}

/* ---- Whole pictures -------------------------------------------------------------------------- */

static double time_whole(unsigned frames)
{
    glFinish();
    bench_cuda->StreamSynchronize(publish.on.stream);
    const double before = bench_now_us();
    for (unsigned i = 0; i < frames; i++) {
        const unsigned pair = i % publish.pairs;
        const gr_publish_options options = options_of(pair);
        gr_resource *resource = publish.resources[pair];
        if (publish.kind->fetch)
            GR(fetch, resource, publish.tensors[pair], &options, publish.on.stream);
        else
            GR(publish, resource, publish.tensors[pair], &options, publish.on.stream);
    }
    bench_cuda->StreamSynchronize(publish.on.stream);
    glFinish();
    return (bench_now_us() - before) / frames;
}

/* Measures the upload from host memory, without CUDA. */
static double time_upload(unsigned frames)
{
    const GLsizei width = (GLsizei)publish.size.width, height = (GLsizei)publish.size.height;
    glFinish();
    const double before = bench_now_us();
    for (unsigned i = 0; i < frames; i++) {
        const unsigned name = publish.names[i % publish.pairs];
        if (publish.kind->linear) {
            glBindBuffer(GL_ARRAY_BUFFER, name);
            glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)publish.target_bytes, publish.host);
            continue;
        }
        glBindTexture(GL_TEXTURE_2D, name);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE,
                        publish.host);
    }
    glBindTexture(GL_TEXTURE_2D, 0);
    glFinish();
    return (bench_now_us() - before) / frames;
}

/* ---- A row ----------------------------------------------------------------------------------- */

enum { GPU, COPY, CALL, WHOLE, UPLOAD, VALUES };

static void map_all(void)
{
    for (unsigned i = 0; i < publish.pairs; i++)
        GR_NEW(publish.buffers[i], map, publish.resources[i], publish.on.stream);
}

static void release_all(void)
{
    for (unsigned i = 0; i < publish.pairs; i++)
        GR(buffer_release, publish.buffers[i]);
}

static void one_block(double *values)
{
    const unsigned frames = publish.block_frames;
    double copy_call;
    map_all();
    time_on_gpu(publish_one, frames, &values[GPU], &values[CALL]);
    time_on_gpu(copy_one, frames, &values[COPY], &copy_call);
    release_all();
    values[WHOLE] = time_whole(frames);
    values[UPLOAD] = time_upload(frames / 4 + 1);
}

/*
 * Launches each kernel once, since the driver loads a kernel at its first launch. In a measurement,
 * loading would block until `gate` opens.
 */
static void load_kernels(void)
{
    map_all();
    publish_one(0);
    CU(StreamSynchronize, publish.on.stream);
    release_all();
}

/*
 * Adds the values. The share is the bandwidth of the tensor, in percent of the bytes that the
 * driver copy reads and writes in the same time.
 */
static void measure(const struct bench_row *row)
{
    static const char *const names[VALUES] = {"gpu_us", "copy_us", "call_us", "with_map_us",
                                              "upload_us"};
    const double bytes = (double)(publish.source_bytes + publish.target_bytes);
    load_kernels();
    struct bench_result *result =
        publish_measure(row, one_block, names, VALUES, publish.pairs,
                        publish.frames > publish.pairs ? publish.frames : publish.pairs);
    const double gpu = result->values[GPU].of.median, copy = result->values[COPY].of.median;
    static double whole; /* of the row before, the same picture without tiles */
    if (publish.kind->columns > 1 && whole > 0)
        bench_set_number(result, "ratio_whole", gpu / whole);
    whole = gpu;
    bench_set_number(result, "gb_per_s", bytes / gpu / 1e3);
    bench_set_number(result, "percent_of_copy",
                     100 * (bytes / gpu) / ((double)publish.target_bytes * 2 / copy));
}

static void measure_tensor(const void *row)
{
    const bool fixed = ((const struct publish_kind *)row)->columns;
    publish.size = fixed ? (struct publish_size){1024, 1024} : publish_sizes[bench_size];
    publish_make(row);
    timing.begin = bench_cuda_event();
    timing.end = bench_cuda_event();
    timing.copy_from = bench_cuda_alloc(publish.target_bytes * publish.pairs);
    sem_init(&timing.gate, 0, 0);
    bench_at_end(open_gate);
    measure(row);
}

#define TENSOR(name, ...)                                                                          \
    {                                                                                              \
        {name, "", "Tensors to textures", measure_tensor}, __VA_ARGS__, .fetch = false             \
    }
#define FETCH(name, ...)                                                                           \
    {                                                                                              \
        {name, "", "Textures to tensors", measure_tensor}, __VA_ARGS__, .fetch = true              \
    }

const struct publish_kind publish_tensor_rows[] = {
    TENSOR("RGBA8", GR_DTYPE_U8, GR_LAYOUT_HWC, 4, 4, 1),
    TENSOR("HWC u8 x 3", GR_DTYPE_U8, GR_LAYOUT_HWC, 3, 3, 1),
    TENSOR("CHW f16", GR_DTYPE_F16, GR_LAYOUT_CHW, 3, 6, 1),
    TENSOR("bool", GR_DTYPE_BOOL, GR_LAYOUT_HWC, 1, 1, 1),
    TENSOR("CHW i16", GR_DTYPE_I16, GR_LAYOUT_CHW, 3, 6, 1),
    TENSOR("HWC f64 x 3", GR_DTYPE_F64, GR_LAYOUT_HWC, 3, 24, 1),
    TENSOR("NV12", GR_DTYPE_U8, GR_LAYOUT_NV12, 0, 3, 2),
    TENSOR("YUV420", GR_DTYPE_U8, GR_LAYOUT_YUV420, 0, 3, 2),
    TENSOR("YUYV", GR_DTYPE_U8, GR_LAYOUT_YUYV, 2, 2, 1),
    FETCH("to CHW f32", GR_DTYPE_F32, GR_LAYOUT_CHW, 3, 12, 1, .columns = 1, .one_size = true),
    FETCH("to 64 tiles", GR_DTYPE_F32, GR_LAYOUT_CHW, 3, 12, 1, .columns = 8, .one_size = true),
    FETCH("to NV12", GR_DTYPE_U8, GR_LAYOUT_NV12, 0, 3, 2),
    FETCH("buffer to NV12", GR_DTYPE_U8, GR_LAYOUT_NV12, 0, 3, 2, .linear = true),
    FETCH("to P016", GR_DTYPE_U16, GR_LAYOUT_P016, 0, 3, 1),
    FETCH("to P010", GR_DTYPE_U16, GR_LAYOUT_P016, 0, 3, 1, .bits = 10),
    FETCH("to NV16", GR_DTYPE_U8, GR_LAYOUT_NV16, 0, 2, 1),
    FETCH("to YUV420", GR_DTYPE_U8, GR_LAYOUT_YUV420, 0, 3, 2),
    FETCH("to YUV422", GR_DTYPE_U8, GR_LAYOUT_YUV422, 0, 2, 1),
    FETCH("to YUV444", GR_DTYPE_U8, GR_LAYOUT_YUV444, 3, 3, 1),
    FETCH("to YUYV", GR_DTYPE_U8, GR_LAYOUT_YUYV, 2, 2, 1),
    {.slots = 0},
};
