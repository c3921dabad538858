/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The handles of compat.h registrations. The program gets a CUgraphicsResource, which is a pointer
 * to this struct: a grinterop resource with its mapping.
 */
#ifndef GR_GL_COMPAT_HANDLE_H
#define GR_GL_COMPAT_HANDLE_H

#include <cuda.h>
#include <grinterop/gl.h>

struct compat_handle {
    gr_resource *resource; /* NULL: the handle has ended */
    gr_buffer *buffer;     /* the mapping, while the resource is mapped */
    unsigned name, target; /* the OpenGL name and target; the target of a buffer is 0 */
    unsigned map_flags;    /* the flags for maps */
    bool listed;           /* the handle is in the list that a call is checking */
    struct compat_handle *next_free;
};

/* The owner of a handle. */
enum compat_owner {
    COMPAT_NOBODY, /* the handle is NULL or has ended */
    COMPAT_OURS,
    COMPAT_CUDAS /* compat.h did not create the handle: CUDA did, or it is invalid */
};

/*
 * Returns a new handle without a resource; NULL if out of memory. Ended handles are reused, the
 * oldest first, and never freed. So an ended handle is never mistaken for a CUDA handle.
 */
struct compat_handle *compat_handle_new(void);
void compat_handle_end(struct compat_handle *handle);

enum compat_owner compat_handle_owner(CUgraphicsResource handle);

/*
 * Returns the struct of a handle. For a handle that compat.h did not create, records an error, sets
 * *code to CUDA_ERROR_INVALID_HANDLE and returns NULL.
 */
struct compat_handle *compat_handle_get(CUgraphicsResource handle, const char *call,
                                        CUresult *code);

#endif
