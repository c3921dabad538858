/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The codes for external memory (cuImportExternalMemory, and buffers mapped from it) and external
 * semaphores, and the bytes that exporter and importer share. test_external covers Vulkan memory.
 */
#define _GNU_SOURCE
#include "conformance_share.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

GROUP("external memory", add_case)

TEST(invalid_import_codes)
{
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    int fd = share_export(handle), file = memfd_create("no memory", MFD_CLOEXEC);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC good = share_description(fd, SHARE_SIZE);
    CUexternalMemory memory = NULL;
    CALL(ERROR_INVALID_VALUE, ImportExternalMemory(NULL, &good));
    CALL(ERROR_INVALID_VALUE, ImportExternalMemory(&memory, NULL));
#define IMPORT(row, code, change) row(code, change, ImportExternalMemory(&memory, &changed))
    IMPORT(CALL_WITH, ERROR_INVALID_VALUE, type = (CUexternalMemoryHandleType)0);
    IMPORT(CALL_WITH, ERROR_INVALID_VALUE, type = (CUexternalMemoryHandleType)99);
    IMPORT(CALL_WITH, ERROR_INVALID_VALUE, flags = 2);
    for (int type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32; type <= 9; type++)
        IMPORT(CALL_SOFT_WITH, ERROR_NOT_SUPPORTED, type = (CUexternalMemoryHandleType)type);
    IMPORT(CALL_SOFT_WITH, ERROR_INVALID_VALUE, size = 0);
    IMPORT(CALL_SOFT_WITH, ERROR_INVALID_VALUE, size = 2 * SHARE_SIZE);
    IMPORT(CALL_SOFT_WITH, ERROR_INVALID_VALUE, handle.fd = -1);
    ck_assert_int_eq(ftruncate(file, 2 * SHARE_SIZE), 0);
    IMPORT(CALL_SOFT_WITH, ERROR_INVALID_VALUE, handle.fd = file);
#undef IMPORT
    /* After a failure the caller still owns the descriptors. */
    ck_assert(share_is_open(file) && share_is_open(fd));
    ck_assert_ptr_null(memory);
    CU(CtxSetCurrent(NULL));
    CALL(ERROR_INVALID_CONTEXT, ImportExternalMemory(&memory, &good));
    CU(CtxSetCurrent(fx.context));
    CALL_SOFT(ERROR_INVALID_HANDLE, DestroyExternalMemory(NULL));
    close(file);
    close(fd);
    CU(MemRelease(handle));
}

IMPORT_TEST(dedicated_import_codes)
{
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = share_description(share_export(handle), SHARE_SIZE);
    CUexternalMemory memory = NULL;
    d.flags = CUDA_EXTERNAL_MEMORY_DEDICATED;
    CALL(SUCCESS, ImportExternalMemory(&memory, &d));
    CALL(SUCCESS, DestroyExternalMemory(memory));
    CALL(ERROR_INVALID_HANDLE, DestroyExternalMemory(memory));
    CU(MemRelease(handle));
}

/* ---- External memory: buffers ---------------------------------------------------------------- */

#define MAP_BUFFER(code, ...)                                                                      \
    do {                                                                                           \
        const CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc_ = {__VA_ARGS__};                              \
        conformance_note("cuExternalMemoryGetMappedBuffer with " #__VA_ARGS__,                     \
                         fx.cu->ExternalMemoryGetMappedBuffer(&p, memory, &desc_), CUDA_##code);   \
    } while (0)

IMPORT_TEST(mapped_buffer_codes)
{
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUexternalMemory memory = share_import(handle, SHARE_SIZE - 4096);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC d = {.size = 4096};
    CUdeviceptr p = 0;
    CALL(ERROR_INVALID_VALUE, ExternalMemoryGetMappedBuffer(NULL, memory, &d));
    CALL(ERROR_INVALID_VALUE, ExternalMemoryGetMappedBuffer(&p, memory, NULL));
    CALL(ERROR_INVALID_HANDLE, ExternalMemoryGetMappedBuffer(&p, NULL, &d));
    MAP_BUFFER(ERROR_INVALID_VALUE, .size = 4096, .flags = 1);
    MAP_BUFFER(ERROR_INVALID_VALUE, .size = 0);
    MAP_BUFFER(ERROR_INVALID_VALUE, .size = SHARE_SIZE - 4095);
    MAP_BUFFER(ERROR_INVALID_VALUE, .offset = SHARE_SIZE - 8192, .size = 4097);
    MAP_BUFFER(ERROR_INVALID_VALUE, .offset = UINT64_MAX - 15, .size = 4096);
    d = (CUDA_EXTERNAL_MEMORY_BUFFER_DESC){.offset = SHARE_SIZE - 8192, .size = 4096};
    CALL(SUCCESS, ExternalMemoryGetMappedBuffer(&p, memory, &d));
    CALL(SUCCESS, MemFree(p));
    CALL(ERROR_INVALID_VALUE, MemFree(p));
    CALL(SUCCESS, DestroyExternalMemory(memory));
    CALL(ERROR_INVALID_HANDLE, ExternalMemoryGetMappedBuffer(&p, memory, &d));
    CU(MemRelease(handle));
}

IMPORT_TEST(mapped_buffers_share_bytes)
{
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUdeviceptr all = share_map(handle, SHARE_SIZE), base = 0;
    CUexternalMemory memory = share_import(handle, SHARE_SIZE);
    CUdeviceptr p = share_map_buffer(memory, 0, SHARE_SIZE),
                q = share_map_buffer(memory, 65536 + 256, 1000);
    unsigned char b[1001];
    size_t extent = 0;
    int value = 0;
    share_write(all, SHARE_SIZE, 21);
    share_assert(p, SHARE_SIZE, 21);
    share_write(q, 1000, 22);
    share_assert(p + 65536 + 256, 1000, 22);
    ck_assert_uint_eq(q % 256, 0);

    CALL(ERROR_INVALID_VALUE, MemcpyDtoH(b, q, 1001));
    CALL(ERROR_INVALID_VALUE, MemcpyDtoH(b, q + 999, 2));
    CALL(ERROR_INVALID_VALUE, MemFree(q + 4));
    CALL_READS(value, CU_MEMORYTYPE_DEVICE,
               PointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q + 999));
    CALL_READS(value, fx.device,
               PointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, q));
    CALL_READS(base, q, MemGetAddressRange(&base, &extent, q + 999));
    ck_assert_uint_eq(extent, 1000);

    CALL(SUCCESS, DestroyExternalMemory(memory));
    share_unmap(all, SHARE_SIZE);
    CU(MemRelease(handle));
    share_assert(q, 1000, 22);
    CALL(SUCCESS, MemcpyDtoDAsync(p, q, 1000, fx.stream));
    CALL(SUCCESS, MemFree(q));
    CU(StreamSynchronize(fx.stream));
    share_assert(p, 1000, 22);
    CALL(SUCCESS, MemFree(p));
    CALL(ERROR_INVALID_VALUE, MemcpyDtoH(b, p, 4));
}

