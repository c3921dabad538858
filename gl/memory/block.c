/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Small buffers packed into blocks. A part of a block is reused only after the CUDA streams have
 * passed the last release of the part, and OpenGL has reached a fence after its last command with
 * the part: OpenGL treats two buffers at the same place as distinct memory, and does not order
 * accesses to them.
 *
 * A pool contains the blocks of one OpenGL context and one CUDA context. It exists while CUDA has
 * references to parts of its blocks. Dropping the last CUDA reference ends the CUDA memory of all
 * blocks; the CUDA context is current then.
 */
#include "gl/memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/external/ranges.h"

/*
 * The alignment that CUDA requires for textures in linear memory; no use of a buffer by OpenGL
 * needs more.
 */
#define ALIGNMENT ((size_t)512)

/*
 * The sizes of blocks. The first block has the smallest size that CUDA can export; later blocks are
 * larger.
 */
#define LEAST_BLOCK ((size_t)2 << 20)
#define MOST_BLOCK  ((size_t)16 << 20)

/* The number of deleted buffers after which the progress of OpenGL is queried. */
#define FENCE_EVERY 64

struct pool;

struct gl_block {
    struct gl_block *next;
    struct pool *pool; /* NULL: it has ended, and only OpenGL has references to the parts left */
    struct gr_import *memory;
    struct gl_names *names; /* the OpenGL memory object */
    struct gr_ranges ranges;
};

struct pool {
    struct pool *next;
    struct gl_context context;
    CUdevice device; /* the device with the memory */
    /* the CUDA context, without a reference: the parts that CUDA uses retain it */
    struct gr_context cuda;
    size_t cuda_parts; /* the number of parts to which CUDA has a reference */
    size_t next_size;  /* the size of the next block */
    bool emptied;      /* a block has become empty */
    struct gl_block *blocks;
    struct gl_part *deleted; /* parts whose buffers were deleted after the last fence */
    struct gl_part *fenced;  /* parts whose buffers were deleted before `fence` */
    size_t deleted_count;
    GLsync fence;
};

static struct gr_lock lock = GR_LOCK(BLOCKS);
static struct pool *pools;

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* False for Mesa: its CPU drivers place every buffer at the start of its memory. */
bool gl_blocks_supported(void)
{
    const char *version = (const char *)glGetString(GL_VERSION);
    return version && !strstr(version, "Mesa");
}

/* Ends a block, which may be NULL or incomplete. */
static void end_block(struct gl_block *block, bool alive)
{
    if (!block)
        return;
    gl_names_end(block->names);
    gr_import_drop(block->memory, alive);
    gr_ranges_end(&block->ranges);
    free(block);
}

static struct gl_block *make_block(struct pool *pool, size_t size)
{
    size_t room = gr_driver_traits()->mesa_draws ? GR_MESA_ROOM : 0;
    struct gl_block *block = calloc(1, sizeof(*block));
    if (!block || !gr_ranges_init(&block->ranges, size - room)) {
        free(block);
        gr_fail_memory();
        return NULL;
    }
    block->names = gl_names_make(&pool->context);
    block->memory = block->names ? gr_import_new(pool->device, size) : NULL;
    if (!block->memory || gl_memory_import_cuda(block->names, block->memory) != GR_OK) {
        GR_KEEP_ERROR();
        end_block(block, true);
        return NULL;
    }
    block->pool = pool;
    block->next = pool->blocks;
    pool->blocks = block;
    return block;
}

/* ---- Pools ----------------------------------------------------------------------------------- */

static struct pool *make_pool(const struct gl_context *context, const struct gr_context *cuda,
                              CUdevice device)
{
    struct pool *pool = gr_check_memory(calloc(1, sizeof(*pool)));
    if (!pool)
        return NULL;
    pool->context = *context;
    pool->device = device;
    pool->cuda = *cuda;
    pool->cuda.primary_of = -1;
    pool->next_size = LEAST_BLOCK;
    pool->next = pools;
    pools = pool;
    return pool;
}

/* ---- Ending parts ---------------------------------------------------------------------------- */

/* Ends a part to which neither API has a reference any more. */
static void end_part(struct gl_part *part)
{
    struct gl_block *block = part->block;
    gr_ranges_give(&block->ranges, part->offset, part->size);
    free(part);
    if (block->ranges.taken > 0)
        return;
    if (block->pool)
        block->pool->emptied = true;
    else
        end_block(block, false);
}

static void end_list(struct gl_part *list)
{
    while (list) {
        struct gl_part *part = list;
        list = part->next;
        part->opengl_has = false;
        if (!part->cuda_has)
            end_part(part);
    }
}

/* Frees empty blocks except one. The OpenGL context is current. */
static void trim(struct pool *pool)
{
    bool has_spare = false;
    gr_entered entered;
    if (!pool->emptied)
        return;
    pool->emptied = false;
    GR_KEEP_ERROR();
    bool alive = gr_context_try(&pool->cuda, &entered);
    for (struct gl_block **link = &pool->blocks, *block; (block = *link);) {
        const bool is_empty = block->ranges.taken == 0;
        if (is_empty && has_spare) {
            *link = block->next;
            end_block(block, alive);
        } else {
            has_spare |= is_empty;
            link = &block->next;
        }
    }
    gr_context_leave(entered);
}

