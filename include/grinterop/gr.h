/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grinterop: CUDA on memory that OpenGL or Vulkan draws with.
 *
 *     GR_AUTO(gr_resource) *vbo = gr_from_gl_buffer(name, GR_WRITE_DISCARD);
 *     {
 *         GR_AUTO(gr_buffer) *buf = gr_map(vbo, stream);
 *         ... launch kernels on `stream` that use gr_buffer_ptr(buf) ...
 *     }                                                scope end: OpenGL owns the bytes again
 *
 * This header holds what is common to every kind of resource. gl.h and egl.h make resources and
 * contexts of OpenGL, vk.h resources and devices of Vulkan, external.h and semaphore.h those of any
 * handle that the CUDA driver imports. image.h has what a mapped image gives, ring.h frames in flight,
 * share.h other processes, cuda.h the CUDA driver that grinterop found at run time.
 *
 * Laws that hold for every function, so that they are said once:
 *
 * - Who has the bytes. A new resource belongs to the graphics API. gr_map() hands it to CUDA and a
 *   buffer's release hands it back. In between the graphics API must not touch it.
 * - Errors. A function that makes an object returns NULL on failure, the others a gr_status. What
 *   failed and what to do about it is in gr_last_error(). A call that failed changed nothing,
 *   unless its comment says otherwise. Nothing is printed unless logging is asked for.
 * - NULL. Releasing or freeing NULL does nothing and succeeds. Everywhere else NULL is an error.
 * - Streams. The CUDA stream is always named. NULL is an error, so that nobody gets the default
 *   stream by accident: pass CU_STREAM_LEGACY or CU_STREAM_PER_THREAD for one of those. A stream
 *   must live until what was mapped on it is released.
 * - CUDA contexts. A resource remembers the context that was current when it was made; where there
 *   was none it retains the primary context of the device that draws. Every call on the resource
 *   makes that context current and puts the caller's back. The context must outlive the resource.
 * - OpenGL contexts. A resource made from an OpenGL object is used with the OpenGL context current
 *   that it was made in, on the calling thread; anything else is GR_ERR_GL, never undefined
 *   behaviour. OpenGL's bindings and its pending errors stay as they were. In each OpenGL context
 *   grinterop leaves one empty program pipeline object, by which it knows the context again: a name above
 *   100 that an application should not have in use in another context. OpenGL 3.2 or newer.
 * - Threads. Two threads may use two resources at once. One resource, with its buffers, belongs to
 *   one thread at a time.
 * - Memory. A loop that maps and releases allocates nothing.
 */
#ifndef GR_GR_H
#define GR_GR_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(GR_BUILD)
#define GR_API __declspec(dllexport) /* grinterop itself is being compiled */
#elif defined(_WIN32)
#define GR_API __declspec(dllimport)
#elif defined(__GNUC__)
#define GR_API __attribute__((visibility("default")))
#else
#define GR_API
#endif

/* An object of the graphics API that is registered with CUDA. */
typedef struct gr_resource gr_resource;

/* One mapping of a resource: the bytes as CUDA sees them, until it is released. */
typedef struct gr_buffer gr_buffer;

/* ---- Errors ---------------------------------------------------------------------------------- */

/* X(name, text): every class of error. The class says who refused; gr_error says why. */
#define GR_STATUS_MAP(X)                                                                           \
    X(GR_OK, "no error")                                                                           \
    X(GR_ERR_INVALID_VALUE, "invalid argument")                                                    \
    X(GR_ERR_STATE, "not possible in the object's present state")                                  \
    X(GR_ERR_CUDA, "the CUDA driver refused")                                                      \
    X(GR_ERR_GL, "OpenGL or EGL refused, or the wrong context is current")                         \
    X(GR_ERR_VULKAN, "Vulkan refused")                                                             \
    X(GR_ERR_UNSUPPORTED, "not supported on this system")                                          \
    X(GR_ERR_NO_DRIVER, "no usable CUDA driver")                                                   \
    X(GR_ERR_NO_MEMORY, "out of memory")                                                           \
    X(GR_ERR_TIMEOUT, "not ready within the time allowed")                                         \
    X(GR_ERR_SYSTEM, "the operating system refused")

#define GR_STATUS_ENUM(name, text) name,
typedef enum gr_status { GR_STATUS_MAP(GR_STATUS_ENUM) } gr_status;
#undef GR_STATUS_ENUM

/* What went wrong, in full. The texts are copies and stay as they are. */
typedef struct gr_error {
    gr_status status; /* the class; GR_OK when this thread has had no error */
    int code; /* the driver's own code (CUresult, GL or EGL error), 0 if none was involved */
    char code_name[56]; /* that code's name, for example CUDA_ERROR_ALREADY_MAPPED, or "" */
    char call[56];      /* the function that failed, the driver's or grinterop's own */
    char message[720];  /* a sentence: what was found and what to do about it */
} gr_error;

/*
 * Copies the calling thread's last error to *error and returns its class. A call that succeeds
 * leaves the last error alone, so ask only after a failure. `error` may be NULL.
 */
GR_API gr_status gr_last_error(gr_error *error);

