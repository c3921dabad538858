/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* cuMemRangeGetAttribute: queries of the advice about managed memory. */
#include "softcuda/driver/memory/managed_advice.h"
#include "softcuda/driver/memory/managed_memory.h"

#include <string.h>

/*
 * Attributes that an older cuda.h lacks. They return a location as two numbers: its type and its
 * ID.
 */
enum {
    PREFERRED_LOCATION_TYPE = 5,
    PREFERRED_LOCATION_ID = 6,
    LAST_PREFETCH_LOCATION_TYPE = 7,
    LAST_PREFETCH_LOCATION_ID = 8,
};

/* Converts a location to one number: a device ordinal, CU_DEVICE_CPU or CU_DEVICE_INVALID. */
static int device_of(soft_place place)
{
    switch (place.type) {
    case SOFT_PLACE_DEVICE:
        return place.id;
    case SOFT_PLACE_HOST:
        return CU_DEVICE_CPU;
    default:
        return CU_DEVICE_INVALID;
    }
}

static CUresult list_accessed_by(const soft_advice *advice, int *list, size_t count)
{
    size_t used = 0;
    if (advice->accessed_by_host)
        list[used++] = CU_DEVICE_CPU;
    for (int device = 0; device < SOFT_MAX_DEVICES && used < count; device++)
        if (advice->accessed_by & 1u << device)
            list[used++] = device;
    while (used < count)
        list[used++] = CU_DEVICE_INVALID;
    return CUDA_SUCCESS;
}

static CUresult write_value(const soft_advice *advice, int attribute, void *data, size_t size)
{
    int value;
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
        return list_accessed_by(advice, data, size / sizeof(int));
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        value = advice->read_mostly;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        value = device_of(advice->preferred);
        break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        value = device_of(advice->prefetched);
        break;
    case PREFERRED_LOCATION_TYPE:
        value = advice->preferred.type;
        break;
    case PREFERRED_LOCATION_ID:
        value = advice->preferred.id;
        break;
    case LAST_PREFETCH_LOCATION_TYPE:
        value = advice->prefetched.type;
        break;
    default:
        value = advice->prefetched.id;
    }
    memcpy(data, &value, sizeof(value));
    return CUDA_SUCCESS;
}

static CUresult check_attribute(const void *data, size_t size, int attribute)
{
    bool has_size = attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
                        ? size > 0 && size % sizeof(int) == 0
                        : size == sizeof(int);
    return data && has_size && attribute >= CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY &&
                   attribute <= LAST_PREFETCH_LOCATION_ID
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult find_advice(CUdeviceptr pointer, size_t size, soft_advice *advice)
{
    SOFT_TRY(soft_check_context(NULL));
    SOFT_TRY(soft_managed_check(pointer, size));
    *advice = soft_advice_get((uintptr_t)pointer, (uintptr_t)pointer + size);
    return CUDA_SUCCESS;
}

SOFT_API cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count)
{
    SOFT_GET(soft_advice, advice, find_advice(devPtr, count, &advice));
    SOFT_TRY(check_attribute(data, dataSize, (int)attribute));
    return write_value(&advice, (int)attribute, data, dataSize);
}

SOFT_API cuMemRangeGetAttributes(void **data, size_t *dataSizes, CUmem_range_attribute *attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count)
{
    SOFT_GET(soft_advice, advice, find_advice(devPtr, count, &advice));
    SOFT_FAIL_IF(!data || !dataSizes || !attributes || !numAttributes, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < numAttributes; i++)
        SOFT_TRY(check_attribute(data[i], dataSizes[i], (int)attributes[i]));
    for (size_t i = 0; i < numAttributes; i++)
        SOFT_TRY(write_value(&advice, (int)attributes[i], data[i], dataSizes[i]));
    return CUDA_SUCCESS;
}
