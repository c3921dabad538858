/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The OpenGL context of a call: identifies it, checks it at the start of the call, defers deletions
 * that need it, and finds the CUDA device that it draws on.
 */
#ifndef GR_GL_CONTEXT_CONTEXT_H
#define GR_GL_CONTEXT_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <grinterop/gl.h>

#include "lib/base/cuda_abi.h"
#include "lib/base/log.h"
#include "gl/context/native.h"

/* ---- The current context --------------------------------------------------------------------- */

/*
 * A context that grinterop can recognise later. Querying the current context from EGL costs a
 * system call in libglvnd, which is too slow for every map. So the library marks each context: it
 * creates an empty program pipeline object, which contexts do not share, with a unique label.
 */
#define GL_MARK_LENGTH 8
struct gl_context {
    struct gl_native native;
    unsigned int pipeline;     /* the mark; 0 if this OpenGL lacks the functions */
    char mark[GL_MARK_LENGTH]; /* its label, without a terminating NUL */
    bool es;                   /* an OpenGL ES context */
    int version;               /* such as 45 for OpenGL 4.5, or 32 for OpenGL ES 3.2 */
    bool direct;               /* the context has direct state access */
    bool tells_targets;        /* GL_TEXTURE_TARGET; not in compatibility contexts of Mesa (22.3) */
    bool compatibility;        /* a compatibility context, the only kind with pixel transfer */
    bool storage;              /* the context has immutable buffer storage */
    bool labels;               /* objects can have labels (GL_KHR_debug) */
    bool inverts;              /* the context can pack rows upside down */
    bool computes;             /* the context has what the shaders of gl/texels need */
    /* the share group, any context of which counts as this context; usually NULL */
    struct gl_group *group;
};

/*
 * Marks the current context, or finds its mark. False if no context is current, or its library is
 * missing. Thread-safe.
 */
bool gl_context_remember(struct gl_context *context);

/* Whether both are the same context, or the same share group. */
bool gl_context_same(const struct gl_context *a, const struct gl_context *b);

/* Whether both are the same context. A resource has the context that registered it. */
static inline bool gl_context_identical(const struct gl_context *a, const struct gl_context *b)
{
    return a->group == b->group && a->native.handle == b->native.handle &&
           memcmp(a->mark, b->mark, sizeof(a->mark)) == 0;
}

/*
 * Whether a context that is not current on this thread is known to be destroyed: its interface
 * reports it, or another context has its handle now. False for a share group.
 */
bool gl_context_is_gone(const struct gl_context *context);

/* Whether the context, or one of its share group, is current on the calling thread. Fast. */
bool gl_context_is_current(const struct gl_context *context);

/* ---- Share groups ---------------------------------------------------------------------------- */

/*
 * Lets all contexts that share objects with this context, which is current, count as this context.
 * Records errors. gl_context_leave_group() ends this; without a group it does nothing.
 */
gr_status gl_context_join_group(struct gl_context *context);
void gl_context_leave_group(struct gl_context *context);

/* Whether a context of the group is current on the calling thread. Fast, and takes no lock. */
bool gl_group_is_current(const struct gl_group *group);

/* ---- The start of a call, and its errors ----------------------------------------------------- */

/*
 * Loads the driver and remembers the current context, which must have OpenGL 3.2 or OpenGL ES 3.1,
 * or newer. `format` completes the sentence "Make current the context that ...".
 */
gr_status gl_context_begin(struct gl_context *context, const char *format, ...) GR_PRINTF(2, 3);

/* Whether an OpenGL ES context is current, for messages of checks before gl_context_begin(). */
bool gl_context_is_es(void);

/*
 * Refuses an OpenGL ES context. `what` is the subject of the sentence "... needs", `lacks` what ES
 * does not have, and `instead` completes "Use ...".
 */
gr_status gl_context_refuse_es(const struct gl_context *context, const char *what,
                               const char *lacks, const char *instead);

/*
 * Records that the context is not current. The error names `object`, such as "OpenGL buffer 3".
 * `advice` is appended if the context still exists: "", or a sentence that begins with a space.
 */
gr_status gl_context_refuse(const struct gl_context *context, const char *object,
                            const char *advice);

