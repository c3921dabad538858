/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory: managed memory, and queries of pointers. */
#define _GNU_SOURCE
#include "soft_calls.h"

#include <string.h>

#define SIZE ((size_t)4096)

GROUP("memory", add_case)

SOFT_TEST(managed_memory_is_accessible_to_the_host)
{
    CUdeviceptr memory = 0;
    DRV(cuMemAllocManaged, (&memory, SIZE, CU_MEM_ATTACH_HOST));
    /* The fill waits, because the host can access the memory. */
    DRV(cuMemsetD8_v2, (memory, 0x5a, SIZE));
    assert_bytes((void *)(uintptr_t)memory, SIZE, 0x5a);
    DRV(cuMemFree_v2, (memory));
    INVALID(cuMemAllocManaged, (&memory, SIZE, 0));
    INVALID(cuMemAllocManaged, (&memory, SIZE, CU_MEM_ATTACH_SINGLE));
    INVALID(cuMemAllocManaged, (&memory, 0, CU_MEM_ATTACH_GLOBAL));
}

/* ---- Queries of pointers --------------------------------------------------------------------- */

/* Checks the attributes of a pointer to the middle of memory of this size. */
static void assert_attributes(CUdeviceptr base, size_t size, unsigned type)
{
    const struct {
        int attribute;
        size_t size;
        unsigned long long value;
    } rows[] = {
        {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 8, base},
        {CU_POINTER_ATTRIBUTE_RANGE_SIZE, 8, size},
        {CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, 8, base},
        {CU_POINTER_ATTRIBUTE_MAPPING_SIZE, 8, size},
        {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 4, type},
        {CU_POINTER_ATTRIBUTE_MAPPED, 4, 1},
        {CU_POINTER_ATTRIBUTE_IS_MANAGED, 4, 0},
        {CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 4, 0},
        {CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, 4, 0},
        {CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, 4, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE},
        {CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, 8, 0},
        {CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, 8, 0},
    };
    const CUdeviceptr asked = base + size / 2;
    unsigned long long found, id = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        found = UINT64_MAX;
        DRV(cuPointerGetAttribute, (&found, (CUpointer_attribute)rows[i].attribute, asked));
        ck_assert_msg(memcmp(&found, &rows[i].value, rows[i].size) == 0, "attribute %d is %llu",
                      rows[i].attribute, found);
    }
    DRV(cuPointerGetAttribute, (&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, asked));
    DRV(cuPointerGetAttribute, (&found, CU_POINTER_ATTRIBUTE_BUFFER_ID, base));
    ck_assert_uint_ne(id, 0);
    ck_assert_uint_eq(id, found);
}

SOFT_TEST(pointer_attributes_describe_the_memory)
{
    CUdeviceptr memory = 0;
    void *pinned = NULL;
    DRV(cuMemAlloc_v2, (&memory, 100));
    DRV(cuMemHostAlloc, (&pinned, 100, 0));
    assert_attributes(memory, 100, CU_MEMORYTYPE_DEVICE);
    assert_attributes((CUdeviceptr)(uintptr_t)pinned, 100, CU_MEMORYTYPE_HOST);
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

    start = 7;
    size = 7;
    DRV(cuPointerGetAttributes, (count, names, values, (CUdeviceptr)(uintptr_t)&type));
    ck_assert_ptr_eq(context, NULL);
    ck_assert_uint_eq(type, 0);
    ck_assert_uint_eq(pointer, 0);
    ck_assert_int_eq(ordinal, CU_DEVICE_INVALID);
    ck_assert_uint_eq(start, 7); /* both values are unchanged */
    ck_assert_uint_eq(size, 7);

    INVALID(cuPointerGetAttributes, (0, names, values, memory));
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
