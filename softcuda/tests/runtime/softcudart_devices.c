/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define GROUP "devices"
#include "softcudart.h"

#include <pthread.h>

CASE(properties_are_attributes)
{
    struct cudaDeviceProp prop;
    char bus[32];
    int value = 0, device = -1;
    memset(&prop, 0xff, sizeof(prop));
    CUDA(cudaGetDeviceProperties(&prop, 0));
    REQUIRE(prop.name[0] && strlen(prop.name) < sizeof(prop.name));
    REQUIRE(prop.warpSize == 32 && prop.maxThreadsPerBlock == 1024);
    REQUIRE(prop.maxThreadsDim[0] == 1024 && prop.maxThreadsDim[2] == 64);
    REQUIRE(prop.maxGridSize[0] == 0x7fffffff && prop.maxGridSize[1] == 65535);
    REQUIRE(prop.sharedMemPerBlock == 49152 && prop.totalGlobalMem > 0);
    REQUIRE(prop.multiProcessorCount > 0 && prop.major > 0);
    REQUIRE(prop.unifiedAddressing == 1 && prop.canMapHostMemory == 1);
    READS(value, prop.major, cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    READS(value, prop.maxThreadsPerMultiProcessor,
          cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    CUDA(cudaDeviceGetPCIBusId(bus, (int)sizeof(bus), 0));
    READS(device, 0, cudaDeviceGetByPCIBusId(&device, bus));
}

CASE(invalid_devices)
{
    struct cudaDeviceProp prop;
    int devices[] = {0, -1}, count = 0, value, runtime = 0;
    CUDA(cudaGetDeviceCount(&count));
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(count));
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(-1));
    FAILS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&prop, count));
    FAILS(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count));
    FAILS(cudaErrorInvalidDevice, cudaSetValidDevices(devices + 1, 1));
    FAILS(cudaErrorInvalidValue, cudaSetValidDevices(devices, count + 1));
    FAILS(cudaErrorInvalidValue, cudaSetValidDevices(devices, -1));
    FAILS(cudaErrorInvalidValue, cudaSetValidDevices(NULL, 1));
    FAILS(cudaErrorInvalidValue, cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
    FAILS(cudaErrorInvalidValue, cudaGetDeviceProperties(NULL, 0));
    FAILS(cudaErrorInvalidValue, cudaGetDevice(NULL));
    FAILS(cudaErrorInvalidValue, cudaRuntimeGetVersion(NULL));
    CUDA(cudaDriverGetVersion(&value));
    CUDA(cudaRuntimeGetVersion(&runtime));
    REQUIRE(value >= 13000 && runtime >= 13000 && runtime < 14000);
}

static void *device_of_thread(void *seen)
{
    if (cudaGetDevice(seen) != cudaSuccess)
        *(int *)seen = -2;
    return NULL;
}

/* Each thread has its own current device, which is device 0 at first. */
CASE(current_device_per_thread)
{
    int count = 0, device = -1, of_thread = -1;
    pthread_t thread;
    CUDA(cudaGetDeviceCount(&count));
    CUDA(cudaSetDevice(count - 1));
    READS(device, count - 1, cudaGetDevice(&device));
    REQUIRE(pthread_create(&thread, NULL, device_of_thread, &of_thread) == 0);
    pthread_join(thread, NULL);
    REQUIRE(of_thread == 0);
    CUDA(cudaSetDevice(0));
}

CASE(chosen_devices)
{
    struct cudaDeviceProp prop;
    int first = 0, device = -1;
    memset(&prop, 0, sizeof(prop));
    prop.major = 1;
    CUDA(cudaChooseDevice(&device, &prop));
    REQUIRE(device >= 0);
    CUDA(cudaSetValidDevices(&first, 1));
    READS(device, 0, cudaGetDevice(&device));
    CUDA(cudaSetValidDevices(NULL, 0));
}

CASE(limits_and_flags)
{
    size_t size = 0;
    unsigned flags = 0;
    int least = 1, greatest = 1;
    enum cudaFuncCache cache = cudaFuncCachePreferEqual;
    CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    CUDA(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    REQUIRE(size >= 4096);
    CUDA(cudaGetDeviceFlags(&flags));
    REQUIRE(flags & cudaDeviceMapHost);
    FAILS(cudaErrorInvalidValue, cudaSetDeviceFlags(0x7000));
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    REQUIRE(least == 0 && greatest <= 0);
    CUDA(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    READS(cache, cudaFuncCachePreferL1, cudaDeviceGetCacheConfig(&cache));
    CUDA(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
    CUDA(cudaInitDevice(0, 0, 0));
}

/* A reset destroys all resources. The next call initialises the device again. */
CASE(reset_destroys_resources)
{
    void *memory = NULL;
    cudaStream_t stream = NULL;
    CUDA(cudaMalloc(&memory, 64));
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaDeviceReset());
    FAILS(cudaErrorInvalidValue, cudaMemset(memory, 0, 64));
    CUDA(cudaMalloc(&memory, 64));
    CUDA(cudaMemset(memory, 0, 64));
    CUDA(cudaFree(memory));
    CUDA(cudaDeviceReset());
    CUDA(cudaDeviceReset());
    CUDA(cudaDeviceSynchronize());
}

CASE(peer_access_can_be_enabled_and_disabled)
{
    int count = 0, can = -1;
    CUDA(cudaGetDeviceCount(&count));
    READS(can, 0, cudaDeviceCanAccessPeer(&can, 0, 0));
    FAILS(cudaErrorPeerAccessUnsupported, cudaDeviceEnablePeerAccess(0, 0));
    if (count < 2)
        return;
    CUDA(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (!can)
        return;
    CUDA(cudaDeviceEnablePeerAccess(1, 0));
    FAILS(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    CUDA(cudaDeviceDisablePeerAccess(1));
    FAILS(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
}
