/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The life of a resource. References are counted: one belongs to the caller until
 * gr_resource_free(). Buffers that callers have are counted separately. The registration ends when
 * the resource is closed, or when it has no references and is not mapped. The memory is freed when
 * no references and no buffers are left.
 */
#include "lib/resource/resource.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/compiler.h"
#include "lib/resource/backend.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/flags.h"
#include "lib/base/clock.h"
#include "lib/cuda/kernel_module.h"
#include "lib/base/live_objects.h"
#include "lib/base/log.h"
#include "lib/base/machine.h"
#include "lib/base/spin_lock.h"

atomic_size_t gr_group_changes = 1; /* a new resource is in no group */

/*
 * The locks of the reference count, the number of buffers in use, and the claim. They are held for
 * a few instructions only. They are needed because the last reference and the last buffer may be
 * dropped at the same time on two threads. All resources of a CUDA context share a lock, so that
 * the release of a batch takes it once.
 */
#define LOCKS 16
static struct {
    _Alignas(64) struct gr_spin_lock lock;
} locks[LOCKS];

/* Takes resource->lock, because the resource may end before the lock is released. */
static void acquire(unsigned lock)
{
    gr_spin_lock(&locks[lock].lock);
}

static void unlock(unsigned lock)
{
    gr_spin_unlock(&locks[lock].lock);
}

void gr_resource_take_turn(gr_resource *resource)
{
    unsigned polls = 0;
    while (!gr_resource_try_turn(resource))
        gr_host_pause(&polls);
}

/*
 * In a forked child: unlocks, because other threads of the parent may have held the locks. Ends the
 * groups, so that calls with them are refused as well.
 */
static void unlock_all(void)
{
    gr_group_change();
    for (unsigned i = 0; i < LOCKS; i++)
        unlock(i);
}

GR_AT_LOAD static void watch_fork(void)
{
    gr_machine_watch_fork(unlock_all);
}

void gr_resource_init(gr_resource *resource, const struct gr_backend *backend,
                      const struct gr_context *context, void *handle, unsigned flags)
{
    resource->backend = backend;
    if (!resource->transport)
        resource->transport = backend->name;
    resource->context = *context;
    resource->handle = handle;
    resource->flags = flags;
    resource->holds = 1;
    resource->lock = (unsigned char)(((uintptr_t)context->handle >> 6) % LOCKS);
    gr_uses_init(&resource->uses, GR_LOCK_MAPPING_USES);
    gr_live_add(GR_LIVE_RESOURCE, resource);
    for (int i = 0; i < GR_BUFFERS_IN_TURN; i++)
        resource->first[i].resource = resource;
    gr_live_add_each(GR_LIVE_BUFFER, resource->first, GR_BUFFERS_IN_TURN,
                     sizeof(resource->first[0]));
}

gr_buffer *gr_buffer_take_other(gr_resource *resource)
{
    for (int i = 1; i < GR_BUFFERS_IN_TURN; i++) {
        gr_buffer *next = &resource->first[resource->turn++ % GR_BUFFERS_IN_TURN];
        if (!atomic_load_explicit(&next->out, memory_order_acquire))
            return next;
    }
    acquire(resource->lock);
    gr_buffer *buffer = resource->spare;
    if (buffer)
        resource->spare = buffer->next;
    unlock(resource->lock);
    if (buffer)
        return buffer;
    buffer = calloc(1, sizeof(*buffer));
    if (!buffer)
        return NULL;
    buffer->resource = resource;
    buffer->is_spare = true;
    gr_live_add(GR_LIVE_BUFFER, buffer);
    return buffer;
}

/* Returns a buffer to its resource. The lock is held. */
static inline void put_back(gr_buffer *buffer)
{
    gr_resource *resource = buffer->resource;
    atomic_store_explicit(&buffer->later, false, memory_order_relaxed);
    atomic_store_explicit(&buffer->out, false, memory_order_release);
    if (buffer->is_spare) {
        buffer->next = resource->spare;
        resource->spare = buffer;
    }
    atomic_fetch_sub_explicit(&resource->buffers_out, 1, memory_order_relaxed);
}

void gr_buffers_untake(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gr_buffer *buffer = resources[i]->current;
        if (!buffer)
            continue;
        resources[i]->current = NULL;
        acquire(resources[i]->lock);
        put_back(buffer);
        unlock(resources[i]->lock);
    }
}

