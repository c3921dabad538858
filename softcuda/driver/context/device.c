/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Properties of a device: name, identity and attributes. */
#include "softcuda/driver/soft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICE_NAME "grinterop software CUDA device (no GPU)"
/* A PCI address that no real device has, since software devices are on no bus. */
#define PCI_BUS_ID        "0000:00:%02x.0"
#define PCI_BUS_ID_SIZE   13
#define PCI_DOMAIN_SIZE   5 /* the length of the domain "0000:", which is optional */
#define COMPUTE_MAJOR     8
#define COMPUTE_MINOR     0
#define MAX_THREADS       1024
#define SHARED_MEMORY     49152
#define SHARED_MEMORY_MAX 101376

CUresult soft_check_device(CUdevice dev)
{
    SOFT_TRY(soft_check_init());
    return dev >= 0 && dev < soft_device_count() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* Checks the device, and that the caller has passed memory for the result. */
static CUresult query(CUdevice dev, bool has_room)
{
    CUresult result = soft_check_device(dev);
    return result == CUDA_SUCCESS && !has_room ? CUDA_ERROR_INVALID_VALUE : result;
}

SOFT_API cuDeviceGetCount(int *count)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!count, CUDA_ERROR_INVALID_VALUE);
    *count = soft_device_count();
    return CUDA_SUCCESS;
}

SOFT_API cuDeviceGet(CUdevice *device, int ordinal)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!device, CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(ordinal < 0 || ordinal >= soft_device_count(), CUDA_ERROR_INVALID_DEVICE);
    *device = ordinal;
    return CUDA_SUCCESS;
}

SOFT_API cuDeviceGetName(char *name, int len, CUdevice dev)
{
    SOFT_TRY(query(dev, name && len > 0));
    snprintf(name, (size_t)len, "%s", DEVICE_NAME);
    return CUDA_SUCCESS;
}

SOFT_API cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    SOFT_TRY(query(dev, uuid));
    soft_device_uuid(soft_device_number(dev), uuid);
    return CUDA_SUCCESS;
}

SOFT_API_v1(cuDeviceGetUuid, (CUuuid * uuid, CUdevice dev), (uuid, dev))

/* LUIDs exist on Windows only. */
SOFT_API cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)
{
    (void)luid, (void)deviceNodeMask;
    CUresult result = soft_check_device(dev);
    return result != CUDA_SUCCESS ? result : CUDA_ERROR_NOT_SUPPORTED;
}

/* Each device reports the machine's memory, which all devices share. */
SOFT_API cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    SOFT_TRY(query(dev, bytes));
    *bytes =
        (size_t)sysconf(_SC_PHYS_PAGES) / (size_t)soft_device_all() * (size_t)sysconf(_SC_PAGESIZE);
    return CUDA_SUCCESS;
}

SOFT_API cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    SOFT_TRY(query(dev, pciBusId && len >= PCI_BUS_ID_SIZE));
    snprintf(pciBusId, (size_t)len, PCI_BUS_ID, (unsigned)soft_device_number(dev));
    return CUDA_SUCCESS;
}

SOFT_API cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!dev || !pciBusId || !strchr(pciBusId, ':'), CUDA_ERROR_INVALID_VALUE);
    for (CUdevice device = 0; device < soft_device_count(); device++) {
        char own[PCI_BUS_ID_SIZE];
        if (cuDeviceGetPCIBusId(own, sizeof(own), device) == CUDA_SUCCESS &&
            (strcmp(pciBusId, own) == 0 || strcmp(pciBusId, own + PCI_DOMAIN_SIZE) == 0)) {
            *dev = device;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

SOFT_API cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    SOFT_TRY(query(dev, major && minor));
    *major = COMPUTE_MAJOR;
    *minor = COMPUTE_MINOR;
    return CUDA_SUCCESS;
}

/* The device attributes that are not 0. All other existing attributes are 0. */
static const struct {
    CUdevice_attribute attribute;
    int value;
} attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, MAX_THREADS},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, MAX_THREADS},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, MAX_THREADS},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, SHARED_MEMORY},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, SHARED_MEMORY_MAX},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, SHARED_MEMORY_MAX},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 1},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 64},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, COMPUTE_MAJOR},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, COMPUTE_MINOR},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 32768},
    /* A multiple of 6, for whole cubes. */
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 28},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    /* Attributes of cuda.h 11.7 and newer, for 64-bit waits and CU_STREAM_WAIT_VALUE_NOR. */
    {(CUdevice_attribute)122, 1},
    {(CUdevice_attribute)123, 1},
    {(CUdevice_attribute)125, 1}, /* CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED */
    /* Attributes of CUDA 13, for pools on a NUMA node and on the host. */
    {(CUdevice_attribute)142, 1},
    {(CUdevice_attribute)144, 1},
};

/* The highest attribute in CUDA 13.0. All lower values exist. */
#define LAST_ATTRIBUTE 147

SOFT_API cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    SOFT_TRY(query(dev, pi && (int)attrib >= 1 && (int)attrib <= LAST_ATTRIBUTE));

    *pi = 0;
    if (attrib == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        *pi = processors > 0 ? (int)processors : 1;
        return CUDA_SUCCESS;
    }
    if (attrib == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
        *pi = soft_device_number(dev);
    for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
        if (attributes[i].attribute == attrib)
            *pi = attributes[i].value;
    return CUDA_SUCCESS;
}
