/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL buffers, textures and renderbuffers for CUDA.
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
 * Which function to use:
 *
 *     gr_from_gl_buffer(), gr_from_gl_image()      for an existing object
 *     gr_create_gl_buffer(), gr_create_gl_image()  for a new object, also for several frames in
 *                                                  flight (ring.h)
 *     gr_create_gl_buffer_of()                     for a new buffer in the memory of a tensor
 *     gr_map_gl_buffer()                           for a single use
 *
 * All functions use the OpenGL context that is current on the calling thread, by EGL, GLX or WGL:
 * the context of your window, or one of egl.h. It must have OpenGL 3.2 or newer, or by EGL OpenGL
 * ES 3.1 or newer. Of OpenGL ES, existing objects are registered and copied. grinterop creates
 * none, reads no framebuffers, and copies no depth and no format that OpenGL ES cannot draw to or
 * has to convert, such as those of 3 channels: GR_ERR_UNSUPPORTED says what to use.
 *
 * OpenGL names and constants are unsigned ints here, so this header needs no OpenGL header and
 * works with any loader.
 */
#ifndef GR_GL_H
#define GR_GL_H

#include <grinterop/gr.h>
#include <grinterop/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Existing objects ------------------------------------------------------------------------ */

/*
 * Registers an existing OpenGL buffer with CUDA, zero-copy.
 *
 * `flags` is GR_READ_WRITE, GR_READ_ONLY or GR_WRITE_DISCARD. Registering is slow compared with a
 * map: register once, and map in each frame.
 *
 * Owner    the caller frees the resource, and still owns the OpenGL buffer
 * Valid    while the buffer keeps its storage: close the resource before you delete the buffer. A
 *          map fails if the buffer was deleted or resized by glBufferData; `follow_storage` (below)
 *          lets it follow. If another object has the name of a deleted one, its label differs: the
 *          registration gives the object a label such as "grinterop 17 (0x7f3c...)", which stays,
 *          unless it has one (glObjectLabel). Without GL_KHR_debug, or if the program labels the
 *          other object, only another size or format is detected
 * Thread   where the OpenGL context is current, now and at each map and release; with
 *          gr_gl_options.share_group any context that shares objects with it
 *
 * Do not use glBufferSubData right after a release: with NVIDIA's driver (580) it may overtake
 * pending work of CUDA and OpenGL. Draws, dispatches, copies, clears and glMapBufferRange do not.
 *
 * After shaders that store to the object, call glMemoryBarrier(GL_ALL_BARRIER_BITS) before a map by
 * interop or shared. Transports that copy issue it themselves. A release needs no barrier.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `name` is 0, not a buffer, or a buffer without storage; or `flags` are
 *                           not valid for a buffer
 *     GR_ERR_GL             no OpenGL context is current
 *     GR_ERR_UNSUPPORTED    the context is older than OpenGL 3.2 or OpenGL ES 3.1
 *     GR_ERR_CUDA           CUDA refused, usually because OpenGL draws on another device; the
 *                           message names both devices and the remedy
 *
 * Wraps cuGraphicsGLRegisterBuffer.
 */
GR_API gr_resource *gr_from_gl_buffer(unsigned int name, unsigned flags);

