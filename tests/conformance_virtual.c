/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's codes for virtual memory management (cuMemCreate, cuMemMap, cuMemSetAccess, ...),
 * and the bytes that two mappings of one allocation see.
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

/* ---- Virtual memory -------------------------------------------------------------------------- */

START_TEST(granularity)
{
    CUmemAllocationProp prop = share_properties(CU_MEM_HANDLE_TYPE_NONE);
    size_t least = 0, best = 0;
    int value = 0;
    CALL(SUCCESS, cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL(SUCCESS,
         cuMemGetAllocationGranularity(&best, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    ck_assert_uint_eq(least, 2 << 20);
    ck_assert_uint_eq(best % least, 0);
    CALL(ERROR_INVALID_VALUE,
         cuMemGetAllocationGranularity(NULL, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL(ERROR_INVALID_VALUE,
         cuMemGetAllocationGranularity(&least, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL(ERROR_INVALID_VALUE,
         cuMemGetAllocationGranularity(&least, &prop, (CUmemAllocationGranularity_flags)7));
    prop.location.id = 999;
    CALL(SUCCESS, cuMemGetAllocationGranularity(&least, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CALL(SUCCESS, cuDeviceGetAttribute(
                      &value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, fx.device));
    ck_assert_int_eq(value, 1);
    CALL(SUCCESS,
         cuDeviceGetAttribute(
             &value, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, fx.device));
    ck_assert_int_eq(value, 1);
}
END_TEST

START_TEST(allocations)
{
    CUmemAllocationProp prop = share_properties(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), seen;
    CUmemGenericAllocationHandle a = 0, b = 0;
    size_t size = share_granule();
    CALL(ERROR_INVALID_VALUE, cuMemCreate(NULL, size, &prop, 0));
    CALL(ERROR_INVALID_VALUE, cuMemCreate(&a, size, NULL, 0));
    CALL(ERROR_INVALID_VALUE, cuMemCreate(&a, 0, &prop, 0));
    CALL(ERROR_INVALID_VALUE, cuMemCreate(&a, size + 4096, &prop, 0));
    CALL(ERROR_INVALID_VALUE, cuMemCreate(&a, size, &prop, 1));
    CALL(ERROR_OUT_OF_MEMORY, cuMemCreate(&a, (size_t)1 << 50, &prop, 0));
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    CALL(ERROR_INVALID_VALUE, cuMemCreate(&a, size, &prop, 0));
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.id = 999;
    CALL(ERROR_INVALID_DEVICE, cuMemCreate(&a, size, &prop, 0));
    prop.location.id = fx.device;
    prop.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    CALL(ERROR_INVALID_VALUE, cuMemCreate(&a, size, &prop, 0));
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;

    CALL(SUCCESS, cuMemCreate(&a, size, &prop, 0));
    CALL(SUCCESS, cuMemCreate(&b, 2 * size, &prop, 0));
    ck_assert_uint_ne(a, b);
    MORE(SUCCESS, cuMemGetAllocationPropertiesFromHandle(&seen, b));
    ck_assert_int_eq(seen.location.id, fx.device);
    ck_assert_int_eq(seen.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CALL(SUCCESS, cuMemRelease(a));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemRelease(a)); /* undefined on a GPU */
    CALL(SUCCESS, cuMemRelease(b));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemRelease(0));
}
END_TEST

START_TEST(reservations)
{
    CUdeviceptr p = 0, q = 0;
    size_t size = share_granule();
    CALL(ERROR_INVALID_VALUE, cuMemAddressReserve(NULL, size, 0, 0, 0));
    CALL(ERROR_INVALID_VALUE, cuMemAddressReserve(&p, 0, 0, 0, 0));
    CALL(ERROR_INVALID_VALUE, cuMemAddressReserve(&p, 1, 0, 0, 0));
    CALL(ERROR_INVALID_VALUE, cuMemAddressReserve(&p, size, 3, 0, 0));
    CALL(ERROR_INVALID_VALUE, cuMemAddressReserve(&p, size, 0, 0, 1));
    CALL(SUCCESS, cuMemAddressReserve(&p, 2 * size, 0, 0, 0));
    ck_assert_uint_eq(p % size, 0);
    CALL(SUCCESS, cuMemAddressReserve(&q, size, 8 * size, 0, 0));
    ck_assert_uint_eq(q % (8 * size), 0);
    CALL(ERROR_INVALID_VALUE, cuMemAddressFree(p, size));
    CALL(ERROR_INVALID_VALUE, cuMemAddressFree(p + size, size));
    CALL(SUCCESS, cuMemAddressFree(p, 2 * size));
    CALL(SUCCESS, cuMemAddressFree(q, size));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemAddressFree(q, size));
}
END_TEST

START_TEST(mappings)
{
    size_t size = share_granule();
    CUmemGenericAllocationHandle one = share_create(size), two = share_create(2 * size);
    CUdeviceptr p = 0;
    CU(cuMemAddressReserve(&p, 4 * size, 0, 0, 0));
    CALL(ERROR_INVALID_VALUE, cuMemMap(p, size, 0, one, 1));
    CALL(ERROR_INVALID_VALUE, cuMemMap(p, 0, 0, one, 0));
    CALL(ERROR_NOT_SUPPORTED, cuMemMap(p, size / 2, 0, one, 0));
    CALL(ERROR_INVALID_VALUE, cuMemMap(p + size / 2, size, 0, one, 0));
    CALL(ERROR_NOT_SUPPORTED, cuMemMap(p, 2 * size, 0, one, 0));
    /* NVIDIA's driver maps past the reservation's end. */
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemMap(p + 3 * size, 2 * size, 0, two, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemMap(p, size, size, two, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemMap(p, size, 0, 0, 0));

    CALL(SUCCESS, cuMemMap(p, size, 0, one, 0));
    CALL(ERROR_INVALID_VALUE, cuMemMap(p, size, 0, one, 0));
    CALL(SUCCESS, cuMemMap(p + size, 2 * size, 0, two, 0));
    CALL(ERROR_INVALID_VALUE, cuMemMap(p + 2 * size, size, 0, one, 0));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemAddressFree(p, 4 * size));
    CALL(ERROR_INVALID_VALUE, cuMemUnmap(p + size, size));
    /* NVIDIA's driver takes what has no mapping as unmapped. */
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemUnmap(p + 3 * size, size));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemUnmap(p, 4 * size));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemFree(p));
    CALL(SUCCESS, cuMemUnmap(p, size));
    CALL(SUCCESS, cuMemUnmap(p + size, 2 * size));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemUnmap(p, size));
    CALL(SUCCESS, cuMemMap(p + size, size, 0, one, 0));
    CALL(SUCCESS, cuMemUnmap(p + size, size));
    CALL(SUCCESS, cuMemAddressFree(p, 4 * size));
    CU(cuMemRelease(one));
    CU(cuMemRelease(two));
}
END_TEST

START_TEST(accesses)
{
    size_t size = share_granule();
    CUmemGenericAllocationHandle handle = share_create(size);
    CUmemAccessDesc access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    unsigned long long flags = 99;
    unsigned char b[16] = "";
    CUdeviceptr p = 0;
    CU(cuMemAddressReserve(&p, 2 * size, 0, 0, 0));
    CALL(ERROR_INVALID_VALUE, cuMemSetAccess(p, size, &access, 1));
    CU(cuMemMap(p, size, 0, handle, 0));
    MORE(SUCCESS, cuMemGetAccess(&flags, &access.location, p));
    ck_assert_uint_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemcpyHtoD(p, b, sizeof(b)));
    CALL(ERROR_INVALID_VALUE, cuMemSetAccess(p, size, NULL, 1));
    CALL(ERROR_INVALID_VALUE, cuMemSetAccess(p, 0, &access, 1));
    CALL(ERROR_INVALID_VALUE, cuMemSetAccess(p, 2 * size, &access, 1));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemSetAccess(p, size, &access, 0));
    access.flags = (CUmemAccess_flags)8;
    CALL(ERROR_INVALID_VALUE, cuMemSetAccess(p, size, &access, 1));
    access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    access.location.id = 999;
    CALL(ERROR_INVALID_VALUE, cuMemSetAccess(p, size, &access, 1));
    access.location.id = fx.device;
    CALL(SUCCESS, cuMemSetAccess(p, size, &access, 1));
    MORE(SUCCESS, cuMemGetAccess(&flags, &access.location, p));
    ck_assert_uint_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    MORE(ERROR_INVALID_VALUE, cuMemGetAccess(NULL, &access.location, p));
    MORE(ERROR_INVALID_VALUE, cuMemGetAccess(&flags, NULL, p));
    CALL(SUCCESS, cuMemcpyHtoD(p + size - sizeof(b), b, sizeof(b)));
    /* On a GPU a copy that leaves the mapping is a fault, which ends the CUDA context. */
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemcpyHtoD(p + size - 8, b, sizeof(b)));
    /* On a GPU a small copy from the host is still under way when its call returns. */
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(p, size));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemcpyHtoD(p, b, sizeof(b)));
    CU(cuMemAddressFree(p, 2 * size));
    CU(cuMemRelease(handle));
}
END_TEST

