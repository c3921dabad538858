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
 * This header holds what is common to every kind of resource. The others:
 *
 *     gl.h, egl.h             resources of OpenGL's, and OpenGL without a window
 *     vk.h                    resources of Vulkan's
 *     external.h              resources in memory of any other API
 *     submit.h, semaphore.h   the order between CUDA and a graphics API that takes submits
 *     image.h                 what a mapped image gives
 *     ring.h                  several frames under way at once
 *     share.h                 resources and rings in another process
 *     tensor.h                memory with a type and a shape, and DLPack
 *     publish.h               tensors into what is drawn, and out of it
 *     cuda.h                  the CUDA driver, found at run time
 *     gr.hpp                  objects and exceptions for C++17
 *
 * The laws of every function:
 *
 * Turns     A new resource belongs to the graphics API. gr_map() hands it to CUDA, and the release
 *           of the buffer hands it back. In between the graphics API must not touch it.
 * Errors    A function that makes an object returns NULL on failure; most others return a
 *           gr_status. gr_last_error() says what failed and what to do about it. Nothing is printed
 *           unless logging is asked for.
 * Failure   A call that failed has changed nothing, except after GR_ERR_PARTIAL.
 * NULL      Freeing or releasing NULL does nothing. Everywhere else NULL is an error, unless a
 *           comment gives it a meaning.
 * Twice     Freeing or releasing twice is a mistake that is caught: nothing is done, and
 *           GR_ERR_INVALID_VALUE is recorded. But a buffer's memory is used again some maps
 *           later: then an old pointer that is released once more releases the new buffer.
 * Streams   The CUDA stream is always named; NULL is an error. For a default stream pass
 *           CU_STREAM_LEGACY or CU_STREAM_PER_THREAD. A stream has to live until what was mapped on
 *           it is released.
 * CUDA      A resource remembers the CUDA context that was current when it was made. Where there
 *           was none it takes the primary context of the device that draws. Every call makes that
 *           context current, and puts the caller's back. The context has to outlive the resource.
 * OpenGL    A resource of OpenGL's is used where the OpenGL context is current that it was made in.
 *           Elsewhere calls return GR_ERR_GL. Bindings and pending errors stay as they were. One
 *           empty program pipeline object, of a name above 100, stays in each context, by which
 *           grinterop knows the context again. OpenGL 3.2 or newer.
 * Threads   Two threads may use two resources at once. One resource, with its buffers, belongs to
 *           one thread at a time.
 * Memory    A loop that maps and releases allocates nothing.
 */
#ifndef GR_GR_H
#define GR_GR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

/*
 * Makes a struct that is given to a function: GR_INIT(gr_map_options, .wait_event = event). Fields
 * that are not named are 0, and so is what a newer library knows beside them. In C++ fields are
 * named from C++20 on; before that, GR_INIT(gr_map_options) and assignments. A `static` struct of C
 * is made by hand, since this is no constant: {.struct_size = sizeof(gr_map_options), ...}.
 */
#define GR_INIT(...) GR_INIT_(__VA_ARGS__, )
#if !defined(__cplusplus)
#define GR_INIT_(type, ...) ((type){.struct_size = sizeof(type), __VA_ARGS__})
#elif __cplusplus >= 202002L
#define GR_INIT_(type, ...)                                                                        \
    ([&] {                                                                                         \
        _Pragma("GCC diagnostic push");                                                            \
        _Pragma("GCC diagnostic ignored \"-Wmissing-field-initializers\"");                        \
        return type{.struct_size = sizeof(type), __VA_ARGS__};                                     \
        _Pragma("GCC diagnostic pop");                                                             \
    }())
