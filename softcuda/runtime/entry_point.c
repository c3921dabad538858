/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Lookup of driver functions by name, and kernel libraries, which the driver implements. */
#include "softcuda/runtime/runtime.h"

/*
 * Reports a missing symbol through `status`. If `status` is NULL, the call fails for a missing
 * symbol.
 */
static CUresult look_up(const char *symbol, void **function, int version, unsigned long long flags,
                        enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    if (rt_per_thread && !(flags & (cudaEnableLegacyStream | cudaEnablePerThreadDefaultStream)))
        flags |= cudaEnablePerThreadDefaultStream;
    SOFT_TRY(cuGetProcAddress_v2(symbol, function, version, flags, &found));
    if (status)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return status || found == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

RT_FORWARD_ptsz(cudaGetDriverEntryPoint,
                (const char *symbol, void **funcPtr, unsigned long long flags,
                 enum cudaDriverEntryPointQueryResult *driverStatus),
                look_up(symbol, funcPtr, CUDART_VERSION, flags, driverStatus))
RT_FORWARD_ptsz(cudaGetDriverEntryPointByVersion,
                (const char *symbol, void **funcPtr, unsigned int cudaVersion,
                 unsigned long long flags, enum cudaDriverEntryPointQueryResult *driverStatus),
                look_up(symbol, funcPtr, (int)cudaVersion, flags, driverStatus))

/* ---- Libraries ------------------------------------------------------------------------------- */

/*
 * The options are for a JIT compiler, which does not exist here. The driver only checks that
 * their arrays are not NULL.
 */
RT_FORWARD(cudaLibraryLoadData,
           (cudaLibrary_t * library, const void *code, enum cudaJitOption *jitOptions,
            void **jitOptionsValues, unsigned int numJitOptions,
            enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
            unsigned int numLibraryOptions),
           cuLibraryLoadData((CUlibrary *)library, code, (CUjit_option *)(void *)jitOptions,
                             jitOptionsValues, numJitOptions,
                             (CUlibraryOption *)(void *)libraryOptions, libraryOptionValues,
                             numLibraryOptions))
RT_FORWARD(cudaLibraryLoadFromFile,
           (cudaLibrary_t * library, const char *fileName, enum cudaJitOption *jitOptions,
            void **jitOptionsValues, unsigned int numJitOptions,
            enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
            unsigned int numLibraryOptions),
           cuLibraryLoadFromFile((CUlibrary *)library, fileName, (CUjit_option *)(void *)jitOptions,
                                 jitOptionsValues, numJitOptions,
                                 (CUlibraryOption *)(void *)libraryOptions, libraryOptionValues,
                                 numLibraryOptions))
RT_FORWARD(cudaLibraryUnload, (cudaLibrary_t library), cuLibraryUnload((CUlibrary)library))
RT_FORWARD(cudaLibraryGetKernel, (cudaKernel_t * pKernel, cudaLibrary_t library, const char *name),
           cuLibraryGetKernel((CUkernel *)pKernel, (CUlibrary)library, name))
RT_FORWARD(cudaLibraryGetGlobal,
           (void **dptr, size_t *bytes, cudaLibrary_t library, const char *name),
           cuLibraryGetGlobal((CUdeviceptr *)dptr, bytes, (CUlibrary)library, name))
