/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory: allocation, queries of pointers, and reserved addresses. */
#define _GNU_SOURCE
#include "soft_calls.h"

#include <stdlib.h>

#define SIZE ((size_t)4096)

GROUP("memory", add_case)

SOFT_TEST(pinned_memory_flags_can_be_queried)
{
    const unsigned given[3] = {0, CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_WRITECOMBINED};
    unsigned flags = 0;
    for (int i = 0; i < 3; i++) {
        void *pinned = NULL;
        DRV(cuMemHostAlloc, (&pinned, 100, given[i]));
        DRV(cuMemHostGetFlags, (&flags, pinned));
        ck_assert_uint_eq(flags, given[i] | CU_MEMHOSTALLOC_DEVICEMAP);
        INVALID(cuMemHostGetFlags, (NULL, pinned));
        INVALID(cuMemHostRegister_v2, (pinned, 100, 0));
        INVALID(cuMemHostUnregister, (pinned));
        DRV(cuMemFreeHost, (pinned));
    }
    CUdeviceptr memory = 0;
    DRV(cuMemAlloc_v2, (&memory, 100));
    INVALID(cuMemHostGetFlags, (&flags, (void *)(uintptr_t)memory));
    GIVES(ERROR_NOT_SUPPORTED, cuMemHostRegister_v2,
          ((void *)(uintptr_t)memory, 100, CU_MEMHOSTREGISTER_IOMEMORY));
    DRV(cuMemFree_v2, (memory));
}

/* ---- Managed memory and pitch ---------------------------------------------------------------- */

