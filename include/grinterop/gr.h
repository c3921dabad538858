/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * grinterop: CUDA on memory that OpenGL or Vulkan draws with.
 *
 *     GR_AUTO(gr_resource) *vbo = gr_from_gl_buffer(name, GR_WRITE_DISCARD);
 *     {
 *         GR_AUTO(gr_buffer) *buf = gr_map(vbo, stream);
 *         ... launch kernels on `stream` that use gr_buffer_ptr(buf) ...
 *     }                              the end of the scope hands the resource back to OpenGL
 *
 * This header declares the functions for all resources. The other headers:
 *
 *     base.h                  errors, logging and versions
 *     gl.h, egl.h             OpenGL resources, and OpenGL without a window
 *     vk.h, vk_device.h       Vulkan resources and devices
 *     external.h              resources in the memory of any other API
 *     submit.h, semaphore.h   order between CUDA and Vulkan or another API with submits
 *     image.h                 arrays, surfaces and textures of a mapped image
 *     ring.h                  several frames in flight
 *     share.h                 resources and rings in another process
 *     tensor.h                memory with a type and a shape, and DLPack
 *     publish.h               copies between tensors and buffers or images
 *     framebuffer.h           colour, depth and stencil of OpenGL framebuffers into tensors
 *     driver.h                the CUDA driver, loaded at run time, and a context
 *     cuda.h                  the functions of the CUDA driver (needs the CUDA headers)
 *     compat.h                CUDA's graphics functions on grinterop, for unchanged programs (needs
 *                             the CUDA headers)
 *     gr.hpp                  objects and exceptions for C++14
 *
 * Rules for all functions:
 *
 * Turns     A new resource belongs to the graphics API. gr_map() hands the resource to CUDA, and
 *           the release of the buffer hands it back to the graphics API. Between map and release
 *           the graphics API must not touch the resource (exception: gr_resource_set_sync()).
 * Errors    A function that creates an object returns NULL on failure; most others return a
 *           gr_status. gr_last_error() describes the failure and the remedy. Lists of errors leave
 *           out four that need no explanation: GR_ERR_NO_DRIVER, there is no usable CUDA driver;
 *           GR_ERR_CUDA and GR_ERR_VULKAN, the driver refused a call; GR_ERR_NO_MEMORY.
 * Output    Without logging, grinterop prints only one line if gr_cuda_load(true) selects the
 *           software CUDA driver, one line if the environment variable GR_LOG or GR_COMPAT has an
 *           unknown word, and one line for each failure that no call returns, such as that of a
 *           release at the end of a scope. GR_LOG=none disables the last. The software CUDA driver
 *           also prints program errors that a GPU does not report.
 * Failure   A call that fails changes nothing, unless it returns GR_ERR_PARTIAL.
 * NULL      Freeing or releasing NULL does nothing. Everywhere else NULL is an error, unless a
 *           comment gives it a meaning.
 * Freed     A call with a freed or released object does nothing and records GR_ERR_INVALID_VALUE.
 *           A new object may have the same pointer only after 64 more objects of its type were
 *           freed, a gr_submit after 16 more. The fourth next map of a resource, or an earlier one
 *           if other buffers were not released, may return the pointer of a released gr_buffer
 *           again. A second free or release of such a pointer then ends the new object.
 * Streams   Every call names its CUDA stream. NULL is an error, as it is often a forgotten
 *           argument; 0 in Python is GR_STREAM_LEGACY, since PyTorch and CuPy return 0 for their
 *           default stream. For a default stream pass GR_STREAM_LEGACY or GR_STREAM_PER_THREAD. The
 *           stream must belong to the CUDA context of the resource and live until everything mapped
 *           on it is released. The NVIDIA driver may crash if the stream was destroyed. The
 *           software driver refuses it; then release the buffer in another stream.
 * CUDA      A resource remembers the CUDA context that was current at its creation, or, if none was
 *           current, the primary context of the device that draws. Every call makes this context
 *           current and restores the caller's context. The context must outlive the resource: after
 *           its destruction or reset, calls return GR_ERR_CUDA, and a mapping ends with
 *           GR_ERR_PARTIAL.
 * OpenGL    Calls on an OpenGL resource return GR_ERR_GL unless the OpenGL context of its creation
 *           is current, or with gr_gl_options.share_group one that shares objects with it. Bindings
 *           and pending errors are preserved. grinterop recognises each OpenGL context by one empty
 *           program pipeline object with a label, which it leaves in the context. OpenGL 3.2 or
 *           OpenGL ES 3.1, or newer, is required.
 * Threads   Two threads may use two resources at the same time. One thread at a time may use a
 *           resource and its buffers.
 * Memory    Maps and releases do not allocate.
 * Fork      In a forked child, freeing the parent's objects does nothing, and all other calls
 *           return GR_ERR_STATE. Call exec() in the child, or fork before the first call. The child
 *           inherits the file descriptors of grinterop; exec() closes them.
 * Unload    dlclose() unloads grinterop, or your plug-in that contains the static library, only
 *           until the first object exists or a driver is loaded. Later the file stays loaded,
 *           because streams, threads and exit handlers may call it. A plug-in that shares grinterop
 *           first removes its log functions, and waits until its tensors have called `end`.
 * Rights    A set-uid program ignores GR_CUDA_DRIVER, GR_LOG and GR_COMPAT.
 */
