/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources made from OpenGL objects. OpenGL names are plain unsigned ints here, so that this header
 * goes with any OpenGL loader and needs none.
 */
#ifndef GR_GL_H
#define GR_GL_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Registers an OpenGL buffer object with CUDA, without a copy. The OpenGL context is the one that is
 * current, through EGL or GLX; `flags` are GR_READ_WRITE, GR_READ_ONLY or GR_WRITE_DISCARD.
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

/* ---- Transports: how the bytes get from one side to the other --------------------------------- */

typedef enum gr_transport {
    GR_TRANSPORT_ANY =
        0, /* the best one that works: shared (for what grinterop creates), interop, copy */
    GR_TRANSPORT_INTEROP, /* cuGraphics* registration: no copy; map and unmap are full barriers */
    GR_TRANSPORT_SHARED,  /* memory that both import, with semaphores: no copy, frames in flight */
    GR_TRANSPORT_COPY /* through pinned host memory: works between any OpenGL and any CUDA device */
} gr_transport;

/* Options of what follows. Zero is the good default. */
typedef struct gr_gl_options {
    gr_transport transport; /* a forced one fails where it does not work, and says why */
} gr_gl_options;

/* Whether a transport works here, and why or why not. */
typedef struct gr_transport_info {
    gr_transport transport;
    bool usable;
    char reason[640];
} gr_transport_info;

/*
 * Says of each transport, INTEROP, SHARED and COPY in this order, whether it works between the current OpenGL
 * context and CUDA (the current context's device, else the one that draws): reports[0] to reports[2]. Nothing is
 * left behind: no object, no binding, no error of OpenGL's; a buffer of 16 bytes is registered and ended as a trial. GR_ERR_GL (no context current), GR_ERR_NO_DRIVER.
 */
GR_API gr_status gr_gl_probe(gr_transport_info reports[3]);

/*
 * gr_from_gl_buffer() and gr_from_gl_image() by a transport: GR_TRANSPORT_ANY falls back on the copy where CUDA
 * cannot register the object because another GPU, or none, draws; gr_resource_describe() says which was taken and
 * why. SHARED is GR_ERR_UNSUPPORTED: existing storage cannot be shared afterwards (create it, below).
 * A copy is taken out of OpenGL at the map unless it is write_discard, and put back by the release unless it is
 * read_only, which waits for the stream. gr_handle() of a copy is a pointer that only says that it is open.
 * A copied image with several layers as one mipmapped array is for read_only; an object that is deleted while it is
 * mapped loses the bytes, with a warning; renderbuffers need OpenGL 4.3.
 * `options` may be NULL. Other errors: as theirs.
 */
GR_API gr_resource *gr_from_gl_buffer_with(unsigned int name, unsigned flags,
                                           const gr_gl_options *options);
GR_API gr_resource *gr_from_gl_image_with(unsigned int name, unsigned int target, unsigned flags,
                                          const gr_gl_options *options);

/*
 * Makes a buffer object of `size` bytes whose storage is shared with CUDA in the best way, or the one asked for. It
 * belongs to the resource: its name is deleted when the resource's memory goes, on a thread with its context
 * current, else by the next call in that context. Storage is immutable; with llvmpipe it cannot be mapped.
 * gr_map() and release order the work between the context and the stream as ever; with GR_TRANSPORT_SHARED by
 * semaphores (GL_NV_timeline_semaphore, else GL_EXT_semaphore_fd), where there are none by waits of the thread.
 * glGetBufferSubData on shared storage may return what it returned before, since NVIDIA's driver (580) keeps the
 * bytes that were read back: copy to another buffer on the GPU and read that. Draws, dispatches and copies see all.
 * Needs OpenGL 4.5, or GL_ARB_direct_state_access.
 * Errors: as for gr_from_gl_buffer(), GR_ERR_UNSUPPORTED (the transport does not work here: why).
 * Wraps cuMemCreate, glImportMemoryFdEXT, glNamedBufferStorageMemEXT.
 */
GR_API gr_resource *gr_gl_buffer_create(size_t size, unsigned flags, const gr_gl_options *options);

/* An image for gr_gl_image_create(). */
typedef struct gr_gl_image_desc {
    unsigned int target;          /* GL_TEXTURE_2D, _3D, _2D_ARRAY or _CUBE_MAP */
    unsigned int internal_format; /* sized: GL_RGBA8, ... */
    unsigned width, height;       /* of level 0, in texels */
    unsigned depth;               /* of a 3D texture; layers of an array; default 1 */
    unsigned levels;              /* mip levels; default 1 */
} gr_gl_image_desc;

/*
 * Makes a texture likewise; no depth formats and none of 3 channels. With GR_TRANSPORT_SHARED the layers of an array
 * and the faces of a cube are one array for CUDA (gr_image_info.layered). Its memory and the semaphores come from a Vulkan device of grinterop's own on the same GPU,
 * opened at the first need.
 */
GR_API gr_resource *gr_gl_image_create(const gr_gl_image_desc *info, unsigned flags,
                                       const gr_gl_options *options);

/* The OpenGL name and target (GL_ARRAY_BUFFER for buffers) of a resource; 0 for any other kind, and NULL. */
GR_API unsigned int gr_gl_name(const gr_resource *resource);
GR_API unsigned int gr_gl_target(const gr_resource *resource);

/* The transport that a resource uses; GR_TRANSPORT_ANY for NULL and for resources of no OpenGL object. */
GR_API gr_transport gr_gl_transport(const gr_resource *resource);

#ifdef __cplusplus
}
#endif
#endif
