/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small buffers in blocks. A part is used again only when CUDA's streams have passed its last
 * release and a fence behind OpenGL's last command with it has been reached: OpenGL takes two
 * buffers in one place for two memories, and keeps no order between them.
 *
 * A pool has the blocks of one OpenGL context and one CUDA context as long as CUDA has a part of
 * it, so that what ends CUDA's last hold, with the context current, ends CUDA's side of all.
 */
#include "gl/shared/block.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "lib/driver.h"
#include "lib/error.h"
#include "lib/external/ranges.h"
#include "gl/shared/shared.h"

/* What CUDA aligns textures in linear memory to, and more than any use of a buffer in OpenGL. */
#define ALIGNMENT ((size_t)512)

/* The first block is as large as memory of CUDA's can be shared, the next ones are larger. */
#define LEAST_BLOCK ((size_t)2 << 20)
#define MOST_BLOCK  ((size_t)16 << 20)

/* After so many buffers that were deleted OpenGL is asked how far it is. */
#define FENCE_EVERY 64

struct pool;

struct gl_block {
    struct gl_block *next;
    struct pool *pool; /* NULL: that has ended, and the parts that are left are OpenGL's only */
    struct gr_import *memory;
    struct gl_names *names; /* OpenGL's memory object */
    struct gr_ranges ranges;
};

