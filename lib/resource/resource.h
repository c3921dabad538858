/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The life of resources and buffers. */
#ifndef GR_LIB_RESOURCE_RESOURCE_H
#define GR_LIB_RESOURCE_RESOURCE_H

#include <stdatomic.h>

#include <grinterop/gr.h>

#include "lib/base/compiler.h"
#include "lib/base/log.h"
#include "lib/resource/checks.h"
#include "lib/resource/resource_types.h"

/*
 * Initialises the common part: the caller has a reference, and the resource is open and not mapped.
 * The backend has set the size of the resource.
 */
void gr_resource_init(gr_resource *resource, const struct gr_backend *backend,
                      const struct gr_context *context, void *handle, unsigned flags);

/*
 * gr_resource_hold() adds a reference for the library. gr_resource_drop() releases any reference.
 * The last reference closes the resource as gr_resource_free() does.
 */
void gr_resource_hold(gr_resource *resource);
void gr_resource_drop(gr_resource *resource);

/*
 * Ends the registration of an unmapped resource, on a thread that may use the resource, or after
 * its graphics context.
 */
gr_status gr_resource_unregister(gr_resource *resource);

/* Ends the resource if it has no references and no mapping. */
void gr_resource_settle(gr_resource *resource);

/*
 * Turns of the threads that end a mapping, since gr_buffer_release_later() may do so on another
 * thread at any time, if any thread may use the resource. A thread with the turn may not wait for
 * another turn. After gr_resource_give_turn() call gr_resource_collect() for the buffers that were
 * deferred meanwhile.
 */
static inline bool gr_resource_try_turn(gr_resource *resource)
{
    return !atomic_exchange_explicit(&resource->turn_is_taken, true, memory_order_seq_cst);
}

static inline void gr_resource_give_turn(gr_resource *resource)
{
    atomic_store_explicit(&resource->turn_is_taken, false, memory_order_seq_cst);
}

/* Waits for the turn. */
void gr_resource_take_turn(gr_resource *resource);

/* ---- Groups ---------------------------------------------------------------------------------- */

/*
 * gr_map_many() links its resources by `after` if all of them are one run (backend.h) of one CUDA
 * context, or would be without the limit of its length. Until gr_group_changes changes, they are
 * then live for the caller, open, in no ring and one run. Later calls then check only the first
 * resource, and compare one pointer for each of the others. No resource is twice in a group.
 */
extern atomic_size_t gr_group_changes;

/* Call this function before anything changes that the resources of a group have in common. */
static inline void gr_group_change(void)
{
    atomic_fetch_add_explicit(&gr_group_changes, 1, memory_order_release);
}

/* Whether the links of the resource are valid. */
static inline bool gr_group_is_valid(const gr_resource *resource)
{
    return resource->grouped_at == atomic_load_explicit(&gr_group_changes, memory_order_acquire);
}

/* Whether the resources are a group. The first one is live. */
static inline bool gr_group_has(gr_resource *const resources[], size_t n)
{
    size_t i = 1;
    if (!gr_group_is_valid(resources[0]))
        return false;
    while (i < n && resources[i] && resources[i] == resources[i - 1]->after)
        i++;
    return i == n;
}

/* ---- Buffers of maps and releases ------------------------------------------------------------ */

/*
 * Returns an unused buffer if the next one is in use; NULL if out of memory. Allocates only if all
 * buffers are in use: callers may still have buffers whose mapping has ended.
 */
gr_buffer *gr_buffer_take_other(gr_resource *resource) GR_COLD;

/* Returns the current buffers of a map that failed. */
void gr_buffers_untake(gr_resource *const resources[], size_t n) GR_COLD;

/*
 * Returns buffers of one CUDA context to their resources, and sets the pointers to NULL. The last
 * buffer frees a resource without references.
 */
void gr_buffers_give(gr_buffer *buffers[], size_t n);

/* ---- The log --------------------------------------------------------------------------------- */

/* Like gr_resource_describe(), for a resource that the library holds. */
int gr_resource_format(const gr_resource *resource, char *text, size_t size);

