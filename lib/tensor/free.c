/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* References to tensors, and the end of tensors. A later call ends those that streams still use. */
#include "lib/tensor/tensor.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/exit.h"
#include "lib/base/live_objects.h"
#include "lib/cuda/event.h"
#include "lib/resource/resource.h"

bool gr_tensor_enter(const struct gr_context *context, gr_entered *entered)
{
    *entered = 0;
    return !gr_is_exiting() &&
           (gr_context_try(context, entered) || gr_context_try(context, entered));
}

/*
 * Frees device memory. Pool memory is freed in `stream`: the tensor's stream, or, after a wait, a
 * default stream, because the program may have destroyed the tensor's stream meanwhile. Without the
 * driver (`alive` is false) only host memory can be freed.
 */
static void free_memory(gr_tensor *tensor, bool alive, CUstream stream)
{
    const struct gr_driver_api *cu = gr_driver();
    if (alive && tensor->how == GR_TENSOR_ASYNC) {
        if (cu->MemFreeAsync(tensor->low, stream) != CUDA_SUCCESS)
            cu->MemFree(tensor->low);
    } else if (alive && tensor->how == GR_TENSOR_FREE) {
        cu->MemFree(tensor->low);
    } else if (alive && tensor->how == GR_TENSOR_PINNED) {
        cu->MemFreeHost((void *)(uintptr_t)tensor->low);
    } else if (tensor->how == GR_TENSOR_EXPORTABLE) {
        gr_exportable_end(&tensor->exportable);
    }
    gr_uses_free(&tensor->user.uses, alive);
}

/* Frees host memory and the tensor. */
static void free_tensor(gr_tensor *tensor)
{
    if (tensor->how == GR_TENSOR_MALLOC)
        free(tensor->block);
    if (tensor->end)
        tensor->end(tensor->end_user);
    gr_live_free_memory(GR_LIVE_TENSOR, tensor);
}

static void finish(gr_tensor *tensor, bool alive, CUstream stream)
{
    gr_entered entered = 0;
    free_memory(tensor, alive && gr_tensor_enter(&tensor->context, &entered), stream);
    gr_context_leave(entered);
    if (!gr_is_exiting())
        gr_context_drop(&tensor->context);
    free_tensor(tensor);
}

/* ---- Deferred tensors ------------------------------------------------------------------------ */

static atomic_size_t deferred_count; /* the number of deferred tensors */

static gr_tensor *tensor_of(struct gr_ending *ending)
{
    return (gr_tensor *)((char *)ending - offsetof(gr_tensor, ending));
}

static void end_deferred(struct gr_ending *ending, bool alive)
{
    atomic_fetch_sub_explicit(&deferred_count, 1, memory_order_release);
    free_memory(tensor_of(ending), alive, CU_STREAM_PER_THREAD);
}

static void free_deferred(struct gr_ending *ending)
{
    free_tensor(tensor_of(ending));
}

static void defer(gr_tensor *tensor)
{
    tensor->ending = (struct gr_ending){.context = tensor->context,
                                        .uses = &tensor->user.uses,
                                        .end = end_deferred,
                                        .finally = free_deferred};
    atomic_fetch_add_explicit(&deferred_count, 1, memory_order_release);
    gr_ending_add(&tensor->ending);
}

/*
 * The maximum depth of tensors that end within the end of another tensor. Ending an import may end
 * another grinterop tensor, and so on. Deeper chains are deferred, because the thread's stack is
 * limited.
 */
#define MOST_NESTED 16
static _Thread_local unsigned nested;

/* ---- Dropping the last reference ------------------------------------------------------------- */

/* Frees pool memory in stream order, if no other stream uses the tensor. */
static bool end_in_order(gr_tensor *tensor)
{
    if (tensor->how != GR_TENSOR_ASYNC || tensor->stream == GR_STREAM_NONE ||
        gr_event_capture(tensor->stream) != CUDA_SUCCESS ||
        !gr_uses_only(&tensor->user.uses, tensor->stream))
        return false;
    finish(tensor, true,
           tensor->stream == CU_STREAM_PER_THREAD ? CU_STREAM_LEGACY : tensor->stream);
    return true;
}

static void end_of_memory(gr_tensor *tensor)
{
    gr_entered entered;
    bool alive = gr_tensor_enter(&tensor->context, &entered), done = true;
    if (alive && end_in_order(tensor)) {
        gr_context_leave(entered);
        return;
    }
    if (alive && tensor->stream != GR_STREAM_NONE)
        gr_uses_add(&tensor->user.uses, gr_stream_for_any_thread(tensor->stream), false);
    if (alive) /* without nesting, gr_endings_collect() is next and queries the streams */
        done = gr_uses_none(&tensor->user.uses) || (nested > 1 && gr_uses_done(&tensor->user.uses));
    gr_context_leave(entered);
    if (done && (!alive || nested <= MOST_NESTED))
        finish(tensor, alive, CU_STREAM_PER_THREAD);
    else
        defer(tensor);
}

/*
 * Ends a tensor, and then the deferred tensors. After a tensor of a mapping, leaves the deferred
 * tensors to other calls, because ending them may block.
 */
static void end(gr_tensor *tensor)
{
    struct gr_error_record before;
    const bool of_mapping = !tensor->root && tensor->user.revoke;
    GR_RELAXED();
    gr_error_save(&before);
    nested++;
    if (of_mapping) /* the mapping keeps the list of streams that used the tensor */
        gr_mapping_users_leave(&tensor->user, gr_buffer_defer);
    if (!tensor->root && !of_mapping)
        end_of_memory(tensor);
    else if (tensor->root || nested <= MOST_NESTED)
        finish(tensor, true, GR_STREAM_NONE);
    else
        defer(tensor);
    nested--;
    gr_error_restore(&before);
    if (!nested && !of_mapping)
        gr_endings_collect();
}

void gr_tensor_hold(gr_tensor *tensor)
{
    atomic_fetch_add_explicit(&tensor->holds, 1, memory_order_relaxed);
}

/*
 * Drops a reference. The end of a view also drops its reference to the tensor that owns the memory.
 */
void gr_tensor_drop(gr_tensor *tensor)
{
    while (tensor && atomic_fetch_sub_explicit(&tensor->holds, 1, memory_order_acq_rel) == 1) {
        gr_tensor *root = tensor->root;
        end(tensor);
        tensor = root;
    }
}

void gr_tensor_free(gr_tensor *tensor)
{
    GR_CALL();
    if (!tensor || !gr_live_end(GR_LIVE_TENSOR, tensor))
        return;
    GR_NO_STATUS();
    gr_tensor_drop(tensor);
}

/* ---- Waiting for deferred tensors ------------------------------------------------------------ */

gr_status gr_tensor_collect(unsigned timeout_ms)
{
    GR_CALL();
    const struct gr_deadline deadline = gr_deadline_in(timeout_ms);
    unsigned polls = 0;
    size_t left;
    for (;;) {
        gr_endings_collect_now();
        left = atomic_load_explicit(&deferred_count, memory_order_acquire);
        if (!left)
            return GR_OK;
        if (gr_deadline_is_over(&deadline))
            break;
        gr_host_pause(&polls);
    }
    if (!timeout_ms)
        return gr_fail(GR_ERR_NOT_READY, "%zu tensor%s still used by a stream.", left,
                       left == 1 ? " is" : "s are");
    return gr_fail(GR_ERR_TIMEOUT,
                   "%zu tensor%s still used by a stream after %u ms: wait longer, or check what "
                   "the stream waits for.",
                   left, left == 1 ? " is" : "s are", timeout_ms);
}