/* Forgets the calling thread's last error. */
GR_API void gr_clear_error(void);

/* A class's name ("GR_ERR_STATE") and a text for it. Static strings; unknown values have some too. */
GR_API const char *gr_status_name(gr_status status);
GR_API const char *gr_status_text(gr_status status);

/* ---- Logging --------------------------------------------------------------------------------- */

typedef enum gr_log_level {
    GR_LOG_NONE = 0,
    GR_LOG_ERROR,   /* every error, as it is recorded */
    GR_LOG_WARNING, /* what could not be reported otherwise, such as a failure in a destructor */
    GR_LOG_INFO,    /* choices that were made: driver, device, context */
    GR_LOG_DEBUG    /* each register, map, release and close */
} gr_log_level;

/* Receives one line, without the line's end. May be called from any thread that calls grinterop. */
typedef void (*gr_log_fn)(void *user, gr_log_level level, const char *line);

/*
 * Sends lines up to `level` to `fn`; a NULL fn means the standard error stream. Without this call
 * the environment variable GR_LOG (none, error, warning, info, debug) decides, and its default is
 * none. `fn` must not call grinterop. Safe from any thread; lines being written may still go the old way.
 */
GR_API void gr_log_set(gr_log_level level, gr_log_fn fn, void *user);

/* ---- Flags ----------------------------------------------------------------------------------- */

/*
 * What CUDA is going to do with a resource: CU_GRAPHICS_REGISTER_FLAGS_* of the driver, under the
 * names that cuda.core uses in lower case. GR_READ_ONLY and GR_WRITE_DISCARD exclude each other.
 */
enum {
    GR_READ_WRITE = 0x00,               /* CUDA reads and writes */
    GR_READ_ONLY = 0x01,          /* CUDA only reads: writing is undefined */
    GR_WRITE_DISCARD = 0x02,      /* CUDA writes all of it: the old contents are undefined at map */
    GR_SURFACE_LOAD_STORE = 0x04, /* images: bind as a surface */
    GR_TEXTURE_GATHER = 0x08      /* images: texture gather */
};

/*
 * Turns names into flags: "none", "read_only", "write_discard", "surface_load_store",
 * "texture_gather", separated by commas or '|', with blanks around them. NULL and "" mean none.
 * *flags is written only on success; GR_ERR_INVALID_VALUE lists the valid names.
 */
GR_API gr_status gr_flags_parse(const char *text, unsigned *flags);

/* ---- Mapping --------------------------------------------------------------------------------- */

/* For the stream argument of a release, an unmap or a close: the stream that the map was given. */
#define GR_STREAM_OF_MAP ((CUstream)(size_t)-1)

/*
 * Hands the resource to CUDA. Work of the graphics API that was issued before this call comes before
 * work that is put into `stream` after it; the calling thread does not wait for either.
 *
 * The buffer keeps the resource alive. It is the caller's, who releases it with
 * gr_buffer_release(); a resource has at most one mapping at a time.
 * Errors: GR_ERR_STATE (already mapped, closed; for OpenGL objects whose storage is not immutable:
 * deleted or given other storage since), GR_ERR_GL (not the OpenGL context it was made in),
 * GR_ERR_CUDA. Nothing stays mapped after any.
 * Wraps cuGraphicsMapResources and cuGraphicsResourceGetMappedPointer.
 */
GR_API gr_buffer *gr_map(gr_resource *resource, CUstream stream);

/*
 * Maps n resources of any transports, 256 neighbours of one in one call of the driver, whose waits then count once; out[i] is the buffer
 * of resources[i]. All or nothing: after an error no resource is mapped and `out` is as it
 * was. A resource that is listed twice is GR_ERR_INVALID_VALUE, as is n == 0.
 */
GR_API gr_status gr_map_many(gr_resource *const resources[], size_t n, CUstream stream,
                             gr_buffer *out[]);

/* Options of gr_map_with(). All zero is the plain gr_map(). */
typedef struct gr_map_options {
    CUevent wait_event; /* the map's stream waits for it first: work of CUDA's own; NULL: none */
    CUstream
        sync_stream; /* another stream that is made to wait until the data is ready; NULL: none, a
                             default stream is named: CU_STREAM_LEGACY or CU_STREAM_PER_THREAD */
} gr_map_options;

/*
 * gr_map() and gr_map_many() with options, which may be NULL and need only live until the call returns.
 * Errors: as theirs; nothing stays mapped where an event or a stream of the options is refused.
 * Wraps cuStreamWaitEvent and cuEventRecord beside what gr_map() wraps.
 */
GR_API gr_buffer *gr_map_with(gr_resource *resource, CUstream stream,
                              const gr_map_options *options);
GR_API gr_status gr_map_many_with(gr_resource *const resources[], size_t n, CUstream stream,
                                  const gr_map_options *options, gr_buffer *out[]);

/*
 * The device pointer, valid in work on the map's stream until the release, and on any other stream
 * that waits for the map. 0 for NULL, and once the resource was unmapped or closed; an image has
 * none, which is 0 and GR_ERR_STATE.
 */
GR_API CUdeviceptr gr_buffer_ptr(const gr_buffer *buffer);

