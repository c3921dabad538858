/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory blocks that small buffers share. A block is CUDA memory that is imported into OpenGL once.
 * It belongs to one OpenGL context and one CUDA context.
 */
#ifndef GR_GL_SHARED_BLOCK_H
#define GR_GL_SHARED_BLOCK_H

#include <cuda.h>

#include "lib/external/external.h"
#include "gl/context/context.h"

/* The maximum size of a buffer in a block. Larger buffers get their own memory. */
#define GL_BLOCK_MOST ((size_t)1 << 20)

struct gl_block;

/* The part of a block that one buffer uses. It ends when both APIs have released it. */
struct gl_part {
    struct gr_import import; /* the reference of CUDA */
    struct gl_block *block;
    struct gl_part *next; /* the next part that OpenGL may still access */
    size_t offset, size;  /* the offset and size in the block */
    bool cuda_has, opengl_has;
};

/* Whether the current OpenGL can place a buffer at an offset in a memory object. */
bool gl_blocks_supported(void);

/*
 * Allocates a part of at least `size` bytes on `device`, which the OpenGL context draws on.
 * `import` of the part holds one reference for CUDA; any thread may drop it by gr_import_drop().
 * After an error, which is recorded, returns NULL. Both contexts are current, and gl_errors_take()
 * has been called.
 */
struct gl_part *gl_part_make(const struct gl_context *context, const struct gr_context *cuda,
                             CUdevice device, size_t size, const char *call);

/* Returns the OpenGL memory object that contains the part. */
unsigned int gl_part_memory(const struct gl_part *part);

/* Adds an OpenGL reference, which ends when `names`, the owner of the buffer, is deleted. */
void gl_part_hold(struct gl_part *part, struct gl_names *names);

#endif
