/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The semaphores of OpenGL contexts, and the private Vulkan device that creates them and the memory
 * of images.
 */
#ifndef GR_GL_SYNC_SYNC_H
#define GR_GL_SYNC_SYNC_H

#include <grinterop/semaphore.h>

#include "lib/base/cuda_abi.h"
#include "lib/sync/sync.h"
#include "gl/object/object.h"

/* ---- Semaphores: timeline.c ------------------------------------------------------------------ */

/*
 * Synchronises one OpenGL context with one CUDA context by a pair of semaphores that all their
 * shared resources use. OpenGL signals `acquire` so that CUDA may start, and CUDA signals `release`
 * so that OpenGL may continue. A binary semaphore has one signal at a time, so with binary
 * semaphores each resource has its own pair, whose signals and waits strictly alternate.
 */

enum gl_waits {
    GL_WAITS_TIMELINE, /* GL_NV_timeline_semaphore: any number of pending signals */
    GL_WAITS_BINARY,   /* GL_EXT_semaphore_fd: one pending signal */
    GL_WAITS_HOST      /* neither extension: the thread waits */
};

/* A pair of semaphores, held by its resources; a binary pair has one resource. */
struct gl_timeline {
    struct gr_semaphore_pair pair; /* two NULLs, like `names`, with GL_WAITS_HOST */
    struct gl_timeline *next;
    struct gl_context context;
    struct gr_context cuda; /* the CUDA context, retained */
    CUdevice device;        /* the device that draws, whose Vulkan device created the semaphores */
    enum gl_waits waits;
    struct gl_names *names; /* the same two semaphores in OpenGL */
    /* for a binary pair: OpenGL has signalled and has not waited yet */
    bool under_way;
    char why[200]; /* why a better kind of semaphores is not available, or "" */
};

/*
 * Gets or creates the pair of the current OpenGL and CUDA contexts, and adds a reference. OpenGL
 * draws on `device`, which the device of the CUDA context can access. The reference can be dropped
 * on any thread. gl_errors_take() has been called. If out of memory or if CUDA fails, records the
 * error and returns NULL.
 */
struct gl_timeline *gl_timeline_hold(const struct gl_context *context,
                                     const struct gr_context *cuda, CUdevice device);
static inline void gl_timeline_drop(struct gl_timeline *timeline)
{
    if (timeline)
        gr_pair_drop(&timeline->pair);
}

/*
 * Creates a pair of timelines like that of `usual`, for resources that share no semaphore with
 * others. The OpenGL context is current, and gl_errors_take() has been called. NULL if `usual` has
 * no timelines, or after an error.
 */
struct gl_timeline *gl_timeline_make_own(const struct gl_timeline *usual);

/* Returns the kind of semaphores, such as "timeline semaphores". The string is static. */
const char *gl_timeline_text(const struct gl_timeline *timeline);

/*
 * If `signal`, signals `acquire` in the commands of the context and flushes them; otherwise makes
 * later commands of the context wait for `release`. `value` is 0 for binary semaphores. The n
 * resources, at most GR_BATCH, are released to CUDA or acquired from it. Error: GR_ERR_GL, and
 * nothing was signalled or waits.
 */
gr_status gl_timeline_enqueue(const struct gl_timeline *timeline, bool signal, uint64_t value,
                              gr_resource *const resources[], size_t n);

/* ---- The private Vulkan device: private_vulkan.c --------------------------------------------- */

/*
 * The private Vulkan device of grinterop on the GPU that OpenGL draws on. It is needed because only
 * Vulkan creates images and semaphores that both OpenGL and CUDA can import. There is one per
 * process and GPU. It is identified by its CUDA device, opened at the first use, and then kept.
 */

struct gr_vk_device;

/*
 * Wraps the private Vulkan device for the current CUDA context. The caller owns the wrapper;
 * resources made with it do not retain the CUDA context. If Vulkan is not available, records the
 * error and returns NULL.
 */
struct gr_vk_device *gl_vulkan_wrap(CUdevice device);

/*
 * Creates a semaphore on the private Vulkan device, and imports it into the current CUDA context,
 * which the semaphore does not retain. If OpenGL could not import the semaphore, records an error
 * and returns NULL.
 */
gr_semaphore *gl_vulkan_semaphore(CUdevice device, bool timeline);

/* Export such a semaphore, or the memory of an image, as a file descriptor that the caller owns. */
gr_status gl_vulkan_semaphore_fd(CUdevice device, const gr_semaphore *semaphore, int *fd);
gr_status gl_vulkan_memory_fd(const gr_resource *image, int *fd);

#endif