/* The size in bytes. 0 for NULL and images, and once the resource was unmapped or closed. */
GR_API size_t gr_buffer_size(const gr_buffer *buffer);

/* The stream that the map was given; NULL for NULL. */
GR_API CUstream gr_buffer_stream(const gr_buffer *buffer);

/*
 * Hands the bytes back to the graphics API and ends the buffer. Work that was put into the stream
 * before this call comes before work of the graphics API that is issued after it. The first form
 * uses the stream of the map, the second any stream, which is made to wait for what the map's
 * stream has been given so far; make it wait for whatever still writes on others. (What was mapped on
 * CU_STREAM_PER_THREAD, a stream of each thread, is released on the thread that mapped it.)
 *
 * If the mapping has ended already (gr_resource_unmap, gr_resource_close) this only ends the buffer and succeeds. The
 * last release of a resource that was freed meanwhile ends its registration too.
 * On an error the buffer is still the caller's and the bytes are still CUDA's: GR_ERR_GL (not the
 * resource's OpenGL context: release it where that is current), GR_ERR_CUDA.
 * Wraps cuGraphicsUnmapResources.
 */
GR_API gr_status gr_buffer_release(gr_buffer *buffer);
GR_API gr_status gr_buffer_release_on(gr_buffer *buffer, CUstream stream);

/* Options of gr_buffer_release_with(): what ends the work. At most one of both; none: the map's stream. */
typedef struct gr_release_options {
    CUstream stream; /* as for gr_buffer_release_on() */
    CUevent event; /* recorded after the last work: the map's stream waits for it, then releases */
} gr_release_options;

/*
 * gr_buffer_release() with options, which may be NULL. Whoever uses the resource next, OpenGL, Vulkan or CUDA,
 * comes after the stream or the event. Both at once are GR_ERR_INVALID_VALUE.
 */
GR_API gr_status gr_buffer_release_with(gr_buffer *buffer, const gr_release_options *options);

/*
 * Releases n different buffers; neighbours that go to one stream in one call of the driver, up to 256.
 * NULL entries are skipped, and entries are set to NULL as their buffers are released. On an error
 * those that went with the one in that call stay, and the others are released.
 */
GR_API gr_status gr_buffer_release_many(gr_buffer *buffers[], size_t n, CUstream stream);

/*
 * Ends the mapping without ending the buffer, which from then on reports pointer 0 and size 0 and is
 * still to be released. Errors as for gr_buffer_release(); GR_ERR_STATE when it is not mapped or
 * the resource is closed.
 */
GR_API gr_status gr_resource_unmap(gr_resource *resource, CUstream stream);

/* ---- Life of a resource ---------------------------------------------------------------------- */

/*
 * Ends the registration now: unmaps, if it is mapped, on `stream`, and unregisters. Buffers that are
 * still out report pointer 0 and size 0. Closing again does nothing and succeeds. The object
 * remains, as does what it reports, until gr_resource_free().
 * Errors: GR_ERR_GL (not the resource's OpenGL context), GR_ERR_CUDA (the driver could not unmap it);
 * after both it is as it was. An error while the registration ends is GR_ERR_CUDA too, but then the
 * resource is closed all the same.
 * Wraps cuGraphicsUnregisterResource.
 */
GR_API gr_status gr_resource_close(gr_resource *resource, CUstream stream);

/*
 * Drops the caller's hold. If it is not mapped this also closes it, otherwise the release of its
 * buffer will. Where that cannot be done now because the resource's OpenGL context is not current,
 * the registration is set aside and ended by the next call to grinterop in that context that makes or
 * ends a resource; a warning is logged.
 */
GR_API void gr_resource_free(gr_resource *resource);

GR_API bool gr_resource_is_mapped(const gr_resource *resource); /* false for NULL */
GR_API bool gr_resource_is_closed(const gr_resource *resource); /* true for NULL */

/*
 * The driver's own handle, for calls that grinterop does not wrap: a CUgraphicsResource of an OpenGL object, a
 * CUexternalMemory of external memory. NULL for NULL and once closed.
 */
GR_API void *gr_handle(const gr_resource *resource);

/*
 * Writes one line about the resource: what it is, its size and flags, the transport in use, its state.
 * At most `size` bytes with the terminating zero; returns the length of the whole line, like snprintf.
 */
GR_API int gr_resource_describe(const gr_resource *resource, char *text, size_t size);

/* The library's version as text, "major.minor.patch". */
GR_API const char *gr_library_version(void);

/* ---- End of scope ---------------------------------------------------------------------------- */

#if defined(__GNUC__)
/*
 * Declares a variable whose object is released when it goes out of scope, however that happens:
 * GR_AUTO(gr_buffer) *buffer = gr_map(resource, stream);
 * An error in such a release can only be logged, as a warning.
 */
#define GR_AUTO(type) __attribute__((cleanup(type##_at_scope_end))) type

GR_API void gr_buffer_at_scope_end(gr_buffer **buffer);
GR_API void gr_resource_at_scope_end(gr_resource **resource);
#endif

#ifdef __cplusplus
}
#endif
#endif