IMPORT_TEST(kernels_access_mapped_buffers)
{
    need_kernels();
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUexternalMemory memory = share_import(handle, SHARE_SIZE);
    CUdeviceptr p = share_map_buffer(memory, 4096, 10000),
                q = share_map_buffer(memory, 0, SHARE_SIZE);
    CU(DestroyExternalMemory(memory));
    CU(MemRelease(handle));
    kernel_fill_pattern(p, 10000, 31, fx.stream);
    CU(StreamSynchronize(fx.stream));
    share_assert(q + 4096, 10000, 31);
}

/* Objects that the application leaves in a context are destroyed with it. */
IMPORT_TEST(context_end_destroys_its_imports)
{
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUcontext second = new_context(NULL);
    CUexternalMemory memory = share_import(handle, SHARE_SIZE);
    CUdeviceptr p = share_map_buffer(memory, 0, 4096);
    CU(CtxDestroy(second));
    CALL(ERROR_INVALID_HANDLE, DestroyExternalMemory(memory));
    CALL(ERROR_INVALID_VALUE, MemFree(p));
    CU(MemRelease(handle));
}

/* ---- External semaphores --------------------------------------------------------------------- */

/*
 * Each driver imports different handles, so the behaviour of semaphores is tested elsewhere: in
 * test_soft_semaphore.c, and in the tests of the APIs that create semaphores.
 */
GROUP("external semaphores", add_case)

TEST(semaphore_import_codes)
{
    CUexternalSemaphore kept = (CUexternalSemaphore)&kept, semaphore = kept;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC good = {.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
                                                .handle.fd = -1};
    CALL(ERROR_INVALID_VALUE, ImportExternalSemaphore(NULL, &good));
    CALL(ERROR_INVALID_VALUE, ImportExternalSemaphore(&semaphore, NULL));
    CALL_WITH(ERROR_INVALID_VALUE, flags = 1, ImportExternalSemaphore(&semaphore, &changed));
    CALL_WITH(ERROR_INVALID_VALUE, type = (CUexternalSemaphoreHandleType)0,
              ImportExternalSemaphore(&semaphore, &changed));
    CALL_WITH(ERROR_INVALID_VALUE, type = (CUexternalSemaphoreHandleType)9999,
              ImportExternalSemaphore(&semaphore, &changed));
    ck_assert_ptr_eq(semaphore, kept);

    CALL(SUCCESS, CtxSetCurrent(NULL));
    CALL(ERROR_INVALID_CONTEXT, ImportExternalSemaphore(&semaphore, &good));
    CALL(SUCCESS, CtxSetCurrent(fx.context));
}

TEST(semaphore_signal_and_wait_codes)
{
    CUexternalSemaphore none = NULL;
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.params.fence.value = 1};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 1};
    CALL(ERROR_INVALID_VALUE, SignalExternalSemaphoresAsync(NULL, &signal, 1, fx.stream));
    CALL(ERROR_INVALID_VALUE, WaitExternalSemaphoresAsync(NULL, &wait, 1, fx.stream));
    CALL(ERROR_INVALID_VALUE, SignalExternalSemaphoresAsync(&none, NULL, 1, fx.stream));
    CALL(ERROR_INVALID_VALUE, WaitExternalSemaphoresAsync(&none, NULL, 1, fx.stream));
    CALL_SOFT(ERROR_INVALID_HANDLE, SignalExternalSemaphoresAsync(&none, &signal, 1, fx.stream));
    CALL_SOFT(ERROR_INVALID_HANDLE, WaitExternalSemaphoresAsync(&none, &wait, 1, fx.stream));
    CALL(ERROR_INVALID_VALUE, DestroyExternalSemaphore(NULL));
}
