/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rows with a texture, in order: CUDA copies the mesh into the array of the texture, one vertex per
 * texel, and OpenGL copies the texels to the buffer that it draws.
 */
#define _GNU_SOURCE
#include <epoxy/gl.h>

#include <grinterop/image.h>

#include "bench/frames/frames.h"

static bool open_by(struct frames *f, struct frames_run *run, unsigned transport)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = transport);
    if (!frames_make_buffer(f, run))
        return false;
    glGenTextures(1, run->names);
    glBindTexture(GL_TEXTURE_2D, run->names[0]);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA32F, f->mesh, f->mesh);
    run->resource = gr_from_gl_image_with(run->names[0], GL_TEXTURE_2D, GR_WRITE_DISCARD, &options);
    return run->resource || frames_grinterop_failed("gr_from_gl_image_with");
}

bool frames_image_open(struct frames *f, struct frames_run *run)
{
    return open_by(f, run, GR_TRANSPORT_INTEROP);
}

bool frames_image_open_copy(struct frames *f, struct frames_run *run)
{
    return open_by(f, run, GR_TRANSPORT_COPY);
}

bool frames_image_open_peer(struct frames *f, struct frames_run *run)
{
    return open_by(f, run, GR_TRANSPORT_PEER);
}

bool frames_write_array(struct frames *f, gr_buffer *buffer)
{
    const CUdeviceptr mesh = f->scratch[f->frames_left % FRAMES_ALONE];
    const size_t row = f->bytes / (size_t)f->mesh;
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = mesh,
                                .srcPitch = row,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = gr_buffer_array(buffer, 0, 0),
                                .WidthInBytes = row,
                                .Height = (size_t)f->mesh};
    return frames_launch(f, mesh) &&
           frames_cuda_ok(f, f->cuda->Memcpy2DAsync(&copy, f->on.stream), "cuMemcpy2DAsync");
}

bool frames_image_frame(struct frames *f, struct frames_run *run)
{
    gr_buffer *buffer = gr_map(run->resource, f->on.stream);
    if (!buffer)
        return frames_grinterop_failed("gr_map");
    const bool written = frames_write_array(f, buffer);
    if (gr_buffer_release(buffer) != GR_OK)
        return frames_grinterop_failed("gr_buffer_release");
    glBindTexture(GL_TEXTURE_2D, run->names[0]);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, run->name);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_FLOAT, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    frames_draw(f, run->name);
    return written;
}

bool frames_image_close(struct frames *f, struct frames_run *run)
{
    (void)f;
    gr_resource_free(run->resource);
    glDeleteTextures(1, run->names);
    glDeleteBuffers(1, &run->name);
    return true;
}
