/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Selects the CUDA device and context of a resource, and makes the context current for a call. */
#ifndef GR_LIB_CUDA_CONTEXT_H
#define GR_LIB_CUDA_CONTEXT_H

#include <grinterop/gr.h>

#include "lib/base/compiler.h"
#include "lib/base/cuda_abi.h"

/*
 * The CUDA context of a resource. `primary_of` is the device whose primary context is retained, or
 * -1 if none is. `id` distinguishes the context from a later context with the same handle; 0:
 * unknown.
 */
struct gr_context {
    CUcontext handle;
    CUdevice primary_of;
    unsigned long long id;
};

/* Whether both are the same context. The primary contexts before and after a reset are not. */
static inline bool gr_context_same(const struct gr_context *a, const struct gr_context *b)
{
    return a->handle == b->handle && (a->id == b->id || !a->id || !b->id);
}

struct gr_driver_api;

/* Queries the id of a new handle. */
void gr_context_identify(const struct gr_driver_api *cu, struct gr_context *context);

/*
 * Takes the current context. If none is current, retains the primary context of the device that
 * `find_device` returns, which is the device that draws. `find_device` records its own error.
 */
gr_status gr_context_choose(struct gr_context *context, gr_status (*find_device)(CUdevice *device));

/*
 * Retains the primary context of a device. The error message contains `why`, the reason for
 * retaining it: "no CUDA context is current". After an error do not use or drop `context`.
 */
gr_status gr_context_retain(struct gr_context *context, CUdevice device, const char *why);

/*
 * Copies a context and adds a reference; after an error the copy is empty. A context without a
 * handle stands for the primary context of its device.
 */
gr_status gr_context_hold(const struct gr_context *context, struct gr_context *copy);

/* Releases a reference from gr_context_choose() or gr_context_hold(). */
void gr_context_drop(struct gr_context *context);

/*
 * Whether the driver reports the context as destroyed. Drivers before CUDA 12 cannot report
 * destroyed contexts.
 */
bool gr_context_is_gone(const struct gr_context *context);

/* GR_ERR_CUDA if the driver reports the context as destroyed. For calls that do not enter it. */
gr_status gr_context_check(const struct gr_context *context);

/*
 * Whether earlier work in the context has failed, so that nothing that is enqueued in it runs.
 * Records no error.
 */
bool gr_context_has_failed(const struct gr_context *context);

/*
 * Changes the capture mode of this thread, and returns the previous mode. Returns -1 if the driver
 * cannot be called; then, and for a negative `mode`, nothing changes.
 */
int gr_capture_mode(int mode);

static inline void gr_capture_mode_at_end(const int *mode)
{
    gr_capture_mode(*mode);
}

/*
 * Until the end of the block, queries and frees by this thread do not invalidate graphs that
 * threads capture. For calls that free objects: a garbage collector may make them at any time.
 */
#define GR_RELAXED()                                                                               \
    GR_CLEANUP(gr_capture_mode_at_end)                                                             \
    const int gr_mode_before = gr_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED)

/* What gr_context_leave() restores: the caller's context and its capture mode. 0: nothing. */
typedef unsigned gr_entered;

/*
 * gr_context_enter() makes the context current if it is not, and relaxes the capture mode of this
 * thread: a graph that another thread captures in the global mode, which is the default, would
 * otherwise be invalidated by each map, registration, query and allocation. Checking costs less
 * than pushing, and the context is usually current.
 */
gr_status gr_context_enter(const struct gr_context *context, gr_entered *entered);

/* The same for the end of objects, which needs no driver if the context ended. No error, no log. */
bool gr_context_try(const struct gr_context *context, gr_entered *entered);

/* For code that selects a context without a struct gr_context. */
gr_entered gr_context_entered(const struct gr_driver_api *cu, bool pushed);

void gr_context_restore(gr_entered entered);
static inline void gr_context_leave(gr_entered entered)
{
    if (entered)
        gr_context_restore(entered);
}

static inline void gr_context_leave_at_end(const gr_entered *entered)
{
    gr_context_leave(*entered);
}

/* The type of an `entered`, initialised with 0, that is left at the end of its block. */
#define GR_ENTERED GR_CLEANUP(gr_context_leave_at_end) gr_entered

/*
 * Makes the context current until the end of the block. If that fails, returns the error from the
 * calling function.
 */
#define GR_ENTER(context)                                                                          \
    GR_ENTERED gr_entry = 0;                                                                       \
    GR_TRY(gr_context_enter(context, &gr_entry))

#endif
