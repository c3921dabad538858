/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Hints for managed memory. Advice can be queried, and no hint changes the bytes. */
#define _GNU_SOURCE
#include "client_calls.h"

#include <string.h>

#define PAGE ((size_t)4096)

static bool has_concurrent_access(void)
{
    int has = 0;
    DRV(cuDeviceGetAttribute, (&has, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, fx.device));
    return has;
}

#define CONCURRENT_TEST(...)                                                                       \
    TEST_UNLESS(has_concurrent_access() ? NULL                                                     \
                                        : "the device has no concurrent access to managed memory", \
                __VA_ARGS__)

static CUdeviceptr managed(void)
{
    CUdeviceptr memory = 0;
    DRV(cuMemAllocManaged, (&memory, SIZE, CU_MEM_ATTACH_GLOBAL));
    return memory;
}

static int attribute(CUdeviceptr memory, size_t size, CUmem_range_attribute which)
{
    int value = 99;
    DRV(cuMemRangeGetAttribute, (&value, sizeof(value), which, memory, size));
    return value;
}

GROUP("managed memory", add_case)

CONCURRENT_TEST(read_mostly_advice_applies_per_page)
{
    CUdeviceptr memory = managed();
    const CUmem_range_attribute asked = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
    ck_assert_int_eq(attribute(memory, SIZE, asked), 0);
    DRV(cuMemAdvise, (memory + PAGE, 2 * PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, fx.device));
    ck_assert_int_eq(attribute(memory, SIZE, asked), 0); /* only some pages have the advice */
    ck_assert_int_eq(attribute(memory + PAGE, 2 * PAGE, asked), 1);
    ck_assert_int_eq(attribute(memory + PAGE, 2 * PAGE + 1, asked), 0);
    ck_assert_int_eq(attribute(memory, PAGE, asked), 0);
    DRV(cuMemAdvise, (memory + 2 * PAGE, PAGE, CU_MEM_ADVISE_UNSET_READ_MOSTLY, fx.device));
    ck_assert_int_eq(attribute(memory + PAGE, PAGE, asked), 1);
    ck_assert_int_eq(attribute(memory + PAGE, 2 * PAGE, asked), 0);
    DRV(cuMemAdvise, (memory, SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, fx.device));
    ck_assert_int_eq(attribute(memory, SIZE, asked), 1);
}

/* Catches: memory at the address of a freed allocation still had the advice of that allocation. */
CONCURRENT_TEST(advice_ends_when_memory_is_freed)
{
    const CUmem_range_attribute asked = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
    CUdeviceptr kept[] = {managed(), managed()};
    DRV(cuMemAdvise, (kept[0], SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, fx.device));
    DRV(cuMemAdvise, (kept[1], SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, fx.device));
    for (int i = 0; i < 40; i++) {
        CUdeviceptr memory = managed();
        ck_assert_int_eq(attribute(memory, SIZE, asked), 0);
        DRV(cuMemAdvise, (memory, SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, fx.device));
        DRV(cuMemFree_v2, (memory));
    }
    /* The frees have not changed other memory, whether its address is lower or higher. */
    ck_assert_int_eq(attribute(kept[0], SIZE, asked), 1);
    DRV(cuMemFree_v2, (kept[0]));
    ck_assert_int_eq(attribute(kept[1], SIZE, asked), 1);
    kept[0] = managed();
    DRV(cuMemAdvise, (kept[0], SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, fx.device));
    DRV(cuMemFree_v2, (kept[1]));
    ck_assert_int_eq(attribute(kept[0], SIZE, asked), 1);
}

