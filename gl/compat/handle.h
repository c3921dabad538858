/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handles that compat.h's registrations give: CUgraphicsResource for the program, and here a
 * resource of grinterop's with its mapping.
 */
#ifndef GR_GL_COMPAT_HANDLE_H
#define GR_GL_COMPAT_HANDLE_H

#include <grinterop/gl.h>

struct compat_handle {
    gr_resource *resource; /* NULL: the handle has ended */
    gr_buffer *buffer;     /* while it is mapped */
    unsigned name, target; /* OpenGL's; the target of a buffer is 0 */
    unsigned map_flags;    /* of the maps */
    bool listed;           /* in the list that a call is looking at */
    struct compat_handle *next_free;
};

/* Whose handle it is. */
enum compat_owner {
    COMPAT_NOBODY, /* NULL, or one of ours that has ended */
    COMPAT_OURS,
    COMPAT_CUDAS /* not made here: the driver knows it, or nobody does */
};

/*
 * A new handle, without a resource; NULL without memory. It is used again when it has ended, the
 * oldest first, and its memory stays: so a handle that has ended can be told from CUDA's.
 */
struct compat_handle *compat_handle_new(void);
void compat_handle_end(struct compat_handle *handle);

enum compat_owner compat_handle_owner(CUgraphicsResource handle);

/* The handle; NULL and CUDA_ERROR_INVALID_HANDLE in *code, which is recorded, if it is not ours. */
struct compat_handle *compat_handle_get(CUgraphicsResource handle, const char *call,
                                        CUresult *code);

#endif
