/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/tensor/tensor.h"

#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "lib/tensor/use.h"

/* The call synchronizes the tensor's own stream, which contains only work of this tensor. */
gr_status gr_tensor_await(const gr_tensor *tensor, const char *call)
{
    CUstream stream = tensor->stream == GR_STREAM_NONE ? CU_STREAM_PER_THREAD : tensor->stream;
    bool pushed;
    gr_status status = gr_tensor_begin_copy(tensor, stream, &tensor->context, false, call);
    if (status == GR_OK)
        status = gr_context_enter(&tensor->context, &pushed, call);
    if (status != GR_OK)
        return status;
    CUresult result = gr_event_poll(NULL, stream, GR_WAIT_FOREVER);
    if (result != CUDA_SUCCESS)
        status = gr_fail_cuda(result, "cuStreamQuery", "%s could not wait for the tensor's bytes.",
                              call);
    gr_context_leave(pushed);
    return status;
}