struct pool {
    struct pool *next;
    struct gl_context context;
    CUdevice device;        /* whose memory it is */
    struct gr_context cuda; /* without a hold: CUDA's parts have that */
    size_t cuda_parts;      /* which CUDA has */
    size_t next_size;       /* of a block */
    bool emptied;           /* a block has become empty */
    struct gl_block *blocks;
    struct gl_part *deleted; /* in OpenGL, since the fence */
    struct gl_part *fenced;  /* before it */
    size_t deleted_count;
    GLsync fence;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool *pools;

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Mesa's CPU drivers put each buffer at the start of its memory. */
bool gl_blocks_work(void)
{
    const char *version = (const char *)glGetString(GL_VERSION);
    return version && !strstr(version, "Mesa");
}

/* NULL is fine, and one that is half made. */
static void end_block(struct gl_block *block, bool alive)
{
    if (!block)
        return;
    gl_names_end(block->names);
    gr_import_drop(block->memory, alive);
    gr_ranges_end(&block->ranges);
    free(block);
}

static gr_status import_block(struct gl_block *block, const char *call)
{
    int fd;
    GR_TRY(gr_vmm_export(block->memory->vmm.handle, &fd));
    /* Dedicated, as gl/shared/buffer.c says why: NVIDIA's driver takes several buffers in it. */
    return gl_shared_import(block->names, fd, block->memory->size, true, call);
}

static struct gl_block *make_block(struct pool *pool, size_t size, const char *call)
{
    size_t room = gr_driver_traits()->mesa_draws ? GR_MESA_ROOM : 0;
    struct gl_block *block = calloc(1, sizeof(*block));
    if (!block || !gr_ranges_init(&block->ranges, size - room)) {
        free(block);
        gr_fail_memory(call);
        return NULL;
    }
    block->names = gl_names_make(&pool->context, call);
    block->memory = block->names ? gr_import_new(pool->device, size, call) : NULL;
    if (!block->memory || import_block(block, call) != GR_OK) {
        struct gr_error_record cause;
        gr_error_save(&cause);
        end_block(block, true);
        gr_error_restore(&cause);
        return NULL;
    }
    block->pool = pool;
    block->next = pool->blocks;
    pool->blocks = block;
    return block;
}

/* Takes an empty block of the pool's off it, if there is another empty one beside it. */
static struct gl_block *take_spare(struct pool *pool)
{
    struct gl_block **spare = NULL;
    for (struct gl_block **link = &pool->blocks; *link; link = &(*link)->next) {
        if ((*link)->ranges.taken > 0)
            continue;
        if (!spare) {
            spare = link;
            continue;
        }
        struct gl_block *taken = *link;
        *link = taken->next;
        return taken;
    }
    return NULL;
}

/* ---- Pools ----------------------------------------------------------------------------------- */

static struct pool *find_pool(const struct gl_context *context, const struct gr_context *cuda)
{
    for (struct pool *pool = pools; pool; pool = pool->next)
        if (gl_context_same(&pool->context, context) && pool->cuda.handle == cuda->handle &&
            pool->cuda.id == cuda->id)
            return pool;
    return NULL;
}

static struct pool *make_pool(const struct gl_context *context, const struct gr_context *cuda,
                              CUdevice device, const char *call)
{
    struct pool *pool = calloc(1, sizeof(*pool));
    if (!pool) {
        gr_fail_memory(call);
        return NULL;
    }
    pool->context = *context;
    pool->device = device;
    pool->cuda = *cuda;
    pool->cuda.primary_of = -1;
    pool->next_size = LEAST_BLOCK;
    pool->next = pools;
    pools = pool;
    return pool;
}

/* ---- The end of parts ------------------------------------------------------------------------ */

/* Nobody has the part any more. */
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

/* Of the blocks that have become empty one is kept. The OpenGL context is current. */
static void trim(struct pool *pool)
{
    struct gr_error_record before;
    struct gl_block *spare;
    bool pushed;
    if (!pool->emptied)
        return;
    pool->emptied = false;
    gr_error_save(&before);
    bool alive = gr_context_enter(&pool->cuda, &pushed, __func__) == GR_OK;
    while ((spare = take_spare(pool)))
        end_block(spare, alive);
    gr_context_leave(pushed);
    gr_error_restore(&before);
}

/* The parts that OpenGL has done with are free. The OpenGL context is current. */
static void collect_fenced(struct pool *pool)
{
    if (!pool->fence && pool->deleted) {
        pool->fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        if (!pool->fence)
            return; /* as in a context that is lost: they wait for the next one */
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
 * CUDA has no part left. What OpenGL has goes on as parts of blocks without a pool; its import
 * keeps the memory as long as its commands need it. Its memory object may go before the buffers:
 * their storage "cannot be de-allocated or unreferenced until the buffer is deleted"
 * (EXT_external_objects, additions to section 6.2 of OpenGL 4.5).
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
        block->names->fence = pool->fence; /* deleted with the first of them */
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

/* CUDA has let go of it, on any thread; the context is current if it is alive. */
static void end_cudas(struct gr_import *import, bool alive)
{
    struct gl_part *part = (struct gl_part *)import;
    pthread_mutex_lock(&lock);
    struct pool *pool = part->block->pool;
    part->cuda_has = false;
    if (!part->opengl_has)
        end_part(part);
    if (--pool->cuda_parts == 0)
        end_pool(pool, alive);
    pthread_mutex_unlock(&lock);
}

/* OpenGL has deleted its buffer, with the OpenGL context current. */
static void end_opengls(void *data)
{
    struct gl_part *part = data;
    pthread_mutex_lock(&lock);
    struct pool *pool = part->block->pool;
    if (!pool) {
        part->next = NULL;
        end_list(part);
    } else {
        part->next = pool->deleted;
        pool->deleted = part;
        if (++pool->deleted_count % FENCE_EVERY == 0)
            collect(pool);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- The begin ------------------------------------------------------------------------------- */

static struct gl_block *take_range(struct pool *pool, size_t size, size_t *offset, const char *call)
{
    struct gl_block *block = pool->blocks;
    while (block && !gr_ranges_take(&block->ranges, size, offset))
        block = block->next;
    if (block)
        return block;
    block = make_block(pool, pool->next_size, call);
    if (!block)
        return NULL;
    if (!gr_ranges_take(&block->ranges, size, offset)) {
        gr_fail_memory(call);
        return NULL;
    }
    if (pool->next_size < MOST_BLOCK)
        pool->next_size *= 2;
    return block;
}

static struct gl_part *make_part(struct pool *pool, size_t size, const char *call)
{
    struct gl_part *part = calloc(1, sizeof(*part));
    if (!part) {
        gr_fail_memory(call);
        return NULL;
    }
    part->size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    collect(pool);
    part->block = take_range(pool, part->size, &part->offset, call);
    if (!part->block) {
        free(part);
        return NULL;
    }
    part->cuda_has = true;
    part->import = (struct gr_import){
        .holds = 1,
        .vmm = {.ptr = part->block->memory->vmm.ptr + part->offset, .size = part->size},
        .size = part->size,
        .end_part = end_cudas,
    };
    pool->cuda_parts++;
    return part;
}

struct gl_part *gl_part_make(const struct gl_context *context, const struct gr_context *cuda,
                             CUdevice device, size_t size, const char *call)
{
    pthread_mutex_lock(&lock);
    struct pool *pool = find_pool(context, cuda);
    if (!pool)
        pool = make_pool(context, cuda, device, call);
    struct gl_part *part = pool ? make_part(pool, size, call) : NULL;
    if (pool && pool->cuda_parts == 0)
        end_pool(pool, true);
    pthread_mutex_unlock(&lock);
    return part;
}

unsigned int gl_part_memory(const struct gl_part *part)
{
    return part->block->names->memory;
}

void gl_part_hold(struct gl_part *part, struct gl_names *names)
{
    part->opengl_has = true;
    names->after = end_opengls;
    names->of_after = part;
}