#ifndef GR_GR_H
#define GR_GR_H

#include <stdbool.h>
#include <stddef.h>

#include <grinterop/base.h>
#include <grinterop/cuda_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An object of the graphics API that is registered with CUDA. */
typedef struct gr_resource gr_resource;

/* The mapping of a resource, buffer or image, from gr_map() to the release. */
typedef struct gr_buffer gr_buffer;

/* ---- Flags ----------------------------------------------------------------------------------- */

/*
 * How CUDA uses a resource. The values are those of CU_GRAPHICS_REGISTER_FLAGS_*, the names those
 * of the Python package cuda.core. GR_READ_ONLY and GR_WRITE_DISCARD exclude each other.
 */
enum {
    GR_READ_WRITE = 0x00,         /* CUDA reads and writes */
    GR_READ_ONLY = 0x01,          /* CUDA only reads; writing is undefined */
    GR_WRITE_DISCARD = 0x02,      /* CUDA writes everything, also all levels; a map discards all */
    GR_SURFACE_LOAD_STORE = 0x04, /* images: kernels write to them through surfaces */
    GR_TEXTURE_GATHER = 0x08      /* images: kernels may use tex2Dgather */
};

/*
 * Parses flag names, such as "read_only|surface_load_store". The names are "read_write" or "none",
 * "read_only", "write_discard", "surface_load_store" and "texture_gather", separated by commas or
 * '|'. Blanks are ignored. NULL and "" mean GR_READ_WRITE. *flags is written on success only.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a name is unknown (the message lists the valid names), or `flags` is
 *                           NULL
 */
GR_API gr_status gr_flags_parse(const char *text, unsigned *flags);

/* ---- Mapping --------------------------------------------------------------------------------- */

/*
 * While a stream captures a CUDA graph, functions that enqueue work in that stream return
 * GR_ERR_STATE, with the code CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: each launch of the graph would
 * repeat the map and release of one frame. The capture itself continues. Capture only the kernels:
 *
 *     gr_buffer *buffer = gr_map(resource, stream);
 *     cuda->GraphLaunch(graph, stream);
 *     gr_buffer_release(buffer);
 *
 * If the pointer has changed since the last map, update the graph (cuGraphExecKernelNodeSetParams).
 *
 * Calls for other streams leave a capture valid, in any thread and also if its mode is global, as
 * in PyTorch: they run with a relaxed cuThreadExchangeStreamCaptureMode(). Calls of your own
 * between them, such as cuMemAlloc(), still invalidate a global capture.
 */

/* For a release, an unmap or a close: the stream of the map. Always valid if nothing is mapped. */
#define GR_STREAM_OF_MAP GR_HANDLE_(CUstream, -1)

/* CUDA's legacy default stream, CU_STREAM_LEGACY. */
#define GR_STREAM_LEGACY GR_HANDLE_(CUstream, 1)

/* The calling thread's default stream, CU_STREAM_PER_THREAD. */
#define GR_STREAM_PER_THREAD GR_HANDLE_(CUstream, 2)

/* The default stream that nvcc --default-stream selects for the source file. */
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define GR_STREAM_DEFAULT GR_STREAM_PER_THREAD
#else
#define GR_STREAM_DEFAULT GR_STREAM_LEGACY
#endif

/*
 * For a stream of the CUDA runtime, where 0 is the default stream: gr_map(resource, GR_STREAM(s)).
 */
#define GR_STREAM(stream) gr_stream_or_default(stream)

/* The same for languages without macros, to which the default stream is GR_STREAM_LEGACY. */
GR_INLINE CUstream gr_stream_or_default(CUstream stream)
{
    return stream ? stream : GR_STREAM_DEFAULT;
}