/* Frees the parts that OpenGL has finished with. The OpenGL context is current. */
static void collect_fenced(struct pool *pool)
{
    if (!pool->fence && pool->deleted) {
        pool->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        if (!pool->fence)
            return; /* for example if the context is lost: the parts then wait for the next fence */
        pool->fenced = pool->deleted;
        pool->deleted = NULL;
        pool->deleted_count = 0;
    }
    if (!pool->fence ||
        glClientWaitSync(pool->fence, GL_SYNC_FLUSH_COMMANDS_BIT, 0) == GL_TIMEOUT_EXPIRED)
        return;
    glDeleteSync(pool->fence);
    pool->fence = NULL;
    struct gl_part *ended = pool->fenced;
    pool->fenced = NULL;
    end_list(ended);
}

static void collect(struct pool *pool)
{
    collect_fenced(pool);
    trim(pool);
}

/*
 * Ends a pool when CUDA has no reference to its parts any more. Parts that OpenGL still uses stay
 * in blocks without a pool. The OpenGL import keeps the memory alive as long as OpenGL commands
 * need it. The memory object may be deleted before the buffers: their storage "cannot be
 * de-allocated or unreferenced until the buffer is deleted" (EXT_external_objects, additions to
 * section 6.2 of OpenGL 4.5).
 */
static void end_pool(struct pool *pool, bool alive)
{
    struct pool **link = &pools;
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    end_list(pool->fenced);
    end_list(pool->deleted);
    while (pool->blocks) {
        struct gl_block *block = pool->blocks;
        pool->blocks = block->next;
        block->pool = NULL;
        block->names->fences[0] = pool->fence; /* the fence is deleted with the first block */
        pool->fence = NULL;
        gl_names_end(block->names);
        block->names = NULL;
        gr_import_drop(block->memory, alive);
        block->memory = NULL;
        if (block->ranges.taken == 0)
            end_block(block, alive);
    }
    free(pool);
}

/*
 * Drops the reference of CUDA to a part, on any thread. If the CUDA context is alive, it is
 * current.
 */
static void end_cuda_hold(struct gr_import *import, bool alive)
{
    struct gl_part *part = (struct gl_part *)import;
    GR_LOCKED(&lock);
    struct pool *pool = part->block->pool;
    part->cuda_has = false;
    if (!part->opengl_has)
        end_part(part);
    if (--pool->cuda_parts == 0)
        end_pool(pool, alive);
}

/*
 * Drops the reference of OpenGL to a part, after the buffer was deleted. If the OpenGL context is
 * not current, it has ended, and its commands with it.
 */
static void end_gl_hold(void *data, bool current)
{
    struct gl_part *part = data;
    GR_LOCKED(&lock);
    struct pool *pool = part->block->pool;
    if (!pool || !current) {
        part->next = NULL;
        end_list(part);
    } else {
        part->next = pool->deleted;
        pool->deleted = part;
        if (++pool->deleted_count % FENCE_EVERY == 0)
            collect(pool);
    }
}

/* ---- Creating parts -------------------------------------------------------------------------- */

static struct gl_block *take_range(struct pool *pool, size_t size, size_t *offset)
{
    struct gl_block *block = pool->blocks;
    while (block && !gr_ranges_take(&block->ranges, size, offset))
        block = block->next;
    if (block)
        return block;
    block = make_block(pool, pool->next_size);
    if (!block)
        return NULL;
    if (!gr_ranges_take(&block->ranges, size, offset)) {
        gr_fail_memory();
        return NULL;
    }
    if (pool->next_size < MOST_BLOCK)
        pool->next_size *= 2;
    return block;
}

static struct gl_part *make_part(struct pool *pool, size_t size)
{
    struct gl_part *part = gr_check_memory(calloc(1, sizeof(*part)));
    if (!part)
        return NULL;
    part->size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    collect(pool);
    part->block = take_range(pool, part->size, &part->offset);
    if (!part->block) {
        free(part);
        return NULL;
    }
    part->memory = part->block->names->memory;
    part->cuda_has = true;
    part->import = (struct gr_import){
        .holds = 1,
        .ptr = part->block->memory->ptr + part->offset,
        .size = part->size,
        .end_part = end_cuda_hold,
    };
    pool->cuda_parts++;
    return part;
}

struct gl_part *gl_part_make(struct gl_names *names, const struct gr_context *cuda, CUdevice device,
                             size_t size)
{
    const struct gl_context *context = &names->left.context;
    GR_LOCKED(&lock);
    struct pool *pool = pools;
    while (pool &&
           !(gl_context_same(&pool->context, context) && gr_context_same(&pool->cuda, cuda)))
        pool = pool->next;
    if (!pool)
        pool = make_pool(context, cuda, device);
    struct gl_part *part = pool ? make_part(pool, size) : NULL;
    if (pool && pool->cuda_parts == 0)
        end_pool(pool, true);
    if (!part)
        return NULL;
    part->opengl_has = true;
    names->after = end_gl_hold;
    names->of_after = part;
    return part;
}
