/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Attributes of a pointer. */
#include "softcuda/driver/memory/device_memory.h"
#include "softcuda/driver/memory/managed_memory.h"
#include "softcuda/driver/memory/peer_access.h"

#include <string.h>

/* CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, which an older cuda.h lacks. */
#define IS_HW_DECOMPRESS_CAPABLE 21

/*
 * Memory that only the device may access has no host pointer, although here the host could use the
 * device pointer.
 */
static bool has_host_pointer(const soft_range *range)
{
    return soft_is_host(range) || soft_is_managed(range);
}

static CUresult put(void *data, const void *value, size_t size)
{
    memcpy(data, value, size);
    return CUDA_SUCCESS;
}

static CUresult put_int(void *data, unsigned value)
{
    return put(data, &value, sizeof(value));
}

static CUresult put_word(void *data, uint64_t value)
{
    return put(data, &value, sizeof(value));
}

static CUresult query(void *data, unsigned attribute, const soft_range *range, CUdeviceptr pointer)
{
    soft_context *current;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return put_word(
            data, range->context ? (uint64_t)(uintptr_t)soft_context_handle(range->context) : 0);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return put_int(data, soft_is_host(range) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        SOFT_FAIL_IF(soft_check_context(&current) == CUDA_SUCCESS &&
                         !soft_can_access(current, range),
                     CUDA_ERROR_INVALID_VALUE);
        return put_word(data, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        put_word(data, has_host_pointer(range) ? pointer : 0);
        return has_host_pointer(range) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return put_int(data, range->syncs_copies);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return put_int(data, range->kind == SOFT_MEMORY_DEVICE && !range->owner);
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case IS_HW_DECOMPRESS_CAPABLE:
        return put_int(data, 0);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return put_word(data, range->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return put_int(data, soft_is_managed(range));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return put_int(data, (unsigned)range->device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return put_word(data, (uint64_t)(uintptr_t)range->base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return put_word(data, range->size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return put_int(data, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return put_word(data, range->kind == SOFT_MEMORY_VIRTUAL ? range->flags : 0);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return put_int(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return put_word(data, (uint64_t)(uintptr_t)soft_pool_handle(range));
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

SOFT_API cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    SOFT_TRY(soft_check_no_dead_context());
    soft_range range;
    SOFT_FAIL_IF(!data || !soft_range_find((void *)(uintptr_t)ptr, &range),
                 CUDA_ERROR_INVALID_VALUE);
    return query(data, attribute, &range, ptr);
}

/*
 * Stores the value that cuPointerGetAttributes reports for an unknown pointer or a missing
 * attribute.
 */
static CUresult put_default(void *data, unsigned attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return put_int(data, (unsigned)CU_DEVICE_INVALID);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case IS_HW_DECOMPRESS_CAPABLE:
        return put_int(data, 0);
    /* The NVIDIA driver leaves these values unchanged. */
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return CUDA_SUCCESS;
    default:
        return put_word(data, 0);
    }
}

static bool is_known(CUpointer_attribute attribute)
{
    return attribute >= CU_POINTER_ATTRIBUTE_CONTEXT &&
           attribute <= (CUpointer_attribute)IS_HW_DECOMPRESS_CAPABLE &&
           attribute != CU_POINTER_ATTRIBUTE_P2P_TOKENS;
}

SOFT_API cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                void **data, CUdeviceptr ptr)
{
    SOFT_TRY(soft_check_no_dead_context());
    SOFT_FAIL_IF(!numAttributes || !attributes || !data, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < numAttributes; i++)
        if (!is_known(attributes[i]) || !data[i])
            return CUDA_ERROR_INVALID_VALUE;

    soft_range range;
    bool found = soft_range_find((void *)(uintptr_t)ptr, &range);
    for (unsigned i = 0; i < numAttributes; i++)
        if (!found || query(data[i], attributes[i], &range, ptr) != CUDA_SUCCESS)
            put_default(data[i], attributes[i]);
    return CUDA_SUCCESS;
}

/* The only attribute that can be set belongs to the allocation, not to the pointer. */
SOFT_API cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    SOFT_TRY(soft_check_no_dead_context());
    unsigned syncs;
    soft_range range;
    SOFT_FAIL_IF(!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
                     !soft_range_find((void *)(uintptr_t)ptr, &range),
                 CUDA_ERROR_INVALID_VALUE);
    memcpy(&syncs, value, sizeof(syncs));
    soft_range_set_syncs(range.base, syncs != 0);
    return CUDA_SUCCESS;
}
