/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/runtime/kernel.h"

#include <grinterop/cuhost_launch.h>

#include "softcuda/driver/kernel/program.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * A kernel may have two entries. One is for the address that the program calls; its record has the
 * parameters of the function. The other is for the record of the kernel's closure, which <<< >>>
 * launches run; its parameter is the closure.
 */
struct kernel {
    struct kernel *next;
    const void *key; /* the address, or the record of the closure */
    const void *address;
    const gr_cuhost_kernel *record; /* NULL only until the entry is complete */
    CUfunction function;            /* NULL until it is created at first use */
    int max_dynamic_shared;         /* -1 until set */
};

#define BUCKETS 1024
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels[BUCKETS];

static struct kernel **bucket_of(const void *key)
{
    return &kernels[((uintptr_t)key >> 4) % BUCKETS];
}

static struct kernel *find_locked(const void *key)
{
    struct kernel *kernel = *bucket_of(key);
    while (kernel && kernel->key != key)
        kernel = kernel->next;
    return kernel;
}

/* Returns the entry of the key, or adds an entry without a record; NULL if out of memory. */
static struct kernel *get_locked(const void *key, const void *address)
{
    struct kernel *kernel = find_locked(key);
    if (kernel || !(kernel = calloc(1, sizeof(*kernel))))
        return kernel;
    kernel->key = key;
    kernel->address = address;
    kernel->max_dynamic_shared = -1;
    kernel->next = *bucket_of(key);
    *bucket_of(key) = kernel;
    return kernel;
}

SOFT_EXPORTED void gr_cuhost_add_kernel(const gr_cuhost_kernel *kernel, const char *name,
                                        const void *address)
{
    (void)name; /* the record contains the name */
    SOFT_LOCK(&lock);
    struct kernel *added = get_locked(address, address);
    if (added)
        added->record = kernel;
}

static CUresult function_locked(struct kernel *kernel, CUfunction *function)
{
    CUresult result = CUDA_SUCCESS;
    if (!kernel->function) {
        result = gr_softcuda_function(kernel->record, &kernel->function);
        if (result == CUDA_SUCCESS && kernel->max_dynamic_shared >= 0)
            result = cuFuncSetAttribute(kernel->function,
                                        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        kernel->max_dynamic_shared);
    }
    *function = kernel->function;
    return result;
}

CUresult rt_function(const void *address, CUfunction *function)
{
    CUresult result = RT_ERROR_FUNCTION;
    pthread_mutex_lock(&lock);
    struct kernel *kernel = find_locked(address);
    if (kernel && kernel->record)
        result = function_locked(kernel, function);
    pthread_mutex_unlock(&lock);
    if (result == RT_ERROR_FUNCTION &&
        cuKernelGetFunction(function, (CUkernel)(uintptr_t)address) == CUDA_SUCCESS)
        return CUDA_SUCCESS;
    return result;
}

CUresult rt_closure_function(const gr_cuhost_kernel *record, const void *address,
                             CUfunction *function)
{
    SOFT_LOCK(&lock);
    struct kernel *kernel = get_locked(record, address);
    SOFT_FAIL_IF(!kernel, CUDA_ERROR_OUT_OF_MEMORY);
    if (!kernel->record) {
        struct kernel *named = find_locked(address);
        kernel->record = record;
        kernel->max_dynamic_shared = named ? named->max_dynamic_shared : -1;
    }
    return function_locked(kernel, function);
}

/* Sets the limit for launches by <<< >>>. They run closures, which have their own functions. */
static void set_closures_locked(const void *address, int value)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct kernel *kernel = kernels[i]; kernel; kernel = kernel->next)
            if (kernel->address == address && kernel->key != address) {
                kernel->max_dynamic_shared = value;
                if (kernel->function)
                    (void)cuFuncSetAttribute(
                        kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, value);
            }
}

CUresult rt_function_set(const void *address, CUfunction_attribute attribute, int value)
{
    SOFT_GET(CUfunction, function, rt_function(address, &function));
    SOFT_TRY(cuFuncSetAttribute(function, attribute, value));
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        return CUDA_SUCCESS;
    SOFT_LOCK(&lock);
    struct kernel *kernel = find_locked(address);
    if (kernel) {
        kernel->max_dynamic_shared = value;
        set_closures_locked(address, value);
    }
    return CUDA_SUCCESS;
}
