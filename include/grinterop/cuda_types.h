/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The CUDA handle types, and the values that grinterop passes to CUDA, so that the other headers do
 * not need the CUDA Toolkit. The handles are declared exactly as in cuda.h of the CUDA Toolkit,
 * dynlink_cuda.h of ffnvcodec and cuew.h. These headers may be included before or after this one.
 *
 * Some headers, such as those of GStreamer and slang-rhi, declare the handles by other types of the
 * same size. With such a header, define GR_OWN_CUDA_TYPES first, and declare the handles that the
 * header lacks.
 */
#ifndef GR_CUDA_TYPES_H
#define GR_CUDA_TYPES_H

#ifndef GR_OWN_CUDA_TYPES
/* An address in CUDA memory. */
#if defined(_WIN64) || defined(__LP64__)
typedef unsigned long long CUdeviceptr;
#else
typedef unsigned int CUdeviceptr;
#endif
typedef unsigned long long CUtexObject;  /* a texture object */
typedef unsigned long long CUsurfObject; /* a surface object */

typedef struct CUctx_st *CUcontext;                       /* a context */
typedef struct CUstream_st *CUstream;                     /* a stream */
typedef struct CUevent_st *CUevent;                       /* an event */
typedef struct CUarray_st *CUarray;                       /* an array */
typedef struct CUmipmappedArray_st *CUmipmappedArray;     /* a mipmapped array */
typedef struct CUgraphicsResource_st *CUgraphicsResource; /* a resource registered by the driver */
typedef struct CUextMemory_st *CUexternalMemory;          /* imported memory */
typedef struct CUextSemaphore_st *CUexternalSemaphore;    /* an imported semaphore */
#endif

/*
 * The format of one channel, or of a packed or compressed texel: values of CUarray_format, except
 * the last ones. A `format` field also accepts the other values of CUarray_format.
 */
enum {
    GR_FORMAT_UNSIGNED_INT8 = 0x01,
    GR_FORMAT_UNSIGNED_INT16 = 0x02,
    GR_FORMAT_UNSIGNED_INT32 = 0x03,
    GR_FORMAT_SIGNED_INT8 = 0x08,
    GR_FORMAT_SIGNED_INT16 = 0x09,
    GR_FORMAT_SIGNED_INT32 = 0x0a,
    GR_FORMAT_HALF = 0x10,
    GR_FORMAT_FLOAT = 0x20,

    /* Packed texels, red in the lowest bits: 4 channels. Drivers since CUDA 12.8. */
    GR_FORMAT_UNORM_INT_101010_2 = 0x50,

    /*
     * Compressed blocks of 4 x 4 texels: 4 channels, but BC4 has 1, BC5 has 2, and BC6H has 3.
     * Drivers since CUDA 12.8.
     */
    GR_FORMAT_BC1_UNORM = 0x91,
    GR_FORMAT_BC1_UNORM_SRGB = 0x92,
    GR_FORMAT_BC2_UNORM = 0x93,
    GR_FORMAT_BC2_UNORM_SRGB = 0x94,
    GR_FORMAT_BC3_UNORM = 0x95,
    GR_FORMAT_BC3_UNORM_SRGB = 0x96,
    GR_FORMAT_BC4_UNORM = 0x97,
    GR_FORMAT_BC4_SNORM = 0x98,
    GR_FORMAT_BC5_UNORM = 0x99,
    GR_FORMAT_BC5_SNORM = 0x9a,
    GR_FORMAT_BC6H_UF16 = 0x9b,
    GR_FORMAT_BC6H_SF16 = 0x9c,
    GR_FORMAT_BC7_UNORM = 0x9d,
    GR_FORMAT_BC7_UNORM_SRGB = 0x9e,

    /*
     * Packed texels that CUDA lacks: its arrays have one GR_FORMAT_UNSIGNED_INT32 per texel, or
     * UNSIGNED_INT16 of 5:6:5, and gr_publish() and gr_fetch() convert them. The names are those of
     * Vulkan: the first channel is in the highest bits. With alpha 4 channels, otherwise 3.
     */
    GR_FORMAT_A2B10G10R10 = 0x10001,
    GR_FORMAT_A2R10G10B10 = 0x10002,
    GR_FORMAT_B10G11R11 = 0x10003,
    GR_FORMAT_E5B9G9R9 = 0x10004,
    GR_FORMAT_R5G6B5 = 0x10005,
    GR_FORMAT_B5G6R5 = 0x10006
};

/* Handle types of memory: the values of CUexternalMemoryHandleType. */
enum {
    GR_EXTERNAL_MEMORY_OPAQUE_FD = 1,
    GR_EXTERNAL_MEMORY_OPAQUE_WIN32 = 2,
    GR_EXTERNAL_MEMORY_OPAQUE_WIN32_KMT = 3,
    GR_EXTERNAL_MEMORY_D3D12_HEAP = 4,
    GR_EXTERNAL_MEMORY_D3D12_RESOURCE = 5,
    GR_EXTERNAL_MEMORY_D3D11_RESOURCE = 6,
    GR_EXTERNAL_MEMORY_D3D11_RESOURCE_KMT = 7,
    GR_EXTERNAL_MEMORY_NVSCIBUF = 8,
    GR_EXTERNAL_MEMORY_DMABUF_FD = 9
};

/* Handle types of semaphores: the values of CUexternalSemaphoreHandleType. */
enum {
    GR_EXTERNAL_SEMAPHORE_OPAQUE_FD = 1,
    GR_EXTERNAL_SEMAPHORE_OPAQUE_WIN32 = 2,
    GR_EXTERNAL_SEMAPHORE_OPAQUE_WIN32_KMT = 3,
    GR_EXTERNAL_SEMAPHORE_D3D12_FENCE = 4,
    GR_EXTERNAL_SEMAPHORE_D3D11_FENCE = 5,
    GR_EXTERNAL_SEMAPHORE_NVSCISYNC = 6,
    GR_EXTERNAL_SEMAPHORE_D3D11_KEYED_MUTEX = 7,
    GR_EXTERNAL_SEMAPHORE_D3D11_KEYED_MUTEX_KMT = 8,
    GR_EXTERNAL_SEMAPHORE_TIMELINE_SEMAPHORE_FD = 9,
    GR_EXTERNAL_SEMAPHORE_TIMELINE_SEMAPHORE_WIN32 = 10
};

#endif