/* For the graphics side of a ring, which has no CUDA stream. */
#define GR_STREAM_NONE GR_HANDLE_(CUstream, -2)

/* For any `timeout_ms`: no timeout. */
#define GR_WAIT_FOREVER (~0u)

/*
 * Maps a resource: hands it to CUDA until the buffer is released. Graphics work issued before this
 * call is ordered before work enqueued in `stream` after this call. The calling thread waits for
 * OpenGL if GR_TRANSPORT_COPY copies the object (gl.h), or if this OpenGL has no semaphores that
 * CUDA can use, as that of Mesa: the transports shared and peer then call glFinish(). Otherwise it
 * waits for neither side. A resource has one mapping at a time.
 *
 * Owner    the caller, who releases the buffer by gr_buffer_release(); the buffer keeps the
 *          resource alive
 * Thread   for an OpenGL resource, where its OpenGL context is current
 *
 * Errors: NULL, and nothing is mapped, after
 *     GR_ERR_INVALID_VALUE  `resource` or `stream` is NULL, the resource was freed, or the stream
 *                           belongs to another device
 *     GR_ERR_STATE          the resource is mapped, closed, in a ring, or in a submit that was not
 *                           committed; its OpenGL object was deleted or has new storage; its
 *                           order is not defined yet (submit.h); Vulkan has it, because it is a new
 *                           image or the last submit kept it (vk.h); or the stream captures a
 *                           graph. The message names the missing call
 *     GR_ERR_GL             its OpenGL context is not current
 *     GR_ERR_CUDA           the driver refused; or the stream belongs to another CUDA context or
 *                           was destroyed
 *     GR_ERR_DEVICE_LOST    earlier work in the CUDA context failed
 *
 * Wraps cuGraphicsMapResources, cuGraphicsResourceGetMappedPointer.
 */
GR_API gr_buffer *gr_map(gr_resource *resource, CUstream stream);

/*
 * How CUDA uses a resource in one map, like the flags of that name. Register a resource read_write
 * to choose at each map: one that is read_only or write_discard accepts no other access. Without
 * copies, in external and shared memory, the access is only a promise of the caller.
 */
typedef enum gr_map_access {
    GR_MAP_AS_REGISTERED = 0,
    GR_MAP_READ_ONLY = 1,
    GR_MAP_WRITE_DISCARD = 2,
    GR_MAP_READ_WRITE = 3
} gr_map_access;

/* The part of a buffer to map. */
typedef struct gr_map_part {
    size_t offset; /* in bytes */
    size_t size;   /* in bytes; 0: up to the end */
} gr_map_part;

/* Options of gr_map_with() and gr_map_many(). */
typedef struct gr_map_options {
    size_t struct_size;
    CUevent wait_event; /* an event that the stream waits for before the map; NULL: none */

    /*
     * An event that is recorded after the map, for other streams to wait for. NULL: none. With
     * GR_WRITE_DISCARD the event may also be recorded before the map, to check that it is valid.
     */
    CUevent ready_event;

    /* The access of this map only. Tensors of a mapping that is read-only are read-only. */
    gr_map_access access;

    /*
     * The part of each buffer to map, as in gr_map_part. gr_buffer_ptr() and gr_buffer_size() refer
     * to the part. A transport that copies moves only the part; with other transports and
     * GR_WRITE_DISCARD, the bytes outside of the part become undefined, too. For images both fields
     * are 0.
     */
    size_t offset, size;

    /* One part per resource, if they differ: `offset` and `size` are then 0. NULL: none. */
    const gr_map_part *parts;
} gr_map_options;

/*
 * Like gr_map(), with options, which may be NULL:
 *
 *     gr_map_with(resource, stream, &GR_INIT(gr_map_options, .access = GR_MAP_WRITE_DISCARD));
 *
 * Errors: NULL, and nothing is mapped, after the errors of gr_map_many()
 */
GR_API gr_buffer *gr_map_with(gr_resource *resource, CUstream stream,
                              const gr_map_options *options);

/*
 * Maps n resources, which may have different transports. out[i] is the buffer of resources[i]. One
 * driver call maps up to 256 consecutive resources of the same transport. After an error no
 * resource is mapped and `out` is unchanged. `options` may be NULL.
 *
 * Errors: as for gr_map(), and
 *     GR_ERR_INVALID_VALUE  n is 0, a resource is listed twice, a part exceeds its buffer, or
 *                           `access` is refused, since a resource is not read_write
 *     GR_ERR_CUDA           an event of the options is invalid
 *
 * Wraps cuGraphicsMapResources, cuGraphicsResourceSetMapFlags, cuStreamWaitEvent, cuEventRecord.
 */
