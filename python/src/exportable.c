/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Allocators of exportable memory for the pools of PyTorch, CuPy and RMM, which call these
 * functions with and without the GIL. Each allocation is one of cuMemCreate(), which
 * gr_create_gl_buffer_of() accepts.
 */
#include "module.h"

#include "lib/cuda/driver_outside.h"

#define EXPORTED __attribute__((visibility("default")))

/* What an allocation on a device takes. */
struct place {
    CUmemAllocationProp properties;
    size_t granularity;
};

/* Mesa's drivers need room after a buffer in imported memory. */
#define MESA_ROOM 64

static CUresult find_place(const struct gr_driver_api *cuda, int device, struct place *place)
{
    place->properties = (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
    };
    return cuda->MemGetAllocationGranularity(&place->granularity, &place->properties,
                                             CU_MEM_ALLOC_GRANULARITY_MINIMUM);
}

static CUresult map(const struct gr_driver_api *cuda, const struct place *place,
                    CUmemGenericAllocationHandle handle, size_t size, CUdeviceptr *made)
{
    const CUmemAccessDesc access = {place->properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr ptr = 0;
    CUresult result = cuda->MemAddressReserve(&ptr, size, 0, 0, 0);
    if (result != CUDA_SUCCESS)
        return result;
    result = cuda->MemMap(ptr, size, 0, handle, 0);
    if (result == CUDA_SUCCESS) {
        result = cuda->MemSetAccess(ptr, size, &access, 1);
        if (result == CUDA_SUCCESS) {
            *made = ptr;
            return CUDA_SUCCESS;
        }
        cuda->MemUnmap(ptr, size);
    }
    cuda->MemAddressFree(ptr, size);
    return result;
}

/* The mapping keeps the memory, so the handle is released. */
static void *allocate(size_t size, int device)
{
    const struct gr_driver_api *cuda = gr_driver_functions();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr ptr = 0;
    struct place place;
    const size_t room = gr_cuda_is_software() ? MESA_ROOM : 0;
    if (!cuda || !size || find_place(cuda, device, &place) != CUDA_SUCCESS ||
        size > SIZE_MAX - room - place.granularity)
        return NULL;
    size = (size + room + place.granularity - 1) / place.granularity * place.granularity;
    if (cuda->MemCreate(&handle, size, &place.properties, 0) != CUDA_SUCCESS)
        return NULL;
    (void)map(cuda, &place, handle, size, &ptr);
    cuda->MemRelease(handle);
    return (void *)(uintptr_t)ptr;
}

/* As cudaFree() does, waits for all work of the device: cuMemUnmap() does not. */
static void await(const struct gr_driver_api *cuda, int device)
{
    CUcontext context;
    if (cuda->DevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
        return;
    if (cuda->CtxPushCurrent(context) == CUDA_SUCCESS) {
        cuda->CtxSynchronize();
        cuda->CtxPopCurrent(&context);
    }
    cuda->DevicePrimaryCtxRelease(device);
}

static void release(void *memory, int device)
{
    const struct gr_driver_api *cuda = gr_driver_functions();
    const CUdeviceptr ptr = (CUdeviceptr)(uintptr_t)memory;
    size_t size = 0;
    if (!cuda || !ptr ||
        cuda->PointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, ptr) != CUDA_SUCCESS)
        return;
    await(cuda, device);
    cuda->MemUnmap(ptr, size);
    cuda->MemAddressFree(ptr, size);
}

/* ---- The signatures of the frameworks -------------------------------------------------------- */

/*
 * torch.cuda.memory.CUDAPluggableAllocator, and _memory.py for RMM, find these two by their names.
 */
EXPORTED void *grinterop_torch_malloc(ssize_t size, int device, CUstream stream);
EXPORTED void grinterop_torch_free(void *memory, ssize_t size, int device, CUstream stream);

void *grinterop_torch_malloc(ssize_t size, int device, CUstream stream)
{
    (void)stream;
    return size > 0 ? allocate((size_t)size, device) : NULL;
}

void grinterop_torch_free(void *memory, ssize_t size, int device, CUstream stream)
{
    (void)size, (void)stream;
    release(memory, device);
}

/* cupy.cuda.CFunctionAllocator takes their addresses. */
static void *cupy_malloc(void *param, size_t size, int device)
{
    (void)param;
    return allocate(size, device);
}

static void cupy_free(void *param, void *memory, int device)
{
    (void)param;
    release(memory, device);
}

static PyObject *cupy_functions(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return Py_BuildValue("(NN)", PyLong_FromVoidPtr((void *)(uintptr_t)cupy_malloc),
                         PyLong_FromVoidPtr((void *)(uintptr_t)cupy_free));
}

PyMethodDef exportable_functions[] = {
    {"_cupy_functions", cupy_functions, METH_NOARGS, NULL},
    {0},
};
