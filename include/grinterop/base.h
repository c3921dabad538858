/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What all headers of grinterop share: the initialisation of structs, errors, logging, versions,
 * and objects that are freed at the end of their scope. gr.h includes this header.
 */
#ifndef GR_BASE_H
#define GR_BASE_H

#ifdef __GNUC__
#pragma GCC system_header /* no warnings about the fields that GR_INIT() leaves 0 */
#endif

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(GR_BUILD) && !defined(GR_STATIC)
#define GR_API __declspec(dllexport) /* grinterop itself is being compiled */
#elif defined(_WIN32) && !defined(GR_STATIC)
#define GR_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define GR_API __attribute__((visibility("default")))
#else
#define GR_API
#endif

/*
 * Begins an inline function, which each C file compiles for itself. The library exports the same
 * function for other languages. Their binding generators see it if they define GR_INLINE as empty.
 */
#ifndef GR_INLINE
#define GR_INLINE static inline
#endif

/*
 * Initialises a struct for a call: GR_INIT(gr_map_options, .wait_event = event). All other fields
 * are 0, including fields that a newer library adds. Before C++20 use GR_INIT(gr_map_options) and
 * assignments. C++ may use it anywhere, also outside of functions. In C, GR_INIT() is not a
 * constant expression: initialise a `static` struct by {.struct_size = sizeof(gr_map_options),
 * ...}.
 */
#define GR_INIT(...) GR_EXPAND_(GR_INIT_(__VA_ARGS__, ))
/* Internal to GR_INIT(): MSVC splits __VA_ARGS__ at its commas only in a second expansion. */
#define GR_EXPAND_(text) text
#if !defined(__cplusplus)
#define GR_INIT_(type, ...) ((type){.struct_size = sizeof(type), __VA_ARGS__})
#elif __cplusplus >= 202002L || (defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#define GR_INIT_(type, ...) (type{.struct_size = sizeof(type), __VA_ARGS__})
#else
#define GR_INIT_(type, ...) (gr_init_of<type, sizeof(#__VA_ARGS__)>())
extern "C++" {
/* Internal to GR_INIT(). */
template <typename T, size_t rest> inline T gr_init_of()
{
    static_assert(rest == 1, "fields are named from C++20 on");
    T made = {};
    made.struct_size = sizeof(T);
    return made;
}
}
#endif

/*
 * Does the same as GR_INIT(), for languages without macros: sets the `size` bytes of a struct to 0,
 * and its first field, struct_size, to `size`. `size` is that of the struct in the calling program.
 * Does nothing if `object` is NULL.
 */
GR_INLINE void gr_init_struct(void *object, size_t size)
{
    if (!object || size < sizeof(size))
        return;
    memset(object, 0, size);
    memcpy(object, &size, sizeof(size));
}

/*
 * Declares a field that a release adds to a struct: GR_NEW_FIELD(bool) more. The field begins after
 * the padding of the older struct, because programs compiled for it leave the padding undefined.
 */
#ifdef __cplusplus
#define GR_NEW_FIELD(type) alignas(unsigned long long) type
#elif defined(__GNUC__)
#define GR_NEW_FIELD(type) __attribute__((aligned(sizeof(unsigned long long)))) type
#else
#define GR_NEW_FIELD(type) _Alignas(unsigned long long) type
#endif

/* Internal to constants that are handles: C++ projects may warn about casts of C. */
#ifdef __cplusplus
#define GR_HANDLE_(type, value) (reinterpret_cast<type>(static_cast<size_t>(value)))
#else
#define GR_HANDLE_(type, value) ((type)(size_t)(value))
#endif

/* Internal: converts a `void *`, which C does by itself. */
#ifdef __cplusplus
#define GR_CAST_(type, value) (static_cast<type>(value))
#else
#define GR_CAST_(type, value) (value)
#endif

/* ---- Errors ---------------------------------------------------------------------------------- */

/*
 * The classes of errors. gr_last_error() has the details. Values never change; new classes are
 * added at the end. GR_STATUS_MAP lists all classes as X(name, value, text).
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
    X(GR_ERR_NOT_READY, 11, "not ready, and the timeout was 0")                                    \
    X(GR_ERR_STOPPED, 12, "stopped by another thread")                                             \
    X(GR_ERR_DEVICE_LOST, 13,                                                                      \
      "the device is lost: its work failed, and no call on it will succeed")                       \
    X(GR_ERR_PARTIAL, 14, "done in part: the function's comment says what")

#define GR_STATUS_ENUM(name, value, text) name = value,
typedef enum gr_status { GR_STATUS_MAP(GR_STATUS_ENUM) } gr_status;
#undef GR_STATUS_ENUM

/* The kind of gr_error.code. */
typedef enum gr_error_domain {
    GR_DOMAIN_NONE = 0,   /* no code: grinterop itself refused */
    GR_DOMAIN_CUDA = 1,   /* a CUresult */
    GR_DOMAIN_OPENGL = 2, /* from glGetError() */
    GR_DOMAIN_EGL = 3,    /* from eglGetError() */
    GR_DOMAIN_VULKAN = 4, /* a VkResult */
    GR_DOMAIN_ERRNO = 5   /* an errno */
} gr_error_domain;