SOFT_TEST(managed_memory_is_accessible_to_the_host)
{
    CUdeviceptr memory = 0;
    int value = -1;
    void *host = NULL;
    DRV(cuMemAllocManaged, (&memory, SIZE, CU_MEM_ATTACH_GLOBAL));
    DRV(cuPointerGetAttribute, (&value, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
    ck_assert_int_eq(value, 1);
    DRV(cuPointerGetAttribute, (&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory));
    ck_assert_ptr_eq(host, (void *)(uintptr_t)memory);
    DRV(cuMemsetD8_v2,
        (memory, 0x5a, SIZE)); /* the call waits, because the host can access the memory */
    assert_bytes(host, SIZE, 0x5a);
    DRV(cuMemFree_v2, (memory));
    DRV(cuMemAllocManaged, (&memory, SIZE, CU_MEM_ATTACH_HOST));
    DRV(cuMemFree_v2, (memory));
    INVALID(cuMemAllocManaged, (&memory, SIZE, 0));
    INVALID(cuMemAllocManaged, (&memory, SIZE, CU_MEM_ATTACH_SINGLE));
    INVALID(cuMemAllocManaged, (&memory, 0, CU_MEM_ATTACH_GLOBAL));
}

SOFT_TEST(pitched_allocation_has_room_for_its_rows)
{
    CUdeviceptr memory = 0;
    size_t pitch = 0;
    const unsigned elements[3] = {4, 8, 16};
    for (int i = 0; i < 3; i++) {
        DRV(cuMemAllocPitch_v2, (&memory, &pitch, 1, 2, elements[i]));
        ck_assert_uint_ge(pitch, elements[i]);
        DRV(cuMemsetD2D8_v2, (memory, pitch, 1, pitch, 2));
        INVALID(cuMemsetD2D8_v2, (memory, pitch, 1, pitch + 1, 2));
        DRV(cuMemFree_v2, (memory));
    }
    GIVES(ERROR_OUT_OF_MEMORY, cuMemAllocPitch_v2, (&memory, &pitch, SIZE_MAX, 1, 4));
    GIVES(ERROR_OUT_OF_MEMORY, cuMemAllocPitch_v2, (&memory, &pitch, SIZE, SIZE_MAX / 2, 4));
}

/* Sizes that overflow are refused. */
SOFT_TEST(fills_whose_sizes_overflow_are_refused)
{
    CUdeviceptr memory = soft_memory((unsigned char[64]){0}, 64);
    INVALID(cuMemsetD32_v2, (memory, 1, SIZE_MAX / 2));
    INVALID(cuMemsetD2D32_v2, (memory, SIZE_MAX / 2 + 1, 1, 1, 4));
    INVALID(cuMemsetD2D8_v2, (memory, SIZE_MAX / 2 + 1, 1, SIZE_MAX / 2, 2));
    INVALID(cuMemsetD16_v2, (memory + 1, 1, 2));
    INVALID(cuMemsetD2D16_v2, (memory, 5, 1, 2, 2));
    DRV(cuMemsetD2D16_v2, (memory, 5, 1, 2, 1)); /* one row needs no pitch */
    CU(CtxSynchronize());
    CU(MemFree(memory));
}

/* ---- Queries of pointers --------------------------------------------------------------------- */

/* Checks the attributes of a pointer to the middle of memory of this size. */
static void assert_attributes(CUdeviceptr base, size_t size, int type)
{
    CUdeviceptr start = 0, asked = base + size / 2;
    size_t found = 0;
    int value = 7;
    unsigned long long id = 0, other = 0, kinds = 7;
    CUmemoryPool pool = (CUmemoryPool)&pool;
    DRV(cuPointerGetAttribute, (&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, asked));
    ck_assert_uint_eq(start, base);
    DRV(cuPointerGetAttribute, (&found, CU_POINTER_ATTRIBUTE_RANGE_SIZE, asked));
    ck_assert_uint_eq(found, size);
    DRV(cuPointerGetAttribute, (&start, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, asked));
    ck_assert_uint_eq(start, base);
    DRV(cuPointerGetAttribute, (&found, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, asked));
    ck_assert_uint_eq(found, size);
    DRV(cuPointerGetAttribute, (&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, asked));
    ck_assert_int_eq(value, type);
    DRV(cuPointerGetAttribute, (&value, CU_POINTER_ATTRIBUTE_MAPPED, asked));
    ck_assert_int_eq(value, 1);
    DRV(cuPointerGetAttribute, (&value, CU_POINTER_ATTRIBUTE_IS_MANAGED, asked));
    ck_assert_int_eq(value, 0);
    DRV(cuPointerGetAttribute, (&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, asked));
    ck_assert_int_eq(value, 0);
    DRV(cuPointerGetAttribute, (&value, CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, asked));
    ck_assert_int_eq(value, 0);
    DRV(cuPointerGetAttribute, (&value, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, asked));
    ck_assert_int_eq(value, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    DRV(cuPointerGetAttribute, (&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, asked));
    DRV(cuPointerGetAttribute, (&other, CU_POINTER_ATTRIBUTE_BUFFER_ID, base));
    ck_assert_uint_ne(id, 0);
    ck_assert_uint_eq(id, other);
    DRV(cuPointerGetAttribute, (&kinds, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, asked));
    ck_assert_uint_eq(kinds, 0);
    DRV(cuPointerGetAttribute, (&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, asked));
    ck_assert_ptr_eq(pool, NULL);
}

SOFT_TEST(pointer_attributes_describe_the_memory)
{
    CUdeviceptr memory = 0;
    void *pinned = NULL;
    DRV(cuMemAlloc_v2, (&memory, 100));
    DRV(cuMemHostAlloc, (&pinned, 100, 0));
    assert_attributes(memory, 100, CU_MEMORYTYPE_DEVICE);
    assert_attributes((CUdeviceptr)(uintptr_t)pinned, 100, CU_MEMORYTYPE_HOST);
    DRV(cuMemFree_v2, (memory));
    DRV(cuMemFreeHost, (pinned));
}

/* cuPointerGetAttributes returns the attributes that exist, and defaults for the others. */
SOFT_TEST(missing_pointer_attributes_have_defaults)
{
    CUpointer_attribute names[] = {
        CU_POINTER_ATTRIBUTE_CONTEXT,          CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER,   CU_POINTER_ATTRIBUTE_HOST_POINTER,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,   CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
    };
    CUcontext context = NULL;
    unsigned type = 7, managed = 7;
    int ordinal = 7;
    CUdeviceptr pointer = 7, start = 7, memory = 0;
    void *host = &type;
    size_t size = 7;
    void *values[] = {&context, &type, &pointer, &host, &ordinal, &managed, &start, &size};
    const unsigned count = sizeof(values) / sizeof(*values);
    DRV(cuMemAlloc_v2, (&memory, 100));
    DRV(cuPointerGetAttributes, (count, names, values, memory + 4));
    ck_assert_ptr_eq(context, fx.context);
    ck_assert_uint_eq(type, CU_MEMORYTYPE_DEVICE);
    ck_assert_uint_eq(pointer, memory + 4);
    ck_assert_ptr_eq(host, NULL);
    ck_assert_int_eq(ordinal, fx.device);
    ck_assert_uint_eq(managed, 0);
    ck_assert_uint_eq(start, memory);
    ck_assert_uint_eq(size, 100);
    DRV(cuMemFree_v2, (memory));

    start = 7;
    size = 7;
    DRV(cuPointerGetAttributes, (count, names, values, (CUdeviceptr)(uintptr_t)&type));
    ck_assert_ptr_eq(context, NULL);
    ck_assert_uint_eq(type, 0);
    ck_assert_uint_eq(pointer, 0);
    ck_assert_int_eq(ordinal, CU_DEVICE_INVALID);
    ck_assert_uint_eq(start, 7); /* both values are unchanged */
    ck_assert_uint_eq(size, 7);

    INVALID(cuPointerGetAttributes, (count, names, NULL, memory));
    INVALID(cuPointerGetAttributes, (count, NULL, values, memory));
    values[1] = NULL;
    INVALID(cuPointerGetAttributes, (count, names, values, memory));
    values[1] = &type;
    const int unknown[3] = {CU_POINTER_ATTRIBUTE_P2P_TOKENS, 0, 99};
    for (int i = 0; i < 3; i++) {
        names[0] = (CUpointer_attribute)unknown[i];
        INVALID(cuPointerGetAttributes, (count, names, values, memory));
    }
}

GROUP("addresses", add_case)

#define GRANULE ((size_t)2 << 20)

static CUmemGenericAllocationHandle allocate_granule(void)
{
    const CUmemAllocationProp good = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device}};
    CUmemGenericAllocationHandle made = 0;
    DRV(cuMemCreate, (&made, GRANULE, &good, 0));
    return made;
}

static void set_access(CUdeviceptr at, size_t size, CUmemAccess_flags flags)
{
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device}, .flags = flags};
    DRV(cuMemSetAccess, (at, size, &access, 1));
}