gr_status gr_resource_unregister(gr_resource *resource)
{
    gr_entered entered;
    GR_RELAXED();
    gr_group_change();
    gr_status status = gr_context_enter(&resource->context, &entered);
    bool alive = status == GR_OK;
    /*
     * All objects here are destroyed together with their CUDA context. If it exists, but cannot be
     * made current, its copies may still be pending, and the graphics objects end next.
     */
    if (!alive && !gr_context_is_gone(&resource->context))
        (void)gr_work_finish(&resource->sync.work);
    gr_image_objects_free(resource, alive);
    if (alive && resource->handle != resource)
        status = resource->backend->unregister(resource);
    gr_linear_free(resource, alive);
    gr_uses_free(&resource->uses, alive);
    gr_kernels_unload(&resource->kernels, alive);
    if (resource->order && alive)
        gr_driver()->EventDestroy(resource->order);
    resource->order = NULL;
    gr_work_end(&resource->sync.work, alive);
    gr_context_leave(entered);
    if (gr_log_wanted(GR_LOG_DEBUG)) {
        char text[160];
        resource->backend->describe(resource, text, sizeof(text));
        gr_log(GR_LOG_DEBUG, "%s: closed %s", gr_call, text);
    }
    resource->handle = NULL;
    gr_context_drop(&resource->context);
    return status;
}

static void unregister(gr_resource *resource)
{
    GR_CALL_AS("gr_resource_free");
    GR_KEEP_ERROR();
    const bool gone = gr_context_is_gone(&resource->context);
    gr_attempt_begin(); /* the warning is enough */
    const gr_status status = gr_resource_unregister(resource);
    gr_attempt_end();
    if (status != GR_OK) /* nothing is lost with a destroyed context */
        (gone ? gr_error_warn : gr_error_unreceived)("gr_resource_free");
}

/*
 * Closes and frees a resource without references and mappings. Only the thread that claimed the
 * resource calls this function.
 */
static void end(gr_resource *resource)
{
    const bool here = !resource->handle || resource->backend->cuda_on_any_thread ||
                      gr_resource_graphics_here(resource) || gr_resource_graphics_gone(resource);
    if (resource->handle && here)
        unregister(resource);
    /* If the caller has a buffer, the release of this buffer calls end() again. */
    const unsigned lock = resource->lock;
    acquire(lock);
    const bool last = !atomic_load_explicit(&resource->buffers_out, memory_order_relaxed);
    resource->parked = last && !here;
    resource->claimed = false;
    unlock(lock);
    if (!last)
        return;
    if (!here) {
        GR_KEEP_ERROR();
        gr_log(GR_LOG_WARNING, "gr_resource_free: the resource stays registered until its OpenGL "
                               "context is current again");
        /* the last access to the resource, because another thread may free it immediately */
        resource->backend->park(resource, true);
        return;
    }
    for (int i = 0; i < GR_BUFFERS_IN_TURN; i++)
        gr_live_remove(GR_LIVE_BUFFER, &resource->first[i]);
    while (resource->spare) {
        gr_buffer *buffer = resource->spare;
        resource->spare = buffer->next;
        gr_live_remove(GR_LIVE_BUFFER, buffer);
        gr_live_free_memory(GR_LIVE_BUFFER, buffer);
    }
    resource->backend->destroy(resource);
}

/*
 * Claims the resource if it has no references and no mapping: the caller must end it. The lock is
 * held.
 */
static inline bool claim(gr_resource *resource)
{
    bool over = !resource->holds && !resource->mapped && !resource->parked && !resource->claimed;
    if (over)
        resource->claimed = true;
    return over;
}

static void let_go(gr_resource *resource, unsigned holds)
{
    const unsigned lock = resource->lock;
    acquire(lock);
    atomic_store_explicit(&resource->holds, resource->holds - holds, memory_order_relaxed);
    const bool over = claim(resource);
    unlock(lock);
    if (over)
        end(resource);
}

void gr_resource_settle(gr_resource *resource)
{
    let_go(resource, 0);
}

void gr_buffers_give(gr_buffer *buffers[], size_t n)
{
    const unsigned lock = buffers[0]->resource->lock;
    acquire(lock);
    for (size_t i = 0; i < n; i++) {
        gr_resource *resource = buffers[i]->resource;
        put_back(buffers[i]);
        buffers[i] = NULL;
        if (!claim(resource))
            continue;
        unlock(lock);
        end(resource);
        acquire(lock);
    }
    unlock(lock);
}