/*
 * Registers an existing OpenGL texture or renderbuffer with CUDA, zero-copy.
 *
 *     gr_resource *picture = gr_from_gl_image(name, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE);
 *
 * `target` is GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP,
 * GL_TEXTURE_2D_ARRAY or GL_RENDERBUFFER. `flags` are those of gr.h; GR_SURFACE_LOAD_STORE lets
 * kernels write to the image. A mapped image has arrays, surfaces and textures (image.h), but no
 * pointer.
 *
 * Formats  1, 2 and 4 channels of 8, 16 and 32 bit integers or 16 and 32 bit floats, and sRGB.
 *          Formats with 3 channels of 8, 16 or 32 bits have 4 channels in CUDA. docs/formats.md
 *          lists all formats
 * Owner    as for gr_from_gl_buffer()
 * Valid    as for gr_from_gl_buffer()
 * Thread   as for gr_from_gl_buffer()
 *
 * Set texture parameters before this call, or use sampler objects: until the resource is closed,
 * the NVIDIA driver refuses glTexParameter for the texture with GL_INVALID_OPERATION. Get bindless
 * handles after this call: the NVIDIA driver refuses a texture that has one (H100). They may be
 * resident, and stay valid. With GR_TRANSPORT_COPY and GR_TRANSPORT_PEER the order is free.
 *
 * Errors: as for gr_from_gl_buffer(), and
 *     GR_ERR_INVALID_VALUE  the object has another target, or the texture is incomplete: levels
 *                           with gaps, or of another format or size than level 0 implies; missing
 *                           cube faces; a GL_TEXTURE_BASE_LEVEL other than 0
 *     GR_ERR_UNSUPPORTED    CUDA does not support the format (depth, packed, compressed) or the
 *                           target (1D, multisampled, cube map array); or the texture is a view
 *                           (glTextureView) that does not begin at level 0 and layer 0 of its
 *                           original. The message names an alternative, for depth, packed texels
 *                           and views GR_TRANSPORT_COPY (below)
 *
 * Wraps cuGraphicsGLRegisterImage.
 */
GR_API gr_resource *gr_from_gl_image(unsigned int name, unsigned int target, unsigned flags);

/*
 * Registers an OpenGL buffer and maps it, for a single use. The release also unregisters it.
 *
 * Owner    the caller releases the buffer; there is no resource to free
 *
 * Errors: those of gr_from_gl_buffer() and gr_map()
 */
GR_API gr_buffer *gr_map_gl_buffer(unsigned int name, unsigned flags, CUstream stream);

/* ---- Transports ------------------------------------------------------------------------------ */

/* How an OpenGL object is shared. */
typedef struct gr_gl_options {
    size_t struct_size;

    /*
     * The allowed transports: gr_transport bits, or GR_TRANSPORT_ANY. 0: shared and interop, which
     * do not copy. The first allowed transport that works is used, in this order: shared (only for
     * objects that grinterop creates), interop, peer, copy. If OpenGL and CUDA use two GPUs, the
     * order is by speed: peer, copy, interop. gr_resource_describe() reports which transport is
     * used, and why.
     */
    unsigned transports;

    /*
     * For gr_create_gl_buffer() with the shared transport: put small buffers into common blocks of
     * memory. In a block, the size of a buffer is rounded up to 512 bytes; on its own, a buffer
     * takes at least 2 MiB of GPU memory. A packed buffer cannot be sent to another process
     * (share.h), and a CUDA write past its end changes another buffer. Buffers over 1 MiB are not
     * packed. No buffer is packed if OpenGL cannot put two buffers into one memory (Mesa).
     */
    bool packed;

    /*
     * For gr_from_gl_buffer_with() and gr_from_gl_image_with(): let the resource be mapped,
     * released and closed in any OpenGL context that shares objects with the current context, also
     * after the current context was destroyed. For programs with worker contexts, as in Qt.
     * Restricts `transports` to interop. A freed resource is unregistered at the next call in any
     * of these contexts. The resources of a ring must be registered in one context, and all or none
     * have share_group.
     *
     * A map orders CUDA after the commands of the context that is current at the map. Before the
     * map, flush the commands of the other contexts and wait for them (glFenceSync and glWaitSync,
     * or glFinish). After the release, only the releasing context sees CUDA's writes: another
     * context waits for a fence of the releasing context, and then binds the object again.
     *
     * The library leaves a shader object in the share group until the last resource is freed.
     */
    bool share_group;

    /*
     * For existing objects: a map checks whether the storage was replaced, and then registers the
     * object again instead of failing with GR_ERR_STATE. Viewers need this when a window is
     * resized. gr_resource_get_info() and gr_buffer_get_image_info() then return the new values.
     * The transport stays. If it does not accept the object, the map fails with the errors of a
     * registration, and the next map tries again. A deleted object is GR_ERR_STATE, unless another
     * one has its name. Rings refuse the resource.
     *
     * Replaced storage is detected if its size, format, number of levels, or whether it is
     * immutable has changed, or if the object was deleted and created again under the same name.
     * Otherwise CUDA keeps the old storage: for the same size use glBufferSubData or glTexSubImage.
     * The NVIDIA driver (580) refuses glTexImage for a registered texture with
     * GL_INVALID_OPERATION: delete the texture and create it again under the same name, which
     * glGenTextures returns. Registering again takes 0.7 ms there.
     */
    bool follow_storage;

    /*
     * Frames in flight: CUDA works in one of so many staging buffers in memory of the GPU that
     * draws, 2 to 64, and OpenGL copies between it and the object by a compute shader. CUDA then
     * need not wait until OpenGL has drawn the frame before, nor OpenGL for the next frame of CUDA.
     * 0: none. On an H100, writing and drawing 1 MiB takes 139 us with 4 of them, 364 us without.
     *
     * The resource is write_discard or read_only. With write_discard, a map returns the next
     * staging buffer, or arrays, and the release copies the mapped part to the object: CUDA has to
     * write all of it. With read_only, the map copies from the object, which OpenGL may then write
     * at once. The address of a mapping changes from map to map, so a captured graph must not keep
     * it. OpenGL copies in the order of its commands, so no frame is drawn late.
     *
     * The staging buffers take n times the size of the object, at least 2 MiB each if it is larger
     * than 1 MiB. Nothing is registered, so the storage of the object may be replaced while the
     * resource exists: by one of the same size, or with follow_storage by any.
     *
     * Needs peer in `transports`; 0 allows peer and interop, and also shared for objects that
     * grinterop creates. Where no shader can copy the object, because OpenGL lacks the functions of
     * 4.5 or is not NVIDIA's, peer is left out in favour of the other allowed transports, and
     * gr_resource_describe() says why. If only peer is allowed, calls of OpenGL copy there, which
     * lets tests without a GPU have frames in flight. GR_ERR_INVALID_VALUE for read_write, and with
     * share_group or packed. GR_ERR_UNSUPPORTED for depth and GL_RGB16I.
     */
    unsigned in_flight;
} gr_gl_options;

