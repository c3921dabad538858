/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA context that a resource belongs to: choosing it, and making it current for one call. */
#ifndef GR_LIB_CONTEXT_H
#define GR_LIB_CONTEXT_H

#include <grinterop/gr.h>

/*
 * A resource's CUDA context; `primary_of` is the device whose primary context is retained, or -1.
 * `id` tells it from a later context at the same address; 0: not known.
 */
struct gr_context {
    CUcontext handle;
    CUdevice primary_of;
    unsigned long long id;
};

/* Asks for the id of a handle that was just had. */
void gr_context_identify(struct gr_context *context);

/*
 * Takes the context that is current; where there is none, retains the primary context of the device
 * that `find_device` names (the one that draws). `find_device` records its own error.
 */
gr_status gr_context_choose(struct gr_context *context, gr_status (*find_device)(CUdevice *device),
                            const char *call);

/* For gr_context_choose(), where nothing names a device: the first one. */
gr_status gr_context_first_device(CUdevice *device);

/* A second hold of the same context; after an error the copy holds nothing. */
gr_status gr_context_hold(const struct gr_context *context, struct gr_context *copy,
                          const char *call);

/* Drops what gr_context_choose() or gr_context_hold() retained. */
void gr_context_drop(struct gr_context *context);

/* Whether the driver says that the context was destroyed; a driver before CUDA 12 cannot. */
bool gr_context_is_gone(const struct gr_context *context);

/*
 * Makes the context current, if it is not; *pushed says whether gr_context_leave() has to put the
 * caller's back. Looking is cheaper than pushing, and in most programs it is current already.
 */
gr_status gr_context_enter(const struct gr_context *context, bool *pushed, const char *call);
void gr_context_leave(bool pushed);

#endif