#else
#define GR_INIT_(type, ...)                                                                        \
    ([] {                                                                                          \
        static_assert(sizeof(#__VA_ARGS__) == 1, "fields are named from C++20 on");                \
        type made = {};                                                                            \
        made.struct_size = sizeof(type);                                                           \
        return made;                                                                               \
    }())
#endif

/* An object of the graphics API that is registered with CUDA. */
typedef struct gr_resource gr_resource;

/* One mapping of a resource: the bytes as CUDA sees them, until it is released. */
typedef struct gr_buffer gr_buffer;

/* ---- Errors ---------------------------------------------------------------------------------- */

/*
 * X(name, value, text): the classes of errors. The class says who refused, and so what to do about
 * it; gr_last_error() says why. The values stay as they are; new ones come at the end.
 *
 * After an error nothing has changed, with one exception: GR_ERR_PARTIAL says that something has.
 */
#define GR_STATUS_MAP(X)                                                                           \
    X(GR_OK, 0, "no error")                                                                        \
    X(GR_ERR_INVALID_VALUE, 1, "invalid argument")                                                 \
    X(GR_ERR_STATE, 2, "not possible in the object's present state")                               \
    X(GR_ERR_CUDA, 3, "the CUDA driver refused")                                                   \
    X(GR_ERR_GL, 4, "OpenGL or EGL refused, or the wrong context is current")                      \
    X(GR_ERR_VULKAN, 5, "Vulkan refused")                                                          \
    X(GR_ERR_UNSUPPORTED, 6, "not supported on this system")                                       \
    X(GR_ERR_NO_DRIVER, 7, "no usable CUDA driver")                                                \
    X(GR_ERR_NO_MEMORY, 8, "out of memory, of the process or of a device")                         \
    X(GR_ERR_TIMEOUT, 9, "not ready within the time allowed")                                      \
    X(GR_ERR_SYSTEM, 10, "the operating system refused")                                           \
    X(GR_ERR_NOT_READY, 11, "not ready, and no waiting was asked for")                             \
    X(GR_ERR_STOPPED, 12, "stopped by another thread")                                             \
    X(GR_ERR_DEVICE_LOST, 13,                                                                      \
      "the device is lost: its work failed, and no call on it will succeed")                       \
    X(GR_ERR_PARTIAL, 14, "done in part: the function's comment says what")

#define GR_STATUS_ENUM(name, value, text) name = value,
typedef enum gr_status { GR_STATUS_MAP(GR_STATUS_ENUM) } gr_status;
#undef GR_STATUS_ENUM

/* Whose code gr_error.code is. */
typedef enum gr_error_domain {
    GR_DOMAIN_NONE = 0,   /* nobody's: grinterop refused by itself */
    GR_DOMAIN_CUDA = 1,   /* a CUresult */
    GR_DOMAIN_OPENGL = 2, /* of glGetError() */
    GR_DOMAIN_EGL = 3,    /* of eglGetError() */
    GR_DOMAIN_VULKAN = 4, /* a VkResult */
    GR_DOMAIN_ERRNO = 5   /* an errno */
} gr_error_domain;

/* What went wrong, in full. The library's, and the thread's: see gr_last_error(). */
typedef struct gr_error {
    /* The class. GR_OK when this thread has had no error. */
    gr_status status;

    /* Who gave `code`. */
    gr_error_domain domain;

    /* The code of the driver or the system; 0 if none was involved. */
    int code;

    /* The code's name, for example "CUDA_ERROR_ALREADY_MAPPED"; "" if none was involved. */
    const char *code_name;

    /* The function that failed: the driver's or grinterop's own. */
    const char *call;

    /* A sentence: what was found, and what to do about it. */
    const char *message;
} gr_error;

/*
 * The calling thread's last error. Never NULL. A call that succeeds leaves it alone, so ask only
 * after a failure.
 *
 * Valid    until the next call of grinterop fails on this thread; copy the texts to keep them
 */
GR_API const gr_error *gr_last_error(void);

/* Prints the calling thread's last error in one line: "what: the sentence (call: CODE_NAME)". */
GR_API void gr_error_print(FILE *stream, const char *what);

/* Forgets the calling thread's last error. */
GR_API void gr_clear_error(void);

/*
 * A class's name, "GR_ERR_STATE", and a text for it. Unknown values have some too.
 *
 * Valid    until the process ends
 */
GR_API const char *gr_status_name(gr_status status);
GR_API const char *gr_status_text(gr_status status);

/* ---- Flags ----------------------------------------------------------------------------------- */

/*
 * What CUDA is going to do with a resource: CU_GRAPHICS_REGISTER_FLAGS_* of the driver, under the
 * names that cuda.core uses in lower case. GR_READ_ONLY and GR_WRITE_DISCARD exclude each other.
 */
enum {
    GR_READ_WRITE = 0x00,         /* CUDA reads and writes */
    GR_READ_ONLY = 0x01,          /* CUDA only reads: writing is undefined */
    GR_WRITE_DISCARD = 0x02,      /* CUDA writes all of it: the old contents are undefined at map */
    GR_SURFACE_LOAD_STORE = 0x04, /* images: bind as a surface */
    GR_TEXTURE_GATHER = 0x08      /* images: texture gather */
};

/*
 * Turns names into flags: "read_only|surface_load_store", say.
 *
 * The names are "read_write" or "none", "read_only", "write_discard", "surface_load_store" and
 * "texture_gather", separated by commas or '|', with blanks around them. NULL and "" mean
 * GR_READ_WRITE. *flags is written only on success.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a name is none of these (the message lists them), or `flags` is NULL
 */
GR_API gr_status gr_flags_parse(const char *text, unsigned *flags);

/* ---- Mapping --------------------------------------------------------------------------------- */

/* For the stream of a release, an unmap or a close: the stream that the map was given. */
#define GR_STREAM_OF_MAP ((CUstream)(size_t)-1)

/* For a stream parameter where there is no stream: the graphics API's side of a ring. */
#define GR_STREAM_NONE ((CUstream)(size_t)-2)

/* For every timeout_ms: without end. */
#define GR_WAIT_FOREVER (~0u)

/*
 * Hands the resource to CUDA, until the buffer is released.
 *
 * Work of the graphics API that was issued before this call comes before work that is put into
 * `stream` after it. The calling thread waits for neither.
 *
 * Owner    the caller, who releases the buffer with gr_buffer_release(); it holds the resource
 * Thread   where the OpenGL context is current, for a resource of OpenGL's
 *
 * A resource has one mapping at a time.
 *
 * Errors: NULL, and nothing is mapped, after
 *     GR_ERR_INVALID_VALUE  `resource` or `stream` is NULL
 *     GR_ERR_STATE          it is mapped or closed; or its OpenGL object, whose storage is not
 *                           immutable, was deleted or given other storage; or it is in a ring, or
 *                           in a submit that was begun and not committed; or nothing says yet who
 *                           orders it (submit.h). The message names the call that is missing
 *     GR_ERR_GL             its OpenGL context is not current here
 *     GR_ERR_CUDA           the driver refused
 *     GR_ERR_DEVICE_LOST    earlier work in the CUDA context failed
 *     GR_ERR_NO_MEMORY
 *
 * Wraps cuGraphicsMapResources, cuGraphicsResourceGetMappedPointer.
 */
GR_API gr_buffer *gr_map(gr_resource *resource, CUstream stream);

/* How gr_map_many() maps. */
typedef struct gr_map_options {
    size_t struct_size;

    /* The map's stream waits for this event first. NULL: for nothing. */
    CUevent wait_event;

    /* Recorded when the data is CUDA's: what other streams have to wait for. NULL: none is. */
    CUevent ready_event;

    /*
     * Which bytes of each buffer are mapped: `size` at `offset`; a size of 0: up to the end.
     * gr_buffer_ptr() and gr_buffer_size() are those of the part, and a copy moves no more than it.
     * With GR_WRITE_DISCARD the other bytes are undefined too, but with a copy. 0 for images.
     */
    size_t offset, size;
} gr_map_options;

/*
 * Maps n resources, of any transports, with one call of the driver for 256 neighbours of one
 * transport. out[i] is the buffer of resources[i].
 *
 * All or nothing: after an error no resource is mapped and `out` is as it was. `options` may be
 * NULL.
 *
 * Errors: as for gr_map(), and
 *     GR_ERR_INVALID_VALUE  n is 0, a resource is listed twice, or a part lies past the end
 *     GR_ERR_CUDA           an event of the options is none
 *
 * Wraps cuGraphicsMapResources, cuStreamWaitEvent, cuEventRecord.
 */
GR_API gr_status gr_map_many(gr_resource *const resources[], size_t n, CUstream stream,
                             const gr_map_options *options, gr_buffer *out[]);

/*
 * The device pointer, for work on the map's stream and on streams that wait for it.
 *
 * Valid    until the release; 0 once the resource was unmapped or closed
 *
 * Errors: 0 after
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL
 *     GR_ERR_STATE          it is an image, which has no pointer: image.h
 */
GR_API CUdeviceptr gr_buffer_ptr(const gr_buffer *buffer);

/*
 * The size in bytes of what is mapped. 0 for images, and once the resource was unmapped or closed.
 *
 * Errors: 0 after
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL
 */
GR_API size_t gr_buffer_size(const gr_buffer *buffer);

/*
 * The stream that the map was given.
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `buffer` is NULL
 */
GR_API CUstream gr_buffer_stream(const gr_buffer *buffer);

/* ---- Releasing ------------------------------------------------------------------------------- */

/*
 * Hands the bytes back to the graphics API, on the stream of the map, and ends the buffer.
 *
 * Work that was put into the stream before this call comes before work of the graphics API that is
 * issued after it.
 *
 * Tensors of the mapping (tensor.h) that live are revoked, with a warning in the log, as by every
 * call that ends a mapping; the streams that are known to use them come before too.
 *
 * Where the mapping has ended already (gr_resource_unmap(), gr_resource_close()) this only ends the
 * buffer. If the resource was freed meanwhile, its registration ends too.
 *
 * Thread   where the OpenGL context is current, for a resource of OpenGL's; of what was mapped on
 *          CU_STREAM_PER_THREAD, the thread that mapped it
 *
 * Errors, after which the buffer is still the caller's and the bytes are still CUDA's:
 *     GR_ERR_INVALID_VALUE  the buffer has been released already
 *     GR_ERR_GL             the resource's OpenGL context is not current here
 *     GR_ERR_CUDA           the driver refused
 *
 * Wraps cuGraphicsUnmapResources.
 */
GR_API gr_status gr_buffer_release(gr_buffer *buffer);

/*
 * Releases a buffer from anywhere: for finalizers, which a garbage collector runs on a thread of
 * its own.
 *
 * Where the resource's OpenGL context is not current, the buffer is set aside. The next call in
 * that context that makes or ends a resource, or that is about this one, releases it. Until then
 * the bytes are CUDA's. What fails is logged as a warning. NULL is fine.
 *
 * While tensors of the mapping live, it is left to them: the buffer is set aside when the last is
 * gone, and until then gr_map() is GR_ERR_STATE. Where no OpenGL context matters, the next call
 * about the resource then releases it, or gr_tensor_collect() if the resource was freed.
 *
 * Thread   any
 *
 * Errors: recorded, as nothing is returned
 *     GR_ERR_INVALID_VALUE  the buffer has been released already
 */
GR_API void gr_buffer_release_later(gr_buffer *buffer);

/* How gr_buffer_release_many() releases. */
typedef struct gr_release_options {
    size_t struct_size;

    /* The release comes after this event: record it after the last work. NULL: after no event. */
    CUevent wait_event;
} gr_release_options;

/*
 * Releases n different buffers on `stream`, with one call of the driver for up to 256 neighbours.
 *
 * GR_STREAM_OF_MAP is the stream of each one's map. Another stream is made to wait for what the
 * map's stream has been given so far; make it wait yourself for other streams that still write.
 *
 * NULL entries are skipped, and entries are set to NULL as their buffers are released. `options`
 * may be NULL.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `stream` or `buffers` is NULL; nothing was released
 *     GR_ERR_PARTIAL        some were not released: they are still in `buffers`, the others are
 *                           NULL. gr_last_error() has the first refusal's code and sentence
 *     others                as for gr_buffer_release(); none was released
 */
GR_API gr_status gr_buffer_release_many(gr_buffer *buffers[], size_t n, CUstream stream,
                                        const gr_release_options *options);

/*
 * Ends the mapping without ending the buffer, which from then on reports pointer 0 and size 0 and
 * is still to be released.
 *
 * Errors: as for gr_buffer_release(), and
 *     GR_ERR_INVALID_VALUE  `resource` or `stream` is NULL, or the resource was freed
 *     GR_ERR_STATE          it is not mapped, or closed
 */
GR_API gr_status gr_resource_unmap(gr_resource *resource, CUstream stream);

/* ---- Waiting on the host --------------------------------------------------------------------- */

/*
 * Makes the calling thread wait until CUDA's last work with a resource is done: what was put into
 * the stream before its last release. Where nothing of the resource's own tells of that (interop,
 * copy), later work in that stream is waited for too, and the stream has to exist still.
 *
 * Waits    up to timeout_ms milliseconds; 0 only looks, and GR_WAIT_FOREVER waits until it is done
 *
 * Errors:
 *     GR_ERR_NOT_READY      it is not done, and `timeout_ms` is 0
 *     GR_ERR_TIMEOUT        it is not done after that time
 *     GR_ERR_INVALID_VALUE  `resource` is NULL
 *     GR_ERR_STATE          it is mapped, or closed
 *     GR_ERR_CUDA           the work failed
 *
 * Wraps cuEventQuery, cuEventSynchronize.
 */
GR_API gr_status gr_resource_wait(gr_resource *resource, unsigned timeout_ms);

/* ---- Life of a resource ---------------------------------------------------------------------- */

/*
 * Ends the registration now: unmaps, if it is mapped, on `stream`, and unregisters.
 *
 * Buffers that are still out report pointer 0 and size 0. The object remains, as does what it
 * reports, until gr_resource_free(). Closing again does nothing and succeeds.
 *
 * Thread   where the OpenGL context is current, for a resource of OpenGL's
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `resource` or `stream` is NULL, or the resource was freed
 *     GR_ERR_GL             its OpenGL context is not current here
 *     GR_ERR_CUDA           the driver could not unmap it
 *     GR_ERR_PARTIAL        it is closed, although the driver complained: gr_last_error() has why
 *
 * Wraps cuGraphicsUnmapResources, cuGraphicsUnregisterResource.
 */
GR_API gr_status gr_resource_close(gr_resource *resource, CUstream stream);

/*
 * Lets go of a resource. If it is not mapped this also closes it; otherwise the release of its
 * buffer will. NULL is fine.
 *
 * Where its OpenGL context is not current, the registration is set aside, and a warning logged. The
 * next call in that context that makes or ends a resource ends it.
 *
 * Thread   any
 */
GR_API void gr_resource_free(gr_resource *resource);

/* ---- What a resource is ---------------------------------------------------------------------- */

/* What gr_map() gives of a resource. */
typedef enum gr_kind {
    GR_KIND_BUFFER = 1, /* a pointer */
    GR_KIND_IMAGE = 2   /* arrays, surfaces and textures: image.h */
} gr_kind;

/* Whose object a resource was made from. */
typedef enum gr_graphics_api {
    GR_OPENGL = 1,
    GR_VULKAN = 2,
    GR_EXTERNAL = 3 /* imported by a handle, or received from another process */
} gr_graphics_api;

/* How the bytes get from one side to the other. Bits, so that a set of them can be allowed. */
typedef enum gr_transport {
    /* An OpenGL object that is registered with CUDA: no copy, each map and release is a barrier. */
    GR_TRANSPORT_INTEROP = 1,

    /* OpenGL storage that both sides import, with semaphores: no copy, several frames in flight. */
    GR_TRANSPORT_SHARED = 2,

    /* Through host memory: works between any OpenGL and any CUDA device. */
    GR_TRANSPORT_COPY = 4,

    /* Memory of Vulkan, or of any other API that can export it: no copy. */
    GR_TRANSPORT_EXTERNAL = 8,

    /* A copy from GPU to GPU, where OpenGL draws on another one than CUDA computes on. */
    GR_TRANSPORT_PEER = 16,

    /* Where a set is asked for: whichever works, the best first. */
    GR_TRANSPORT_ANY = 31
} gr_transport;

/*
 * Each answers for a closed resource too, as long as it is not freed. For NULL they answer false,
 * true (closed) and 0, and record GR_ERR_INVALID_VALUE.
 */
GR_API bool gr_resource_is_mapped(const gr_resource *resource);
GR_API bool gr_resource_is_closed(const gr_resource *resource);
GR_API gr_kind gr_resource_kind(const gr_resource *resource);
GR_API gr_graphics_api gr_resource_api(const gr_resource *resource);

/* The bytes of a buffer; 0 for an image, whose size is in gr_image_info. */
GR_API size_t gr_resource_size(const gr_resource *resource);

/* The flags that it was made with. */
GR_API unsigned gr_resource_flags(const gr_resource *resource);

/* How its bytes get from one side to the other. */
GR_API gr_transport gr_resource_transport(const gr_resource *resource);

/*
 * CUDA's own objects, for calls that grinterop does not wrap: the registration of a resource by
 * GR_TRANSPORT_INTEROP, and the memory that a resource lies in which CUDA imported.
 *
 * Valid    until the resource is closed
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `resource` is NULL
 *     GR_ERR_STATE          it is closed, or has no such object
 */
GR_API CUgraphicsResource gr_resource_graphics(const gr_resource *resource);
GR_API CUexternalMemory gr_resource_external_memory(const gr_resource *resource);

/*
 * Writes one line about the resource: what it is, its size and flags, the transport in use, its
 * state.
 *
 * It writes at most `size` bytes with the terminating zero, and returns the length of the whole
 * line, like snprintf. Of NULL it says that there is none.
 */
GR_API int gr_resource_describe(const gr_resource *resource, char *text, size_t size);

/* ---- Logging and version --------------------------------------------------------------------- */

/* How much is logged: each level has those before it. */
typedef enum gr_log_level {
    GR_LOG_NONE = 0,
    GR_LOG_ERROR = 1,   /* every error, as it is recorded */
    GR_LOG_WARNING = 2, /* what could not be reported otherwise: a failure in a destructor */
    GR_LOG_INFO = 3,    /* choices that were made; on standard error what is open at the end */
    GR_LOG_DEBUG = 4    /* each register, map, release and close */
} gr_log_level;

/*
 * Receives one line, without the line's end, on the thread that calls grinterop. It must not call
 * grinterop itself.
 */
typedef void (*gr_log_fn)(void *user, gr_log_level level, const char *line);

/*
 * Sends lines up to `level` to `fn`, with `user`; a NULL `fn` is the standard error stream.
 *
 * Without this call the environment variable GR_LOG decides: none, error, warning, info or debug.
 * Without that nothing is logged.
 *
 * Thread   any; lines that are being written may still go the old way
 */
GR_API void gr_log_set(gr_log_level level, gr_log_fn fn, void *user);

/* The library's version as text, "major.minor.patch". */
GR_API const char *gr_library_version(void);

/* ---- End of scope ---------------------------------------------------------------------------- */

#if defined(__GNUC__)
/*
 * Declares a variable whose object is released or freed when it goes out of scope, however that
 * happens. With gcc and clang.
 *
 *     GR_AUTO(gr_buffer) *buffer = gr_map(resource, stream);
 *
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