/*
 * Registers an existing OpenGL object, with a choice of transports.
 *
 *     const gr_gl_options any = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY);
 *     gr_resource *vertices = gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &any);
 *
 * NULL as `options` means the behaviour of gr_from_gl_buffer() and gr_from_gl_image(). Allow
 * GR_TRANSPORT_COPY in programs that must work everywhere: with another vendor's GPU, OpenGL on the
 * CPU, or WSL. GR_TRANSPORT_COPY is used if CUDA cannot register objects of the device that draws,
 * and for depth and packed texels.
 *
 * With GR_TRANSPORT_PEER, CUDA accesses staging buffers in memory of the GPU that draws, and OpenGL
 * copies between them and the object. Nothing is registered with CUDA, and nothing passes through
 * host memory. Semaphores order both sides, so no thread waits; if OpenGL has none, the thread
 * waits. On one GPU, peer gains only with `in_flight`. On two GPUs it is the fastest transport for
 * existing objects: CUDA has memory of its own, and copies from GPU to GPU in stream order.
 *
 * Peer needs GL_EXT_memory_object_fd and GL_ARB_direct_state_access. It refuses depth and
 * GL_RGB16I, which the NVIDIA driver (580) stores wrongly from memory of CUDA: allow
 * GR_TRANSPORT_COPY.
 *
 * What GR_TRANSPORT_PEER changes:
 *     map       OpenGL copies the object to a staging buffer, unless the resource is write_discard
 *     release   OpenGL copies a staging buffer to the object, unless the resource is read_only
 *     between   OpenGL may use the object between map and release, unless the resource is
 *               read_write
 *     pointer   is that of a staging buffer, so it changes from map to map; on two GPUs it stays
 *     memory    without `in_flight` 2 staging buffers for read_only, 4 for write_discard, and 1 for
 *               read_write. In addition the size of the object in memory of CUDA for images, and
 *               for buffers on two GPUs
 *     deletion  deleting a mapped object loses its data: the release returns GR_ERR_PARTIAL
 *     images    the mipmapped array of a GL_TEXTURE_2D_ARRAY or a cube map needs a read_only
 *               resource
 *
 * What GR_TRANSPORT_COPY changes:
 *     map       copies from OpenGL, unless the resource is write_discard; the thread waits for
 *               OpenGL
 *     release   copies to OpenGL, unless the resource is read_only; the thread waits for the
 *               stream. In a ring (ring.h) the acquire of the OpenGL side copies and waits
 *     memory    one copy in host memory; two copies for read_only, three for write_discard over 256
 *               KiB. If CUDA can access a mapped OpenGL buffer, the copy is an OpenGL buffer that
 *               stays mapped (GL_ARB_buffer_storage), and the GPUs copy the data. For write_discard
 *               objects of up to 256 KiB the CPU copies the data, which is faster.
 *               gr_resource_describe() reports whether the GPUs or the CPU copy the data, and why.
 *               Synchronize the streams before you destroy the OpenGL context
 *     deletion  deleting a mapped object loses its data, with a warning in the log
 *     images    the mipmapped array of a GL_TEXTURE_2D_ARRAY or a cube map needs a read_only
 *               resource
 *     depth     GL_DEPTH_COMPONENT16, 24 and 32F textures and renderbuffers are accepted, in both
 *               directions. CUDA sees one float per texel. A release clamps written texels to 0
 *               to 1, and rounds them to 16 or 24 bits; other texels keep their bits. Depth with
 *               stencil is refused: OpenGL cannot write its depth without changing the stencil
 *     packed    GL_RGB10_A2, GL_R11F_G11F_B10F, GL_RGB9_E5 and GL_RGB565 are accepted; peer
 *               accepts them, too. CUDA sees one integer per texel (GR_FORMAT_A2B10G10R10 and so
 *               on), which gr_publish() and gr_fetch() convert
 *     Needs     OpenGL 4.3 or OpenGL ES 3.2 for renderbuffers
 *
 * Errors: as for gr_from_gl_buffer() and gr_from_gl_image(), and
 *     GR_ERR_INVALID_VALUE  `transports` has unknown bits, or does not allow interop although
 *                           `share_group` is set, or peer although `in_flight` is; or `in_flight`
 *                           is impossible
 *     GR_ERR_UNSUPPORTED    only GR_TRANSPORT_SHARED is allowed, which needs an object created by
 *                           grinterop (below); or only GR_TRANSPORT_PEER is allowed, and CUDA
 *                           cannot access memory of the GPU that draws; or `packed` is set
 *     GR_ERR_NO_MEMORY      there is no memory for the copy
 */