GR_API gr_status gr_map_many(gr_resource *const resources[], size_t n, CUstream stream,
                             const gr_map_options *options, gr_buffer *out[]);

/*
 * The device pointer, for work in the stream of the map and in streams that wait for it.
 *
 * Valid    until the release; 0 once the resource was unmapped or closed
 *
 * Errors: 0 after
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL
 *     GR_ERR_STATE          the buffer maps an image, which has no pointer: image.h
 */
GR_API CUdeviceptr gr_buffer_ptr(const gr_buffer *buffer);

/*
 * The size of the mapping in bytes. 0 for images, and once the resource was unmapped or closed.
 *
 * Errors: 0 after
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL
 */
GR_API size_t gr_buffer_size(const gr_buffer *buffer);

/* More properties of a mapping. Owned by the buffer. */
typedef struct gr_buffer_info {
    CUstream stream; /* the stream of the map */
    size_t pitch; /* bytes from one row to the next with gr_map_linear() (image.h), otherwise 0 */

    /*
     * The number of live tensors of the mapping (tensor.h), including views and exported tensors.
     * The end of the mapping revokes them; the number is then 0.
     */
    unsigned tensors;

    CUcontext context; /* the CUDA context of the resource, to which its default streams belong */
} gr_buffer_info;

/*
 * Returns the properties of a mapping.
 *
 * Valid    until the next call of this function for the buffer, or until its release
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL
 */
GR_API const gr_buffer_info *gr_buffer_get_info(const gr_buffer *buffer);

/* ---- Releasing ------------------------------------------------------------------------------- */

/*
 * The ways in which a mapping ends:
 *
 *     gr_buffer_release()        the usual function; gr_buffer_release_many() can use another
 *                                stream
 *     gr_buffer_release_later()  for finalizers, on any thread: returns no error, and may be
 *                                deferred
 *     gr_resource_unmap()        for code that has the resource, but not the gr_buffer
 *     gr_resource_close()        before the OpenGL or Vulkan object is deleted: also unregisters
 *                                the object
 *     gr_resource_free()         does not end the mapping: the resource lives until the buffer is
 *                                released
 */

/*
 * Releases a buffer: hands the resource back to the graphics API in the stream of the map, and
 * frees the buffer. Work enqueued in the stream before this call is ordered before graphics work
 * issued after this call. If the OpenGL context was destroyed, the mapping ends for CUDA alone.
 *
 * Live tensors of the mapping (tensor.h) are revoked, with a warning in the log, as by every call
 * that ends a mapping. The release is also ordered after known work with the tensors in other
 * streams. If the mapping has ended already (gr_resource_unmap(), gr_resource_close()), this call
 * only frees the buffer. If the resource was freed meanwhile, its registration ends, too.
 *
 * Thread   for an OpenGL resource, where its OpenGL context is current, or any once that was
 *          destroyed; for a map on GR_STREAM_PER_THREAD, the thread of the map
 *
 * Errors, after which the buffer still exists and is still mapped:
 *     GR_ERR_INVALID_VALUE  the buffer was released before
 *     GR_ERR_STATE          the stream captures a graph
 *     GR_ERR_GL             the OpenGL context of the resource exists, but is not current
 *     GR_ERR_CUDA           the driver refused. If the stream of the map was destroyed, use
 *                           gr_buffer_release_many() with another stream
 *
 * Errors, after which the buffer is freed:
 *     GR_ERR_PARTIAL        data that CUDA wrote may be lost: the CUDA context or the OpenGL
 *                           context was destroyed, or OpenGL refused the copied data, or the OpenGL
 *                           object was deleted (interop checks only images with mutable storage);
 *                           or grinterop failed to make the graphics API wait for CUDA
 *
 * Wraps cuGraphicsUnmapResources.
 */
GR_API gr_status gr_buffer_release(gr_buffer *buffer);

