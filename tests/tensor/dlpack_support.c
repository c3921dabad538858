/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensors and producers for the DLPack tests. */
#include "dlpack.h"

DLDevice dlpack_device(void)
{
    if (gr_cuda_is_software())
        return (DLDevice){kDLCPU, 0};
    return (DLDevice){kDLCUDA, fx.device};
}

/* ---- Tensors --------------------------------------------------------------------------------- */

gr_tensor *must_alloc_as(gr_dtype dtype, unsigned ndim, const int64_t *shape)
{
    return must_make(gr_tensor_create(
        &GR_INIT(gr_tensor_desc, .dtype = dtype, .ndim = ndim, .shape = shape), fx.stream));
}

gr_tensor *must_alloc(size_t size)
{
    return must_alloc_as(GR_DTYPE_U8, 1, (int64_t[]){(int64_t)size});
}

DLManagedTensorVersioned *must_export(gr_tensor *tensor, CUstream stream)
{
    return must_make(gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, stream));
}

void tensor_fill(gr_tensor *tensor, int value)
{
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    CU(StreamSynchronize(fx.other));
    CU(MemsetD8Async(info->ptr, (unsigned char)value, info->bytes, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

void tensor_read(gr_tensor *tensor, void *bytes)
{
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    assert_ok(gr_tensor_wait(tensor, fx.stream));
    cuda_read(bytes, info->ptr, info->bytes, fx.stream);
}

const char *tensor_differs(gr_tensor *tensor, int value)
{
    size_t size = gr_tensor_get_info(tensor)->bytes;
    void *bytes = must_allocate(size);
    tensor_read(tensor, bytes);
    return bytes_differ_once(bytes, size, value);
}

static void end_wrapped(void *user)
{
    struct wrapped *wrapped = user;
    if (!wrapped->ends++)
        CU(MemFree(wrapped->memory));
}

void wrap(struct wrapped *wrapped, CUstream ready_on)
{
    *wrapped = (struct wrapped){0};
    CU(MemAlloc(&wrapped->memory, SIZE));
    gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (int64_t[]){SIZE});
    wrapped->tensor = must_make(gr_tensor_from_memory(&desc, (void *)(uintptr_t)wrapped->memory,
                                                      ready_on, end_wrapped, wrapped));
}

void settle(void)
{
    assert_ok(gr_tensor_collect(GR_WAIT_FOREVER));
}

/* ---- Producers ------------------------------------------------------------------------------- */

static void deleted(struct producer *producer)
{
    producer->deleted++;
    producer->by = pthread_self();
}

static void delete_versioned(DLManagedTensorVersioned *managed)
{
    deleted(managed->manager_ctx);
}

static void delete_legacy(DLManagedTensor *managed)
{
    deleted(managed->manager_ctx);
}

void produce(struct producer *producer)
{
    *producer = (struct producer){.shape = {SIZE}, .strides = {1}};
    CU(MemAlloc(&producer->memory, SIZE));
    CU(MemsetD8(producer->memory, 7, SIZE));
    CU(CtxSynchronize());
    DLTensor tensor = {.data = (void *)(uintptr_t)producer->memory,
                       .device = dlpack_device(),
                       .ndim = 1,
                       .dtype = {kDLUInt, 8, 1},
                       .shape = producer->shape,
                       .strides = producer->strides};
    producer->versioned = (DLManagedTensorVersioned){.version = {1, 3},
                                                     .manager_ctx = producer,
                                                     .deleter = delete_versioned,
                                                     .dl_tensor = tensor};
    producer->legacy =
        (DLManagedTensor){.dl_tensor = tensor, .manager_ctx = producer, .deleter = delete_legacy};
}

void producer_end(struct producer *producer, unsigned times)
{
    ck_assert_uint_eq(producer->deleted, times);
    CU(MemFree(producer->memory));
}
