/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads the colour, depth or stencil of an OpenGL framebuffer into a tensor. The framebuffer may be
 * multisampled, or belong to a window. CUDA cannot register depth and multisampled images, but
 * gr_fetch_framebuffer() reads them.
 *
 *     gr_framebuffer_options depth = GR_INIT(gr_framebuffer_options,
 *                                            .attachment = GL_DEPTH_ATTACHMENT, .z_near = 0.1f,
 *                                            .z_far = 100);
 *     gr_fetch_framebuffer(framebuffer, metres, &depth, stream);
 *
 * The function needs a current OpenGL context, not of OpenGL ES, as gl.h describes.
 */
#ifndef GR_FRAMEBUFFER_H
#define GR_FRAMEBUFFER_H

#include <grinterop/gr.h>
#include <grinterop/publish.h>
#include <grinterop/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The attachment and the rectangle to read, and the conversion. Every field may be 0. */
typedef struct gr_framebuffer_options {
    size_t struct_size;

    /*
     * The attachment: GL_COLOR_ATTACHMENT0 and so on, GL_DEPTH_ATTACHMENT or GL_STENCIL_ATTACHMENT.
     * For the default framebuffer: GL_BACK, GL_FRONT or their left and right buffers instead of a
     * colour attachment. 0: the buffer that glReadBuffer() selected, by default
     * GL_COLOR_ATTACHMENT0 or GL_BACK.
     */
    unsigned int attachment;

    /*
     * The rectangle in pixels; `y` counts from the lowest row. A width or height of 0 extends the
     * rectangle to the edge. For the default framebuffer, and for textures without
     * GL_ARB_direct_state_access, the width and the height are required.
     */
    unsigned x, y, width, height;

    /*
     * For depth: the near and far planes of the perspective projection. The tensor then receives
     * distances from the camera plane, in the unit of `z_near`. `z_far` may be INFINITY. If the
     * depth is 1 at `z_near` and 0 at `z_far`, set `reverse_z`. Either may be the farther plane:
     * swapping both has the same effect as changing `reverse_z`. If both planes are 0, the tensor
     * receives the depth values of the framebuffer, from 0 to 1. Tensors of integers need `scale`
     * in `conversion`, an array of 4 numbers: if the first is 1000.0f / 65535 and `z_near` is in
     * metres, the tensor receives millimetres in uint16.
     *
     * OpenGL does not report the projection: with that of an orthographic one, distances are wrong
     * without an error. There leave both 0, and set `scale` to far - near and `bias` to near.
     */
    float z_near, z_far;
    bool reverse_z;

    /*
     * The conversion, also to YUV and of tiles. level, layer, layers, offset, target, ring,
     * timeout_ms and the rectangle with z and depth must be 0. NULL: no conversion. Scale and bias
     * apply to distances, too.
     */
    const gr_publish_options *conversion;

    /*
     * An OpenGL buffer that passes the pixels from OpenGL to CUDA: a resource of
     * gr_create_gl_buffer() or gr_from_gl_buffer(), without GR_WRITE_DISCARD. It needs up to 16
     * bytes per pixel: 4 for GL_RGBA8 and for depth. With gr_gl_options.in_flight, which a
     * read_only buffer may have, reads overlap: OpenGL writes the next staging buffer while CUDA
     * still reads earlier ones. NULL: a buffer as large as the largest read so far, with four of
     * them where in_flight works (NVIDIA's OpenGL), which the library keeps for the OpenGL context
     * and the CUDA context. It retains a primary context, and ends at a later call after one of the
     * two contexts was destroyed, or in gr_egl_free().
     */
    gr_resource *staging;

    /*
     * For a multisampled attachment: the sample to read, from 1 to their number; in shaders it is
     * number `sample` - 1 of texelFetch(). A compute shader reads it. 0: the samples are resolved.
     */
    GR_NEW_FIELD(unsigned) sample;
} gr_framebuffer_options;

