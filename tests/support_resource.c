/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that most cases begin with, and what holds for a resource that is not mapped or is
 * gone.
 */
#include "support.h"

gr_resource *must_register(GLuint name)
{
    gr_resource *resource = gr_from_gl_buffer(name, GR_NONE);
    assert_made(resource);
    return resource;
}

gr_buffer *must_map(gr_resource *resource)
{
    gr_buffer *buffer = gr_map(resource, fx.stream);
    assert_made(buffer);
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
    return buffer;
}

void cuda_fill(const gr_buffer *buffer, int value)
{
    CU(cuMemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value, gr_buffer_size(buffer),
                       gr_buffer_stream(buffer)));
}

void assert_not_mapped(const gr_resource *resource)
{
    ck_assert(!gr_is_mapped(resource));
    ck_assert(!gr_is_closed(resource));
    CUdeviceptr pointer;
    size_t size;
    CU_GIVES(CUDA_ERROR_NOT_MAPPED,
             cuGraphicsResourceGetMappedPointer(&pointer, &size, gr_handle(resource)));
}

/* NVIDIA's driver reads the memory that the handle pointed to, and crashes. */
void assert_unregistered(void *handle)
{
    CUdeviceptr pointer;
    size_t size;
    if (gr_cuda_is_software())
        CU_GIVES(CUDA_ERROR_INVALID_HANDLE,
                 cuGraphicsResourceGetMappedPointer(&pointer, &size, handle));
}
