/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL: buffers and textures that OpenGL draws with, for CUDA to read and write.
 *
 *     gr_resource *vertices = gr_from_gl_buffer(name, GR_WRITE_DISCARD);      (once)
 *     if (!vertices)
 *         gr_error_print(stderr, "sharing the vertices");
 *
 *     gr_buffer *buffer = gr_map(vertices, stream);                           (each frame)
 *     ... launch kernels on `stream` that write to gr_buffer_ptr(buffer) ...
 *     gr_buffer_release(buffer);
 *     glDrawArrays(GL_POINTS, 0, count);
 *
 * Which function to take:
 *
 *     gr_from_gl_buffer(), gr_from_gl_image()      you have the object; OpenGL and CUDA take turns
 *     gr_gl_buffer_create(), gr_gl_image_create()  you need a new one, or several frames under way
 *                                                  at once (ring.h)
 *     gr_map_gl_buffer()                           you need it once
 *
 * All of them use the OpenGL context that is current on the calling thread, through EGL or GLX:
 * that of your window, or one of egl.h. It has to be OpenGL 3.2 or newer.
 *
 * OpenGL's names and constants are plain unsigned ints here, so this header needs no OpenGL header
 * and goes with any loader.
 */
#ifndef GR_GL_H
#define GR_GL_H

#include <grinterop/gr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Objects that you have ------------------------------------------------------------------- */

/*
 * Shares an OpenGL buffer that exists with CUDA, without a copy.
 *
 * `flags` say what CUDA does with it: GR_READ_WRITE, GR_READ_ONLY or GR_WRITE_DISCARD. The call is
 * slow compared with a map: make it once, and map in each frame.
 *
 * Owner    the caller frees the resource; the OpenGL buffer stays the caller's
 * Valid    while the buffer keeps its storage: delete it after the resource is closed. A map
 *          refuses a buffer that was deleted or that glBufferData gave another size; storage of
 *          glBufferStorage is kept by CUDA, and not looked at
 * Thread   where the OpenGL context is current, now and at each map and release
 *
 * Do not use glBufferSubData right after a release: with NVIDIA's driver (580) it may overtake
 * CUDA's work that is still pending. Draws, dispatches, copies, clears and glMapBufferRange don't.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `name` is 0 or no buffer, it has no storage, or `flags` are not a
 *                           buffer's
 *     GR_ERR_GL             no OpenGL context is current
 *     GR_ERR_UNSUPPORTED    the context is older than OpenGL 3.2, or OpenGL ES
 *     GR_ERR_CUDA           CUDA refused, most often since another device draws than computes; the
 *                           message names both, and what to do
 *     GR_ERR_NO_DRIVER      there is no CUDA driver
 *
 * Wraps cuGraphicsGLRegisterBuffer.
 */
GR_API gr_resource *gr_from_gl_buffer(unsigned int name, unsigned flags);

/*
 * Shares an OpenGL texture or renderbuffer that exists with CUDA, without a copy.
 *
 *     gr_resource *picture = gr_from_gl_image(name, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE);
 *
 * `target` is GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP,
 * GL_TEXTURE_2D_ARRAY or GL_RENDERBUFFER. `flags` are any of gr.h's; GR_SURFACE_LOAD_STORE lets
 * kernels write to it. What a map gives is in image.h: arrays, surfaces and textures, no pointer.
 *
 * Formats  1, 2 and 4 channels of 8, 16 and 32 bit integers or of 16 and 32 bit floats, and sRGB;
 *          3 channels of 8, 16 or 32 bits are 4 for CUDA. All of them: docs/formats.md
 * Owner    as for gr_from_gl_buffer()
 * Valid    as for gr_from_gl_buffer(): it keeps the storage that it has now
 * Thread   as for gr_from_gl_buffer()
 *
 * Errors: as for gr_from_gl_buffer(), and
 *     GR_ERR_INVALID_VALUE  the object is of another target, or the texture is not complete
 *     GR_ERR_UNSUPPORTED    CUDA takes no such format (depth, packed, compressed) or target (1D,
 *                           multisampled, cube map array); the message names what to use instead
 *
 * Wraps cuGraphicsGLRegisterImage.
 */