static unsigned long long access_at(CUdeviceptr at)
{
    const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device};
    unsigned long long flags = 7;
    DRV(cuMemGetAccess, (&flags, &here, at));
    return flags;
}

SOFT_TEST(address_reservation_uses_the_hint_if_it_is_free)
{
    CUdeviceptr first = 0, again = 0, beside = 0;
    DRV(cuMemAddressReserve, (&first, GRANULE, 0, 0, 0));
    ck_assert_uint_eq(first % GRANULE, 0);
    /* If the hint is in use, other addresses are returned. */
    DRV(cuMemAddressReserve, (&beside, GRANULE, 0, first, 0));
    ck_assert_uint_ne(beside, first);
    DRV(cuMemAddressFree, (beside, GRANULE));
    INVALID(cuMemAddressFree, (first, 2 * GRANULE));
    DRV(cuMemAddressFree, (first, GRANULE));
    /* These addresses are free: they are far below the system's own mappings. */
    const CUdeviceptr wanted = (CUdeviceptr)1 << 36;
    DRV(cuMemAddressReserve, (&again, GRANULE, 0, wanted, 0));
    if (!sanitizer())
        ck_assert_uint_eq(again, wanted);
    DRV(cuMemAddressFree, (again, GRANULE));
    INVALID(cuMemAddressReserve, (&again, GRANULE + 1, 0, 0, 0));
    INVALID(cuMemAddressReserve, (&again, GRANULE, 0, 1, 0));
    GIVES(ERROR_OUT_OF_MEMORY, cuMemAddressReserve, (&again, SIZE_MAX - 0xffff, 0, 0, 0));
}

