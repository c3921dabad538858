/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order between CUDA and a graphics API that takes submits: Vulkan, or any other whose memory
 * was imported by external.h. Each submit waits until CUDA is done, and CUDA waits for the submit.
 *
 *     gr_submit *submit = gr_submit_begin(resources, n);
 *     if (!submit)
 *         return false;
 *     ... your submit waits for each submit->waits[i] to reach submit->wait_values[i],
 *         and signals each submit->signals[i] with submit->signal_values[i] ...
 *     if (it was made)
 *         gr_submit_commit(submit);
 *     gr_submit_free(submit);
 *
 *     GR_AUTO(gr_buffer) *buffer = gr_map(resources[0], stream);    `stream` waits for the submit
 *     ... kernels on `stream` ...
 *                                                 the release is what the next submit waits for
 *
 * For Vulkan, vk.h does the three steps in one call.
 *
 * How it works. A resource has two semaphores. The graphics API signals `acquire` when it is done,
 * and gr_map() makes the stream wait for it. CUDA signals `release` at the end of a mapping, and
 * the next submit waits for it. One pair serves any number of resources. With timeline semaphores
 * each use has a value of its own, and values only grow:
 *
 * - Signal a semaphore from one queue only.
 * - Begin submits in the order in which you submit them.
 *
 * On CUDA's side grinterop keeps the order by itself, over several streams too.
 *
 * OpenGL's resources need none of this, since gr_map() and the release order OpenGL's commands.
 * They may be in a submit and mean nothing there, so that a renderer is written once for both.
 *
 * Thread   a submit belongs to one thread at a time, as each of its resources does. Several threads
 *          may have submits of their own, with the same semaphores too; then one lock of yours
 *          around begin and submit keeps the values in order
 */
#ifndef GR_SUBMIT_H
#define GR_SUBMIT_H

#include <stdint.h>

#include <grinterop/gr.h>
#include <grinterop/semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Which semaphores a resource has --------------------------------------------------------- */

/*
 * Gives a resource of external memory its two semaphores.
 *
 *     gr_resource_set_sync(resource, acquire, release);
 *     gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE);      unordered
 *
 * `acquire` is signalled by the graphics API and waited for by gr_map(); `release` the other way
 * round. GR_SEMAPHORE_NONE: nothing is waited for, or signalled, and the program sees to it.
 *
 * Memory that was imported by external.h is undecided: gr_map() is GR_ERR_STATE until this was
 * called. Vulkan's resources begin with the pair of their device.
 *
 * Owner    the resource keeps both alive until it is closed or given others; the caller's own hold
 *          stays the caller's
 * Waits    the calling thread, for the resource's last release, if it had semaphores before
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  a NULL; the same semaphore twice; a keyed mutex or NvSciSync, for which
 *                           there are gr_semaphore_wait() and gr_semaphore_signal(); a semaphore of
 *                           another CUDA context; a resource of OpenGL's
 *     GR_ERR_STATE          the resource is mapped, closed, in a ring or in a begun submit
 */
GR_API gr_status gr_resource_set_sync(gr_resource *resource, gr_semaphore *acquire,
                                      gr_semaphore *release);

/* ---- Submits --------------------------------------------------------------------------------- */

/*
 * What a submit of the graphics API has to wait for and to signal. It is the library's: read it
 * only. All of it stays as it is until gr_submit_free().
 */
typedef struct gr_submit {
    /* How many semaphores the submit has to wait for. 0: there is nothing to wait for. */
    size_t wait_count;

    /* The semaphores to wait for, each once. They live as long as the submit. */
    gr_semaphore *const *waits;

    /* The value of each to wait for. 0: a binary semaphore. */
    const uint64_t *wait_values;

    /* How many semaphores the submit has to signal. 0: no resource has one to be signalled. */
    size_t signal_count;

    /* The semaphores to signal, each once. They live as long as the submit. */
    gr_semaphore *const *signals;

    /* The value to signal each with. 0: a binary semaphore. */
    const uint64_t *signal_values;
} gr_submit;

/*
 * Begins a use of n resources by the graphics API: says what its submit waits for, which is CUDA's
 * last release of each, and what it signals, which the next map of each waits for.
 *
 * Any mix of resources may be in it: of several pairs of semaphores, of none, of OpenGL.
 *
 * Until gr_submit_commit() or gr_submit_free() the resources cannot be mapped: gr_map() is
 * GR_ERR_STATE. A resource that is closed or freed meanwhile leaves the submit.
 *
 * Owner    the caller, who frees it with gr_submit_free() in any case
 * Waits    no timeline does. With a binary semaphore the thread waits for streams that released
 *          twice without a submit in between
 * Memory   a loop of begin, commit and free allocates nothing
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  n is 0; a NULL; a resource that is listed twice
 *     GR_ERR_STATE          a resource is mapped, closed, in a ring (its slot has the submit), in
 *                           another submit that was begun, or undecided (gr_resource_set_sync()); a
 *                           binary semaphore's last signal has not been waited for
 *     GR_ERR_NO_MEMORY
 */
GR_API gr_submit *gr_submit_begin(gr_resource *const resources[], size_t n);

/*
 * Says that the submit was made: from now on a map of its resources waits for its signals. Do it
 * after the graphics API has accepted the submit, since a stream would wait for ever for one that
 * is never made. gr_vk_submit() does it by itself. A ring's slots are published and given back
 * after it: GR_ERR_STATE without.
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  NULL
 *     GR_ERR_STATE          it was committed before
 */
GR_API gr_status gr_submit_commit(gr_submit *submit);

/*
 * Frees a submit. One that was not committed is taken back: the next map and the next submit wait
 * for what they would have waited for without it. Several may be taken back in any order. A
 * timeline's value that was meant for one is skipped, which is as good as signalled once a later
 * value is. A binary semaphore is in one submit at a time, so there is no order either.
 *
 * NULL is fine. What was committed stays so. A submit of a ring's slot is the ring's, and stays as
 * it is.
 *
 * Errors: recorded, as nothing is returned
 *     GR_ERR_INVALID_VALUE  the submit has been freed already
 *     GR_ERR_STATE          it is a ring's
 */
GR_API void gr_submit_free(gr_submit *submit);

#if defined(__GNUC__)
GR_API void gr_submit_at_scope_end(gr_submit **submit); /* for GR_AUTO(gr_submit) */
#endif

#ifdef __cplusplus
}
#endif
#endif