/* Two allocations end to end are as one, and one allocation at two addresses is one. */
START_TEST(bytes_of_mappings)
{
    size_t size = share_granule();
    CUmemGenericAllocationHandle a = share_create(size), b = share_create(size);
    const CUmemAccessDesc access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUdeviceptr p = 0, second = share_map(b, size);
    CU(cuMemAddressReserve(&p, 2 * size, 0, 0, 0));
    CU(cuMemMap(p, size, 0, a, 0));
    CU(cuMemMap(p + size, size, 0, b, 0));
    CALL(SUCCESS, cuMemSetAccess(p, 2 * size, &access, 1));
    share_write(p, 2 * size, 1);
    share_assert(p, 2 * size, 1);
    CALL(SUCCESS, cuMemcpyDtoDAsync(p + size / 2, p + size, size / 2, fx.stream));
    CALL(SUCCESS, cuMemcpyDtoDAsync(p, p + size - 512, 1024, fx.stream));
    CALL(SUCCESS, cuStreamSynchronize(fx.stream));

    share_write(p + size, size, 7);
    share_assert(second, size, 7);
    share_write(second, size, 8);
    share_assert(p + size, size, 8);
    CALL(SUCCESS, cuMemUnmap(p, 2 * size));
    CU(cuMemAddressFree(p, 2 * size));
    share_assert(second, size, 8);
    share_unmap(second, size);
    CU(cuMemRelease(a));
    CU(cuMemRelease(b));
}
END_TEST