/* Logs one line per resource at debug level. */
#define gr_resource_log_each(resources, n)                                                         \
    (gr_log_wanted(GR_LOG_DEBUG) ? gr_resource_write_each(resources, n) : (void)0)
void gr_resource_write_each(gr_resource *const resources[], size_t n) GR_COLD;

/* ---- Releases -------------------------------------------------------------------------------- */

/*
 * Releases a buffer that the caller gave up, on a thread that may use the resource, or after the
 * graphics context. If the stream of the map was destroyed, uses the legacy stream. After another
 * error than GR_ERR_PARTIAL the buffer stays mapped.
 */
gr_status gr_buffer_release_taken(gr_buffer *buffer);

/*
 * Like gr_buffer_release_many() in the streams of the maps. Also releases
 * buffers of resources in a ring.
 */
gr_status gr_buffer_release_for(gr_buffer *buffers[], size_t n);

/*
 * Releases the mappings of a use (map.h) of the library. They are one run, and their CUDA context
 * is still current. *ended says whether they have ended: GR_OK and GR_ERR_PARTIAL.
 */
struct gr_use;
gr_status gr_use_unmap(const struct gr_use *use, bool *ended);

/*
 * Like gr_resource_close(), for a resource that the library holds, even if its caller has freed it.
 */
gr_status gr_resource_close_held(gr_resource *resource, CUstream stream);

/*
 * Like gr_resource_unmap(), for a mapped resource that the library holds, in the stream of its map
 * if that stream still exists.
 */
gr_status gr_resource_unmap_anyhow(gr_resource *resource);

/* ---- Deferred releases ----------------------------------------------------------------------- */

/*
 * Ends the objects that park() of the backend deferred. This thread may use the resource, or its
 * graphics context is gone.
 */
void gr_resource_unpark(gr_resource *resource);

/* Releases the deferred buffers of a resource that any thread may use. */
void gr_resource_release_deferred(gr_resource *resource);

/*
 * gr_use_unmap() after the work of a use, whose `status` stays the last error. A failed release is
 * retried later, because no caller has the buffers.
 */
gr_status gr_use_end(const struct gr_use *use, gr_status status);

/*
 * Defers the release of a buffer that the caller gave up by gr_buffer_release_later(): a later call
 * releases it. The buffer has no users (mapping_users.h), or its last user is leaving.
 */
void gr_buffer_defer(gr_buffer *buffer);

/* ---- Images ---------------------------------------------------------------------------------- */

/*
 * Allocates linear memory for one level and layer of the mapped image. Copies the texels into the
 * memory, unless they are discarded. The CUDA context is current.
 */
gr_status gr_linear_make(gr_buffer *buffer, unsigned level, unsigned layer);

/*
 * Prepares a map that gr_linear_make() will follow: checks as much as possible, and allocates the
 * memory. The CUDA context is current.
 */
gr_status gr_linear_prepare(gr_resource *resource, unsigned level);

/*
 * Copies the memory back to the image, unless the resource is read-only. The CUDA context is
 * current.
 */
gr_status gr_linear_write_back(gr_buffer *buffer, CUstream stream);

/*
 * Lends at least `bytes` of the resource's staging memory for work in the stream; the stream waits
 * for the previous use. The caller marks the end of the work in resource->staging.work. The
 * resource must not be mapped by gr_map_linear(). The CUDA context is current.
 */
gr_status gr_linear_borrow(gr_resource *resource, size_t bytes, CUstream stream,
                           CUdeviceptr *memory);

/* Returns the pitch in linear memory for rows of this many bytes. */
size_t gr_linear_pitch(size_t row_bytes);

/* Frees the linear memory after the registration has ended, like gr_image_objects_free(). */
void gr_linear_free(gr_resource *resource, bool alive);

/*
 * For a resource with surfaces or textures, when its mapping ends: kernels may use them until the
 * stream has finished its work so far. The CUDA context is current, unless `alive` is false.
 */
void gr_image_objects_release(gr_resource *resource, CUstream stream, bool alive);

/*
 * Destroys the surfaces and textures before their arrays end, once the stream of the last release
 * has finished. If the CUDA context was destroyed (`alive` is false), only frees memory.
 */
void gr_image_objects_free(gr_resource *resource, bool alive);

#endif