void gr_resource_hold(gr_resource *resource)
{
    acquire(resource->lock);
    atomic_store_explicit(&resource->holds, resource->holds + 1, memory_order_relaxed);
    unlock(resource->lock);
}

void gr_resource_drop(gr_resource *resource)
{
    if (resource)
        let_go(resource, 1);
}

void gr_resource_free(gr_resource *resource)
{
    GR_CALL();
    if (!resource || !gr_live_end(GR_LIVE_RESOURCE, resource))
        return;
    GR_NO_STATUS();
    gr_group_change();
    gr_resource_collect(resource);
    gr_resource_drop(resource);
}

/* ---- Queries --------------------------------------------------------------------------------- */

const gr_resource_info *gr_resource_get_info(const gr_resource *resource)
{
    GR_CALL();
    if (gr_resource_check_slot(resource) != GR_OK)
        return NULL;
    const struct gr_backend *backend = resource->backend;
    /* the cast is valid because no resource is a const object */
    gr_resource_info *info = &((gr_resource *)resource)->info;
    *info = (gr_resource_info){.kind = resource->is_image ? GR_KIND_IMAGE : GR_KIND_BUFFER,
                               .api = backend->api,
                               .transport = backend->transport,
                               .flags = resource->flags,
                               .size = resource->is_image ? 0 : resource->size,
                               .mapped = resource->mapped,
                               .closed = !resource->handle};
    if (resource->handle && resource->handle != resource &&
        backend->transport == GR_TRANSPORT_INTEROP)
        info->graphics = resource->handle;
    if (resource->handle && backend->external_memory)
        info->external_memory = backend->external_memory(resource);
    return info;
}

#define NO_KERNELS ", publishing only copies (grinterop was built without nvcc)"

int gr_resource_format(const gr_resource *resource, char *text, size_t size)
{
    char what[160], flags[96], state[96], bytes[40] = "";
    const gr_buffer *mapped = resource->mapped;
    const CUdeviceptr ptr = mapped ? atomic_load_explicit(&mapped->ptr, memory_order_relaxed) : 0;
    resource->backend->describe(resource, what, sizeof(what));
    gr_flags_format(resource->flags, flags, sizeof(flags));
    if (!resource->handle)
        snprintf(state, sizeof(state), "closed");
    else if (mapped && atomic_load_explicit(&mapped->pitch, memory_order_relaxed))
        snprintf(state, sizeof(state), "level %u, layer %u mapped as a copy at 0x%llx",
                 mapped->level, mapped->layer, (unsigned long long)ptr);
    else if (mapped && resource->is_image)
        snprintf(state, sizeof(state), "mapped");
    else if (mapped)
        snprintf(state, sizeof(state), "mapped at 0x%llx", (unsigned long long)ptr);
    else
        snprintf(state, sizeof(state), "not mapped");
    if (!resource->is_image)
        snprintf(bytes, sizeof(bytes), ", %zu byte%s", resource->size, gr_s(resource->size));
    return snprintf(text, size, "%s%s, flags %s, transport %s%s, handle %p, %s%s", what, bytes,
                    flags, resource->transport, gr_driver_traits()->note, resource->handle, state,
                    gr_kernels_are_there() ? "" : NO_KERNELS);
}

int gr_resource_describe(const gr_resource *resource, char *text, size_t size)
{
    GR_CALL();
    if (!text)
        size = 0;
    if (!resource)
        return snprintf(text, size, "no resource (NULL)");
    return gr_resource_check_slot(resource) == GR_OK
               ? gr_resource_format(resource, text, size)
               : snprintf(text, size, "no resource (it was freed)");
}

static bool describe_resource(const void *object, char *text, size_t size)
{
    gr_resource_format(object, text, size);
    return true;
}

static bool describe_buffer(const void *object, char *text, size_t size)
{
    const gr_buffer *buffer = object;
    return buffer->out && describe_resource(buffer->resource, text, size);
}

GR_AT_LOAD static void describe_what_lives(void)
{
    gr_live_describe_by(GR_LIVE_RESOURCE, describe_resource);
    gr_live_describe_by(GR_LIVE_BUFFER, describe_buffer);
}

void gr_resource_write_each(gr_resource *const resources[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[1200];
        gr_resource_format(resources[i], text, sizeof(text));
        gr_log(GR_LOG_DEBUG, "%s: %s", gr_call, text);
    }
}