/* Memory lives while it has a mapping or a handle. */
START_TEST(life_of_allocations)
{
    size_t size = share_granule();
    CUmemGenericAllocationHandle handle = share_create(size), again = 0;
    CUdeviceptr p = share_map(handle, size);
    share_write(p, size, 3);
    MORE(SUCCESS, cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(p + 5)));
    ck_assert_uint_eq(again, handle);
    CALL(SUCCESS, cuMemRelease(again));
    CALL(SUCCESS, cuMemRelease(handle));
    share_assert(p, size, 3);
    MORE(SUCCESS, cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)p));
    CALL(SUCCESS, cuMemUnmap(p, size));
    MORE(ERROR_INVALID_VALUE, cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)p));
    CU(cuMemAddressFree(p, size));
    p = share_map(again, size);
    share_assert(p, size, 3);
    CALL(SUCCESS, cuMemRelease(again));
    share_unmap(p, size);
}
END_TEST

START_TEST(virtual_pointers)
{
    size_t size = share_granule(), extent = 0;
    CUmemGenericAllocationHandle handle = share_create(size);
    CUdeviceptr p = share_map(handle, size), base = 0;
    unsigned long long types = 0;
    int value = 0;
    CALL(SUCCESS, cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 9));
    ck_assert_int_eq(value, CU_MEMORYTYPE_DEVICE);
    CALL(SUCCESS, cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    ck_assert_int_eq(value, fx.device);
    CALL(SUCCESS, cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, p));
    ck_assert_uint_eq(types, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    MORE(SUCCESS, cuMemGetAddressRange(&base, &extent, p + 9));
    ck_assert_uint_eq(base, p);
    ck_assert_uint_eq(extent, size);
    CU(cuMemRelease(handle));
    share_unmap(p, size);
}
END_TEST

