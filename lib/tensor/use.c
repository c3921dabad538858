/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Orders the uses of a tensor: after the work of its own stream, and after all other known uses. */

#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/base/public_atomic.h"
#include "lib/cuda/event.h"
#include "lib/cuda/peer_access.h"
#include "lib/resource/stream.h"
#include "lib/tensor/tensor.h"

/* ---- Peer access: the stream's device uses memory of another device -------------------------- */

static gr_status refuse_reach(const gr_tensor *tensor, CUdevice device, CUresult result)
{
    char here[200], there[200];
    gr_device_text(device, here, sizeof(here));
    gr_device_text(tensor->info.device, there, sizeof(there));
    const char *way = "copy it with gr_tensor_copy(), or use a stream of its device";
    if (result == CUDA_SUCCESS)
        return gr_fail(
            GR_ERR_UNSUPPORTED,
            "The stream belongs to %s, whose kernels cannot access the tensor's memory on %s: %s.",
            here, there, way);
    return gr_fail_cuda(
        result, "cuCtxEnablePeerAccess",
        "%s, the stream's device, was not given access to %s, the tensor's device: %s.", here,
        there, way);
}

gr_status gr_tensor_check_reach(const gr_tensor *tensor, CUstream stream,
                                const struct gr_context *at)
{
    const gr_tensor *root = tensor->root ? tensor->root : tensor;
    CUcontext of_stream = at->handle;
    CUdevice device;
    bool reaches;
    if (tensor->info.memory != GR_MEMORY_DEVICE)
        return GR_OK;
    if (!gr_stream_is_default(stream) &&
        (stream == tensor->stream || gr_driver()->StreamGetCtx(stream, &of_stream) != CUDA_SUCCESS))
        return GR_OK;
    if (of_stream == tensor->context.handle)
        return GR_OK;
    struct gr_context context = {.handle = of_stream, .primary_of = -1};
    GR_ENTER(&context);
    GR_TRY(gr_current_device(&device));
    if (device == tensor->info.device)
        return GR_OK;
    GR_TRY(gr_device_reaches(device, tensor->info.device, &reaches));
    if (!reaches)
        return refuse_reach(tensor, device, CUDA_SUCCESS);
    CUresult result = gr_peer_access_enable(tensor->context.handle);
    if (result == CUDA_SUCCESS && root->how == GR_TENSOR_EXPORTABLE)
        result = gr_peer_access_open_range(root->low, root->exportable.size, device);
    if (result == CUDA_SUCCESS && root->how == GR_TENSOR_ASYNC)
        result = gr_peer_access_open_pool(tensor->info.device, device);
    return result == CUDA_SUCCESS ? GR_OK : refuse_reach(tensor, device, result);
}

/* ---- Uses ------------------------------------------------------------------------------------ */

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
                               const struct gr_context *at, bool wrote_only)
{
    struct gr_stream_uses *uses = uses_of(tensor);
    if (tensor->stream != GR_STREAM_NONE && !is_own(tensor, stream, at))
        gr_uses_add(uses, gr_stream_for_any_thread(tensor->stream), true);
    if (gr_uses_none(uses))
        return GR_OK;
    GR_ENTER(at);
    CUresult result = gr_uses_wait(uses, stream, wrote_only);
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
        return gr_stream_refuse_user();
    GR_TRY_CUDA(
        result, "cuStreamWaitEvent",
        "%s: the stream could not be made to wait for the tensor. Does it belong to another "
        "CUDA context, or was it destroyed?",
        gr_call);
    return GR_OK;
}

/* Checks a stream that is used in the context `at`, after checking that the context exists. */
static gr_status check_stream(CUstream stream, const struct gr_context *at)
{
    GR_TRY(gr_stream_check_given(stream, false));
    GR_ENTER(at);
    return gr_stream_check_capture(stream);
}