GR_API gr_resource *gr_from_gl_buffer_with(unsigned int name, unsigned flags,
                                           const gr_gl_options *options);
GR_API gr_resource *gr_from_gl_image_with(unsigned int name, unsigned int target, unsigned flags,
                                          const gr_gl_options *options);

/* Whether a transport works between the current OpenGL context and CUDA. Owned by the library. */
typedef struct gr_transport_info {
    gr_transport transport; /* the transport that was passed to gr_gl_probe() */
    bool usable;            /* whether it works */
    const char *reason;     /* why it works or not, and which devices are used; never NULL */
} gr_transport_info;

/*
 * Reports whether a transport works between the current OpenGL context and CUDA, and why.
 *
 *     const gr_transport_info *shared = gr_gl_probe(GR_TRANSPORT_SHARED);
 *     printf("%s\n", shared ? shared->reason : gr_last_error()->message);
 *
 * `transport` is GR_TRANSPORT_INTEROP, GR_TRANSPORT_SHARED, GR_TRANSPORT_COPY or GR_TRANSPORT_PEER.
 * The CUDA device is that of the current CUDA context, or, if none is current, the device that
 * draws. Interop is tested with a buffer of 16 bytes. Two GPUs can share buffers, but not images:
 * `reason` says so, and for peer whether frames in flight work. The OpenGL state is preserved.
 *
 * Valid    until this thread queries the same transport again
 * Thread   where the OpenGL context is current
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `transport` is not one of the four
 *     GR_ERR_GL             no OpenGL context is current
 */
GR_API const gr_transport_info *gr_gl_probe(gr_transport transport);

/* ---- Objects that grinterop creates ---------------------------------------------------------- */

