/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads an OpenGL framebuffer into a tensor: colour, depth or stencil, also multisampled, also that
 * of a window. CUDA cannot register depth and multisampled images; this reads them all.
 *
 *     gr_framebuffer_options depth = GR_INIT(gr_framebuffer_options,
 *                                            .attachment = GL_DEPTH_ATTACHMENT, .z_near = 0.1f,
 *                                            .z_far = 100, .staging = staging);
 *     gr_fetch_framebuffer(framebuffer, metres, &depth, stream);
 *
 * It needs an OpenGL context that is current on the calling thread, as gl.h describes.
 */
#ifndef GR_FRAMEBUFFER_H
#define GR_FRAMEBUFFER_H

#include <grinterop/gr.h>
#include <grinterop/publish.h>
#include <grinterop/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to read of a framebuffer. Every field may be 0. */
typedef struct gr_framebuffer_options {
    size_t struct_size;

    /*
     * GL_COLOR_ATTACHMENT0 and so on, GL_DEPTH_ATTACHMENT or GL_STENCIL_ATTACHMENT. For the default
     * framebuffer GL_BACK, GL_FRONT and their left and right buffers replace the colour
     * attachments. 0: the one that glReadBuffer() selected, at first GL_COLOR_ATTACHMENT0 or
     * GL_BACK.
     */
    unsigned int attachment;

    /*
     * The rectangle in pixels; `y` counts from the lowest row. A width or height of 0 reaches to
     * the edge. The default framebuffer, and textures without GL_ARB_direct_state_access, need
     * both.
     */
    unsigned x, y, width, height;

    /*
     * For depth: the planes of the perspective projection. The tensor then has the distances from
     * the camera's plane, in the unit of `z_near`. `z_far` may be INFINITY. For a projection with
     * depth 1 at `z_near` and 0 at `z_far`, set `reverse_z`. 0: the depth of the framebuffer, from
     * 0 to 1.
     */
    float z_near, z_far;
    bool reverse_z;

    /*
     * The conversion: layout, bgr, flip, scale, bias, alpha, srgb and wait_event of
     * gr_publish_options. NULL: none.
     */
    const gr_publish_options *conversion;

    /*
     * An OpenGL buffer for the pixels on their way: of gr_gl_buffer_create() or
     * gr_from_gl_buffer(), not GR_WRITE_DISCARD, with up to 16 bytes per pixel. A second buffer
     * lets two reads overlap. NULL: a temporary one, whose registration takes about 1 ms per call.
     */
    gr_resource *staging;
} gr_framebuffer_options;

/*
 * Reads an attachment of a framebuffer into a tensor, in stream order, after the OpenGL commands
 * issued before. `framebuffer` 0 is the default framebuffer. `options` may be NULL.
 *
 * Shapes and conversions are those of gr_fetch(): (H,W,C) or (H,W) of the rectangle, and row 0 is
 * the lowest. The values are those of an image of the attachment's format; depth is a float from 0
 * to 1, stencil an integer. Multisampled attachments are resolved as by glBlitFramebuffer(): for
 * depth, stencil and integers that is one sample. Of a layered attachment the first layer is read.
 *
 * Owner    no object; the tensor must live until the work in the stream is done, or is freed as
 *          usual
 * Thread   where the OpenGL context is current. OpenGL's state is preserved. The thread waits only
 *          where the staging buffer has the transport copy
 *
 * Errors: the tensor is unchanged. Those of gr_fetch() and gr_gl_buffer_create(), and
 *     GR_ERR_INVALID_VALUE  there is no such framebuffer or attachment; the rectangle is not inside
 *                           it; the planes are not positive or equal; an option of `conversion` is
 *                           not in the list above; `staging` is too small or not an OpenGL buffer
 *     GR_ERR_STATE          `staging` is mapped or write_discard
 *     GR_ERR_GL             no OpenGL context is current, the framebuffer is incomplete, or OpenGL
 *                           refused
 *
 * Wraps glReadPixels, glBlitFramebuffer.
 */
GR_API gr_status gr_fetch_framebuffer(unsigned int framebuffer, gr_tensor *tensor,
                                      const gr_framebuffer_options *options, CUstream stream);

#ifdef __cplusplus
}
#endif
#endif
