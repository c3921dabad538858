/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensors of CUDA arrays, which have a shape but no addresses. */
#include "lib/tensor/tensor.h"

#include "lib/cuda/array_format.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"

gr_dtype gr_array_dtype(CUarray_format format)
{
    static const gr_dtype dtypes[] = {
        [U8] = GR_DTYPE_U8,   [U16] = GR_DTYPE_U16, [U32] = GR_DTYPE_U32, [S8] = GR_DTYPE_I8,
        [S16] = GR_DTYPE_I16, [S32] = GR_DTYPE_I32, [F16] = GR_DTYPE_F16, [F32] = GR_DTYPE_F32,
    };
    return (unsigned)format < sizeof(dtypes) / sizeof(dtypes[0]) ? dtypes[format] : (gr_dtype)0;
}

/* Queries an array. The driver call needs a current CUDA context, but any context will do. */
static gr_status query(CUarray array, CUDA_ARRAY3D_DESCRIPTOR *found)
{
    gr_entered entered;
    struct gr_context context = {.primary_of = -1};
    GR_TRY(gr_context_choose(&context, gr_device_first));
    gr_status status = gr_context_enter(&context, &entered);
    if (status == GR_OK) {
        CUresult result = gr_driver()->Array3DGetDescriptor(found, array);
        if (result != CUDA_SUCCESS)
            status = gr_fail_cuda(result, "cuArray3DGetDescriptor",
                                  "%s: the driver could not describe the CUDA array.", gr_call);
        gr_context_leave(entered);
    }
    gr_context_drop(&context);
    return status;
}

/*
 * Compares the description with the array. Producers such as renderers pass (H, W) for any number
 * of channels.
 */
static gr_status check_desc(const gr_tensor_desc *desc, gr_dtype dtype, const int64_t shape[3])
{
    bool same = !desc->dtype || desc->dtype == dtype;
    same = same && (desc->ndim == 0 || desc->ndim == 2 || desc->ndim == 3);
    for (unsigned i = 0; same && i < desc->ndim; i++)
        same = desc->shape && desc->shape[i] == shape[i];
    if (same && !desc->strides && !desc->offset)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The description differs from the CUDA array, which is %s of %s: set only "
                   "`memory` and `read_only`, and leave all other fields 0.",
                   gr_shape_format(3, shape).text, gr_dtype_get_info(dtype)->name);
}

gr_status gr_array_describe(CUarray array, gr_tensor_desc *desc, int64_t shape[3])
{
    CUDA_ARRAY3D_DESCRIPTOR found = {0};
    GR_REFUSE_IF(!array, "The CUDA array is NULL.");
    GR_TRY(query(array, &found));
    const gr_dtype dtype = gr_array_dtype(found.Format);
    if (!dtype)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "The CUDA array has the format 0x%x, whose texels are packed or compressed: "
                       "a tensor needs separate integer or float channels. Copy the elements to "
                       "linear memory, and describe them as integers.",
                       (unsigned)found.Format);
    if (found.Height == 0 || found.Depth > 0)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "The CUDA array is %zu x %zu x %zu: only 2D arrays without layers can be "
                       "tensors.",
                       found.Width, found.Height, found.Depth);
    shape[0] = (int64_t)found.Height;
    shape[1] = (int64_t)found.Width;
    shape[2] = (int64_t)found.NumChannels;
    GR_TRY(check_desc(desc, dtype, shape));
    desc->dtype = dtype;
    desc->ndim = 3;
    desc->shape = shape;
    desc->layout = GR_LAYOUT_HWC;
    return GR_OK;
}

gr_status gr_tensor_refuse_array(const gr_tensor *tensor, const char *what)
{
    if (!gr_tensor_is_array(tensor))
        return GR_OK;
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "The tensor is a CUDA array, %s: copy it to device memory first, by "
                   "gr_tensor_clone().",
                   what);
}
