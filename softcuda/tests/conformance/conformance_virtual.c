/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The codes for virtual memory management (cuMemCreate, cuMemMap, cuMemSetAccess, ...), and the
 * bytes that two mappings of one allocation share.
 */
#define _GNU_SOURCE
#include "conformance_share.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

static void *as_handle(int fd)
{
    return (void *)(intptr_t)fd;
}

GROUP("virtual memory", add_case)

TEST(granularity_codes)
{
    CUmemAllocationProp prop = share_properties(CU_MEM_HANDLE_TYPE_NONE);
    size_t least = 0, best = 0;
    int value = 0;
    CALL(SUCCESS, MemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL(SUCCESS, MemGetAllocationGranularity(&best, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    ck_assert_uint_eq(least, 2 << 20);
    ck_assert_uint_eq(best % least, 0);
    CALL(ERROR_INVALID_VALUE,
         MemGetAllocationGranularity(NULL, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL(ERROR_INVALID_VALUE,
         MemGetAllocationGranularity(&least, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL(ERROR_INVALID_VALUE,
         MemGetAllocationGranularity(&least, &prop, (CUmemAllocationGranularity_flags)7));
    prop.location.id = 999;
    CALL(SUCCESS, MemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL_READS(value, 1,
               DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                  fx.device));
    CALL_READS(value, 1,
               DeviceGetAttribute(&value,
                                  CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                                  fx.device));
}

TEST(allocation_codes)
{
    CUmemAllocationProp prop = share_properties(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), seen;
    CUmemGenericAllocationHandle a = 0, b = 0;
    size_t size = share_granule();
    CALL(ERROR_INVALID_VALUE, MemCreate(NULL, size, &prop, 0));
    CALL(ERROR_INVALID_VALUE, MemCreate(&a, size, NULL, 0));
    CALL(ERROR_INVALID_VALUE, MemCreate(&a, 0, &prop, 0));
    CALL(ERROR_INVALID_VALUE, MemCreate(&a, size + 4096, &prop, 0));
    CALL(ERROR_INVALID_VALUE, MemCreate(&a, size, &prop, 1));
    CALL(ERROR_OUT_OF_MEMORY, MemCreate(&a, (size_t)1 << 50, &prop, 0));
    CUmemAllocationProp good = prop;
#define CREATE(row, code, change) row(code, change, MemCreate(&a, size, &changed, 0))
    CREATE(CALL_WITH, ERROR_INVALID_VALUE, type = CU_MEM_ALLOCATION_TYPE_INVALID);
    CREATE(CALL_WITH, ERROR_INVALID_DEVICE, location.id = 999);
    CREATE(CALL_WITH, ERROR_INVALID_VALUE, location.type = CU_MEM_LOCATION_TYPE_INVALID);
    CREATE(CALL_SOFT_WITH, ERROR_INVALID_VALUE, win32HandleMetaData = &a);
    CREATE(CALL_SOFT_WITH, ERROR_INVALID_VALUE,
           requestedHandleTypes = (CUmemAllocationHandleType)0x40);
    CREATE(CALL_SOFT_WITH, ERROR_NOT_SUPPORTED, requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32);
    CREATE(CALL_SOFT_WITH, ERROR_NOT_SUPPORTED,
           requestedHandleTypes = (CUmemAllocationHandleType)8);
    CREATE(CALL_SOFT_WITH, ERROR_NOT_SUPPORTED, location.type = (CUmemLocationType)2);
    CREATE(CALL_SOFT_WITH, ERROR_NOT_SUPPORTED, allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL);
    CREATE(CALL_SOFT_WITH, ERROR_NOT_SUPPORTED, allocFlags.gpuDirectRDMACapable = 1);
#undef CREATE
    ck_assert(a == 0 || !gr_cuda_is_software());

    CALL(SUCCESS, MemCreate(&a, size, &prop, 0));
    CALL(SUCCESS, MemCreate(&b, 2 * size, &prop, 0));
    ck_assert_uint_ne(a, b);
    CALL(SUCCESS, MemGetAllocationPropertiesFromHandle(&seen, b));
    CALL_SOFT(ERROR_INVALID_VALUE, MemGetAllocationPropertiesFromHandle(NULL, b));
    ck_assert_int_eq(seen.location.id, fx.device);
    ck_assert_int_eq(seen.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CALL(SUCCESS, MemRelease(a));
    CALL_SOFT(ERROR_INVALID_VALUE, MemRelease(a)); /* undefined on a GPU */
    CALL_SOFT(ERROR_INVALID_VALUE, MemGetAllocationPropertiesFromHandle(&seen, a));
    CALL(SUCCESS, MemRelease(b));
    CALL_SOFT(ERROR_INVALID_VALUE, MemRelease(0));
}

TEST(reservation_codes)
{
    CUdeviceptr p = 0, q = 0;
    size_t size = share_granule();
    CALL(ERROR_INVALID_VALUE, MemAddressReserve(NULL, size, 0, 0, 0));
    CALL(ERROR_INVALID_VALUE, MemAddressReserve(&p, 0, 0, 0, 0));
    CALL(ERROR_INVALID_VALUE, MemAddressReserve(&p, 1, 0, 0, 0));
    CALL(ERROR_INVALID_VALUE, MemAddressReserve(&p, size, 3, 0, 0));
    CALL(ERROR_INVALID_VALUE, MemAddressReserve(&p, size, 0, 0, 1));
    CALL(SUCCESS, MemAddressReserve(&p, 2 * size, 0, 0, 0));
    ck_assert_uint_eq(p % size, 0);
    CALL(SUCCESS, MemAddressReserve(&q, size, 8 * size, 0, 0));
    ck_assert_uint_eq(q % (8 * size), 0);
    CALL(ERROR_INVALID_VALUE, MemAddressFree(p, size));
    CALL(ERROR_INVALID_VALUE, MemAddressFree(p + size, size));
    CALL(SUCCESS, MemAddressFree(p, 2 * size));
    CALL(SUCCESS, MemAddressFree(q, size));
    CALL_SOFT(ERROR_INVALID_VALUE, MemAddressFree(q, size));
    CALL_SOFT(ERROR_INVALID_VALUE, MemAddressReserve(&q, size, 0, 1, 0));
    CALL_SOFT(ERROR_OUT_OF_MEMORY, MemAddressReserve(&q, SIZE_MAX - 0xffff, 0, 0, 0));
}

/* A hint that is in use is ignored. */
TEST(reservation_uses_the_hint_if_it_is_free)
{
    if (!gr_cuda_is_software())
        skip("NVIDIA does not document when its driver uses a hint");
    size_t size = share_granule();
    const CUdeviceptr wanted = (CUdeviceptr)1 << 36; /* far below the system's own mappings */
    CUdeviceptr first = 0, beside = 0;
    CALL(SUCCESS, MemAddressReserve(&first, size, 0, wanted, 0));
    if (!sanitizer())
        ck_assert_uint_eq(first, wanted);
    CALL(SUCCESS, MemAddressReserve(&beside, size, 0, first, 0));
    ck_assert_uint_ne(beside, first);
    CU(MemAddressFree(beside, size));
    CU(MemAddressFree(first, size));
}

TEST(mapping_codes)
{
    size_t size = share_granule();
    CUmemGenericAllocationHandle one = share_create(size), two = share_create(2 * size);
    CUdeviceptr p = 0;
    CU(MemAddressReserve(&p, 4 * size, 0, 0, 0));
    CALL(ERROR_INVALID_VALUE, MemMap(p, size, 0, one, 1));
    CALL(ERROR_INVALID_VALUE, MemMap(p, 0, 0, one, 0));
    CALL(ERROR_NOT_SUPPORTED, MemMap(p, size / 2, 0, one, 0));
    CALL(ERROR_INVALID_VALUE, MemMap(p + size / 2, size, 0, one, 0));
    CALL(ERROR_NOT_SUPPORTED, MemMap(p, 2 * size, 0, one, 0));
    /* The NVIDIA driver accepts this call and maps beyond the end of the reservation. */
    CALL_SOFT(ERROR_INVALID_VALUE, MemMap(p + 3 * size, 2 * size, 0, two, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, MemMap(p, size, size, two, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, MemMap(p, size, 0, 0, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, MemMap(p, size, 4096, one, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, MemMap(p + 4 * size, size, 0, one, 0));

    CALL(SUCCESS, MemMap(p, size, 0, one, 0));
    CALL(ERROR_INVALID_VALUE, MemMap(p, size, 0, one, 0));
    CALL(SUCCESS, MemMap(p + size, 2 * size, 0, two, 0));
    CALL(ERROR_INVALID_VALUE, MemMap(p + 2 * size, size, 0, one, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, MemAddressFree(p, 4 * size));
    CALL(ERROR_INVALID_VALUE, MemUnmap(p + size, size));
    /* The NVIDIA driver accepts an unmap of addresses at which nothing is mapped. */
    CALL_SOFT(ERROR_INVALID_VALUE, MemUnmap(p + 3 * size, size));
    CALL_SOFT(ERROR_INVALID_VALUE, MemUnmap(p, 4 * size));
    CALL_SOFT(ERROR_INVALID_VALUE, MemFree(p));
    CALL(SUCCESS, MemUnmap(p, size));
    CALL(SUCCESS, MemUnmap(p + size, 2 * size));
    CALL_SOFT(ERROR_INVALID_VALUE, MemUnmap(p, size));
    CALL(SUCCESS, MemMap(p + size, size, 0, one, 0));
    CALL(SUCCESS, MemUnmap(p + size, size));
    CALL(SUCCESS, MemAddressFree(p, 4 * size));
    CU(MemRelease(one));
    CU(MemRelease(two));
}

TEST(access_codes)
{
    size_t size = share_granule();
    CUmemGenericAllocationHandle handle = share_create(size);
    CUmemAccessDesc access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    unsigned long long flags = 99;
    unsigned char b[16] = "";
    CUdeviceptr p = 0;
    CU(MemAddressReserve(&p, 2 * size, 0, 0, 0));
    CALL(ERROR_INVALID_VALUE, MemSetAccess(p, size, &access, 1));
    CU(MemMap(p, size, 0, handle, 0));
    CALL_READS(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE, MemGetAccess(&flags, &access.location, p));
    CALL_SOFT(ERROR_INVALID_VALUE, MemcpyHtoD(p, b, sizeof(b)));
    CALL(ERROR_INVALID_VALUE, MemSetAccess(p, size, NULL, 1));
    CALL(ERROR_INVALID_VALUE, MemSetAccess(p, 0, &access, 1));
    CALL(ERROR_INVALID_VALUE, MemSetAccess(p, 2 * size, &access, 1));
    CALL_SOFT(ERROR_INVALID_VALUE, MemSetAccess(p, size, &access, 0));
    access.flags = (CUmemAccess_flags)8;
    CALL(ERROR_INVALID_VALUE, MemSetAccess(p, size, &access, 1));
    access.flags = (CUmemAccess_flags)2;
    CALL_SOFT(ERROR_INVALID_VALUE, MemSetAccess(p, size, &access, 1));
    access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    access.location.type = (CUmemLocationType)2; /* the host */
    CALL_SOFT(ERROR_NOT_SUPPORTED, MemSetAccess(p, size, &access, 1));
    CALL_SOFT(ERROR_NOT_SUPPORTED, MemGetAccess(&flags, &access.location, p));
    access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CALL_SOFT(ERROR_INVALID_VALUE, MemGetAccess(&flags, &access.location, p + size));
    access.location.id = 999;
    CALL(ERROR_INVALID_VALUE, MemSetAccess(p, size, &access, 1));
    access.location.id = fx.device;
    CALL(SUCCESS, MemSetAccess(p, size, &access, 1));
    CALL_READS(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
               MemGetAccess(&flags, &access.location, p));
    CALL(ERROR_INVALID_VALUE, MemGetAccess(NULL, &access.location, p));
    CALL(ERROR_INVALID_VALUE, MemGetAccess(&flags, NULL, p));
    CALL(SUCCESS, MemcpyHtoD(p + size - sizeof(b), b, sizeof(b)));
    /* On a GPU a copy beyond the mapping faults, which ends the CUDA context. */
    CALL_SOFT(ERROR_INVALID_VALUE, MemcpyHtoD(p + size - 8, b, sizeof(b)));
    /* On a GPU a small copy from the host may still be running when the call returns. */
    CU(CtxSynchronize());
    CU(MemUnmap(p, size));
    CALL_SOFT(ERROR_INVALID_VALUE, MemcpyHtoD(p, b, sizeof(b)));
    CU(MemAddressFree(p, 2 * size));
    CU(MemRelease(handle));
}

/* Two adjacent mappings act as one, and one allocation at two addresses is the same memory. */
TEST(two_mappings_share_the_bytes_of_an_allocation)
{
    size_t size = share_granule();
    CUmemGenericAllocationHandle a = share_create(size), b = share_create(size);
    const CUmemAccessDesc access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUdeviceptr p = 0, second = share_map(b, size);
    CU(MemAddressReserve(&p, 2 * size, 0, 0, 0));
    CU(MemMap(p, size, 0, a, 0));
    CU(MemMap(p + size, size, 0, b, 0));
    CALL(SUCCESS, MemSetAccess(p, 2 * size, &access, 1));
    share_write(p, 2 * size, 1);
    share_assert(p, 2 * size, 1);
    CALL(SUCCESS, MemcpyDtoDAsync(p + size / 2, p + size, size / 2, fx.stream));
    CALL(SUCCESS, MemcpyDtoDAsync(p, p + size - 512, 1024, fx.stream));
    CALL(SUCCESS, StreamSynchronize(fx.stream));

    share_write(p + size, size, 7);
    share_assert(second, size, 7);
    share_write(second, size, 8);
    share_assert(p + size, size, 8);
    CALL(SUCCESS, MemUnmap(p, 2 * size));
    CU(MemAddressFree(p, 2 * size));
    share_assert(second, size, 8);
    share_unmap(second, size);
    CU(MemRelease(a));
    CU(MemRelease(b));
}

static void set_access(CUdeviceptr at, size_t size, CUmemAccess_flags flags)
{
    const CUmemAccessDesc access = share_access(flags);
    unsigned long long seen = 99;
    CU(MemSetAccess(at, size, &access, 1));
    CALL_READS(seen, flags, MemGetAccess(&seen, &access.location, at + size - 1));
}

/* Of two adjacent mappings, the second is found, too, although the search begins at the first. */
TEST(access_to_each_mapping_can_be_changed)
{
    if (!gr_cuda_is_software())
        skip("on a GPU an access without permission ends the CUDA context");
    size_t size = share_granule();
    CUmemGenericAllocationHandle first = share_create(size), second = share_create(size), found = 0;
    CUdeviceptr p = 0;
    CU(MemAddressReserve(&p, 3 * size, 0, 0, 0));
    CU(MemMap(p + size, size, 0, second, 0));
    CU(MemMap(p, size, 0, first, 0));
    set_access(p, 2 * size, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    share_write(p, size, 1);
    share_write(p + size, size, 2);
    set_access(p + size, size, CU_MEM_ACCESS_FLAGS_PROT_READ);
    share_assert(p + size, size, 2);
    set_access(p + size, size, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CALL(ERROR_INVALID_VALUE, MemsetD8(p + size, 1, size));
    set_access(p + size, size, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    share_write(p + size, size, 3);
    share_assert(p, size, 1);
    share_assert(p + size, size, 3);
    CALL_READS(found, second, MemRetainAllocationHandle(&found, (void *)(uintptr_t)(p + size + 8)));
    CALL(ERROR_INVALID_VALUE, MemRetainAllocationHandle(&found, (void *)(uintptr_t)(p + 2 * size)));
    CU(MemUnmap(p, 2 * size));
    CU(MemAddressFree(p, 3 * size));
    CU(MemRelease(first));
    CU(MemRelease(second));
    CU(MemRelease(second));
}

/* Memory exists while it has a mapping or a handle. */
TEST(allocation_lives_while_mapped_or_held)
{
    size_t size = share_granule();
    CUmemGenericAllocationHandle handle = share_create(size), again = 0;
    CUdeviceptr p = share_map(handle, size);
    share_write(p, size, 3);
    CALL_READS(again, handle, MemRetainAllocationHandle(&again, (void *)(uintptr_t)(p + 5)));
    CALL(SUCCESS, MemRelease(again));
    CALL(SUCCESS, MemRelease(handle));
    share_assert(p, size, 3);
    CALL(SUCCESS, MemRetainAllocationHandle(&again, (void *)(uintptr_t)p));
    CALL(SUCCESS, MemUnmap(p, size));
    CALL(ERROR_INVALID_VALUE, MemRetainAllocationHandle(&again, (void *)(uintptr_t)p));
    CU(MemAddressFree(p, size));
    p = share_map(again, size);
    share_assert(p, size, 3);
    CALL(SUCCESS, MemRelease(again));
    share_unmap(p, size);
}

TEST(pointer_queries_describe_virtual_memory)
{
    size_t size = share_granule(), extent = 0;
    CUmemGenericAllocationHandle handle = share_create(size);
    CUdeviceptr p = share_map(handle, size), base = 0;
    unsigned long long types = 0;
    int value = 0;
    CALL_READS(value, CU_MEMORYTYPE_DEVICE,
               PointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 9));
    CALL_READS(value, fx.device,
               PointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    CALL_READS(types, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
               PointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p));
    CALL_READS(base, p, MemGetAddressRange(&base, &extent, p + 9));
    ck_assert_uint_eq(extent, size);
    CU(MemRelease(handle));
    share_unmap(p, size);
}

TEST(kernels_access_virtual_memory)
{
    need_kernels();
    size_t size = share_granule();
    CUmemGenericAllocationHandle handle = share_create(2 * size);
    CUdeviceptr p = share_map(handle, 2 * size);
    CU(MemRelease(handle));
    kernel_fill_pattern(p, size, 11, fx.stream);
    kernel_copy(p + size, p, size, fx.stream);
    CU(StreamSynchronize(fx.stream));
    share_assert(p + size, size, 11);
    share_unmap(p, 2 * size);
}

TEST(shareable_handle_codes)
{
    const CUmemAllocationProp none = share_properties(CU_MEM_HANDLE_TYPE_NONE);
    const CUmemAllocationHandleType posix = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    size_t size = share_granule();
    CUmemGenericAllocationHandle handle = share_create(size), own = 0, imported = 0;
    CUdeviceptr p = share_map(handle, size), q;
    int fd = -1, second;
    CU(MemCreate(&own, size, &none, 0));
    CALL(ERROR_INVALID_VALUE, MemExportToShareableHandle(NULL, handle, posix, 0));
    CALL(ERROR_INVALID_VALUE, MemExportToShareableHandle(&fd, handle, posix, 1));
    CALL_SOFT(ERROR_INVALID_VALUE, MemExportToShareableHandle(&fd, own, posix, 0));
    CALL_SOFT(ERROR_INVALID_VALUE,
              MemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_WIN32, 0));
    ck_assert_int_eq(fd, -1);
    CU(MemRelease(own));

    fd = share_export(handle);
    second = share_export(handle);
    ck_assert_int_ne(fd, second);
    close(second);
    CALL(ERROR_INVALID_VALUE, MemImportFromShareableHandle(NULL, as_handle(fd), posix));
    CALL_SOFT(ERROR_INVALID_VALUE, MemImportFromShareableHandle(&imported, as_handle(-1), posix));
    CALL(SUCCESS, MemImportFromShareableHandle(&imported, as_handle(fd), posix));
    /* The caller keeps the descriptor. */
    ck_assert_int_eq(close(fd), 0);
    q = share_map(imported, size);
    share_write(p, size, 5);
    share_assert(q, size, 5);
    CU(MemRelease(handle));
    share_unmap(p, size);
    share_assert(q, size, 5);
    CU(MemRelease(imported));
    share_unmap(q, size);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static unsigned char read_byte(CUdeviceptr pointer)
{
    return *(volatile unsigned char *)(uintptr_t)pointer;
}

static CUdeviceptr begin_fault(bool is_mapped)
{
    fixture_setup();
    size_t size = share_granule();
    CUdeviceptr p = 0;
    CU(MemAddressReserve(&p, size, 0, 0, 0));
    if (is_mapped)
        CU(MemMap(p, size, 0, share_create(size), 0));
    return p;
}

CHILD(read_without_access)
{
    return read_byte(begin_fault(true));
}

CHILD(read_without_mapping)
{
    return read_byte(begin_fault(false));
}

CHILD(read_after_unmap)
{
    CUdeviceptr p = begin_fault(true);
    const CUmemAccessDesc access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CU(MemSetAccess(p, share_granule(), &access, 1));
    read_byte(p);
    CU(MemUnmap(p, share_granule()));
    return read_byte(p);
}

CHILD(write_with_read_access)
{
    CUdeviceptr p = begin_fault(true);
    const CUmemAccessDesc access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READ);
    CU(MemSetAccess(p, share_granule(), &access, 1));
    unsigned char byte = read_byte(p + 1);
    *(volatile unsigned char *)(uintptr_t)p = byte;
    return 0;
}

static void expect_fault(const char *child, const char *message)
{
    char text[16384];
    int status = child_run(child, text, sizeof(text));
    ck_assert_msg(status != 0, "%s survived: %s", child, text);
    ck_assert_msg(strstr(text, message), "%s said: %s", child, text);
}

TEST(access_without_permission_faults)
{
    if (!gr_cuda_is_software())
        skip("the host can't access a GPU's memory");
    expect_fault("read_without_access", "cuMemSetAccess gave no access to");
    expect_fault("read_without_mapping", "nothing is mapped to");
    expect_fault("read_after_unmap", "nothing is mapped to");
    expect_fault("write_with_read_access", "made readable only");
}