GR_API gr_resource *gr_from_gl_image(unsigned int name, unsigned int target, unsigned flags);

/*
 * Shares an OpenGL buffer and maps it, in one call, for a single use.
 *
 * The release of the buffer ends all of it.
 *
 * Owner    the caller releases the buffer; there is no resource to free
 *
 * Errors: those of gr_from_gl_buffer() and of gr_map().
 */
GR_API gr_buffer *gr_map_gl_buffer(unsigned int name, unsigned flags, CUstream stream);

/* ---- Transports ------------------------------------------------------------------------------ */

/* How an OpenGL object is shared. */
typedef struct gr_gl_options {
    size_t struct_size;

    /*
     * The transports that may be taken: gr_transport bits, or GR_TRANSPORT_ANY. Of several the best
     * that works is taken: shared, then interop, then peer, then copy. For a buffer of one GPU and
     * CUDA on another it is copy, then interop, then peer; from 8 MiB on peer before interop. That
     * is the order of their speed. gr_resource_describe() says which and why. 0: those without a
     * copy.
     */
    unsigned transports;

    /*
     * For gr_gl_buffer_create(): many small buffers of the shared transport lie together in blocks
     * of memory. A buffer of its own memory takes 2 MiB of the GPU's whatever its size, one in a
     * block its size rounded up to 512 bytes. It cannot be sent to another process (share.h), and
     * for CUDA a write past its end lands in another buffer. One of more than 1 MiB, or in an
     * OpenGL that puts no two buffers into one memory (Mesa), has its own all the same.
     */
    bool packed;
} gr_gl_options;

/*
 * Shares an OpenGL object that exists by a transport of your choice.
 *
 *     const gr_gl_options any = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY);
 *     gr_resource *vertices = gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &any);
 *
 * With NULL they are gr_from_gl_buffer() and gr_from_gl_image(). Allow GR_TRANSPORT_COPY for
 * programs that have to work everywhere: with another maker's GPU, on the CPU, under WSL. It is
 * taken where CUDA cannot register the object because of the device that draws, and for buffers
 * where CUDA computes on one GPU and OpenGL draws on another.
 *
 * Allow GR_TRANSPORT_PEER where CUDA computes on one GPU and OpenGL draws on another: CUDA has
 * memory on its own GPU, and one copy goes from GPU to GPU, ordered by the streams. No thread
 * waits, and nothing goes through host memory. From 8 MiB on that beats the driver's own interop
 * between two GPUs; GR_TRANSPORT_COPY beats both.
 *
 * What differs with GR_TRANSPORT_PEER:
 *     map       copies from the GPU that draws, unless the resource is write_discard
 *     release   copies to it, unless the resource is read_only; no thread waits
 *     close     waits for the copies of the last release, and so does the last hold's end
 *     between   OpenGL may go on using the buffer, unless the resource is read and written
 *     memory    as many bytes on CUDA's GPU, and the primary CUDA context of the GPU that draws
 *     deletion  of a write_discard buffer that is mapped loses the bytes, with a warning in the log
 *     images    are refused
 *
 * What differs with GR_TRANSPORT_COPY:
 *     map       copies out of OpenGL, unless the resource is write_discard
 *     release   copies back into OpenGL, unless it is read_only; the thread waits for the stream.
 *               In a ring (ring.h) the acquire of OpenGL's side does both
 *     memory    one more copy of the object in host memory, of read_only ones two, of write_discard
 *               ones of more than 256 KiB three: in a buffer that OpenGL keeps mapped
 *               (GL_ARB_buffer_storage) if CUDA can copy from and to that, so that no processor
 *               copies. What is write_discard and has 256 KiB or less the processor copies, which
 *               is faster. gr_resource_describe() says which it is, and why. Let the streams get
 *               behind the mappings before you destroy the OpenGL context
 *     deletion  of an object that is mapped loses the bytes, with a warning in the log
 *     images    all layers as one mipmapped array are for reading only
 *     Needs     OpenGL 4.3 for renderbuffers
 *
 * Errors: as for gr_from_gl_buffer() and gr_from_gl_image(), and
 *     GR_ERR_INVALID_VALUE  `transports` has bits that are no transport
 *     GR_ERR_UNSUPPORTED    only GR_TRANSPORT_SHARED is allowed: storage that exists cannot be
 *                           shared afterwards, so create the object (below); or only
 *                           GR_TRANSPORT_PEER, where one GPU draws and computes, where they do not
 *                           reach each other, or for an image
 *     GR_ERR_NO_MEMORY      there is none for the copy
 */