/* Records GR_ERR_GL with an error of OpenGL (saved_state.h), and returns that status. */
#define GL_FAIL(error, call, ...)                                                                  \
    gr_fail_code(GR_ERR_GL, GR_DOMAIN_OPENGL, (int)(error), gl_error_name(error), call, __VA_ARGS__)

/* ---- Deferred deletion ----------------------------------------------------------------------- */

/*
 * Objects that can be deleted only while their OpenGL context is current wait for the next call of
 * grinterop in that context that creates or closes a resource. This is the list entry, which is
 * embedded in the struct of each deferred object.
 */
struct gl_deferred {
    /* of the first object of a context: the first one of another context */
    _Atomic(struct gl_deferred *) next;
    struct gl_deferred *other; /* another object of the same context */
    struct gl_context context;
    /* called once: while the context is current, or after its end, with all OpenGL objects */
    void (*end)(struct gl_deferred *left, bool current);
};

/* Defers an object that is not in the list yet, or ends it after its context. Thread-safe. */
void gl_deferred_add(struct gl_deferred *left);

/*
 * Ends the deferred objects of contexts that were destroyed, and of this context, which is current,
 * and its share group. NULL: only the former.
 */
void gl_deferred_run(const struct gl_context *context);

/*
 * gl_after_context() sets a function that frees the objects kept for destroyed contexts.
 * gl_context_ended(), after grinterop has destroyed a context, calls it and ends the deferred
 * objects. Contexts that the application destroys are not reported.
 */
void gl_after_context(void (*collect)(void));
void gl_context_ended(void);

/* ---- Objects that grinterop creates ---------------------------------------------------------- */

#define GL_FENCES 8

/*
 * The begin of all labels that grinterop gives, also to its own buffers, which may get the name of
 * a deleted object. Labels that begin otherwise are those of the application.
 */
#define GL_LABEL_PREFIX "grinterop "

/* The label by which an object is recognised; empty if this OpenGL has no labels. */
struct gl_label {
    char text[64];
};

/* The OpenGL objects that belong to a resource; 0 for objects that do not exist. */
struct gl_names {
    struct gl_deferred left;
    struct gl_label label; /* of the buffer or texture, if the application knows it */
    unsigned int buffer, texture, memory;
    unsigned int semaphores[2];
    struct __GLsync *fences[GL_FENCES];

    /* A function that is called after the objects are deleted, or NULL; `current` as above. */
    void (*after)(void *of_after, bool current);
    void *of_after;
};

/*
 * Allocates the struct. The OpenGL context is current. If out of memory, records the error and
 * returns NULL.
 */
struct gl_names *gl_names_make(const struct gl_context *context);

/*
 * Deletes the objects and frees the struct: at once if their context is current, otherwise
 * deferred. NULL is allowed.
 */
void gl_names_end(struct gl_names *names);

/* ---- The CUDA device that draws -------------------------------------------------------------- */

/*
 * Queries the first CUDA device of the current OpenGL context; CUDA_ERROR_NO_DEVICE if there is
 * none. Records no error.
 */
CUresult gl_drawing_device(CUdevice *device);

/*
 * Finds the CUDA device of the current OpenGL context, for gr_context_choose(). Records an error if
 * there is none.
 */
gr_status gl_find_drawing_device(CUdevice *device);

/*
 * Finds the CUDA device for copies if no CUDA context is current: the device that draws, otherwise
 * the first device.
 */
gr_status gl_find_nearest_device(CUdevice *device);

/*
 * CUDA_SUCCESS if the driver lists `device` among the devices of the current OpenGL context,
 * otherwise CUDA_ERROR_INVALID_DEVICE or the error of the query.
 */
CUresult gl_query_draws_on(CUdevice device);

/*
 * Explains a failure between OpenGL and CUDA, because their error codes never name the cause:
 * writes which GPU draws, which GPU computes, and how to make both the same device. An OpenGL
 * context must be current.
 */
void gl_diagnose(CUresult code, char *text, size_t size);

/* Writes a short form without advice: "OpenGL draws on ..., CUDA computes on ...". */
void gl_diagnose_devices(char *text, size_t size);

#endif
