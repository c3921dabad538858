/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * NVIDIA libraries call the NVIDIA driver through undocumented tables. This driver has no such
 * tables, so those libraries cannot work with it.
 */
#include "softcuda/driver/soft.h"

SOFT_API cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    static int logged;
    (void)ppExportTable, (void)pExportTableId;
    if (!__atomic_exchange_n(&logged, 1, __ATOMIC_RELAXED))
        soft_log(SOFT_WARN, "this program runs NVIDIA's libcudart, which works only with NVIDIA's "
                            "driver: do not link it (-lcudart, or CMake's CUDA::cudart); "
                            "grinterop-nvcc links its own runtime, libgrinterop-softcudart");
    return CUDA_ERROR_NOT_SUPPORTED;
}
