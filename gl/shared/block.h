/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory that small buffers share: each is CUDA's, and imported into OpenGL once. A block
 * belongs to one OpenGL context and one CUDA context.
 */
#ifndef GR_GL_SHARED_BLOCK_H
#define GR_GL_SHARED_BLOCK_H

#include "lib/external/import.h"
#include "gl/delete_later.h"

/* The most that a buffer in a block has. What is larger has memory of its own. */
#define GL_BLOCK_MOST ((size_t)1 << 20)

struct gl_block;

/* A buffer's part of a block. It ends when both APIs have let go of it. */
struct gl_part {
    struct gr_import import; /* CUDA's hold of it */
    struct gl_block *block;
    struct gl_part *next; /* of those that OpenGL may still read or write */
    size_t offset, size;  /* in the block */
    bool cuda_has, opengl_has;
};

/* Whether this OpenGL, whose context is current, puts a buffer at an offset in its memory. */
bool gl_blocks_work(void);

/*
 * A part of at least `size` bytes of the device's, which draws for the context, with CUDA's hold;
 * NULL with the error. Both contexts are current, and OpenGL's errors begun. gr_import_drop() ends
 * CUDA's hold, on any thread.
 */
struct gl_part *gl_part_make(const struct gl_context *context, const struct gr_context *cuda,
                             CUdevice device, size_t size, const char *call);

/* OpenGL's memory object, in which the part is at its offset. */
unsigned int gl_part_memory(const struct gl_part *part);

/* From here on OpenGL has the part too, until these names, which have its buffer, are deleted. */
void gl_part_hold(struct gl_part *part, struct gl_names *names);

#endif
