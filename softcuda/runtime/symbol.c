/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Device variables. A program identifies a variable by its address, which is also its device
 * address here.
 */
#include "softcuda/runtime/copy.h"

#include <grinterop/cuhost_launch.h>

#include "softcuda/driver/kernel/program.h"

#include <pthread.h>
#include <stdlib.h>

struct variable {
    struct variable *next;
    void *address;
    size_t size;
    bool is_managed;
    bool is_known; /* the driver has registered it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct variable *variables;

#define RT_ERROR_SYMBOL ((CUresult)cudaErrorInvalidSymbol)

static CUresult register_variable(struct variable *variable)
{
    if (variable->is_known)
        return CUDA_SUCCESS;
    CUresult result = gr_softcuda_variable(variable->address, variable->size, variable->is_managed);
    variable->is_known = result == CUDA_SUCCESS;
    return result;
}

/*
 * A managed variable is registered with the driver at once, since programs may pass its address to
 * any call. Any other variable is registered by the first call that looks it up.
 */
SOFT_EXPORTED void gr_cuhost_add_variable(const char *name, void *address, size_t size, int kind)
{
    (void)name; /* variables are identified by address */
    struct variable *variable = calloc(1, sizeof(*variable));
    if (!variable)
        return; /* calls for the variable will return cudaErrorInvalidSymbol */
    variable->address = address;
    variable->size = size;
    variable->is_managed = kind == GR_CUHOST_MANAGED;
    if (variable->is_managed)
        (void)register_variable(variable);
    SOFT_LOCK(&lock);
    variable->next = variables;
    variables = variable;
}

SOFT_EXPORTED void gr_cuhost_remove_variable(void *address)
{
    pthread_mutex_lock(&lock);
    struct variable **link = &variables;
    while (*link && (*link)->address != address)
        link = &(*link)->next;
    struct variable *variable = *link;
    if (variable)
        *link = variable->next;
    pthread_mutex_unlock(&lock);
    if (variable && variable->is_known)
        gr_softcuda_forget_variable(address);
    free(variable);
}

static CUresult find(const void *symbol, size_t *size)
{
    SOFT_LOCK(&lock);
    struct variable *variable = variables;
    while (variable && variable->address != symbol)
        variable = variable->next;
    SOFT_FAIL_IF(!variable, RT_ERROR_SYMBOL);
    *size = variable->size;
    return register_variable(variable);
}

static CUresult find_address(void **address, const void *symbol)
{
    SOFT_GET(size_t, size, address ? find(symbol, &size) : CUDA_ERROR_INVALID_VALUE);
    *address = (void *)(size_t)symbol;
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaGetSymbolAddress, (void **devPtr, const void *symbol), find_address(devPtr, symbol))
RT_FORWARD(cudaGetSymbolSize, (size_t * size, const void *symbol),
           size ? find(symbol, size) : CUDA_ERROR_INVALID_VALUE)

/* `host_kind` is the kind of copy in which the other side is host memory. */
static CUresult check(const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
                      enum cudaMemcpyKind host_kind)
{
    size_t size = 0;
    SOFT_FAIL_IF(kind != host_kind && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault,
                 RT_ERROR_DIRECTION);
    SOFT_TRY(find(symbol, &size));
    return offset > size || count > size - offset ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult copy_to(const void *symbol, const void *from, size_t count, size_t offset,
                        enum cudaMemcpyKind kind, rt_order order)
{
    SOFT_TRY(check(symbol, count, offset, kind, cudaMemcpyHostToDevice));
    return rt_copy_bytes((unsigned char *)(size_t)symbol + offset, from, count, kind, order);
}

static CUresult copy_from(void *to, const void *symbol, size_t count, size_t offset,
                          enum cudaMemcpyKind kind, rt_order order)
{
    SOFT_TRY(check(symbol, count, offset, kind, cudaMemcpyDeviceToHost));
    return rt_copy_bytes(to, (const unsigned char *)symbol + offset, count, kind, order);
}

RT_API_both(cudaMemcpyToSymbol,
            (const void *symbol, const void *src, size_t count, size_t offset,
             enum cudaMemcpyKind kind),
            copy_to(symbol, src, count, offset, kind, order))

RT_API_both(cudaMemcpyFromSymbol,
            (void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind),
            copy_from(dst, symbol, count, offset, kind, order))