/*
 * Releases a buffer from any thread, for finalizers of garbage collectors, even while another
 * thread uses the resource.
 *
 * If the OpenGL context of the resource is not current, the release is deferred: the next call in
 * that context that creates or frees a resource, or that uses this resource, performs the release.
 * Until then CUDA owns the resource. If that context was destroyed, the mapping ends at once.
 *
 * If tensors of the mapping are alive, the release is deferred until the last tensor is freed, and
 * until then gr_map() returns GR_ERR_STATE. If the OpenGL context is not current when the last
 * tensor is freed, the next call on the resource releases the buffer. If the resource itself was
 * freed, gr_tensor_collect() releases the buffer.
 *
 * If the stream of the map captures a graph, the release fails, and the mapping stays until
 * gr_resource_unmap() or gr_resource_close(). The same happens if the scope of a GR_AUTO() buffer
 * ends during a capture.
 *
 * Thread   any
 *
 * Errors: reported only by gr_last_error(), and by a line on stderr (Output)
 *     GR_ERR_INVALID_VALUE  the buffer was released before
 *     others                as for gr_buffer_release()
 */
GR_API void gr_buffer_release_later(gr_buffer *buffer);

/* Options of gr_buffer_release_many(). */
typedef struct gr_release_options {
    size_t struct_size;
    /* an event that the release waits for, recorded after the last work; NULL: none */
    CUevent wait_event;
} gr_release_options;

/*
 * Releases n different buffers in `stream`. One driver call releases up to 256 consecutive buffers.
 *
 * GR_STREAM_OF_MAP selects the stream of each map. Any other stream first waits for the work that
 * is in the stream of the map so far. If further streams write to the buffers, make `stream` wait
 * for them yourself. NULL entries are skipped; entries of released buffers are set to NULL.
 * `options` may be NULL.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `stream` or `buffers` is NULL, or a buffer is listed twice; nothing was
 *                           released
 *     GR_ERR_PARTIAL        the buffers left in `buffers` were not released, and gr_last_error()
 *                           has the first failure; or some buffers ended because their CUDA or
 *                           OpenGL context was destroyed
 *     others                as for gr_buffer_release(); no buffer was released
 */
GR_API gr_status gr_buffer_release_many(gr_buffer *buffers[], size_t n, CUstream stream,
                                        const gr_release_options *options);

/*
 * Ends the mapping of a resource. The gr_buffer remains: it reports pointer 0 and size 0 and must
 * still be released.
 *
 * Errors: as for gr_buffer_release(), and
 *     GR_ERR_INVALID_VALUE  `resource` or `stream` is NULL, or the resource was freed
 *     GR_ERR_STATE          the resource is not mapped, is closed, or is in a ring
 */
GR_API gr_status gr_resource_unmap(gr_resource *resource, CUstream stream);

/* ---- Waiting on the host --------------------------------------------------------------------- */

/*
 * Blocks the thread until CUDA has finished the work that was in the stream at the last release of
 * the resource. With the transports interop and copy, that stream must still exist, and this call
 * also waits for later work in it.
 *
 * Waits    at most timeout_ms milliseconds; 0 polls
 *
 * Errors:
 *     GR_ERR_NOT_READY      the work is not done, and `timeout_ms` is 0
 *     GR_ERR_TIMEOUT        the work is not done after `timeout_ms`
 *     GR_ERR_INVALID_VALUE  `resource` is NULL
 *     GR_ERR_STATE          the resource is mapped or closed
 *     GR_ERR_CUDA           the work failed
 *
 * Wraps cuEventQuery.
 */
GR_API gr_status gr_resource_wait(gr_resource *resource, unsigned timeout_ms);

/* ---- Life of a resource ---------------------------------------------------------------------- */

/*
 * Ends the registration now: unmaps the resource in `stream` if it is mapped, and unregisters it.
 * Its buffers then report pointer 0 and size 0. The resource can still be queried until
 * gr_resource_free(). Closing again does nothing and succeeds.
 *
 * Blocks   until all work in the CUDA context is done, also in streams that do not use the
 *          resource, as the wrapped functions do. Other threads that call CUDA in this context
 *          block with it. Exception: imported memory (Vulkan, external.h, GR_TRANSPORT_SHARED) that
 *          a stream still uses. This call then does not block, and a later call ends the import
 * Thread   for an OpenGL resource, where its OpenGL context is current
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `resource` or `stream` is NULL, or the resource was freed
 *     GR_ERR_STATE          the resource is in a ring
 *     GR_ERR_GL             the OpenGL context of the resource exists, but is not current
 *     GR_ERR_CUDA           the driver could not unmap the resource
 *     GR_ERR_PARTIAL        the resource is closed, although the driver reported an error, or the
 *                           OpenGL context was destroyed: gr_last_error()
 *
 * Wraps cuGraphicsUnmapResources, cuGraphicsUnregisterResource.
 */
