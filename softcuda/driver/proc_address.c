/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * cuGetProcAddress: maps a base name and a CUDA version to the symbol with the newest suffix that
 * is not newer than the version. Only names with several variants are listed; any other name is
 * itself the symbol.
 */
#include "softcuda/driver/soft.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/*
 * The suffixes of functions with several variants, the newest first. The first row that contains
 * the name and is not newer than the requested version gives the suffix. Without such a row the
 * name has no suffix.
 */
static const struct variant {
    int since;
    const char *suffix;
    const char *names; /* the names, separated and enclosed by spaces */
} variants[] = {
    {13000, "_v2", " cuCtxGetDevice cuCtxSynchronize cuMemcpy3DBatchAsync cuMemcpyBatchAsync "},
    {12080, "_v2", " cuEventElapsedTime "},
    {12050, "_v4", " cuCtxCreate "},
    {12050, "_v2", " cuStreamGetCtx "},
    {12030, "_v3", " cuStreamGetCaptureInfo "},
    {12030, "_v2",
     " cuGraphAddDependencies cuGraphAddNode cuGraphGetEdges cuGraphNodeGetDependencies "
     "cuGraphNodeGetDependentNodes cuGraphRemoveDependencies cuStreamUpdateCaptureDependencies "},
    {12020, "_v2", " cuMemAdvise cuMemPrefetchAsync "},
    {12000, "WithFlags", " cuGraphInstantiate "},
    {12000, "_v2",
     " cuGetProcAddress cuGraphAddKernelNode cuGraphExecKernelNodeSetParams cuGraphExecUpdate "
     "cuGraphKernelNodeGetParams cuGraphKernelNodeSetParams "},
    {11070, "_v2",
     " cuStreamBatchMemOp cuStreamWaitValue32 cuStreamWaitValue64 cuStreamWriteValue32 "
     "cuStreamWriteValue64 "},
    {11040, "_v3", " cuCtxCreate "},
    {11040, "_v2", " cuDeviceGetUuid "},
    {11030, "_v2", " cuStreamGetCaptureInfo "},
    {11000, "_v2",
     " cuDevicePrimaryCtxRelease cuDevicePrimaryCtxReset cuDevicePrimaryCtxSetFlags "
     "cuGraphInstantiate cuIpcOpenMemHandle "},
    {10010, "_v2", " cuStreamBeginCapture "},
    {6050, "_v2",
     " cuGLGetDevices cuGraphicsResourceSetMapFlags cuLinkAddData cuLinkAddFile cuLinkCreate "
     "cuMemHostRegister "},
    {4010, "_v3", " cuTexRefSetAddress2D "},
    {4000, "_v2", " cuCtxDestroy cuCtxPopCurrent cuCtxPushCurrent cuEventDestroy cuStreamDestroy "},
    {3020, "_v2",
     " cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayGetDescriptor cuCtxCreate "
     "cuDeviceTotalMem cuGLCtxCreate cuGLMapBufferObject cuGLMapBufferObjectAsync "
     "cuGraphicsResourceGetMappedPointer cuMemAlloc cuMemAllocHost cuMemAllocPitch cuMemFree "
     "cuMemGetAddressRange cuMemGetInfo cuMemHostGetDevicePointer cuMemcpy2D cuMemcpy2DAsync "
     "cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync cuMemcpyAtoA cuMemcpyAtoD cuMemcpyAtoH "
     "cuMemcpyAtoHAsync cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoDAsync cuMemcpyDtoH "
     "cuMemcpyDtoHAsync cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoD cuMemcpyHtoDAsync "
     "cuMemsetD16 cuMemsetD2D16 cuMemsetD2D32 cuMemsetD2D8 cuMemsetD32 cuMemsetD8 "
     "cuModuleGetGlobal cuTexRefGetAddress cuTexRefSetAddress cuTexRefSetAddress2D "},
};

static pthread_once_t open_once = PTHREAD_ONCE_INIT;
static void *self;

static void open_self(void)
{
    Dl_info info;
    if (dladdr((void *)(uintptr_t)cuInit, &info) && info.dli_fname)
        self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static const char *suffix_of(const char *name, int version)
{
    char word[128];
    snprintf(word, sizeof(word), " %s ", name);
    for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++)
        if (version >= variants[i].since && strstr(variants[i].names, word))
            return variants[i].suffix;
    return "";
}

/*
 * Tries the endings in order and returns the first symbol that this driver exports; NULL if there
 * is none. Symbols of other libraries do not count.
 */
static void *find_symbol(const char *name, const char *suffix, const char *const endings[])
{
    for (size_t i = 0; endings[i]; i++) {
        char symbol[128];
        snprintf(symbol, sizeof(symbol), "%s%s%s", name, suffix, endings[i]);
        void *address = dlsym(self, symbol);
        if (address)
            return address;
    }
    return NULL;
}

/* The version that introduced the function; 0 if the headers of the CUDA Toolkit lack it. */
static int first_version(const char *name)
{
    for (size_t i = 0; soft_since[i].name; i++)
        if (strcmp(soft_since[i].name, name) == 0)
            return soft_since[i].version;
    return 0;
}

/* Only base names are valid, as in the NVIDIA driver: cuMemAlloc_v2 is not valid. */
static bool has_suffix(const char *name)
{
    const char *suffix = strrchr(name, '_');
    return suffix && (strcmp(suffix, "_ptds") == 0 || strcmp(suffix, "_ptsz") == 0 ||
                      (suffix[1] == 'v' && suffix[2] >= '2' && suffix[2] <= '9' && !suffix[3]));
}

static CUresult find_variant(const char *symbol, void **pfn, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    static const char *const legacy[] = {"", NULL};
    static const char *const per_thread[] = {"_ptsz", "_ptds", "", NULL};
    const cuuint64_t both =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    int newest = 0;
    cuDriverGetVersion(&newest);
    SOFT_FAIL_IF(!symbol || !pfn || (flags & ~both) || version > newest, CUDA_ERROR_INVALID_VALUE);

    pthread_once(&open_once, open_self);
    void *address = NULL;
    bool wants_per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (self && strncmp(symbol, "cu", 2) == 0 && strlen(symbol) < 100 && !has_suffix(symbol))
        address =
            find_symbol(symbol, suffix_of(symbol, version), wants_per_thread ? per_thread : legacy);
    *status = address ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (address && version < first_version(symbol)) {
        *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        address = NULL;
    }
    *pfn = address;
    return CUDA_SUCCESS;
}

SOFT_API cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus)
{
    CUdriverProcAddressQueryResult status;
    return find_variant(symbol, pfn, cudaVersion, flags, symbolStatus ? symbolStatus : &status);
}

/* Unlike cuGetProcAddress_v2, leaves *pfn unchanged if nothing is found. */
SOFT_API cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult status;
    void *found = NULL;
    SOFT_TRY(find_variant(symbol, pfn ? &found : NULL, cudaVersion, flags, &status));
    SOFT_FAIL_IF(!found, CUDA_ERROR_NOT_FOUND);
    *pfn = found;
    return CUDA_SUCCESS;
}
