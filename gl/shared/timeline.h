/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one OpenGL context and one CUDA context wait for each other: a pair of semaphores that all
 * shared resources of both use, OpenGL's to signal that CUDA may begin (acquire) and CUDA's that
 * OpenGL may (release). Binary ones carry one signal at a time, so there each resource has a pair
 * of its own, whose turns follow each other.
 */
#ifndef GR_GL_SHARED_TIMELINE_H
#define GR_GL_SHARED_TIMELINE_H

#include "lib/backend.h"
#include "lib/sync/semaphore.h"
#include "gl/delete_later.h"

enum gl_waits {
    GL_WAITS_TIMELINE, /* GL_NV_timeline_semaphore: any number of signals under way */
    GL_WAITS_BINARY,   /* GL_EXT_semaphore_fd */
    GL_WAITS_HOST      /* neither: the thread waits */
};

/* Counted by the resources that use it, which is one where it is binary. */
struct gl_timeline {
    struct gl_timeline *next;
    size_t holds;
    struct gl_context context;
    struct gr_context cuda; /* with a hold of its own */
    CUdevice device;        /* that draws, and whose Vulkan made the semaphores */
    enum gl_waits waits;
    gr_semaphore *acquire, *release; /* NULL where the thread waits, as is `names` */
    struct gl_names *names;          /* OpenGL's two of the same */
    bool under_way;                  /* binary: OpenGL has signalled and not waited since */
    char why[200];                   /* why it is not a better one, or "" */
};

/*
 * The pair of both contexts, which are current, made if there is none; OpenGL's draws on `device`,
 * which CUDA's reaches. The caller may drop its hold anywhere. OpenGL's errors have been begun
 * (saved_state.h). NULL, with the error, only if there is no memory or CUDA is broken.
 */
struct gl_timeline *gl_timeline_hold(const struct gl_context *context,
                                     const struct gr_context *cuda, CUdevice device,
                                     const char *call);
void gl_timeline_drop(struct gl_timeline *timeline);

/* "timeline semaphores"; static. */
const char *gl_timeline_text(const struct gl_timeline *timeline);

/* What OpenGL hands over, or gets: at most GR_BATCH of each. */
struct gl_barriers {
    unsigned int buffer_count, texture_count;
    unsigned int buffers[GR_BATCH], textures[GR_BATCH], layouts[GR_BATCH];
};

void gl_barriers_add(struct gl_barriers *barriers, bool is_texture, unsigned int name);

/*
 * Puts a signal of `acquire` into the context's commands, and sends them off; `value` is 0 for a
 * binary one.
 */
void gl_timeline_signal(const struct gl_timeline *timeline, uint64_t value,
                        const struct gl_barriers *barriers);

/* Makes the context's later commands wait for `release`. */
void gl_timeline_wait(const struct gl_timeline *timeline, uint64_t value,
                      const struct gl_barriers *barriers);

#endif
