/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The undocumented tables by which NVIDIA's libraries call NVIDIA's driver. They do not exist here,
 * so such a library cannot work.
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