gr_status gr_tensor_begin_checked_use(const gr_tensor *tensor, CUstream stream,
                                      const struct gr_context *at, bool write)
{
    if (write && tensor->info.read_only)
        return gr_fail(GR_ERR_STATE,
                       "The tensor is read-only: its creator does not permit writes.");
    if (gr_context_same(&tensor->context, at) && is_own(tensor, stream, at) &&
        gr_uses_none(uses_of(tensor)))
        return GR_OK;
    GR_ENTER(&tensor->context);
    return wait_for_uses(tensor, stream, at, !write);
}

gr_status gr_tensor_begin_copy(const gr_tensor *tensor, CUstream stream,
                               const struct gr_context *at, bool write)
{
    GR_TRY(gr_tensor_check(tensor));
    GR_TRY(check_stream(stream, at));
    return gr_tensor_begin_checked_use(tensor, stream, at, write);
}

gr_status gr_tensor_begin_use(const gr_tensor *tensor, CUstream stream, const struct gr_context *at,
                              bool write)
{
    GR_TRY(check_stream(stream, at));
    GR_TRY(gr_tensor_check_reach(tensor, stream, at));
    return gr_tensor_begin_checked_use(tensor, stream, at, write);
}

void gr_tensor_end_use(const gr_tensor *tensor, CUstream stream, const struct gr_context *at,
                       bool wrote)
{
    if (is_own(tensor, stream, at))
        return;
    GR_ENTERED entered = 0;
    if (gr_tensor_enter(at, &entered))
        gr_uses_add(uses_of(tensor), stream, wrote);
}

gr_status gr_tensor_wait(const gr_tensor *tensor, CUstream stream)
{
    GR_CALL();
    return gr_tensor_begin_copy(tensor, stream, tensor ? &tensor->context : NULL, false);
}

/* The call synchronizes the tensor's own stream, which contains only work of this tensor. */
gr_status gr_tensor_await(const gr_tensor *tensor)
{
    CUstream stream = tensor->stream == GR_STREAM_NONE ? CU_STREAM_PER_THREAD : tensor->stream;
    GR_TRY(gr_tensor_begin_copy(tensor, stream, &tensor->context, false));
    GR_ENTER(&tensor->context);
    GR_TRY_CUDA(gr_event_poll(NULL, stream, GR_WAIT_FOREVER), "cuStreamQuery",
                "%s could not wait for the tensor's bytes.", gr_call);
    return GR_OK;
}

/* The registered use counts as a write. */
gr_status gr_tensor_used_on(gr_tensor *tensor, CUstream stream)
{
    GR_CALL();
    GR_TRY(gr_tensor_check(tensor));
    GR_TRY(check_stream(stream, &tensor->context));
    gr_tensor_end_use(tensor, stream, &tensor->context, true);
    return GR_OK;
}

/* ---- Exports --------------------------------------------------------------------------------- */

gr_status gr_tensor_begin_export(gr_tensor *tensor, CUstream consumer)
{
    if (consumer != GR_STREAM_NONE) {
        const struct gr_context *at = &tensor->context;
        GR_TRY(gr_tensor_begin_copy(tensor, consumer, at, false));
        if (!is_own(tensor, consumer, at) &&
            !gr_uses_open(uses_of(tensor), consumer, at->handle, !tensor->info.read_only))
            return gr_fail_memory();
    }
    gr_tensor_hold(tensor);
    return GR_OK;
}

void gr_tensor_end_export(gr_tensor *tensor, CUstream consumer)
{
    gr_entered entered;
    if (consumer != GR_STREAM_NONE && !is_own(tensor, consumer, &tensor->context)) {
        GR_KEEP_ERROR();
        bool alive = !atomic_load_explicit(GR_PUBLIC_ATOMIC(bool, tensor->info.revoked),
                                           memory_order_acquire) &&
                     gr_tensor_enter(&tensor->context, &entered);
        gr_uses_close(uses_of(tensor), consumer, tensor->context.handle, alive);
        if (alive)
            gr_context_leave(entered);
    }
    gr_tensor_drop(tensor);
}