/*
 * Creates an OpenGL buffer of `size` bytes whose storage OpenGL and CUDA share.
 *
 *     gr_resource *vertices = gr_create_gl_buffer(bytes, GR_WRITE_DISCARD, NULL);
 *     glBindBuffer(GL_ARRAY_BUFFER, gr_gl_name(vertices));
 *
 * Use this function instead of gr_from_gl_buffer() for several frames in flight (ring.h) or another
 * process (share.h). Semaphores order maps and releases (GL_NV_timeline_semaphore, otherwise
 * GL_EXT_semaphore_fd); if OpenGL has neither, the thread waits. If storage cannot be shared, the
 * buffer is an ordinary OpenGL buffer, registered or copied as `options` allow. A copied buffer of
 * at most 1 MiB that CUDA writes is in host memory, so draw it only once per frame. Do not delete
 * the OpenGL buffer: CUDA may still use it.
 *
 * CUDA may use another GPU than OpenGL if the CUDA GPU has peer access to the OpenGL GPU
 * (cuDeviceCanAccessPeer). The storage is on the OpenGL GPU. gr_resource_describe() names both
 * GPUs.
 *
 * Owner    the caller frees the resource, which deletes the OpenGL buffer; if its OpenGL context is
 *          not current then, the next call in that context deletes the buffer
 * Storage  immutable; llvmpipe cannot map it
 * Thread   where the OpenGL context is current
 * Needs    OpenGL 4.5, or GL_ARB_direct_state_access; not OpenGL ES
 *
 * To read the bytes back, copy them to another OpenGL buffer first. With NVIDIA's driver (580)
 * glGetBufferSubData on shared storage may return old bytes; draws, dispatches and copies see the
 * new bytes. From a GL_PIXEL_UNPACK_BUFFER with shared storage, glTexSubImage stores old texels in
 * levels above 0: first clear an unused byte of the buffer by glClearBufferSubData.
 *
 * Errors: as for gr_from_gl_buffer(), and
 *     GR_ERR_INVALID_VALUE  `size` is 0 or too large, or `transports` has unknown bits
 *     GR_ERR_UNSUPPORTED    no allowed transport works here; the message says why. Or `share_group`
 *                           or `follow_storage` is set
 *     GR_ERR_NO_MEMORY      OpenGL or CUDA is out of memory
 *
 * Wraps cuMemCreate, glImportMemoryFdEXT, glNamedBufferStorageMemEXT.
 */
GR_API gr_resource *gr_create_gl_buffer(size_t size, unsigned flags, const gr_gl_options *options);

/*
 * Creates an OpenGL buffer in the memory of a tensor: OpenGL draws what a framework computed,
 * without a copy.
 *
 *     desc.exportable = true;
 *     gr_tensor *points = gr_tensor_create(&desc, stream);
 *     gr_resource *vertices = gr_create_gl_buffer_of(points, GR_WRITE_DISCARD, NULL);
 *     glBindBuffer(GL_ARRAY_BUFFER, gr_gl_name(vertices));
 *
 * The buffer begins at the lowest byte of the tensor's elements and ends at the highest. A map
 * returns that address. Maps and releases copy nothing, and order CUDA with OpenGL as for
 * gr_create_gl_buffer(): use the tensor only while the resource is mapped. A map also waits for
 * known uses of the tensor in other streams, and counts as one, as in gr_tensor_used_on().
 *
 * The memory must be that of gr_tensor_create() with `exportable`, or of cuMemCreate() with
 * CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, mapped at its start, on the device that OpenGL draws
 * on; the tensor may be any part of it. OpenGL imports the whole allocation, once per resource.
 *
 * Owner    the caller frees the resource, which deletes the OpenGL buffer. The resource keeps the
 *          tensor: both may be freed in any order
 * Storage  immutable; the resource cannot be sent to another process
 * Thread   where the OpenGL context is current
 * Context  that of the tensor
 * Needs    as for gr_create_gl_buffer() with GR_TRANSPORT_SHARED; read bytes back as there
 *
 * Errors: as for gr_create_gl_buffer(), and
 *     GR_ERR_INVALID_VALUE  `tensor` is NULL, freed, of a mapping, without elements or not in
 *                           device memory; or it is read-only, and `flags` is not GR_READ_ONLY; or
 *                           another option than `transports` is set, or these lack shared
 *     GR_ERR_UNSUPPORTED    the memory of the tensor is not exportable, spans several allocations,
 *                           or is on another device; or Mesa draws, and the tensor does not begin
 *                           at the start of its allocation
 *
 * Wraps cuMemRetainAllocationHandle, cuMemExportToShareableHandle, glImportMemoryFdEXT,
 * glNamedBufferStorageMemEXT.
 */
