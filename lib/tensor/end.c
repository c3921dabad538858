/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ends tensors. Tensors that streams still use are deferred, and a later call of grinterop ends
 * them. No thread of grinterop or of the driver ends them, because the producer's function may take
 * a lock that the application holds at that time.
 */
#include "lib/tensor/tensor.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/base/pause.h"
#include "lib/resource/deferred_release.h"

/* ---- Process exit ---------------------------------------------------------------------------- */

static bool exiting;

static void note_exit(void)
{
    __atomic_store_n(&exiting, true, __ATOMIC_RELEASE);
}

/*
 * Registers the exit handler. This happens after the driver has started, so that the handler runs
 * before the driver's own exit handler.
 */
static void register_exit(void)
{
    atexit(note_exit);
}

void gr_tensor_watch_exit(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_exit);
}

bool gr_tensor_enter(const struct gr_context *context, bool *pushed)
{
    *pushed = false;
    return !__atomic_load_n(&exiting, __ATOMIC_ACQUIRE) &&
           gr_context_enter(context, pushed, __func__) == GR_OK;
}

/* ---- Ending one tensor ----------------------------------------------------------------------- */

/*
 * Frees the memory. Pool memory is freed in `stream`: the tensor's stream, or, after a wait, a
 * default stream, because the program may have destroyed the tensor's stream meanwhile.
 */
static void free_memory(const gr_tensor *tensor, CUstream stream)
{
    const gr_cuda_api *cu = gr_driver();
    void *host = (void *)(uintptr_t)tensor->low;
    switch (tensor->how) {
    case GR_TENSOR_ASYNC:
        if (cu->MemFreeAsync(tensor->low, stream) != CUDA_SUCCESS)
            cu->MemFree(tensor->low);
        break;
    case GR_TENSOR_FREE:
        cu->MemFree(tensor->low);
        break;
    case GR_TENSOR_PINNED:
        cu->MemFreeHost(host);
        break;
    default:
        break;
    }
}

/*
 * Frees the memory and the tensor. Without the driver (`alive` is false) only host memory can be
 * freed.
 */
static void finish(gr_tensor *tensor, bool alive, CUstream stream)
{
    bool pushed = false;
    if (alive && gr_tensor_enter(&tensor->context, &pushed))
        free_memory(tensor, stream);
    else
        alive = false;
    gr_uses_free(&tensor->user.uses, alive);
    gr_context_leave(pushed);
    if (tensor->how == GR_TENSOR_MALLOC)
        free(tensor->block);
    if (!__atomic_load_n(&exiting, __ATOMIC_ACQUIRE))
        gr_context_drop(&tensor->context);
    if (tensor->end)
        tensor->end(tensor->end_user);
    free(tensor);
}

/* ---- Deferred tensors ------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gr_tensor *deferred, **newest = &deferred; /* a queue, from the oldest to the newest */
static size_t deferred_count;                     /* the number of deferred tensors; atomic */

