/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The tensors, textures and registrations that bench_publish measures. */
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "bench/publish/publish.h"

const struct publish_size publish_sizes[2] = {{1920, 1080}, {3840, 2160}};

struct bench_result *publish_add(const struct bench_row *row, struct publish_size size)
{
    char text[32];
    snprintf(text, sizeof(text), "%u x %u", size.width, size.height);
    return bench_add(row, text);
}

static gr_tensor *make_tensor(const struct publish_bench *bench, const struct publish_kind *kind,
                              struct publish_size size)
{
    const int64_t width = size.width, height = size.height, channels = kind->channels;
    const int64_t hwc[] = {height, width, channels}, chw[] = {channels, height, width};
    const int64_t yuv[] = {kind->layout == GR_LAYOUT_YUV420 ? height : height * 3 / 2, width};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = kind->dtype, .layout = kind->layout,
                .ndim = kind->channels ? 3 : 2,
                .shape = !kind->channels                                                     ? yuv
                         : kind->layout == GR_LAYOUT_CHW || kind->layout == GR_LAYOUT_YUV444 ? chw
                                                                                             : hwc);
    return gr_tensor_create(&desc, bench->on.stream);
}

static unsigned make_texture(struct publish_size size)
{
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, (GLsizei)size.width, (GLsizei)size.height);
    glBindTexture(GL_TEXTURE_2D, 0);
    return name;
}

/* Fills the tensor. Its values do not affect the time, but memory that was never written would. */
static bool fill(const struct publish_bench *bench, const gr_tensor *tensor)
{
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    return bench_cuda_ok(bench->cuda->MemsetD8Async(info->ptr, 0x35, info->bytes, bench->on.stream),
                         "cuMemsetD8Async");
}

static bool make_chroma(struct publish_bench *bench, struct publish_size size, unsigned i)
{
    const int64_t shape[] = {size.height / 2, size.width / 2};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 2, .shape = shape);
    for (int plane = 0; plane < 2; plane++) {
        bench->chroma[i][plane] = gr_tensor_create(&desc, bench->on.stream);
        if (!bench->chroma[i][plane])
            return bench_grinterop_failed("gr_tensor_create");
        if (!fill(bench, bench->chroma[i][plane]))
            return false;
    }
    return true;
}

gr_publish_options publish_options(const struct publish_bench *bench, unsigned i)
{
    return GR_INIT(gr_publish_options, .chroma = bench->chroma[i][0],
                   .chroma_v = bench->chroma[i][1]);
}

static bool make_pair(struct publish_bench *bench, const struct publish_kind *kind,
                      struct publish_size size, unsigned i)
{
    static const unsigned transports[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_COPY,
                                          GR_TRANSPORT_PEER};
    const unsigned in_flight = i == PUBLISH_STAGED ? kind->in_flight : 0;
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .in_flight = in_flight,
                .transports = in_flight              ? GR_TRANSPORT_PEER
                              : bench->transport < 0 ? 0
                                                     : transports[bench->transport]);
    bench->tensors[i] = make_tensor(bench, kind, size);
    if (!bench->tensors[i])
        return bench_grinterop_failed("gr_tensor_create");
    bench->names[i] = make_texture(size);
    bench->resources[i] = gr_from_gl_image_with(bench->names[i], GL_TEXTURE_2D,
                                                (kind->fetch ? 0 : GR_WRITE_DISCARD) |
                                                    (bench->plain ? 0 : GR_SURFACE_LOAD_STORE),
                                                &options);
    if (!bench->resources[i])
        return bench_grinterop_failed("gr_from_gl_image_with");
    bench->pairs++;
    return fill(bench, bench->tensors[i]) &&
           (kind->layout != GR_LAYOUT_YUV420 || make_chroma(bench, size, i));
}

bool publish_make(struct publish_bench *bench, const struct publish_kind *kind,
                  struct publish_size size)
{
    const size_t pixels = (size_t)size.width * size.height;
    bench->source_bytes = pixels * kind->bytes / kind->pixels;
    bench->target_bytes = pixels * 4;
    bench->fetch = kind->fetch;
    bench->host = malloc(bench->target_bytes);
    if (!bench->host)
        return bench_out_of_memory();
    memset(bench->host, 0x53, bench->target_bytes);
    const size_t room = (size_t)bench->mebibytes << 20;
    size_t count = room / (bench->source_bytes + bench->target_bytes) + 1;
    if (count > MOST_PAIRS)
        count = MOST_PAIRS;
    for (unsigned i = 0; i < count; i++)
        if (!make_pair(bench, kind, size, i))
            return false;
    return true;
}

void publish_end(struct publish_bench *bench)
{
    for (unsigned i = 0; i < MOST_PAIRS; i++) {
        gr_buffer_release(bench->buffers[i]);
        gr_resource_free(bench->resources[i]);
        gr_tensor_free(bench->tensors[i]);
        gr_tensor_free(bench->chroma[i][0]);
        gr_tensor_free(bench->chroma[i][1]);
        if (bench->names[i])
            glDeleteTextures(1, &bench->names[i]);
        bench->buffers[i] = NULL;
        bench->resources[i] = NULL;
        bench->tensors[i] = bench->chroma[i][0] = bench->chroma[i][1] = NULL;
        bench->names[i] = 0;
    }
    if (bench->on.egl)
        gr_tensor_collect(10000);
    bench->pairs = 0;
    free(bench->host);
    bench->host = NULL;
}