GR_API gr_status gr_resource_close(gr_resource *resource, CUstream stream);

/*
 * Frees a resource. An unmapped resource is closed at once, a mapped resource when its buffer is
 * released. If the OpenGL context of the resource is not current, this call logs a warning, and the
 * next call in that context that creates or frees a resource ends the registration. If that context
 * was destroyed, the resource ends at once, but the NVIDIA driver (580) keeps the memory of a
 * registration (GR_TRANSPORT_INTEROP): free resources before their context. grinterop cannot see
 * that the last context of a share_group was destroyed, and of GLX and WGL only that another
 * context has got the handle: till then resources stay.
 *
 * Blocks   as gr_resource_close() does, when the registration ends. To avoid that while other work
 *          runs, keep the resource and free it later. After gr_vk_device_free() the last free of a
 *          device waits for CUDA: vk_device.h
 * Thread   any
 */
GR_API void gr_resource_free(gr_resource *resource);

/* ---- What a resource is ---------------------------------------------------------------------- */

/* The kind of a resource: whether its mapping has a pointer or arrays. */
typedef enum gr_kind {
    GR_KIND_BUFFER = 1, /* a pointer */
    GR_KIND_IMAGE = 2   /* arrays, surfaces and textures: image.h */
} gr_kind;

/* The API of the object that a resource was created from. */
typedef enum gr_graphics_api {
    GR_GRAPHICS_OPENGL = 1,
    GR_GRAPHICS_VULKAN = 2,
    GR_GRAPHICS_EXTERNAL = 3 /* memory imported by a handle, or received from another process */
} gr_graphics_api;

/*
 * How the data gets from one API to the other. The values are bits, so that they can be combined
 * into a set of allowed transports.
 */
typedef enum gr_transport {
    GR_TRANSPORT_INTEROP = 1,  /* a registered OpenGL object: no copy, maps and releases are
                                * barriers */
    GR_TRANSPORT_SHARED = 2,   /* OpenGL storage that both sides import, with semaphores: no copy,
                                * several frames in flight */
    GR_TRANSPORT_COPY = 4,     /* through host memory: any OpenGL or Vulkan, any CUDA device */
    GR_TRANSPORT_EXTERNAL = 8, /* imported memory of Vulkan or another API: no copy */
    GR_TRANSPORT_PEER = 16,    /* copies in memory of one or two GPUs; for OpenGL with several
                                * frames in flight */
    GR_TRANSPORT_ANY = 31      /* all transports: the best that works is used */
} gr_transport;

/* The properties of a resource. Owned by the resource. */
typedef struct gr_resource_info {
    gr_kind kind;           /* the kind of its mappings */
    gr_graphics_api api;    /* the API of the object */
    gr_transport transport; /* the transport in use */

    /*
     * The flags given at its creation. Images of the transports shared and external also have
     * GR_SURFACE_LOAD_STORE if their usage lets kernels write to them.
     */
    unsigned flags;
    size_t size; /* the size of a buffer in bytes; 0 for an image, whose size is in gr_image_info */
    bool mapped; /* the resource is mapped: CUDA owns it now */
    bool closed; /* its registration has ended */

    /*
     * The CUDA objects, for calls that grinterop does not wrap. `graphics` is the registration of a
     * GR_TRANSPORT_INTEROP resource; `external_memory` is the imported memory, for transports that
     * import memory. NULL: the resource has no such object, or is closed.
     */
    CUgraphicsResource graphics;
    CUexternalMemory external_memory;
} gr_resource_info;

/*
 * The properties of a resource, also of a closed one.
 *
 * Valid    until the next call of this function for the resource, or until gr_resource_free()
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `resource` is NULL
 */
GR_API const gr_resource_info *gr_resource_get_info(const gr_resource *resource);

/*
 * Writes one line about the resource: kind, size, flags, transport and state. Writes at most `size`
 * bytes with the terminating zero and returns the length of the whole line, like snprintf. For NULL
 * the line is "no resource (NULL)". "with host waits" after an OpenGL object means that OpenGL has
 * no semaphores that CUDA can use: the thread waits for OpenGL in maps, and for CUDA in releases.
 */
GR_API int gr_resource_describe(const gr_resource *resource, char *text, size_t size);

GR_SCOPE_END(gr_buffer, gr_buffer_release_later)
GR_SCOPE_END(gr_resource, gr_resource_free)

#ifdef __cplusplus
}
#endif
#endif
