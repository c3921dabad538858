/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Chooses the CUDA context of a resource, and makes it current for a call. */
#ifndef GR_LIB_CONTEXT_H
#define GR_LIB_CONTEXT_H

#include <cuda.h>
#include <grinterop/gr.h>

/*
 * The CUDA context of a resource. `primary_of` is the device whose primary context is retained, or
 * -1. `id` distinguishes it from a later context at the same address; 0: unknown.
 */
struct gr_context {
    CUcontext handle;
    CUdevice primary_of;
    unsigned long long id;
};

/* Queries the id of a new handle. */
void gr_context_identify(struct gr_context *context);

/*
 * Takes the current context, or else retains the primary context of the device that `find_device`
 * returns (the one that draws). `find_device` records its own error.
 */
gr_status gr_context_choose(struct gr_context *context, gr_status (*find_device)(CUdevice *device),
                            const char *call);

/* For gr_context_choose(): the first device, if no other is known. */
gr_status gr_context_first_device(CUdevice *device);

/* A second reference to the same context; after an error the copy is empty. */
gr_status gr_context_hold(const struct gr_context *context, struct gr_context *copy,
                          const char *call);

/* Releases what gr_context_choose() or gr_context_hold() retained. */
void gr_context_drop(struct gr_context *context);

/* Whether the driver reports the context as destroyed; drivers before CUDA 12 cannot. */
bool gr_context_is_gone(const struct gr_context *context);

/*
 * Makes the context current if it is not; *pushed says whether gr_context_leave() must restore the
 * caller's. Checking is cheaper than pushing, and usually it is current.
 */
gr_status gr_context_enter(const struct gr_context *context, bool *pushed, const char *call);
void gr_context_leave(bool pushed);

#endif