GR_API gr_resource *gr_from_gl_buffer_with(unsigned int name, unsigned flags,
                                           const gr_gl_options *options);
GR_API gr_resource *gr_from_gl_image_with(unsigned int name, unsigned int target, unsigned flags,
                                          const gr_gl_options *options);

/* Whether a transport works here. The library's. */
typedef struct gr_transport_info {
    /* The one that was asked about. */
    gr_transport transport;

    /* Whether it works between the current OpenGL context and CUDA. */
    bool usable;

    /* A sentence: why it does or does not, on which devices. Never NULL. */
    const char *reason;
} gr_transport_info;

/*
 * Tells whether a transport works between the current OpenGL context and CUDA, and why.
 *
 *     const gr_transport_info *shared = gr_gl_probe(GR_TRANSPORT_SHARED);
 *     printf("%s\n", shared ? shared->reason : gr_last_error()->message);
 *
 * `transport` is GR_TRANSPORT_INTEROP, GR_TRANSPORT_SHARED, GR_TRANSPORT_COPY or
 * GR_TRANSPORT_PEER. Of CUDA it is the current context's device; without a context the one that
 * draws. Interop and peer are tried with a buffer of 16 bytes, for peer in the primary CUDA context
 * of the GPU that draws. Between two GPUs storage is shared for buffers only, as the reason says.
 * Nothing stays behind: no object, no binding, no error of OpenGL's.
 *
 * Valid    until this thread asks about the same transport again
 * Thread   where the OpenGL context is current
 *
 * Errors, with NULL:
 *     GR_ERR_INVALID_VALUE  `transport` is not one of the four
 *     GR_ERR_GL             no OpenGL context is current
 *     GR_ERR_NO_DRIVER      there is no CUDA driver
 */
GR_API const gr_transport_info *gr_gl_probe(gr_transport transport);

/* ---- Objects that grinterop makes ------------------------------------------------------------ */

/*
 * Creates an OpenGL buffer of `size` bytes whose storage OpenGL and CUDA share.
 *
 *     gr_resource *vertices = gr_gl_buffer_create(bytes, GR_WRITE_DISCARD, NULL);
 *     glBindBuffer(GL_ARRAY_BUFFER, gr_gl_name(vertices));
 *
 * Choose it over gr_from_gl_buffer() when several frames should be under way at once (ring.h), or
 * when another process is to have the buffer (share.h). Maps and releases order the work as ever:
 * by semaphores where the storage is shared (GL_NV_timeline_semaphore, else GL_EXT_semaphore_fd),
 * and by waits of the thread where OpenGL has none. Where storage cannot be shared, the buffer is
 * an ordinary one of OpenGL's, registered or copied, as `options` allow. With a copy that CUDA
 * writes it stays mapped, in host memory, and CUDA copies into it: for what is drawn once a frame.
 * Leave its deletion to the resource: CUDA may still be at it.
 *
 * OpenGL may draw on one GPU and CUDA compute on another, if the CUDA context is of a device that
 * has peer access to the one that draws (cuDeviceCanAccessPeer). The storage is on the GPU that
 * draws; CUDA's kernels and copies reach it there. gr_resource_describe() names both.
 *
 * Owner    the caller frees the resource. The OpenGL buffer is deleted with it, or by the next call
 *          in its context if that is not current then
 * Storage  immutable; llvmpipe cannot map it
 * Thread   where the OpenGL context is current
 * Needs    OpenGL 4.5, or GL_ARB_direct_state_access
 *
 * To read the bytes back, copy them to another buffer on the GPU and read that. With NVIDIA's
 * driver (580) glGetBufferSubData on shared storage may return what it returned before; draws,
 * dispatches and copies see all.
 *
 * Errors: as for gr_from_gl_buffer(), and
 *     GR_ERR_INVALID_VALUE  `size` is 0 or beyond any memory, or `transports` has unknown bits
 *     GR_ERR_UNSUPPORTED    no transport that is allowed works here; the message says why
 *     GR_ERR_NO_MEMORY      OpenGL or CUDA has none of that size
 *
 * Wraps cuMemCreate, glImportMemoryFdEXT, glNamedBufferStorageMemEXT.
 */
