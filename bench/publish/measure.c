/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The measurements of bench_publish. Events before and after many pictures measure the GPU time.
 * All pictures are enqueued before the first one begins, since a call can take longer than the work
 * on the GPU.
 */
#include <semaphore.h>
#include <stdlib.h>

#include <epoxy/gl.h>
#include <grinterop/image.h>

#include "bench/publish/publish.h"

/* ---- GPU time -------------------------------------------------------------------------------- */

static void CUDA_CB wait_for(void *semaphore)
{
    sem_wait(semaphore);
}

static bool publish_one(struct publish_bench *bench, unsigned i)
{
    const gr_publish_options options = publish_options(bench, i);
    const gr_status status =
        bench->fetch
            ? gr_buffer_fetch(bench->buffers[i], bench->tensors[i], &options, bench->on.stream)
            : gr_buffer_publish(bench->buffers[i], bench->tensors[i], &options, bench->on.stream);
    return status == GR_OK ||
           bench_grinterop_failed(bench->fetch ? "gr_buffer_fetch" : "gr_buffer_publish");
}

/*
 * The baseline is the driver copy of an RGBA8 picture to a texture. Its source is a separate
 * allocation, since the tensor may be smaller than an RGBA8 picture.
 */
static CUdeviceptr copy_from;

static bool copy_one(struct publish_bench *bench, unsigned i)
{
    const CUarray array = gr_buffer_array(bench->buffers[i], 0, 0);
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (!array)
        return bench_grinterop_failed("gr_buffer_array");
    bench->cuda->Array3DGetDescriptor(&d, array);
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = copy_from + i * bench->target_bytes,
                                .srcPitch = d.Width * 4,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = array,
                                .WidthInBytes = d.Width * 4,
                                .Height = d.Height};
    return bench_cuda_ok(bench->cuda->Memcpy2DAsync(&copy, bench->on.stream), "cuMemcpy2DAsync");
}

typedef bool (*one_fn)(struct publish_bench *bench, unsigned i);

struct timing {
    sem_t gate;
    CUevent begin, end;
};

static bool enqueue(struct publish_bench *bench, struct timing *t, one_fn one, unsigned frames,
                    double *call)
{
    const gr_cuda_api *cuda = bench->cuda;
    bool good = bench_cuda_ok(cuda->LaunchHostFunc(bench->on.stream, wait_for, &t->gate),
                              "cuLaunchHostFunc") &&
                bench_cuda_ok(cuda->EventRecord(t->begin, bench->on.stream), "cuEventRecord");
    const double before = bench_now_us();
    for (unsigned i = 0; i < frames && good; i++)
        good = one(bench, i % bench->pairs);
    *call = (bench_now_us() - before) / frames;
    if (good)
        good = bench_cuda_ok(cuda->EventRecord(t->end, bench->on.stream), "cuEventRecord");
    sem_post(&t->gate);
    return bench_cuda_ok(cuda->StreamSynchronize(bench->on.stream), "cuStreamSynchronize") && good;
}

static bool time_on_gpu(struct publish_bench *bench, struct timing *t, one_fn one, unsigned frames,
                        double *gpu, double *call)
{
    float ms = 0;
    if (!enqueue(bench, t, one, frames, call) ||
        !bench_cuda_ok(bench->cuda->EventElapsedTime(&ms, t->begin, t->end), "cuEventElapsedTime"))
        return false;
    *gpu = (double)ms * 1e3 / frames;
    return true;
}

/* ---- Whole pictures -------------------------------------------------------------------------- */

static bool time_whole(struct publish_bench *bench, unsigned frames, double *us)
{
    glFinish();
    bench->cuda->StreamSynchronize(bench->on.stream);
    const double before = bench_now_us();
    for (unsigned i = 0; i < frames; i++) {
        const unsigned pair = i % bench->pairs;
        const gr_publish_options options = publish_options(bench, pair);
        if ((bench->fetch ? gr_fetch(bench->resources[pair], bench->tensors[pair], &options,
                                     bench->on.stream)
                          : gr_publish(bench->resources[pair], bench->tensors[pair], &options,
                                       bench->on.stream)) != GR_OK)
            return bench_grinterop_failed(bench->fetch ? "gr_fetch" : "gr_publish");
    }
    bench->cuda->StreamSynchronize(bench->on.stream);
    glFinish();
    *us = (bench_now_us() - before) / frames;
    return true;
}

/* Measures the upload from host memory, without CUDA. */
static void time_upload(struct publish_bench *bench, struct publish_size size, unsigned frames,
                        double *us)
{
    glFinish();
    const double before = bench_now_us();
    for (unsigned i = 0; i < frames; i++) {
        glBindTexture(GL_TEXTURE_2D, bench->names[i % bench->pairs]);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, (GLsizei)size.width, (GLsizei)size.height, GL_RGBA,
                        GL_UNSIGNED_BYTE, bench->host);
    }
    glBindTexture(GL_TEXTURE_2D, 0);
    glFinish();
    *us = (bench_now_us() - before) / frames;
}

