/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions of soft_devices.h, which the cases of test_soft_devices share. */
#include "soft_devices.h"

#include <string.h>

struct two_devices two;

void use_device(int i)
{
    CU(CtxSetCurrent(two.context[i]));
}

void set_memory(int i, CUdeviceptr memory, size_t size, int value)
{
    CUcontext before;
    CU(CtxGetCurrent(&before));
    use_device(i);
    CU(MemsetD8Async(memory, (unsigned char)value, size, two.stream[i]));
    CU(StreamSynchronize(two.stream[i]));
    CU(CtxSetCurrent(before));
}

/* Waits until both devices are idle, then copies in the context that owns the memory. */
const char *memory_differs(CUdeviceptr memory, size_t size, int value)
{
    CUcontext before;
    int owner = 0;
    unsigned char *bytes = must_allocate(size);
    CU(CtxGetCurrent(&before));
    for (int i = 0; i < 2; i++) {
        use_device(i);
        CU(CtxSynchronize());
    }
    CU(PointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    use_device(owner == two.device[1]);
    CU(MemcpyDtoH(bytes, memory, size));
    CU(CtxSetCurrent(before));
    return bytes_differ_once(bytes, size, value);
}

static void begin_one(int i)
{
    CU(DeviceGet(&two.device[i], i));
    CU(DevicePrimaryCtxRetain(&two.context[i], two.device[i]));
    use_device(i);
    CU(StreamCreate(&two.stream[i], CU_STREAM_NON_BLOCKING));
    CU(MemAlloc(&two.memory[i], SIZE));
    set_memory(i, two.memory[i], SIZE, DEVICE_BYTE(i));
}

void two_begin(void)
{
    int count = 0;
    memset(&two, 0, sizeof(two));
    CU(DeviceGetCount(&count));
    if (count < 2)
        return;
    two.there = true;
    begin_one(0);
    begin_one(1);
    use_device(0);
}

static void two_end(void)
{
    if (!two.there)
        return;
    for (int i = 0; i < 2; i++) {
        use_device(i);
        CU(StreamSynchronize(two.stream[i]));
        CU(StreamDestroy(two.stream[i]));
        CU(MemFree(two.memory[i]));
        CU(DevicePrimaryCtxRelease(two.device[i]));
    }
    CU(CtxSetCurrent(fx.context));
}

TCase *add_two_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), two_begin, two_end);
}

/* ---- Virtual memory -------------------------------------------------------------------------- */

CUdeviceptr virtual_memory(int i, size_t *size, int *fd)
{
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = two.device[i]},
    };
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr address = 0;
    CU(MemGetAllocationGranularity(size, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    CU(MemCreate(&handle, *size, &prop, 0));
    CU(MemAddressReserve(&address, *size, 0, 0, 0));
    CU(MemMap(address, *size, 0, handle, 0));
    if (fd)
        CU(MemExportToShareableHandle(fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CU(MemRelease(handle));
    return address;
}

CUmemAccessDesc access_of(int i, CUmemAccess_flags flags)
{
    return (CUmemAccessDesc){.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = two.device[i]},
                             .flags = flags};
}
