/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Enables peer access between two devices: see peer_access.h. */
#include "lib/cuda/peer_access.h"

#include "lib/cuda/driver.h"

CUresult gr_peer_access_enable(CUcontext owner)
{
    CUresult result = gr_driver()->CtxEnablePeerAccess(owner, 0);
    return result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ? CUDA_SUCCESS : result;
}

static CUmemAccessDesc access_from(CUdevice device)
{
    return (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
                             .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

CUresult gr_peer_access_open_pool(CUdevice owner, CUdevice device)
{
    CUmemoryPool pool;
    const CUmemAccessDesc access = access_from(device);
    CUresult result = gr_driver()->DeviceGetMemPool(&pool, owner);
    return result == CUDA_SUCCESS ? gr_driver()->MemPoolSetAccess(pool, &access, 1) : result;
}

CUresult gr_peer_access_open_range(CUdeviceptr ptr, size_t size, CUdevice device)
{
    const CUmemAccessDesc access = access_from(device);
    return gr_driver()->MemSetAccess(ptr, size, &access, 1);
}