/* ---- A row ----------------------------------------------------------------------------------- */

enum { GPU, COPY, CALL, COPY_CALL, WHOLE, UPLOAD, SAMPLES };

static bool map_all(struct publish_bench *bench)
{
    for (unsigned i = 0; i < bench->pairs; i++) {
        bench->buffers[i] = gr_map(bench->resources[i], bench->on.stream);
        if (!bench->buffers[i])
            return bench_grinterop_failed("gr_map");
    }
    return true;
}

static bool release_all(struct publish_bench *bench)
{
    for (unsigned i = 0; i < bench->pairs; i++) {
        if (gr_buffer_release(bench->buffers[i]) != GR_OK)
            return bench_grinterop_failed("gr_buffer_release");
        bench->buffers[i] = NULL;
    }
    return true;
}

static bool one_block(struct publish_bench *bench, struct timing *t, struct publish_size size,
                      unsigned frames, double *samples)
{
    if (!map_all(bench) ||
        !time_on_gpu(bench, t, publish_one, frames, &samples[GPU], &samples[CALL]) ||
        !time_on_gpu(bench, t, copy_one, frames, &samples[COPY], &samples[COPY_CALL]) ||
        !release_all(bench) || !time_whole(bench, frames, &samples[WHOLE]))
        return false;
    time_upload(bench, size, frames / 4 + 1, &samples[UPLOAD]);
    return true;
}

static struct bench_spread spread(double (*samples)[SAMPLES], unsigned blocks, int which)
{
    double values[MOST_BLOCKS];
    for (unsigned i = 0; i < blocks; i++)
        values[i] = samples[i][which];
    return bench_spread_of(values, blocks);
}

/*
 * Launches each kernel once, since the driver loads a kernel at its first launch. In a measurement,
 * loading would block until `gate` of struct timing opens.
 */
static bool load_kernels(struct publish_bench *bench)
{
    return map_all(bench) && publish_one(bench, 0) &&
           bench_cuda_ok(bench->cuda->StreamSynchronize(bench->on.stream), "cuStreamSynchronize") &&
           release_all(bench);
}

/*
 * Adds the values. The share is the bandwidth of the tensor, in percent of the bytes that the
 * driver copy reads and writes in the same time.
 */
static void report(const struct publish_bench *bench, const struct bench_row *row,
                   struct publish_size size, double (*samples)[SAMPLES])
{
    static const struct {
        const char *name;
        int which;
    } values[] = {{"gpu_us", GPU},
                  {"copy_us", COPY},
                  {"call_us", CALL},
                  {"with_map_us", WHOLE},
                  {"upload_us", UPLOAD}};
    struct bench_result *result = publish_add(row, size);
    const double bytes = (double)(bench->source_bytes + bench->target_bytes);
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        bench_set(result, values[i].name, spread(samples, bench->blocks, values[i].which));
    const double gpu = result->values[0].of.median, copy = result->values[1].of.median;
    bench_set_number(result, "gb_per_s", bytes / gpu / 1e3);
    bench_set_number(result, "percent_of_copy",
                     100 * (bytes / gpu) / ((double)bench->target_bytes * 2 / copy));
}

static bool measure_with(struct publish_bench *bench, struct timing *t, const struct bench_row *row,
                         struct publish_size size)
{
    static double samples[MOST_BLOCKS][SAMPLES];
    double warm_up[SAMPLES];
    const unsigned frames = bench->frames > bench->pairs ? bench->frames : bench->pairs;
    if (!load_kernels(bench) || !one_block(bench, t, size, bench->pairs, warm_up))
        return false;
    for (unsigned block = 0; block < bench->blocks; block++)
        if (!one_block(bench, t, size, frames, samples[block]))
            return false;
    report(bench, row, size, samples);
    return true;
}

bool publish_tensor(const struct bench_row *row, size_t number)
{
    struct publish_bench *bench = &publish_bench;
    const gr_cuda_api *cuda = bench->cuda;
    const struct publish_size size = publish_sizes[number];
    struct timing t = {.begin = NULL};
    sem_init(&t.gate, 0, 0);
    bool good = publish_make(bench, (const struct publish_kind *)(const void *)row, size) &&
                bench_cuda_ok(cuda->EventCreate(&t.begin, 0), "cuEventCreate") &&
                bench_cuda_ok(cuda->EventCreate(&t.end, 0), "cuEventCreate") &&
                bench_cuda_ok(cuda->MemAlloc(&copy_from, bench->target_bytes * bench->pairs),
                              "cuMemAlloc") &&
                measure_with(bench, &t, row, size);
    publish_end(bench);
    cuda->MemFree(copy_from);
    cuda->EventDestroy(t.begin);
    cuda->EventDestroy(t.end);
    copy_from = 0;
    sem_destroy(&t.gate);
    return good;
}
