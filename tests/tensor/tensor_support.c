/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "tensor.h"

gr_tensor *must_alloc(gr_dtype dtype, gr_memory memory, unsigned ndim, const int64_t *shape)
{
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = dtype, .ndim = ndim, .shape = shape, .memory = memory);
    return must_make(gr_tensor_create(&desc, fx.stream));
}

unsigned char *must_read(const gr_tensor *tensor, CUstream stream)
{
    size_t bytes = gr_tensor_get_info(tensor)->bytes;
    unsigned char *read = must_allocate(bytes ? bytes : 1);
    assert_ok(gr_tensor_copy_to_host(tensor, read, bytes, stream));
    CU(StreamSynchronize(stream));
    return read;
}

void tensor_to_host(const gr_tensor *tensor, void *bytes, size_t size)
{
    assert_ok(gr_tensor_copy_to_host(tensor, bytes, size, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

void tensor_from_host(gr_tensor *tensor, const void *bytes, size_t size)
{
    assert_ok(gr_tensor_copy_from_host(tensor, bytes, size, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

const gr_memory each_memory[4] = {GR_MEMORY_DEVICE, GR_MEMORY_HOST, GR_MEMORY_PINNED,
                                  GR_MEMORY_MANAGED};

void *free_tensor(void *tensor)
{
    gr_tensor_free(tensor);
    return NULL;
}