/*
 * Reads an attachment of a framebuffer into a tensor, in stream order, after the OpenGL commands
 * issued before. `framebuffer` 0 is the default framebuffer. `options` may be NULL.
 *
 * Shapes and conversions are those of gr_fetch(): (H,W,C) or (H,W) of the rectangle, and row 0 is
 * the lowest. The values are converted as for an image of the attachment's format, but 10:10:10:2
 * passes through 16 bits per channel; depth is a float from 0 to 1, stencil is an integer. OpenGL
 * may give an attachment more samples than the program asked for. Multisampled attachments are
 * resolved as by glBlitFramebuffer(): for depth, stencil and integers the result is one of the
 * samples, and `sample` selects one of any attachment. Only the first layer of a layered attachment
 * is read.
 *
 * With the OpenGL of the NVIDIA driver a compute shader reads framebuffer objects; with Mesa it
 * only reads a `sample`. Textures are fastest: on an H100, renderbuffers and samples of 1920 x 1080
 * pixels take 165 us more. Its program and textures, up to four of up to 32 MiB, live as long as
 * the `staging` buffers that it has written; after a NULL, as long as the current context.
 * glReadPixels(), which is slower there, reads the rest: the default framebuffer, packed colours,
 * depth of unsized formats, arrays of 1D textures and cube maps, and everything while conditional
 * rendering, transform feedback or a GL_COMPUTE_SHADER_INVOCATIONS query is active, the current
 * program was deleted, failed to link again or has subroutine uniforms, another context has deleted
 * an object that is bound, or the context has no errors. OpenGL may discard a resolve of samples
 * while conditional rendering is active. That is refused, but cannot be detected before OpenGL 4.5.
 * Fractions of 24 bits may differ from those of glReadPixels() in the last bits of a float.
 *
 * Owner    the call creates no object. gr_tensor_free() may be called at once: the memory of the
 *          tensor is freed in stream order
 * Thread   where the OpenGL context is current. The OpenGL state is preserved. The thread waits as
 *          a map of the staging buffer does: gr_map()
 *
 * Errors: as for gr_fetch() and gr_create_gl_buffer(), after which the tensor is unchanged, and
 *     GR_ERR_INVALID_VALUE  there is no such framebuffer or attachment; the rectangle is not inside
 *                           the attachment; `z_near` and `z_far` are not positive, are equal, or
 *                           are set for an attachment other than depth, or for a tensor of integers
 *                           without `scale`; an option of `conversion` is not allowed; `staging` is
 *                           too small or not an OpenGL buffer; there is no such sample
 *     GR_ERR_STATE          `staging` is mapped, write_discard or in a ring; conditional rendering
 *                           is active, and the attachment is multisampled
 *     GR_ERR_UNSUPPORTED    `sample` is set, but the compute shader cannot run: see above
 *     GR_ERR_GL             no OpenGL context is current, the framebuffer is incomplete, or OpenGL
 *                           refused
 *
 * Wraps glBlitFramebuffer, glDispatchCompute, glReadPixels.
 */
GR_API gr_status gr_fetch_framebuffer(unsigned int framebuffer, gr_tensor *tensor,
                                      const gr_framebuffer_options *options, CUstream stream);

/*
 * Reads up to 16 attachments of a framebuffer into as many tensors, with one map of one staging
 * buffer. Otherwise like gr_fetch_framebuffer().
 *
 *     gr_tensor *const tensors[] = {colours, metres};
 *     const gr_framebuffer_options *const options[] = {NULL, &depth};
 *     gr_fetch_framebuffer_many(framebuffer, tensors, options, 2, stream);
 *
 * `options` and its elements may be NULL. One `staging` is enough; the others are NULL or the same.
 * In it, each attachment begins at a multiple of 256 bytes.
 *
 * Errors: as for gr_fetch_framebuffer(). If CUDA refuses one conversion, the tensors before may
 * have been written.
 */
GR_API gr_status gr_fetch_framebuffer_many(unsigned int framebuffer, gr_tensor *const tensors[],
                                           const gr_framebuffer_options *const options[], size_t n,
                                           CUstream stream);

/*
 * Copies an attachment of a framebuffer to an OpenGL buffer, from `offset` on, by OpenGL alone.
 * CUDA reads it later, with one map for several attachments or frames. In a ring of such buffers
 * CUDA reads frames while OpenGL draws the next ones, and the GPU switches between both once per
 * batch:
 *
 *     gr_ring_options drawn = GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS);
 *     ring = gr_ring_create(buffers, 16, &drawn);                             once; GR_READ_ONLY
 *
 *     gr_ring_acquire_write(ring, GR_STREAM_NONE, slots, 16, timeout_ms);
 *     gr_copy_framebuffer(framebuffer, slots[i]->resource, 0, NULL);          after each draw
 *     gr_ring_hand_over(ring, slots, 16);
 *     gr_ring_acquire_read(ring, stream, slots, 16, timeout_ms);
 *     gr_buffer_fetch(slots[i]->buffer, tensors[i], &pixels, stream);         each slot
 *     gr_ring_give_back(ring, slots, 16);
 *
 * Pixels   rows without padding, the lowest first, in the channels and bits of the attachment: 3
 *          channels become 4, depth float32 from 0 to 1, stencil u8. Packed channels are widened:
 *          those of 10:10:10:2 to u16, of 11:11:10 to f16, of up to 8 bits to u8. Describe them in
 *          `pixels` as gr_publish_options.target: without it gr_buffer_fetch() assumes the shape
 *          and dtype of the tensor. It does not convert depth to distances
 * Options  may be NULL; z_near, z_far, conversion and staging must be 0
 *
 * Thread, state and errors: as for gr_fetch_framebuffer(), and
 *     GR_ERR_INVALID_VALUE  the offset is not a multiple of 4; an option is not allowed; the buffer
 *                           is NULL, too small or not an OpenGL buffer
 *     GR_ERR_STATE          the buffer is mapped, closed or write_discard
 */
GR_API gr_status gr_copy_framebuffer(unsigned int framebuffer, gr_resource *buffer, size_t offset,
                                     const gr_framebuffer_options *options);

#ifdef __cplusplus
}
#endif
#endif