/* An error of one thread, owned by the library: gr_last_error(). */
typedef struct gr_error {
    gr_status status;       /* the class; GR_OK if this thread has had no error */
    gr_error_domain domain; /* the kind of `code` */
    int code;               /* the code of the driver or the system; 0 if neither was involved */
    const char *code_name;  /* such as "CUDA_ERROR_ALREADY_MAPPED"; "" if there is none */
    const char *call;       /* the driver or grinterop function that failed */
    const char *message;    /* the cause and the remedy */
} gr_error;

/*
 * The calling thread's last error. Never NULL. Successful calls leave it unchanged, so call this
 * only after a failure. A function without a result that fails, also at the end of a scope, records
 * its error, and a call that ends an earlier object records the failure of that end. Such errors
 * are also printed to standard error, unless GR_LOG or gr_log_add() with NULL chose its level.
 *
 * Valid    until the next grinterop call fails on this thread; copy the texts to keep them longer
 */
GR_API const gr_error *gr_last_error(void);

/* Prints the calling thread's last error in one line: "what: message (call: CODE_NAME)". */
GR_INLINE void gr_error_print(FILE *stream, const char *what)
{
    const gr_error *last = gr_last_error();
    if (!stream)
        return;
    fprintf(stream, "%s%s", what ? what : "", what ? ": " : "");
    if (last->status == GR_OK)
        fprintf(stream,
                "no grinterop call has failed; a CUDA call reports its error by its CUresult\n");
    else
        fprintf(stream, "%s (%s%s%s)\n", last->message, last->call, last->code_name[0] ? ": " : "",
                last->code_name);
}

/* Resets the calling thread's last error to GR_OK. */
GR_API void gr_clear_error(void);

/*
 * The name of a class, such as "GR_ERR_STATE". Never NULL, also for unknown values.
 *
 * Valid    until the process ends
 */
GR_API const char *gr_status_name(gr_status status);

/* ---- Logging --------------------------------------------------------------------------------- */

/* Log levels. Each level includes the levels before it. */
typedef enum gr_log_level {
    GR_LOG_NONE = 0,
    GR_LOG_ERROR = 1,   /* every error but GR_ERR_NOT_READY, when it is recorded */
    GR_LOG_WARNING = 2, /* failures in destructors; the number of objects open at exit */
    GR_LOG_INFO = 3,    /* the driver, fallbacks to other transports; the objects open at exit */
    GR_LOG_DEBUG = 4    /* each register, map, release and close */
} gr_log_level;

/*
 * Receives one line, without a newline, on the thread that called grinterop. The function must not
 * call grinterop.
 */
typedef void (*gr_log_fn)(void *user, gr_log_level level, const char *line);

/*
 * Sends lines up to `level` to `fn` with `user` too. Each library in a process can add its own
 * function. To change the level, add the same pair again.
 *
 * NULL for `fn` is the standard error stream, and ignores `user`: the environment variable GR_LOG
 * (none, error, warning, info or debug) adds it when grinterop is loaded. Objects open at exit are
 * reported to standard error only.
 *
 * Thread   any
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `level` is unknown
 *     GR_ERR_STATE          31 functions are added
 */
GR_API gr_status gr_log_add(gr_log_level level, gr_log_fn fn, void *user);

/*
 * Removes the pair, and waits until `fn` has returned on all threads: `user` may then be freed.
 * Does nothing if the pair was not added. Must not be called by `fn`.
 *
 * Thread   any
 */
GR_API void gr_log_remove(gr_log_fn fn, void *user);

/* ---- Versions -------------------------------------------------------------------------------- */

/* The major version of this header. A program built with an older one runs with a newer library. */
#define GR_VERSION_MAJOR 0

/* The minor version, incremented when something is added. */
#define GR_VERSION_MINOR 3

/* The patch version. */
#define GR_VERSION_PATCH 0

/* A version as one number for comparisons; `minor` and `patch` are below 100. */
#define GR_VERSION_NUMBER(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))

/*
 * The version of this header. gr_library_version() returns the version of the library.
 *
 *     #if GR_VERSION >= GR_VERSION_NUMBER(0, 2, 0)
 */
#define GR_VERSION GR_VERSION_NUMBER(GR_VERSION_MAJOR, GR_VERSION_MINOR, GR_VERSION_PATCH)

/* The version of the loaded library: "major.minor.patch". */
GR_API const char *gr_library_version(void);

/* ---- End of scope ---------------------------------------------------------------------------- */

#if defined(__GNUC__) || defined(__clang__)
/*
 * Declares a variable whose object is freed when it goes out of scope. A gr_buffer is released as
 * by gr_buffer_release_later(). gr_last_error() has a failure.
 *
 *     GR_AUTO(gr_buffer) *buffer = gr_map(resource, stream);
 *
 * The compiler cl of MSVC has no GR_AUTO(): call the function that frees the object, or use the
 * classes of gr.hpp.
 */
#define GR_AUTO(type) __attribute__((cleanup(type##_at_scope_end))) type

/* For GR_AUTO(type): defines the function that frees the object of a variable. */
#define GR_SCOPE_END(type, end)                                                                    \
    static inline void type##_at_scope_end(type **object)                                          \
    {                                                                                              \
        end(*object);                                                                              \
        *object = NULL;                                                                            \
    }
#else
#define GR_SCOPE_END(type, end)
#endif

#ifdef __cplusplus
}
#endif
#endif
