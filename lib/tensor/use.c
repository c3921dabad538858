/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Orders the uses of a tensor: after the work of its own stream, and after all other known uses. */
#include "lib/tensor/use.h"

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/resource/stream.h"
#include "lib/tensor/tensor.h"

/* Returns the list of streams. A view shares the list of its root. */
static struct gr_stream_uses *uses_of(const gr_tensor *tensor)
{
    return (struct gr_stream_uses *)&(tensor->root ? tensor->root : tensor)->user.uses;
}

/*
 * Whether the stream is the tensor's own stream. The default stream of another thread, or of
 * another context, is a different stream.
 */
static bool is_own(const gr_tensor *tensor, CUstream stream, const struct gr_context *at)
{
    return tensor->stream == stream && stream != CU_STREAM_PER_THREAD &&
           (stream != CU_STREAM_LEGACY || at->handle == tensor->context.handle);
}

/* Makes the stream wait for other uses. The tensor's CUDA context is current. */
static gr_status wait_for_uses(const gr_tensor *tensor, CUstream stream,
                               const struct gr_context *at, bool wrote_only, const char *call)
{
    struct gr_stream_uses *uses = uses_of(tensor);
    bool pushed;
    if (tensor->stream != GR_STREAM_NONE && !is_own(tensor, stream, at))
        gr_uses_add(uses, gr_stream_for_any_thread(tensor->stream), true);
    if (gr_uses_none(uses))
        return GR_OK;
    GR_TRY(gr_context_enter(at, &pushed, call));
    CUresult result = gr_uses_wait(uses, stream, wrote_only);
    gr_context_leave(pushed);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
        return gr_stream_refuse_user(call);
    return gr_fail_cuda(result, "cuStreamWaitEvent",
                        "%s: the stream could not be made to wait for the tensor. Does it belong "
                        "to another CUDA context, or was it destroyed?",
                        call);
}

/* Checks a stream that is used in the context `at`, after checking that the context exists. */
static gr_status check_stream(CUstream stream, const struct gr_context *at, const char *call)
{
    bool pushed;
    GR_TRY(gr_stream_check_given(stream, false, call));
    GR_TRY(gr_context_enter(at, &pushed, call));
    gr_status status = gr_stream_check_capture(stream, call);
    gr_context_leave(pushed);
    return status;
}

/* Begins a use of a tensor. Tensor and stream were checked. */
static gr_status begin_checked(const gr_tensor *tensor, CUstream stream,
                               const struct gr_context *at, bool write, const char *call)
{
    bool pushed;
    if (write && tensor->info.read_only)
        return gr_fail(GR_ERR_STATE, call,
                       "The tensor is read-only: its creator does not permit writes.");
    GR_TRY(gr_context_enter(&tensor->context, &pushed, call));
    gr_status status = wait_for_uses(tensor, stream, at, !write, call);
    gr_context_leave(pushed);
    return status;
}

gr_status gr_tensor_begin_copy(const gr_tensor *tensor, CUstream stream,
                               const struct gr_context *at, bool write, const char *call)
{
    GR_TRY(gr_tensor_check(tensor, call));
    GR_TRY(check_stream(stream, at, call));
    return begin_checked(tensor, stream, at, write, call);
}

gr_status gr_tensor_begin_use(const gr_tensor *tensor, CUstream stream, const struct gr_context *at,
                              bool write, const char *call)
{
    GR_TRY(gr_tensor_check(tensor, call));
    GR_TRY(check_stream(stream, at, call));
    GR_TRY(gr_tensor_check_reach(tensor, stream, at, call));
    return begin_checked(tensor, stream, at, write, call);
}

void gr_tensor_end_use(const gr_tensor *tensor, CUstream stream, const struct gr_context *at,
                       bool wrote)
{
    bool pushed;
    if (is_own(tensor, stream, at))
        return;
    if (gr_tensor_enter(at, &pushed))
        gr_uses_add(uses_of(tensor), stream, wrote);
    gr_context_leave(pushed);
}

gr_status gr_tensor_wait(const gr_tensor *tensor, CUstream stream)
{
    return gr_tensor_begin_copy(tensor, stream, tensor ? &tensor->context : NULL, false, __func__);
}

/* The registered use counts as a write. */
gr_status gr_tensor_used_on(gr_tensor *tensor, CUstream stream)
{
    gr_status status = gr_tensor_check(tensor, __func__);
    if (status == GR_OK)
        status = check_stream(stream, &tensor->context, __func__);
    if (status == GR_OK)
        gr_tensor_end_use(tensor, stream, &tensor->context, true);
    return status;
}

/* ---- Exports --------------------------------------------------------------------------------- */

gr_status gr_tensor_begin_export(gr_tensor *tensor, CUstream consumer, const char *call)
{
    bool own = consumer != GR_STREAM_NONE && is_own(tensor, consumer, &tensor->context);
    bool ordered = consumer == GR_STREAM_NONE || (own && gr_uses_none(uses_of(tensor)));
    if (!ordered)
        GR_TRY(gr_tensor_begin_copy(tensor, consumer, &tensor->context, false, call));
    if (!ordered && !own &&
        !gr_uses_open(uses_of(tensor), consumer, tensor->context.handle, !tensor->info.read_only))
        return gr_fail_memory(call);
    gr_tensor_hold(tensor);
    return GR_OK;
}

void gr_tensor_end_export(gr_tensor *tensor, CUstream consumer)
{
    bool pushed;
    struct gr_error_record before;
    if (consumer != GR_STREAM_NONE && !is_own(tensor, consumer, &tensor->context)) {
        gr_error_save(&before);
        bool alive = !__atomic_load_n(&tensor->revoked, __ATOMIC_ACQUIRE) &&
                     gr_tensor_enter(&tensor->context, &pushed);
        gr_uses_close(uses_of(tensor), consumer, tensor->context.handle, alive);
        if (alive)
            gr_context_leave(pushed);
        gr_error_restore(&before);
    }
    gr_tensor_drop(tensor);
}
