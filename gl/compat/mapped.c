/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions of compat.h that return the pointer or the arrays of a mapped resource. */
#include "gl/compat/compat.h"
#include <grinterop/image.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/resource/resource_types.h"
#include "gl/compat/code.h"
#include "gl/compat/handle.h"

static CUresult get_mapped(CUgraphicsResource resource, const char *call,
                           struct compat_handle **handle)
{
    CUresult code = CUDA_SUCCESS;
    *handle = compat_handle_get(resource, call, &code);
    if (!*handle || (*handle)->buffer)
        return code;
    return compat_refuse(CUDA_ERROR_NOT_MAPPED, call,
                         "The resource is not mapped: call cuGraphicsMapResources first.");
}

static CUresult find_pointer(CUgraphicsResource resource, CUdeviceptr *pointer, size_t *size)
{
    static const char call[] = "cuGraphicsResourceGetMappedPointer";
    struct compat_handle *handle;
    CUresult code = get_mapped(resource, call, &handle);
    if (code != CUDA_SUCCESS)
        return code;
    if (handle->target)
        return compat_refuse(CUDA_ERROR_NOT_MAPPED_AS_POINTER, call,
                             "The resource is an image, which has arrays and no pointer: use "
                             "cuGraphicsSubResourceGetMappedArray.");
    *pointer = gr_buffer_ptr(handle->buffer);
    *size = gr_buffer_size(handle->buffer);
    return CUDA_SUCCESS;
}

/* Like the driver, this function writes zeros on failure. */
CUresult CUDAAPI compat_pointer(CUdeviceptr *pointer, size_t *size, CUgraphicsResource resource)
{
    CUdeviceptr found = 0;
    size_t bytes = 0;
    CUresult code = compat_begin();
    if (code == CUDA_SUCCESS && compat_handle_owner(resource) == COMPAT_CUDAS)
        return gr_driver()->GraphicsResourceGetMappedPointer(pointer, size, resource);
    if (code == CUDA_SUCCESS)
        code = find_pointer(resource, &found, &bytes);
    if (pointer)
        *pointer = found;
    if (size)
        *size = bytes;
    return code;
}

/* Returns the handle of a mapped image, after checking the output pointer. */
static CUresult get_image(CUgraphicsResource resource, const void *place, const char *call,
                          struct compat_handle **handle)
{
    CUresult code = get_mapped(resource, call, handle);
    if (code != CUDA_SUCCESS)
        return code;
    if (!place)
        return compat_refuse(CUDA_ERROR_INVALID_VALUE, call, "The pointer for the array is NULL.");
    if (!(*handle)->target)
        return compat_refuse(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, call,
                             "The resource is a buffer, which has a pointer and no arrays: use "
                             "cuGraphicsResourceGetMappedPointer.");
    return CUDA_SUCCESS;
}

/*
 * Returns the CUDA code for a failed gr_buffer_array(). There GR_ERR_INVALID_VALUE can only mean
 * the level or the layer.
 */
static CUresult code_of_array(void)
{
    return gr_last_error()->status == GR_ERR_INVALID_VALUE ? CUDA_ERROR_INVALID_VALUE
                                                           : compat_code();
}

CUresult CUDAAPI compat_array(CUarray *array, CUgraphicsResource resource, unsigned int index,
                              unsigned int level)
{
    CUresult code = compat_begin();
    if (code != CUDA_SUCCESS)
        return code;
    if (compat_handle_owner(resource) == COMPAT_CUDAS)
        return gr_driver()->GraphicsSubResourceGetMappedArray(array, resource, index, level);
    static const char call[] = "cuGraphicsSubResourceGetMappedArray";
    struct compat_handle *handle;
    code = get_image(resource, array, call, &handle);
    if (code != CUDA_SUCCESS)
        return code;
    gr_error_call_begin(call);
    CUarray found = gr_buffer_array(handle->buffer, level, index);
    gr_error_call_end();
    if (!found)
        return code_of_array();
    *array = found;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI compat_mipmapped_array(CUmipmappedArray *array, CUgraphicsResource resource)
{
    CUresult code = compat_begin();
    if (code != CUDA_SUCCESS)
        return code;
    if (compat_handle_owner(resource) == COMPAT_CUDAS)
        return gr_driver()->GraphicsResourceGetMappedMipmappedArray(array, resource);
    static const char call[] = "cuGraphicsResourceGetMappedMipmappedArray";
    struct compat_handle *handle;
    code = get_image(resource, array, call, &handle);
    if (code != CUDA_SUCCESS)
        return code;
    gr_error_call_begin(call);
    CUmipmappedArray found = gr_buffer_mipmapped_array(handle->buffer);
    gr_error_call_end();
    if (!found)
        return code_of_array();
    *array = found;
    return CUDA_SUCCESS;
}
