/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables by which NVIDIA's libraries call NVIDIA's driver. They are not documented, so there
 * are none here, and what asks for one cannot work.
 */
#include "softcuda/driver/soft.h"

SOFT_API cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    static int logged;
    (void)ppExportTable, (void)pExportTableId;
    if (!__atomic_exchange_n(&logged, 1, __ATOMIC_RELAXED))
        soft_log(SOFT_WARN,
                 "this program runs NVIDIA's libcudart, which works with NVIDIA's driver alone: "
                 "leave it out of the link (-lcudart, or CMake's CUDA::cudart); grinterop-nvcc "
                 "links a runtime of its own, libgrinterop-softcudart");
    return CUDA_ERROR_NOT_SUPPORTED;
}