static void defer(gr_tensor *tensor)
{
    pthread_mutex_lock(&lock);
    tensor->next = NULL;
    *newest = tensor;
    newest = &tensor->next;
    __atomic_add_fetch(&deferred_count, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

/*
 * Whether the streams have finished their work with the tensor. Also true if their context was
 * destroyed, because the streams cannot be queried then.
 */
static bool is_done(gr_tensor *tensor, bool *alive)
{
    bool pushed;
    *alive = gr_tensor_enter(&tensor->context, &pushed);
    bool done = !*alive || gr_uses_done(&tensor->user.uses);
    gr_context_leave(pushed);
    return done;
}

/*
 * Removes a tensor whose work is done. Does not query the driver for tensors behind one whose work
 * is not done, since a loop may leave many tensors in one stream.
 */
static gr_tensor *remove_done(bool *alive)
{
    gr_tensor *found = NULL, **link = &deferred;
    const gr_tensor *busy = NULL;
    pthread_mutex_lock(&lock);
    for (; *link; link = &(*link)->next) {
        if (busy && gr_uses_follows(&(*link)->user.uses, &busy->user.uses))
            continue;
        busy = *link;
        if (is_done(*link, alive)) {
            found = *link;
            break;
        }
    }
    if (found) {
        *link = found->next;
        newest = *link ? newest : link;
    }
    if (found)
        __atomic_sub_fetch(&deferred_count, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return found;
}

/*
 * The maximum depth of tensors that end within the end of another tensor. Ending an import may end
 * another grinterop tensor, and so on. Deeper chains are deferred, because the thread's stack is
 * limited.
 */
#define MOST_NESTED 16
static _Thread_local unsigned nested;

/*
 * Ends deferred tensors. At process exit the remaining tensors are leaked, because their end() may
 * call code that no longer exists.
 */
void gr_tensor_end_deferred(void)
{
    struct gr_error_record before;
    gr_tensor *tensor;
    bool alive;
    if (!__atomic_load_n(&deferred_count, __ATOMIC_ACQUIRE) ||
        __atomic_load_n(&exiting, __ATOMIC_ACQUIRE))
        return;
    gr_error_save(&before);
    nested++; /* tensors that end in this loop do not start it again */
    while ((tensor = remove_done(&alive)))
        finish(tensor, alive, CU_STREAM_PER_THREAD);
    nested--;
    gr_error_restore(&before);
}

/* ---- Dropping the last reference ------------------------------------------------------------- */

/* Removes a tensor from its mapping. The mapping keeps the list of streams that used the tensor. */
static void end_of_mapping(gr_tensor *tensor)
{
    gr_mapping_users_leave(&tensor->user, gr_buffer_defer);
    if (nested <= MOST_NESTED)
        finish(tensor, true, GR_STREAM_NONE);
    else
        defer(tensor);
}

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
    bool pushed, alive = gr_tensor_enter(&tensor->context, &pushed), done = true;
    if (alive && end_in_order(tensor)) {
        gr_context_leave(pushed);
        return;
    }
    if (alive && tensor->stream != GR_STREAM_NONE)
        gr_uses_add(&tensor->user.uses, gr_stream_for_any_thread(tensor->stream), false);
    if (alive) /* without nesting, gr_tensor_end_deferred() is next and queries the streams */
        done = gr_uses_none(&tensor->user.uses) || (nested > 1 && gr_uses_done(&tensor->user.uses));
    gr_context_leave(pushed);
    if (done && (!alive || nested <= MOST_NESTED))
        finish(tensor, alive, CU_STREAM_PER_THREAD);
    else
        defer(tensor);
}

/*
 * Ends a tensor, and then the deferred tensors. After a tensor of a mapping, leaves the deferred
 * tensors to other calls, because ending them may block.
 */
void gr_tensor_end(gr_tensor *tensor)
{
    struct gr_error_record before;
    bool of_mapping = !tensor->root && tensor->user.revoke;
    gr_error_save(&before);
    nested++;
    if (tensor->root)
        finish(tensor, true, GR_STREAM_NONE);
    else if (of_mapping)
        end_of_mapping(tensor);
    else
        end_of_memory(tensor);
    nested--;
    gr_error_restore(&before);
    if (!nested && !of_mapping)
        gr_tensor_end_deferred();
}

/* ---- Waiting for deferred tensors ------------------------------------------------------------ */

gr_status gr_tensor_collect(unsigned timeout_ms)
{
    double end = gr_clock_ms() + timeout_ms;
    unsigned polls = 0;
    size_t left;
    for (;;) {
        gr_tensor_end_deferred();
        gr_resources_release_freed();
        left = __atomic_load_n(&deferred_count, __ATOMIC_ACQUIRE);
        if (!left)
            return GR_OK;
        if (timeout_ms != GR_WAIT_FOREVER && gr_clock_ms() >= end)
            break;
        gr_host_pause(&polls);
    }
    if (!timeout_ms)
        return gr_fail(GR_ERR_NOT_READY, __func__, "%zu tensor%s still used by a stream.", left,
                       left == 1 ? " is" : "s are");
    return gr_fail(GR_ERR_TIMEOUT, __func__,
                   "%zu tensor%s still used by a stream after %u ms: wait longer, or check what "
                   "the stream waits for.",
                   left, left == 1 ? " is" : "s are", timeout_ms);
}
