/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The order between CUDA and a graphics API with submits: Vulkan, or any API whose memory was
 * imported by external.h. Each submit waits for CUDA, and CUDA waits for each submit.
 *
 *     gr_submit *submit = gr_submit_begin(resources, n);
 *     if (!submit)
 *         return false;
 *     ... your submit waits for each submit->waits[i] to reach submit->wait_values[i],
 *         and signals each submit->signals[i] with submit->signal_values[i] ...
 *     if (it succeeded)
 *         gr_submit_commit(submit);
 *     gr_submit_free(submit);
 *
 *     GR_AUTO(gr_buffer) *buffer = gr_map(resources[0], stream);    `stream` waits for the submit
 *     ... kernels on `stream` ...
 *                                                 the next submit waits for the release
 *
 * For Vulkan, gr_vk_submit() of vk.h adds the waits and signals, submits, and commits.
 *
 * A resource has two semaphores. The graphics API signals `acquire` when its work is done, and
 * gr_map() makes the stream wait for `acquire`. CUDA signals `release` at the end of a mapping, and
 * the next submit waits for `release`. Any number of resources can share a pair of semaphores. With
 * timeline semaphores each use has its own value, and values only grow, so:
 *
 * - Signal a semaphore from one queue only. If you count the values of one timeline for all sides
 *   yourself, you need no submits: docs/vulkan.md, "An engine with one timeline".
 * - Begin submits in the order in which you submit them.
 *
 * grinterop orders the CUDA side itself, also over several streams: each map waits for the previous
 * release. CUDA may map several times without a submit in between, so grinterop cannot detect that
 * a submit or its gr_submit_begin() is missing, except while Vulkan has a resource: a new image, or
 * one that gr_vk_submit() kept (vk.h).
 *
 * OpenGL resources need no submits, because gr_map() and gr_buffer_release() order the OpenGL
 * commands themselves. A submit ignores OpenGL resources, so that the same renderer code works with
 * Vulkan and OpenGL.
 *
 * Thread   one thread at a time may use a submit and its resources. If several threads have submits
 *          with the same semaphores, hold your own lock from gr_submit_begin() until the submit
 */
#ifndef GR_SUBMIT_H
#define GR_SUBMIT_H

#include <stdint.h>

#include <grinterop/gr.h>
#include <grinterop/semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Semaphores of a resource ---------------------------------------------------------------- */

/*
 * Sets the two semaphores of a resource in external memory.
 *
 *     gr_resource_set_sync(resource, acquire, release);
 *     gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE);      unordered
 *
 * The graphics API signals `acquire`, and gr_map() waits for it. CUDA signals `release`, and the
 * graphics API waits for it. With GR_SEMAPHORE_NONE the program itself ensures this order. With
 * GR_SEMAPHORE_NONE for both, one mapping of a buffer that is not copied may last while the
 * graphics API uses the buffer, for example for a framework that keeps the address. The address is
 * the same in each mapping.
 *
 * For memory imported by external.h, gr_map() returns GR_ERR_STATE until this function was called.
 * Vulkan resources begin with the pair of semaphores of their device.
 *
 * Owner    the resource keeps both semaphores alive until it is closed or gets other semaphores;
 *          the caller keeps its own references
 * Waits    for the last release of the resource, if it had semaphores before
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  an argument is NULL; the same semaphore twice; a keyed mutex or
 *                           NvSciSync (use gr_semaphore_wait() and gr_semaphore_signal() instead);
 *                           a semaphore of another CUDA context; an OpenGL resource
 *     GR_ERR_STATE          the resource is mapped, closed, in a ring or in a begun submit
 */
GR_API gr_status gr_resource_set_sync(gr_resource *resource, gr_semaphore *acquire,
                                      gr_semaphore *release);

/* ---- Submits --------------------------------------------------------------------------------- */

/*
 * The waits and signals of a submit of the graphics API. Owned by the library, and constant until
 * gr_submit_free().
 */
typedef struct gr_submit {
    /* The number of semaphores to wait for. */
    size_t wait_count;

    /* The semaphores to wait for, each once. They live as long as the submit. */
    gr_semaphore *const *waits;

    /* The values to wait for. 0 for a binary semaphore. */
    const uint64_t *wait_values;

    /* The number of semaphores to signal. */
    size_t signal_count;

    /* The semaphores to signal, each once. They live as long as the submit. */
    gr_semaphore *const *signals;

    /* The values to signal. 0 for a binary semaphore. */
    const uint64_t *signal_values;
} gr_submit;

/*
 * Begins a submit of the graphics API that uses n resources. The submit waits for the last release
 * of each resource, and signals the semaphores that the next map of each resource waits for.
 *
 * The resources may have different semaphores or none, or may be OpenGL resources.
 *
 * Until gr_submit_commit() or gr_submit_free(), gr_map() returns GR_ERR_STATE for these resources.
 * A resource that is closed or freed meanwhile leaves the submit.
 *
 * Owner    the caller, who always frees it with gr_submit_free()
 * Waits    never for timelines. With a binary semaphore the thread waits for a stream that released
 *          twice without a submit in between
 * Memory   a loop of begin, commit and free does not allocate after its first 17 rounds
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  n is 0; an argument is NULL; a resource is listed twice
 *     GR_ERR_STATE          a resource is mapped, closed, in a ring (its slot has the submit), in
 *                           another open submit, or has no defined order (gr_resource_set_sync());
 *                           the last signal of a binary semaphore was not waited for
 *     GR_ERR_CUDA           the CUDA context was destroyed
 */
GR_API gr_submit *gr_submit_begin(gr_resource *const resources[], size_t n);

/*
 * Commits a submit: from now on a map of its resources waits for its signals. Call this function
 * after the graphics API has accepted the submit. Without a submit a stream waits forever after the
 * next map, and calls that free, close or destroy objects of its CUDA context do not return: after
 * 2 s GR_LOG=warning names the semaphore. gr_vk_submit() commits by itself. The slots of a ring can
 * be handed on only after the commit.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `submit` is NULL
 *     GR_ERR_STATE          the submit was committed before
 *     GR_ERR_UNSUPPORTED    a Vulkan resource has frames in flight, whose submits gr_vk_submit()
 *                           makes. The submit stays open: free it, and pass a new one to
 *                           gr_vk_submit(), which copies the frame
 */
GR_API gr_status gr_submit_commit(gr_submit *submit);

/*
 * Frees a submit. A submit that was not committed is undone: the next map and the next submit wait
 * as if the submit had never begun. Several submits can be undone in any order: a skipped timeline
 * value counts as signalled once a later value is signalled, and a binary semaphore is in only one
 * submit at a time.
 *
 * Do not free the submit of a ring's slot: it belongs to the ring.
 *
 * Errors: reported only by gr_last_error()
 *     GR_ERR_INVALID_VALUE  the submit was freed before
 *     GR_ERR_STATE          the submit belongs to a ring
 */
GR_API void gr_submit_free(gr_submit *submit);

GR_SCOPE_END(gr_submit, gr_submit_free)

#ifdef __cplusplus
}
#endif
#endif
