/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The shared transport: OpenGL objects whose storage grinterop allocates so that both OpenGL and
 * CUDA can import it.
 */
#ifndef GR_GL_MEMORY_MEMORY_H
#define GR_GL_MEMORY_MEMORY_H

#include <grinterop/gl.h>

#include "lib/base/cuda_abi.h"
#include "lib/external/external.h"
#include "lib/external/tensor_memory.h"
#include "lib/resource/choose_transport.h"
#include "gl/object/object.h"
#include "gl/sync/sync.h"

struct gl_wish;

/* ---- Checks: check.c ------------------------------------------------------------------------- */

/*
 * Records what is missing. The OpenGL context and a CUDA context are current. Sets *drawing to the
 * CUDA device that draws and has the storage: the device of the CUDA context, or, for buffers, a
 * device whose memory the CUDA device can access. `wish` is the object, or NULL for any buffer.
 */
gr_status gl_memory_check(const struct gl_context *context, const struct gl_wish *wish,
                          CUdevice *drawing);

/*
 * Writes "storage on ..., CUDA on ..., which reaches it by peer access"; "" if both are the same
 * device.
 */
void gl_memory_format_devices(CUdevice drawing, char *text, size_t size);

/*
 * Whether gr_create_gl_buffer() and gr_create_gl_image() can share storage between these contexts,
 * which are current. Writes the reason. Records no error, and leaves no OpenGL object, binding or
 * error behind.
 */
bool gl_memory_probe(const struct gl_context *context, const struct gr_context *cuda, char *reason,
                     size_t size);

/* ---- Resources ------------------------------------------------------------------------------- */

struct gl_shared {
    struct gl_resource gl; /* `owned` has the buffer or texture, and its memory object */
    /* the device that draws and has the memory; CUDA may compute on another device */
    CUdevice device;
    struct gl_timeline *timeline; /* the pair outside of a ring that has its own pair */
    gr_resource *vulkan;          /* for images only: the memory on the private Vulkan device */
};

/* An OpenGL object to create, with checked arguments. */
struct gl_wish {
    size_t size;                   /* of a buffer */
    const gr_gl_image_desc *image; /* NULL for buffers */
    unsigned in_flight;            /* of gr_gl_options; not for the shared transport */
    enum gl_reach reach;           /* likewise */
    bool packed;                   /* for buffers only: the buffer may share a block with others */
    /* for buffers in the memory of a tensor, which the caller drops; otherwise NULL */
    struct gr_tensor_memory *memory;
    unsigned flags;
    struct gl_context context; /* the current OpenGL context */
    struct gr_transport_choice choice;
    struct gl_resource *made; /* the result, or NULL */
};

/* Creates a resource of the shared transport. */
gr_status gl_shared_create(struct gl_wish *wish);

/*
 * Allocate the memory, by gr_external_make_buffer() or gr_external_make(), and then the OpenGL
 * object. Both contexts are current, and gl_errors_take() has been called. Record errors; the
 * caller then frees the objects created so far.
 */
gr_status gl_memory_make_buffer(struct gl_shared *r, const struct gr_context *cuda,
                                const struct gl_wish *wish);
gr_status gl_memory_make_image(struct gl_shared *r, const struct gr_context *cuda,
                               const struct gl_wish *wish);

/* Refuses a format that Vulkan and CUDA cannot share, before anything is created. */
gr_status gl_memory_check_format(const gr_gl_image_desc *image);

/*
 * Imports the memory into OpenGL as names->memory. Always takes the fd, even after an error.
 * llvmpipe reports an invalid fd only later.
 */
gr_status gl_memory_import(struct gl_names *names, int fd, size_t size, bool dedicated);

/*
 * The same for memory of CUDA. It is imported as dedicated, in which the NVIDIA driver accepts
 * several buffers. Otherwise that driver (580) assumes that the memory is compressible, which CUDA
 * memory is not. Each API would then see stale bytes where the other API wrote long runs of one
 * value.
 */
gr_status gl_memory_import_cuda(struct gl_names *names, const struct gr_import *memory);

/* ---- Blocks: block.c ------------------------------------------------------------------------- */

/*
 * Memory blocks that small buffers share. A block is CUDA memory that is imported into OpenGL once.
 * It belongs to one OpenGL context and one CUDA context.
 */

/* The maximum size of a buffer in a block. Larger buffers get their own memory. */
#define GL_BLOCK_MOST ((size_t)1 << 20)

struct gl_block;

/* The part of a block that one buffer uses. It ends when both APIs have released it. */
struct gl_part {
    struct gr_import import; /* the reference of CUDA */
    struct gl_block *block;
    unsigned int memory;  /* the OpenGL memory object of the block */
    struct gl_part *next; /* the next part that OpenGL may still access */
    size_t offset, size;  /* the offset and size in the block */
    bool cuda_has, opengl_has;
};

/* Whether the current OpenGL can place a buffer at an offset in a memory object. */
bool gl_blocks_supported(void);

/*
 * Allocates a part of at least `size` bytes on `device`, which the OpenGL context draws on.
 * `import` of the part holds one reference for CUDA; any thread may drop it by gr_import_drop().
 * The reference for OpenGL ends when `names`, the owner of the buffer, is deleted. After an error,
 * which is recorded, returns NULL. Both contexts are current, and gl_errors_take() has been called.
 */
struct gl_part *gl_part_make(struct gl_names *names, const struct gr_context *cuda, CUdevice device,
                             size_t size);

#endif