/* Of two adjacent mappings, the second is found, too, although the search begins at the first. */
SOFT_TEST(access_to_mappings_can_be_changed)
{
    CUdeviceptr base = 0;
    CUmemGenericAllocationHandle both[2] = {allocate_granule(), allocate_granule()}, found = 0;
    unsigned char *bytes = must_allocate(2 * GRANULE);
    DRV(cuMemAddressReserve, (&base, 3 * GRANULE, 0, 0, 0));
    DRV(cuMemMap, (base + GRANULE, GRANULE, 0, both[1], 0));
    DRV(cuMemMap, (base, GRANULE, 0, both[0], 0));
    INVALID(cuMemAddressFree, (base, 3 * GRANULE));
    ck_assert_uint_eq(access_at(base + GRANULE), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    INVALID(cuMemsetD8_v2, (base, 1, GRANULE)); /* no device has access */
    set_access(base, 2 * GRANULE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    DRV(cuMemsetD8_v2, (base, 0x41, GRANULE));
    DRV(cuMemsetD8_v2, (base + GRANULE, 0x42, GRANULE));
    CU(CtxSynchronize());
    set_access(base + GRANULE, GRANULE, CU_MEM_ACCESS_FLAGS_PROT_READ);
    ck_assert_uint_eq(access_at(base), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ck_assert_uint_eq(access_at(base + GRANULE + 5), CU_MEM_ACCESS_FLAGS_PROT_READ);
    DRV(cuMemcpyDtoH_v2, (bytes + GRANULE, base + GRANULE, GRANULE));
    assert_bytes(bytes + GRANULE, GRANULE, 0x42);
    set_access(base + GRANULE, GRANULE, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    INVALID(cuMemcpyDtoH_v2, (bytes, base + GRANULE, GRANULE));
    set_access(base + GRANULE, GRANULE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    DRV(cuMemsetD8_v2, (base + GRANULE, 0x43, GRANULE));
    DRV(cuMemcpyDtoH_v2, (bytes, base, GRANULE));
    DRV(cuMemcpyDtoH_v2, (bytes + GRANULE, base + GRANULE, GRANULE));
    assert_bytes(bytes, GRANULE, 0x41);
    assert_bytes(bytes + GRANULE, GRANULE, 0x43);
    DRV(cuMemRetainAllocationHandle, (&found, (void *)(uintptr_t)(base + GRANULE + 8)));
    ck_assert_uint_eq(found, both[1]);
    DRV(cuMemRelease, (found));
    INVALID(cuMemRetainAllocationHandle, (&found, (void *)(uintptr_t)(base + 2 * GRANULE)));
    DRV(cuMemUnmap, (base, 2 * GRANULE));
    for (int i = 0; i < 2; i++)
        DRV(cuMemRelease, (both[i]));
    DRV(cuMemAddressFree, (base, 3 * GRANULE));
    free(bytes);
}

SOFT_TEST(invalid_mappings_are_refused)
{
    CUdeviceptr base = 0;
    CUmemGenericAllocationHandle one = allocate_granule();
    const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device};
    CUmemAccessDesc access = {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    unsigned long long flags;
    DRV(cuMemAddressReserve, (&base, 3 * GRANULE, 0, 0, 0));
    INVALID(cuMemMap, (base, GRANULE, 4096, one, 0));
    INVALID(cuMemMap, (base + 3 * GRANULE, GRANULE, 0, one, 0));
    DRV(cuMemMap, (base + GRANULE, GRANULE, 0, one, 0));
    INVALID(cuMemSetAccess, (base, 2 * GRANULE, &access, 1));
    access.flags = (CUmemAccess_flags)2;
    INVALID(cuMemSetAccess, (base + GRANULE, GRANULE, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access.location.type = (CUmemLocationType)2; /* the host */
    GIVES(ERROR_NOT_SUPPORTED, cuMemSetAccess, (base + GRANULE, GRANULE, &access, 1));
    GIVES(ERROR_NOT_SUPPORTED, cuMemGetAccess, (&flags, &access.location, base + GRANULE));
    INVALID(cuMemGetAccess, (&flags, &here, base));
    DRV(cuMemUnmap, (base + GRANULE, GRANULE));
    DRV(cuMemRelease, (one));
    DRV(cuMemAddressFree, (base, 3 * GRANULE));
}

SOFT_TEST(invalid_allocation_properties_are_refused)
{
    CUmemGenericAllocationHandle made = 0;
    const CUmemAllocationProp good = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device}};
    CUmemAllocationProp seen;
#define CREATE(code, change)                                                                       \
    do {                                                                                           \
        CUmemAllocationProp changed = good;                                                        \
        changed.change;                                                                            \
        GIVES(code, cuMemCreate, (&made, GRANULE, &changed, 0));                                   \
    } while (0)
    CREATE(ERROR_INVALID_VALUE, win32HandleMetaData = &made);
    CREATE(ERROR_INVALID_VALUE, requestedHandleTypes = (CUmemAllocationHandleType)0x40);
    CREATE(ERROR_NOT_SUPPORTED, location.type = (CUmemLocationType)2);
    CREATE(ERROR_NOT_SUPPORTED, requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32);
    CREATE(ERROR_NOT_SUPPORTED, requestedHandleTypes = (CUmemAllocationHandleType)8);
    CREATE(ERROR_NOT_SUPPORTED, allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL);
    CREATE(ERROR_NOT_SUPPORTED, allocFlags.gpuDirectRDMACapable = 1);
#undef CREATE
    ck_assert_uint_eq(made, 0);
    made = allocate_granule();
    DRV(cuMemRelease, (made));
    INVALID(cuMemGetAllocationPropertiesFromHandle, (&seen, made));
}
