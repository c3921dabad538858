/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Orders the two sides of a ring. CUDA maps and releases all slots of a group in one call:
 *
 * map                 waits for the last graphics signal (sync.drawn) if graphics used the slot
 *                     after the last CUDA release, else for that release if on another stream
 * release             signals, and forgets the graphics signal
 * begin (graphics)    begin_use(): OpenGL waits for the last CUDA release (sync.computed);
 *                     gr_submit_make(): the Vulkan submit must wait for it, and signal a value
 * end (graphics)      end_use(): OpenGL signals the next sync.drawn; the Vulkan submit signals
 *                     the value that gr_submit_commit() recorded before the end
 *
 * With interop, map and release are barriers between the OpenGL commands and the stream; begin and
 * end do nothing. With copy, the release starts CUDA's copy, and begin waits for it and moves the
 * bytes into the object; end starts OpenGL's copy, and map waits for it.
 *
 * transition         CUDA writes, graphics reads        graphics writes, CUDA reads
 * -----------------  ---------------------------------- ---------------------------------------
 * created -> FREE    OpenGL: end, since commands may    nothing: graphics comes first, and waits
 *                    still use it                       for any release before the ring
 * FREE -> WRITING    map: after the last reading, or    begin: after CUDA's last reading; after
 *                    creation                           its own writing by API order
 * WRITING -> READY   release                            end (Vulkan: the submit was committed)
 * READY -> READING   begin: after the release           map: after the writing
 * READING -> FREE    end                                release
 * READY -> FREE      nothing: unused since the last     nothing: graphics wrote it last and
 *   (dropped)        CUDA release. The next map waits   writes it next, in API order; CUDA's last
 *                    for that release, which came       reading came before that writing
 *                    after the last reading
 * WRITING -> FREE    release; then as dropped           nothing; then as dropped. The signal of
 *   (cancelled)                                         an uncommitted submit is undone
 * READING -> READY   as READING -> FREE, since work     release
 *   (cancelled)      may have been issued; Vulkan: an
 *                    uncommitted submit is undone
 * leaving -> ended   gr_resource_free(): CUDA imports end after the last release; OpenGL keeps
 *                    objects that its commands use; Vulkan objects are kept until an event after
 *                    both their last signal and the last CUDA release (slot_life.c)
 * mapped -> closed   gr_resource_close() on the stream of the map
 *
 * API order in Vulkan is the order of submits to one queue, with the application's barriers. A
 * claim is undone if its map or begin fails; waits already in a stream or a context are harmless.
 */
#include "lib/ring/slot_use.h"

#include "lib/base/error.h"
#include "lib/external/external.h"
#include "lib/resource/backend.h"
#include "lib/resource/resource.h"
#include "lib/resource/map.h"
#include "lib/ring/link/operations.h"
#include "lib/sync/sync.h"

/*
 * Runs begin_use() or end_use() of the backend, if map and release do not order the sides. An error
 * that names a function of a transport gets the name of the public call.
 */
static gr_status run_use_hook(gr_status (*hook)(gr_resource *const resources[], size_t n),
                              gr_resource *const resources[], size_t n)
{
    if (!hook)
        return GR_OK;
    GR_TRY(gr_resource_check_graphics_here(resources[0]));
    gr_status status = hook(resources, n);
    return status == GR_ERR_STATE ? gr_error_set_call() : status;
}

gr_status gr_ring_end_graphics(gr_resource *const resources[], size_t n)
{
    return run_use_hook(resources[0]->backend->end_use, resources, n);
}

gr_status gr_ring_begin_use(gr_ring *ring, struct gr_ring_side *side, size_t n, CUstream stream,
                            gr_submit **submit)
{
    gr_resource *first = side->resources[0];
    GR_TRY(ring->link_ops->begin_use(ring->link, side, n));
    if (!side->is_cuda) {
        GR_TRY(gr_context_check(&first->context));
        if (!gr_sync_is_submitted(first))
            return run_use_hook(first->backend->begin_use, side->resources, n);
        *submit = gr_submit_make(side->resources, n, true);
        return *submit ? GR_OK : gr_last_error()->status;
    }
    struct gr_use use = {.resources = side->resources,
                         .n = n,
                         .stream = stream,
                         .buffers = side->buffers,
                         .held = true};
    gr_status status = gr_use_begin(&use);
    ring->link_ops->follow(ring->link, side, n, stream, status != GR_OK);
    return status;
}

gr_status gr_ring_end_use(gr_ring *ring, struct gr_ring_side *side, size_t n, bool cancels)
{
    const bool is_unused = side->writes && cancels; /* the peer sees nothing of the use */
    gr_status status = GR_OK;
    if (side->is_cuda) {
        status = gr_buffer_release_for(side->buffers, n);
        ring->link_ops->follow(ring->link, side, n, NULL, status != GR_OK);
    } else if (!is_unused) {
        status = gr_ring_end_graphics(side->resources, n);
    }
    if (status != GR_OK)
        return status;
    for (size_t i = 0; i < n && !side->is_cuda; i++) {
        if (side->submits[i]) /* committed or not */
            gr_submit_settle(side->submits[i], side->resources[i]);
        side->submits[i] = NULL;
    }
    return is_unused ? GR_OK : ring->link_ops->end_use(ring->link, side, n);
}

/*
 * With the copy transport, the begin writes the bytes to the object. If this thread may not do so,
 * the next map, or the end of the resource, writes the bytes.
 */
void gr_ring_last_use(gr_resource *resource)
{
    GR_CALL();
    GR_ENTERED entered = 0;
    if (!resource->backend->begin_use)
        return;
    if (gr_resource_graphics_here(resource))
        resource->backend->begin_use(&resource, 1);
    else if (resource->backend->is_external && gr_context_try(&resource->context, &entered))
        (void)gr_sync_finish_work(resource);
}