CONCURRENT_TEST(preferred_location_can_be_set_per_page)
{
    CUdeviceptr memory = managed();
    const CUmem_range_attribute asked = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
    ck_assert_int_eq(attribute(memory, SIZE, asked), CU_DEVICE_INVALID);
    DRV(cuMemAdvise, (memory, SIZE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, fx.device));
    ck_assert_int_eq(attribute(memory, SIZE, asked), fx.device);
    DRV(cuMemAdvise, (memory, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
    ck_assert_int_eq(attribute(memory, PAGE, asked), CU_DEVICE_CPU);
    ck_assert_int_eq(attribute(memory, SIZE, asked), CU_DEVICE_INVALID);
    DRV(cuMemAdvise, (memory, SIZE, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, fx.device));
    ck_assert_int_eq(attribute(memory, SIZE, asked), CU_DEVICE_INVALID);
}

CONCURRENT_TEST(accessed_by_advice_lists_devices)
{
    CUdeviceptr memory = managed();
    int list[3] = {99, 99, 99}, mostly = 99;
    DRV(cuMemAdvise, (memory, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, fx.device));
    void *data[] = {list, &mostly};
    size_t sizes[] = {sizeof(list), sizeof(mostly)};
    CUmem_range_attribute asked[] = {CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                     CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
    DRV(cuMemRangeGetAttributes, (data, sizes, asked, 2, memory, SIZE));
    ck_assert_int_eq(list[0], fx.device);
    ck_assert_int_eq(list[1], CU_DEVICE_INVALID);
    ck_assert_int_eq(list[2], CU_DEVICE_INVALID);
    ck_assert_int_eq(mostly, 0);
    DRV(cuMemAdvise, (memory, SIZE, CU_MEM_ADVISE_UNSET_ACCESSED_BY, fx.device));
    DRV(cuMemAdvise, (memory, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_CPU));
    DRV(cuMemRangeGetAttribute, (list, 8, asked[0], memory, SIZE));
    ck_assert_int_eq(list[0], CU_DEVICE_CPU);
    ck_assert_int_eq(list[1], CU_DEVICE_INVALID);
    DRV(cuMemAdvise, (memory, SIZE, CU_MEM_ADVISE_UNSET_ACCESSED_BY, CU_DEVICE_CPU));
    DRV(cuMemRangeGetAttribute, (list, 4, asked[0], memory, SIZE));
    ck_assert_int_eq(list[0], CU_DEVICE_INVALID);
    INVALID(cuMemRangeGetAttributes, (data, sizes, asked, 0, memory, SIZE));
    INVALID(cuMemRangeGetAttribute, (list, 6, asked[0], memory, SIZE));
    if (gr_cuda_is_software()) { /* the NVIDIA driver may access the missing arrays */
        INVALID(cuMemRangeGetAttributes, (NULL, sizes, asked, 2, memory, SIZE));
        INVALID(cuMemRangeGetAttributes, (data, NULL, asked, 2, memory, SIZE));
        INVALID(cuMemRangeGetAttributes, (data, sizes, NULL, 2, memory, SIZE));
    }
}

CONCURRENT_TEST(prefetch_location_is_stored_and_bytes_stay)
{
    CUdeviceptr memory = managed();
    const CUmem_range_attribute asked = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
    unsigned char *bytes = (unsigned char *)(uintptr_t)memory;
    memset(bytes, 5, SIZE);
    ck_assert_int_eq(attribute(memory, SIZE, asked), CU_DEVICE_INVALID);
    DRV(cuMemPrefetchAsync, (memory, SIZE, fx.device, fx.stream));
    DRV(cuMemsetD8Async, (memory + 1, 6, 1, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_int_eq(attribute(memory, SIZE, asked), fx.device);
    DRV(cuMemPrefetchAsync, (memory, SIZE, CU_DEVICE_CPU, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_int_eq(attribute(memory, SIZE, asked), CU_DEVICE_CPU);
    ck_assert_int_eq(bytes[0], 5);
    ck_assert_int_eq(bytes[1], 6);
}

CONCURRENT_TEST(managed_memory_can_be_attached_to_a_stream)
{
    CUdeviceptr memory = managed();
    DRV(cuStreamAttachMemAsync, (fx.stream, memory, 0, CU_MEM_ATTACH_SINGLE));
    DRV(cuStreamAttachMemAsync, (fx.stream, memory, SIZE, CU_MEM_ATTACH_GLOBAL));
    INVALID(cuStreamAttachMemAsync, (fx.stream, memory, PAGE, CU_MEM_ATTACH_GLOBAL));
    INVALID(cuStreamAttachMemAsync, (fx.stream, memory, 0, 77));
    INVALID(cuStreamAttachMemAsync, (fx.stream, memory + PAGE, 0, CU_MEM_ATTACH_GLOBAL));
    INVALID(cuStreamAttachMemAsync, (NULL, memory, 0, CU_MEM_ATTACH_SINGLE));
    CU(StreamSynchronize(fx.stream));
}

CONCURRENT_TEST(invalid_hints_are_refused)
{
    CUdeviceptr memory = managed(), plain = 0;
    int value = 0;
    const CUmem_advise mostly = CU_MEM_ADVISE_SET_READ_MOSTLY;
    const CUmem_range_attribute asked = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
    DRV(cuMemAlloc_v2, (&plain, SIZE));
    INVALID(cuMemAdvise, (plain, SIZE, mostly, fx.device));
    INVALID(cuMemAdvise, (memory, 0, mostly, fx.device));
    INVALID(cuMemAdvise, (memory, SIZE, (CUmem_advise)77, fx.device));
    GIVES(ERROR_INVALID_DEVICE, cuMemAdvise,
          (memory, SIZE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 999));
    INVALID(cuMemPrefetchAsync, (plain, SIZE, fx.device, fx.stream));
    GIVES(ERROR_INVALID_DEVICE, cuMemPrefetchAsync, (memory, SIZE, 999, fx.stream));
    INVALID(cuMemRangeGetAttribute, (&value, 3, asked, memory, SIZE));
    INVALID(cuMemRangeGetAttribute, (&value, 4, asked, plain, SIZE));
    INVALID(cuMemRangeGetAttribute, (&value, 4, (CUmem_range_attribute)77, memory, SIZE));
}

/* ---- Locations of the type CUmemLocation (CUDA 12.2) ----------------------------------------- */

#if CUDA_VERSION >= 12020
CONCURRENT_TEST(advice_accepts_locations_by_type)
{
    CUdeviceptr memory = managed();
    const CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST},
                        device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device},
                        nowhere = {.type = CU_MEM_LOCATION_TYPE_INVALID};
    DRV(cuMemAdvise_v2, (memory, SIZE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    ck_assert_int_eq(attribute(memory, SIZE, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
                     CU_MEM_LOCATION_TYPE_HOST);
    DRV(cuMemPrefetchAsync_v2, (memory, SIZE, device, 0, fx.stream));
    ck_assert_int_eq(attribute(memory, SIZE, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE),
                     CU_MEM_LOCATION_TYPE_DEVICE);
    ck_assert_int_eq(attribute(memory, SIZE, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID),
                     fx.device);
    INVALID(cuMemPrefetchAsync_v2, (memory, SIZE, device, 1, fx.stream));
    INVALID(cuMemPrefetchAsync_v2, (memory, SIZE, nowhere, 0, fx.stream));
    TWIN(cuMemPrefetchAsync_v2, _ptsz, (memory, SIZE, host, 0, NULL));
    TWIN(cuMemPrefetchAsync, _ptsz, (memory, SIZE, CU_DEVICE_CPU, NULL));
    TWIN(cuStreamAttachMemAsync, _ptsz, (fx.stream, memory, 0, CU_MEM_ATTACH_GLOBAL));
    CU(StreamSynchronize(CU_STREAM_PER_THREAD));
    CU(StreamSynchronize(fx.stream));
}
#endif

/* The software driver has one host NUMA node. */
#if CUDA_VERSION >= 12020
CONCURRENT_TEST(preferred_location_can_be_a_host_numa_node)
{
    if (!gr_cuda_is_software())
        skip("a machine with a GPU has any number of nodes");
    CUdeviceptr memory = managed();
    const CUmemLocation node = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA},
                        current = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT},
                        other = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 5};
    const CUmem_advise prefer = CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
    DRV(cuMemAdvise_v2, (memory, SIZE, prefer, node));
    ck_assert_int_eq(attribute(memory, SIZE, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE),
                     CU_MEM_LOCATION_TYPE_HOST_NUMA);
    ck_assert_int_eq(attribute(memory, SIZE, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID), 0);
    ck_assert_int_eq(attribute(memory, SIZE, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION),
                     CU_DEVICE_INVALID);
    DRV(cuMemAdvise_v2, (memory, SIZE, prefer, current));
    INVALID(cuMemAdvise_v2, (memory, SIZE, prefer, other));
    INVALID(cuMemAdvise_v2, (memory, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, node));
}
#endif

#if CUDA_VERSION >= 13000
CONCURRENT_TEST(batches_prefetch_and_discard_ranges)
{
    CUdeviceptr memory = managed();
    CUdeviceptr parts[] = {memory, memory + PAGE, memory + 2 * PAGE};
    size_t sizes[] = {PAGE, PAGE, PAGE}, first_of[] = {0, 2}, wrong[] = {1, 2};
    CUmemLocation places[] = {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device},
                              {.type = CU_MEM_LOCATION_TYPE_HOST}};
    const CUmem_range_attribute asked = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
    DRV(cuMemPrefetchBatchAsync, (parts, sizes, 3, places, first_of, 2, 0, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_int_eq(attribute(memory, 2 * PAGE, asked), fx.device);
    ck_assert_int_eq(attribute(memory + 2 * PAGE, PAGE, asked), CU_DEVICE_CPU);
    DRV(cuMemDiscardBatchAsync, (parts, sizes, 1, 0, fx.stream));
    DRV(cuMemDiscardAndPrefetchBatchAsync, (parts, sizes, 3, places, first_of, 2, 0, fx.stream));
    TWIN(cuMemPrefetchBatchAsync, _ptsz, (parts, sizes, 3, places, first_of, 2, 0, fx.stream));
    TWIN(cuMemDiscardBatchAsync, _ptsz, (parts, sizes, 1, 0, fx.stream));
    TWIN(cuMemDiscardAndPrefetchBatchAsync, _ptsz,
         (parts, sizes, 3, places, first_of, 2, 0, fx.stream));
    DRV(cuMemsetD8Async, (memory, 3, SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    ck_assert_int_eq(*(unsigned char *)(uintptr_t)memory, 3);
    INVALID(cuMemPrefetchBatchAsync, (parts, sizes, 3, places, wrong, 2, 0, fx.stream));
    INVALID(cuMemPrefetchBatchAsync, (parts, sizes, 0, places, first_of, 2, 0, fx.stream));
    INVALID(cuMemPrefetchBatchAsync, (parts, sizes, 1, places, first_of, 2, 0, fx.stream));
    INVALID(cuMemPrefetchBatchAsync, (parts, sizes, 2, places, first_of, 2, 0, fx.stream));
    INVALID(cuMemPrefetchBatchAsync, (parts, sizes, 3, places, first_of, 2, 0, NULL));
    INVALID(cuMemDiscardAndPrefetchBatchAsync, (parts, sizes, 3, places, wrong, 2, 0, fx.stream));
    INVALID(cuMemDiscardBatchAsync, (parts, sizes, 1, 1, fx.stream));
}

/* A valid batch has two ranges and one location. Each row below has one mistake. */
CONCURRENT_TEST(invalid_batches_are_refused)
{
    CUdeviceptr memory = managed(), plain = 0;
    DRV(cuMemAlloc_v2, (&plain, SIZE));
    CUdeviceptr parts[] = {memory, memory + PAGE}, not_managed[] = {memory, plain};
    size_t sizes[] = {PAGE, PAGE}, first_of[] = {0, 1}, empty[] = {0, 0}, past[] = {0, 2};
    CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST},
                  nowhere = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 999}, both[] = {host, host};
    const struct {
        CUdeviceptr *parts;
        size_t *sizes;
        CUmemLocation *places;
        size_t *first_of;
        size_t place_count;
        unsigned long long flags;
        CUstream stream;
    } rows[] = {
        {NULL, sizes, &host, first_of, 1, 0, fx.stream},
        {parts, NULL, &host, first_of, 1, 0, fx.stream},
        {parts, sizes, NULL, first_of, 1, 0, fx.stream},
        {parts, sizes, &host, NULL, 1, 0, fx.stream},
        {parts, sizes, &host, first_of, 0, 0, fx.stream},
        {parts, sizes, &host, first_of, 1, 1, fx.stream},
        {parts, sizes, &host, first_of, 1, 0, CU_STREAM_LEGACY},
        {parts, sizes, both, past, 2, 0, fx.stream},
        {not_managed, sizes, &host, first_of, 1, 0, fx.stream},
        {parts, sizes, &nowhere, first_of, 1, 0, fx.stream},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        INVALID(cuMemPrefetchBatchAsync,
                (rows[i].parts, rows[i].sizes, 2, rows[i].places, rows[i].first_of,
                 rows[i].place_count, rows[i].flags, rows[i].stream));
    CUmemLocation last[] = {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device}, host};
    /* One of the two locations has no range. NVIDIA does not document which of them. */
    DRV(cuMemPrefetchBatchAsync, (parts, sizes, 2, last, empty, 2, 0, fx.stream));
    CU(StreamSynchronize(fx.stream));
    if (gr_cuda_is_software()) {
        INVALID(cuMemPrefetchBatchAsync, (parts, sizes, 2, last, past, 3, 0, fx.stream));
        INVALID(cuMemDiscardBatchAsync, (not_managed, sizes, 2, 0, fx.stream));
        INVALID(cuStreamAttachMemAsync, (fx.stream, plain, 0, CU_MEM_ATTACH_GLOBAL));
        INVALID(cuStreamAttachMemAsync, (fx.stream, 8, 0, CU_MEM_ATTACH_GLOBAL));
        INVALID(cuStreamAttachMemAsync, (CU_STREAM_LEGACY, memory, 0, CU_MEM_ATTACH_SINGLE));
    }
}
#endif