GR_API gr_resource *gr_gl_buffer_create(size_t size, unsigned flags, const gr_gl_options *options);

/* The texture that gr_gl_image_create() is to make. */
typedef struct gr_gl_image_desc {
    size_t struct_size;

    /* GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY or GL_TEXTURE_CUBE_MAP. */
    unsigned int target;

    /* A sized format of 1, 2 or 4 channels that is no depth format: GL_RGBA8, GL_R32F, ... */
    unsigned int internal_format;

    /* The size of level 0 in texels. */
    unsigned width, height;

    /* Texels in depth of a 3D texture, layers of an array. 0: 1. */
    unsigned depth;

    /* Mip levels. 0: 1. */
    unsigned levels;
} gr_gl_image_desc;

/*
 * Creates an OpenGL texture whose storage OpenGL and CUDA share.
 *
 *     gr_resource *picture = gr_gl_image_create(
 *         &GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
 *                  .width = 1280, .height = 720),
 *         GR_SURFACE_LOAD_STORE, NULL);
 *     glBindTexture(GL_TEXTURE_2D, gr_gl_name(picture));
 *
 * All that is said of gr_gl_buffer_create() holds here too. Where the storage is shared, the layers
 * of an array and the faces of a cube are one array for CUDA (gr_image_info.layered). Its memory
 * and the semaphores come from a Vulkan device of grinterop's own on the same GPU, which is opened
 * at the first need. Unlike a buffer's, its storage is not shared with a CUDA context of another
 * GPU: share a buffer there, and let OpenGL copy from it (GL_PIXEL_UNPACK_BUFFER).
 *
 * Errors: as for gr_gl_buffer_create(), and
 *     GR_ERR_INVALID_VALUE  the description: its target, size, or more levels than the size has
 *     GR_ERR_UNSUPPORTED    the format cannot be shared, CUDA computes on another GPU, or grinterop
 *                           was built without Vulkan
 *     GR_ERR_VULKAN         grinterop's own Vulkan device refused
 */
GR_API gr_resource *gr_gl_image_create(const gr_gl_image_desc *desc, unsigned flags,
                                       const gr_gl_options *options);

/* ---- Questions ------------------------------------------------------------------------------- */

/*
 * The OpenGL name of a resource's object.
 *
 * Errors: 0 after
 *     GR_ERR_INVALID_VALUE  `resource` is NULL
 *     GR_ERR_STATE          it was made from no OpenGL object
 */
GR_API unsigned int gr_gl_name(const gr_resource *resource);

/* The object's target, GL_ARRAY_BUFFER for buffers. Errors: as for gr_gl_name(). */
GR_API unsigned int gr_gl_target(const gr_resource *resource);

/*
 * Tells which CUDA device draws for the current OpenGL context: the one to make a CUDA context on.
 *
 *     int device;
 *     if (gr_gl_cuda_device(&device) == GR_OK)
 *         ... make a CUDA context on it: what OpenGL draws is shared without a copy ...
 *
 * *device is the number by which CUDA counts. No CUDA context is needed, and none is made.
 *
 * Thread   where the OpenGL context is current
 *
 * Errors, after which *device is as it was:
 *     GR_ERR_INVALID_VALUE  `device` is NULL
 *     GR_ERR_GL             no OpenGL context is current
 *     GR_ERR_CUDA           no device of CUDA's draws: OpenGL draws on the CPU or on another
 *                           maker's GPU; the message says on what
 *     GR_ERR_NO_DRIVER      there is no CUDA driver
 *
 * Wraps cuGLGetDevices.
 */
GR_API gr_status gr_gl_cuda_device(int *device);

#ifdef __cplusplus
}
#endif
#endif