START_TEST(kernels_in_virtual_memory)
{
    need_kernels();
    size_t size = share_granule();
    CUmemGenericAllocationHandle handle = share_create(2 * size);
    CUdeviceptr p = share_map(handle, 2 * size);
    CU(cuMemRelease(handle));
    kernel_fill_pattern(p, size, 11, fx.stream);
    kernel_copy(p + size, p, size, fx.stream);
    CU(cuStreamSynchronize(fx.stream));
    share_assert(p + size, size, 11);
    share_unmap(p, 2 * size);
}
END_TEST

START_TEST(shareable_handles)
{
    const CUmemAllocationProp none = share_properties(CU_MEM_HANDLE_TYPE_NONE);
    const CUmemAllocationHandleType posix = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    size_t size = share_granule();
    CUmemGenericAllocationHandle handle = share_create(size), own = 0, imported = 0;
    CUdeviceptr p = share_map(handle, size), q;
    int fd = -1, second;
    CU(cuMemCreate(&own, size, &none, 0));
    CALL(ERROR_INVALID_VALUE, cuMemExportToShareableHandle(NULL, handle, posix, 0));
    CALL(ERROR_INVALID_VALUE, cuMemExportToShareableHandle(&fd, handle, posix, 1));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemExportToShareableHandle(&fd, own, posix, 0));
    CALL_SOFT(ERROR_INVALID_VALUE,
              cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_WIN32, 0));
    ck_assert_int_eq(fd, -1);
    CU(cuMemRelease(own));

    fd = share_export(handle);
    second = share_export(handle);
    ck_assert_int_ne(fd, second);
    close(second);
    CALL(ERROR_INVALID_VALUE, cuMemImportFromShareableHandle(NULL, as_handle(fd), posix));
    CALL_SOFT(ERROR_INVALID_VALUE, cuMemImportFromShareableHandle(&imported, as_handle(-1), posix));
    CALL(SUCCESS, cuMemImportFromShareableHandle(&imported, as_handle(fd), posix));
    /* The descriptor stays the caller's. */
    ck_assert_int_eq(close(fd), 0);
    q = share_map(imported, size);
    share_write(p, size, 5);
    share_assert(q, size, 5);
    CU(cuMemRelease(handle));
    share_unmap(p, size);
    share_assert(q, size, 5);
    CU(cuMemRelease(imported));
    share_unmap(q, size);
}
END_TEST

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
    CU(cuMemAddressReserve(&p, size, 0, 0, 0));
    if (is_mapped)
        CU(cuMemMap(p, size, 0, share_create(size), 0));
    return p;
}

int read_without_access(void)
{
    return read_byte(begin_fault(true));
}

int read_without_mapping(void)
{
    return read_byte(begin_fault(false));
}

int read_after_unmap(void)
{
    CUdeviceptr p = begin_fault(true);
    const CUmemAccessDesc access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CU(cuMemSetAccess(p, share_granule(), &access, 1));
    read_byte(p);
    CU(cuMemUnmap(p, share_granule()));
    return read_byte(p);
}

int write_with_read_access(void)
{
    CUdeviceptr p = begin_fault(true);
    const CUmemAccessDesc access = share_access(CU_MEM_ACCESS_FLAGS_PROT_READ);
    CU(cuMemSetAccess(p, share_granule(), &access, 1));
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

START_TEST(access_that_was_not_given)
{
    if (!gr_cuda_is_software())
        skip("the host can't access a GPU's memory");
    expect_fault("read_without_access", "cuMemSetAccess gave no access to");
    expect_fault("read_without_mapping", "nothing is mapped to");
    expect_fault("read_after_unmap", "nothing is mapped to");
    expect_fault("write_with_read_access", "made readable only");
}
END_TEST

void add_virtual_cases(Suite *suite)
{
    add_tests(add_conformance_case(suite, "virtual memory"), granularity, allocations, reservations,
              mappings, accesses, bytes_of_mappings, life_of_allocations, virtual_pointers,
              kernels_in_virtual_memory, shareable_handles, access_that_was_not_given);
}
