/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The handles of compat.h registrations. The program sees a CUgraphicsResource; here it is a
 * grinterop resource with its mapping.
 */
#ifndef GR_GL_COMPAT_HANDLE_H
#define GR_GL_COMPAT_HANDLE_H

#include <cuda.h>
#include <grinterop/gl.h>

struct compat_handle {
    gr_resource *resource; /* NULL: the handle has ended */
    gr_buffer *buffer;     /* while it is mapped */
    unsigned name, target; /* in OpenGL; the target of a buffer is 0 */
    unsigned map_flags;    /* for maps */
    bool listed;           /* in the list that a call is checking */
    struct compat_handle *next_free;
};

/* Who created a handle. */
enum compat_owner {
    COMPAT_NOBODY, /* NULL, or ended */
    COMPAT_OURS,
    COMPAT_CUDAS /* not created here: known to the driver, or invalid */
};

/*
 * Returns a new handle without a resource; NULL if out of memory. Ended handles are reused, the
 * oldest first, and never freed. So an ended handle is never taken for a CUDA handle.
 */
struct compat_handle *compat_handle_new(void);
void compat_handle_end(struct compat_handle *handle);

enum compat_owner compat_handle_owner(CUgraphicsResource handle);

/*
 * Returns the struct of a handle. For a handle that was not created here, records an error, sets
 * *code to CUDA_ERROR_INVALID_HANDLE and returns NULL.
 */
struct compat_handle *compat_handle_get(CUgraphicsResource handle, const char *call,
                                        CUresult *code);

#endif
