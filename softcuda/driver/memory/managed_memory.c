/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Advice about managed memory. The host and all devices can access all of it anyway, so advice is
 * only checked and stored.
 */
#include "softcuda/driver/memory/managed_advice.h"
#include "softcuda/driver/memory/managed_memory.h"

/* ---- Arguments ------------------------------------------------------------------------------- */

CUresult soft_managed_check(CUdeviceptr pointer, size_t size)
{
    soft_range range;
    SOFT_FAIL_IF(!size || !soft_range_find((void *)(uintptr_t)pointer, &range) ||
                     !soft_is_managed(&range) ||
                     size > range.size - (size_t)((unsigned char *)(uintptr_t)pointer - range.base),
                 CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

soft_place soft_place_of_device(CUdevice device)
{
    return device == CU_DEVICE_CPU ? (soft_place){SOFT_PLACE_HOST, 0}
                                   : (soft_place){SOFT_PLACE_DEVICE, device};
}

soft_place soft_place_of_location(const CUmemLocation *location)
{
    soft_place place = {(int)location->type, location->id};
    if (place.type == SOFT_PLACE_HOST)
        place.id = 0;
    if (place.type == SOFT_PLACE_CURRENT_NODE)
        place = (soft_place){SOFT_PLACE_NODE, 0};
    return place;
}

CUresult soft_place_check(soft_place place)
{
    switch (place.type) {
    case SOFT_PLACE_DEVICE:
        return soft_check_device(place.id);
    case SOFT_PLACE_HOST:
        return CUDA_SUCCESS;
    case SOFT_PLACE_NODE:
        return place.id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* ---- Advice ---------------------------------------------------------------------------------- */

struct advise {
    CUmem_advise advice;
    soft_place place;
};

static void set_accessed_by(soft_advice *advice, soft_place place, bool accessed)
{
    if (place.type == SOFT_PLACE_HOST)
        advice->accessed_by_host = accessed;
    else if (accessed)
        advice->accessed_by |= 1u << place.id;
    else
        advice->accessed_by &= ~(1u << place.id);
}

static void apply_advice(soft_advice *advice, const void *how)
{
    const struct advise *given = how;
    switch (given->advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
        advice->read_mostly = given->advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        advice->preferred = given->place;
        break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        advice->preferred = (soft_place){SOFT_PLACE_NONE, 0};
        break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        set_accessed_by(advice, given->place, given->advice == CU_MEM_ADVISE_SET_ACCESSED_BY);
        break;
    }
}

/*
 * Checks the location, if this kind of advice has one. ACCESSED_BY refuses NUMA nodes, which do not
 * access memory.
 */
static CUresult check_advice(const struct advise *given)
{
    switch (given->advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        return soft_place_check(given->place);
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        return given->place.type == SOFT_PLACE_NODE ? CUDA_ERROR_INVALID_VALUE
                                                    : soft_place_check(given->place);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static bool is_pool_memory(CUdeviceptr pointer)
{
    soft_range range;
    return soft_range_find((void *)(uintptr_t)pointer, &range) && range.kind == SOFT_MEMORY_POOL;
}

static CUresult advise(CUdeviceptr pointer, size_t size, CUmem_advise advice, soft_place place)
{
    const struct advise given = {advice, place};
    SOFT_TRY(soft_check_context(NULL));
    SOFT_TRY(soft_managed_check(pointer, size));
    SOFT_TRY(check_advice(&given));
    SOFT_FAIL_IF(is_pool_memory(pointer),
                 CUDA_ERROR_NOT_SUPPORTED); /* as on a GPU: memory of a pool has no advice */
    return soft_advise((uintptr_t)pointer, (uintptr_t)pointer + size, apply_advice, &given);
}

SOFT_FORWARD(cuMemAdvise, (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device),
             advise(devPtr, count, advice, soft_place_of_device(device)))

#if CUDA_VERSION >= 12020
SOFT_FORWARD(cuMemAdvise_v2,
             (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location),
             advise(devPtr, count, advice, soft_place_of_location(&location)))
#endif
