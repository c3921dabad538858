/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources made from OpenGL objects. OpenGL names are plain unsigned ints here, so that this header
 * goes with any OpenGL loader and needs none.
 */
#ifndef GR_GL_H
#define GR_GL_H

#include <gr/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Registers an OpenGL buffer object with CUDA, without a copy. The OpenGL context is the one that is
 * current, through EGL or GLX; `flags` are GR_NONE, GR_READ_ONLY or GR_WRITE_DISCARD.
 *
 * The resource is the caller's, freed with gr_resource_free(). The buffer stays the application's: it
 * keeps its storage as long as it is registered, and is deleted after the resource is closed. A
 * glBufferData of another size is noticed at the next map and refused, as is a deleted buffer; one
 * with immutable storage (glBufferStorage) need not be asked, since CUDA keeps it. Registering is slow
 * compared with mapping: register once, map every frame.
 * glBufferSubData right after a release may overtake CUDA's work that is still pending (seen with
 * NVIDIA's driver 580); draws, dispatches, copies, clears and glMapBufferRange do not.
 * Errors: GR_ERR_INVALID_VALUE (name 0, no such buffer, no storage, flags), GR_ERR_GL (no context
 * current), GR_ERR_CUDA (refused; the message says which device draws and which one computes),
 * GR_ERR_NO_DRIVER.
 * Wraps cuGraphicsGLRegisterBuffer.
 */
GR_API gr_resource *gr_from_gl_buffer(unsigned int name, unsigned flags);

/*
 * Registers an OpenGL texture or renderbuffer with CUDA, without a copy. `target` is GL_TEXTURE_2D,
 * GL_TEXTURE_3D, GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_2D_ARRAY or GL_RENDERBUFFER;
 * `flags` are any of gr.h's. What a map of it gives is in image.h.
 *
 * Context, ownership and storage are as for a buffer: the image keeps its storage as long as it is registered.
 * Which formats CUDA takes, and what it sees: docs/formats.md. In short, 1, 2 and 4 channels of 8, 16 and
 * 32 bit integers, 16 and 32 bit floats, and sRGB; of 3 channels the 8, 16 and 32 bit ones, as 4.
 * Errors: as for a buffer; GR_ERR_INVALID_VALUE also for a texture of another target and for one that is not
 * complete; GR_ERR_UNSUPPORTED for formats and targets that CUDA refuses (depth, packed and compressed
 * formats; 1D, multisampled, cube map array), with the one to use instead.
 * Wraps cuGraphicsGLRegisterImage.
 */
GR_API gr_resource *gr_from_gl_image(unsigned int name, unsigned int target, unsigned flags);

/*
 * Registers and maps in one call. The buffer owns the registration: its release unmaps and
 * unregisters. For a single use; the errors are those of gr_from_gl_buffer() and gr_map().
 */
GR_API gr_buffer *gr_map_gl_buffer(unsigned int name, unsigned flags, CUstream stream);

#ifdef __cplusplus
}
#endif
#endif
