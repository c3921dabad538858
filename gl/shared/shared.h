/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The shared transport: OpenGL objects whose storage grinterop allocates so that both OpenGL and
 * CUDA can import it.
 */
#ifndef GR_GL_SHARED_SHARED_H
#define GR_GL_SHARED_SHARED_H

#include <grinterop/gl.h>
#include <grinterop/semaphore.h>

#include "lib/base/cuda_abi.h"
#include "lib/external/external.h"
#include "lib/external/tensor_memory.h"
#include "lib/resource/choose_transport.h"
#include "lib/sync/sync.h"
#include "gl/object/object.h"

struct gl_wish;

/* ---- Checks: check.c ------------------------------------------------------------------------- */

/*
 * Records what is missing. The OpenGL context and a CUDA context are current. *drawing receives the
 * CUDA device that draws and has the storage. `wish` is the object, or NULL for any buffer. This is
 * the device of the CUDA context, or, for buffers, a device whose memory the CUDA device can
 * access.
 */
gr_status gl_shared_check(const struct gl_context *context, const struct gl_wish *wish,
                          CUdevice *drawing, const char *call);

/*
 * Writes "storage on ..., CUDA on ..., which reaches it by peer access"; "" if both are the same
 * device.
 */
void gl_shared_format_devices(CUdevice drawing, char *text, size_t size);

/*
 * Whether gr_create_gl_buffer() and gr_create_gl_image() can share storage between these contexts,
 * which are current. Writes the reason. Records no error, and leaves no OpenGL object, binding or
 * error behind.
 */
bool gl_shared_probe(const struct gl_context *context, const struct gr_context *cuda, char *reason,
                     size_t size);

/* ---- Semaphores: timeline.c ------------------------------------------------------------------ */

/*
 * Synchronises one OpenGL context with one CUDA context by a pair of semaphores that all their
 * shared resources use. OpenGL signals `acquire` so that CUDA may start, and CUDA signals `release`
 * so that OpenGL may continue. A binary semaphore has one signal at a time, so with binary
 * semaphores each resource has its own pair, whose signals and waits strictly alternate.
 */

enum gl_waits {
    GL_WAITS_TIMELINE, /* GL_NV_timeline_semaphore: any number of pending signals */
    GL_WAITS_BINARY,   /* GL_EXT_semaphore_fd: one pending signal */
    GL_WAITS_HOST      /* neither extension: the thread waits */
};

/* A pair of semaphores, held by its resources; a binary pair has one resource. */
struct gl_timeline {
    struct gr_semaphore_pair pair; /* two NULLs, like `names`, with GL_WAITS_HOST */
    struct gl_timeline *next;
    struct gl_context context;
    struct gr_context cuda; /* the CUDA context, retained */
    CUdevice device;        /* the device that draws, whose Vulkan device created the semaphores */
    enum gl_waits waits;
    struct gl_names *names; /* the same two semaphores in OpenGL */
    /* for a binary pair: OpenGL has signalled and has not waited yet */
    bool under_way;
    char why[200]; /* why a better kind of semaphores is not available, or "" */
};

/*
 * Gets or creates the pair of the current OpenGL and CUDA contexts, and adds a reference. OpenGL
 * draws on `device`, which the device of the CUDA context can access. The reference can be dropped
 * on any thread. gl_errors_take() has been called. If out of memory or if CUDA fails, records the
 * error and returns NULL.
 */
struct gl_timeline *gl_timeline_hold(const struct gl_context *context,
                                     const struct gr_context *cuda, CUdevice device,
                                     const char *call);
static inline void gl_timeline_drop(struct gl_timeline *timeline)
{
    if (timeline)
        gr_pair_drop(&timeline->pair);
}

/*
 * Creates a pair of timelines like that of `usual`, for resources that share no semaphore with
 * others. The OpenGL context is current, and gl_errors_take() has been called. NULL if `usual` has
 * no timelines, or after an error.
 */
struct gl_timeline *gl_timeline_make_own(const struct gl_timeline *usual, const char *call);

/* Returns the kind of semaphores, such as "timeline semaphores". The string is static. */
const char *gl_timeline_text(const struct gl_timeline *timeline);

/*
 * If `signal`, signals `acquire` in the commands of the context and flushes them; otherwise makes
 * later commands of the context wait for `release`. `value` is 0 for binary semaphores. The n
 * resources, at most GR_BATCH, are released to CUDA or acquired from it.
 */
void gl_timeline_enqueue(const struct gl_timeline *timeline, bool signal, uint64_t value,
                         gr_resource *const resources[], size_t n);

/* ---- Resources ------------------------------------------------------------------------------- */

struct gl_shared {
    struct gl_resource gl; /* `owned` has the buffer or texture, and its memory object */
    /* the device that draws and has the memory; CUDA may compute on another device */
    CUdevice device;
    struct gl_timeline *timeline; /* the pair outside of a ring that has its own pair */
    gr_resource *vulkan;          /* for images only: the memory on the private Vulkan device */
};

/* Casts the resource; NULL if it does not have the shared transport. */
struct gl_shared *gl_shared_of(const gr_resource *resource);

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
    const char *call;
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
gr_status gl_shared_make_buffer(struct gl_shared *r, const struct gr_context *cuda,
                                const struct gl_wish *wish);
gr_status gl_shared_make_image(struct gl_shared *r, const struct gr_context *cuda,
                               const struct gl_wish *wish);

/* Refuses a format that Vulkan and CUDA cannot share, before anything is created. */
gr_status gl_shared_check_format(const gr_gl_image_desc *image, const char *call);

/*
 * Imports the memory into OpenGL as names->memory. Always takes the fd, even after an error.
 * llvmpipe reports an invalid fd only later.
 */
gr_status gl_shared_import(struct gl_names *names, int fd, size_t size, bool dedicated,
                           const char *call);

/*
 * The same for memory of CUDA. It is imported as dedicated, in which the NVIDIA driver accepts
 * several buffers. Otherwise that driver (580) assumes that the memory is compressible, which CUDA
 * memory is not. Each API would then see stale bytes where the other API wrote long runs of one
 * value.
 */
gr_status gl_shared_import_cuda(struct gl_names *names, const struct gr_import *memory,
                                const char *call);

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

/* ---- The private Vulkan device: private_vulkan.c --------------------------------------------- */

/*
 * The private Vulkan device of grinterop on the GPU that OpenGL draws on. It is needed because only
 * Vulkan creates images and semaphores that both OpenGL and CUDA can import. There is one per
 * process and GPU. It is identified by its CUDA device, opened at the first use, and then kept.
 */

struct gr_vk_device;

/*
 * Wraps the private Vulkan device for the current CUDA context. The caller owns the wrapper;
 * resources made with it do not retain the CUDA context. If Vulkan is not available, records the
 * error and returns NULL.
 */
struct gr_vk_device *gl_vulkan_wrap(CUdevice device, const char *call);

/*
 * Creates a semaphore on the private Vulkan device, and imports it into the current CUDA context,
 * which the semaphore does not retain. If OpenGL could not import the semaphore, records an error
 * and returns NULL.
 */
gr_semaphore *gl_vulkan_semaphore(CUdevice device, bool timeline, const char *call);

/* Export such a semaphore, or the memory of an image, as a file descriptor that the caller owns. */
gr_status gl_vulkan_semaphore_fd(CUdevice device, const gr_semaphore *semaphore, int *fd);
gr_status gl_vulkan_memory_fd(const gr_resource *image, int *fd);

#endif
