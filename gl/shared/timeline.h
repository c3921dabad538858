/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Synchronises one OpenGL context with one CUDA context by a pair of semaphores that all their
 * shared resources use. OpenGL signals `acquire` so that CUDA may start, and CUDA signals `release`
 * so that OpenGL may continue. A binary semaphore holds one signal at a time, so with binary
 * semaphores each resource has its own pair and strictly alternates.
 */
#ifndef GR_GL_SHARED_TIMELINE_H
#define GR_GL_SHARED_TIMELINE_H

#include <cuda.h>

#include "lib/backend.h"
#include "lib/sync/semaphore.h"
#include "gl/deferred.h"

enum gl_waits {
    GL_WAITS_TIMELINE, /* GL_NV_timeline_semaphore: any number of pending signals */
    GL_WAITS_BINARY,   /* GL_EXT_semaphore_fd */
    GL_WAITS_HOST      /* neither: the thread waits */
};

/* Reference-counted by its resources; a binary pair has one resource. */
struct gl_timeline {
    struct gl_timeline *next;
    size_t holds;
    struct gl_context context;
    struct gr_context cuda; /* retained */
    CUdevice device;        /* draws, and its Vulkan device created the semaphores */
    enum gl_waits waits;
    gr_semaphore *acquire, *release; /* NULL if the thread waits, like `names` */
    struct gl_names *names;          /* the same two in OpenGL */
    bool under_way;                  /* binary: OpenGL has signalled and not yet waited */
    char why[200];                   /* why it is not a better kind, or "" */
};

/*
 * Gets or creates the pair of the current OpenGL and CUDA contexts. OpenGL draws on `device`, which
 * the CUDA context's device can access. The hold can be dropped on any thread. gl_errors_begin()
 * has been called. NULL, with the error, only if out of memory or if CUDA fails.
 */
struct gl_timeline *gl_timeline_hold(const struct gl_context *context,
                                     const struct gr_context *cuda, CUdevice device,
                                     const char *call);
void gl_timeline_drop(struct gl_timeline *timeline);

/* "timeline semaphores"; static. */
const char *gl_timeline_text(const struct gl_timeline *timeline);

/* The objects to release to CUDA or to acquire: at most GR_BATCH of each. */
struct gl_barriers {
    unsigned int buffer_count, texture_count;
    unsigned int buffers[GR_BATCH], textures[GR_BATCH], layouts[GR_BATCH];
};

void gl_barriers_add(struct gl_barriers *barriers, bool is_texture, unsigned int name);

/*
 * Signals `acquire` in the context's command stream and flushes it. `value` is 0 for binary
 * semaphores.
 */
void gl_timeline_signal(const struct gl_timeline *timeline, uint64_t value,
                        const struct gl_barriers *barriers);

/* Makes later commands of the context wait for `release`. */
void gl_timeline_wait(const struct gl_timeline *timeline, uint64_t value,
                      const struct gl_barriers *barriers);

#endif
