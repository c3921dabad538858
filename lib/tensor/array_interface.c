/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA array interface of tensors, version 3. */
#include "lib/base/error.h"
#include "lib/tensor/tensor.h"

#define VERSION 3

/*
 * Makes the bytes ready for the consumer. Without a consumer stream the consumer waits for the
 * tensor's own stream, so that stream must wait for all other streams. If the tensor has no stream,
 * this call waits until the bytes are ready. gr_tensor_used_on() registers the consumer's work.
 */
static gr_status begin(gr_tensor *tensor, CUstream consumer)
{
    GR_TRY(gr_tensor_check(tensor));
    GR_TRY(gr_tensor_refuse_array(tensor, "which array interfaces cannot express"));
    if (tensor->info.memory == GR_MEMORY_HOST)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "The tensor is in host memory, which CUDA cannot access: export it by "
                       "gr_tensor_to_dlpack(), or copy it by gr_tensor_clone().");
    CUstream reader = consumer == GR_STREAM_NONE ? tensor->stream : consumer;
    if (reader == GR_STREAM_NONE)
        return gr_tensor_await(tensor);
    return gr_tensor_begin_use(tensor, reader, &tensor->context, false);
}

const gr_array_interface *gr_tensor_array_interface(gr_tensor *tensor, CUstream consumer)
{
    GR_CALL();
    if (begin(tensor, consumer) != GR_OK)
        return NULL;
    bool own = consumer == GR_STREAM_NONE && tensor->stream != GR_STREAM_NONE;
    tensor->array = (gr_array_interface){
        .data = tensor->info.bytes ? tensor->ptr : 0,
        .read_only = tensor->info.read_only,
        .typestr = gr_dtype_get_info(tensor->info.dtype)->typestr,
        .ndim = tensor->info.ndim,
        .shape = tensor->shape,
        .strides = tensor->info.compact ? NULL : tensor->strides,
        .stream = own ? tensor->stream : NULL,
        .version = VERSION,
    };
    return &tensor->array;
}