GR_API gr_resource *gr_create_gl_buffer_of(gr_tensor *tensor, unsigned flags,
                                           const gr_gl_options *options);

/* The texture for gr_create_gl_image(). */
typedef struct gr_gl_image_desc {
    size_t struct_size;

    /* GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY or GL_TEXTURE_CUBE_MAP. */
    unsigned int target;

    /*
     * A sized colour format: GL_RGBA8, GL_R32F, ... (docs/formats.md). With GR_TRANSPORT_COPY also
     * GL_DEPTH_COMPONENT16, 24 or 32F, and with it or GR_TRANSPORT_PEER the packed formats.
     */
    unsigned int internal_format;

    unsigned width;  /* of level 0 in texels */
    unsigned height; /* of level 0 in texels */
    unsigned depth;  /* of a 3D texture, or the number of layers of an array; 0 means 1 */
    unsigned levels; /* the number of mip levels; 0 means 1 */
} gr_gl_image_desc;

/*
 * Creates an OpenGL texture whose storage OpenGL and CUDA share.
 *
 *     gr_resource *picture = gr_create_gl_image(
 *         &GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
 *                  .width = 1280, .height = 720),
 *         GR_SURFACE_LOAD_STORE, NULL);
 *     glBindTexture(GL_TEXTURE_2D, gr_gl_name(picture));
 *
 * The rules are those of gr_create_gl_buffer(). If the storage is shared, CUDA sees the layers of
 * an array and the faces of a cube as one array (gr_image_info.layered). Memory and semaphores come
 * from a private Vulkan device on the same GPU, which the first call creates. Images cannot be
 * shared with a CUDA context of another GPU: share a buffer instead, and copy from the buffer to
 * the image in OpenGL (GL_PIXEL_UNPACK_BUFFER; for levels above 0 see gr_create_gl_buffer()).
 *
 * With NVIDIA's driver (580) glGetTexImage on a shared GL_TEXTURE_2D may return once the texels
 * that glTexSubImage2D uploaded before CUDA wrote: read it by glReadPixels from a framebuffer.
 *
 * Errors: as for gr_create_gl_buffer(), and
 *     GR_ERR_INVALID_VALUE  the target, the size or the number of levels is invalid, or the format
 *                           has no size
 *     GR_ERR_UNSUPPORTED    the format cannot be shared, CUDA computes on another GPU, grinterop
 *                           was built without Vulkan, or `packed` is set
 *     GR_ERR_VULKAN         grinterop's own Vulkan device refused
 */
GR_API gr_resource *gr_create_gl_image(const gr_gl_image_desc *desc, unsigned flags,
                                       const gr_gl_options *options);

/* ---- Queries --------------------------------------------------------------------------------- */

/*
 * The name of the OpenGL object of a resource.
 *
 * Errors: 0 after
 *     GR_ERR_INVALID_VALUE  `resource` is NULL
 *     GR_ERR_STATE          the resource has no OpenGL object
 */
GR_API unsigned int gr_gl_name(const gr_resource *resource);

/* The target of the object, GL_ARRAY_BUFFER for buffers. Errors: as for gr_gl_name(). */
GR_API unsigned int gr_gl_target(const gr_resource *resource);

/*
 * Finds the CUDA device that the current OpenGL context draws on, to create a CUDA context on it.
 *
 *     int device;
 *     if (gr_gl_cuda_device(&device) == GR_OK)
 *         ... create a CUDA context on `device`: then sharing needs no copy ...
 *
 * Sets *device to the CUDA ordinal. The function needs no CUDA context and creates none.
 *
 * Thread   where the OpenGL context is current
 *
 * Errors, with *device unchanged:
 *     GR_ERR_INVALID_VALUE  `device` is NULL
 *     GR_ERR_GL             no OpenGL context is current
 *     GR_ERR_CUDA           OpenGL draws on the CPU or on another vendor's GPU; the message names
 *                           the device
 *
 * Wraps cuGLGetDevices.
 */
GR_API gr_status gr_gl_cuda_device(int *device);

#ifdef __cplusplus
}
#endif
#endif
