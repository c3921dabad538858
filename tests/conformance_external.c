/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver's codes for external memory (cuImportExternalMemory and the buffers mapped onto it),
 * and the bytes that both sides of a share see. Memory of Vulkan is another program's.
 */
#define _GNU_SOURCE
#include "conformance_share.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- External memory: import ----------------------------------------------------------------- */

START_TEST(imports_that_fail)
{
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    int fd = share_export(handle), file = memfd_create("no memory", MFD_CLOEXEC);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC good = share_description(fd, SHARE_SIZE), d = good;
    CUexternalMemory memory = NULL;
    CALL(ERROR_INVALID_VALUE, cuImportExternalMemory(NULL, &good));
    CALL(ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, NULL));
    d.type = (CUexternalMemoryHandleType)0;
    CALL(ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &d));
    d.type = (CUexternalMemoryHandleType)99;
    CALL(ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &d));
    d = good;
    d.flags = 2;
    CALL(ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &d));
    for (int type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32; type <= 9; type++) {
        d = good;
        d.type = (CUexternalMemoryHandleType)type;
        CALL_SOFT(ERROR_NOT_SUPPORTED, cuImportExternalMemory(&memory, &d));
    }
    d = share_description(fd, 0);
    CALL_SOFT(ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &d));
    d = share_description(fd, 2 * SHARE_SIZE);
    CALL_SOFT(ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &d));
    d = share_description(-1, SHARE_SIZE);
    CALL_SOFT(ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &d));
    ck_assert_int_eq(ftruncate(file, 2 * SHARE_SIZE), 0);
    d = share_description(file, SHARE_SIZE);
    CALL_SOFT(ERROR_INVALID_VALUE, cuImportExternalMemory(&memory, &d));
    /* After a failure they are still the caller's. */
    ck_assert(share_is_open(file) && share_is_open(fd));
    ck_assert_ptr_null(memory);
    CU(cuCtxSetCurrent(NULL));
    CALL(ERROR_INVALID_CONTEXT, cuImportExternalMemory(&memory, &good));
    CU(cuCtxSetCurrent(fx.context));
    CALL_SOFT(ERROR_INVALID_HANDLE, cuDestroyExternalMemory(NULL));
    close(file);
    close(fd);
    CU(cuMemRelease(handle));
}
END_TEST

START_TEST(dedicated_memory)
{
    need_imports();
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = share_description(share_export(handle), SHARE_SIZE);
    CUexternalMemory memory = NULL;
    d.flags = CUDA_EXTERNAL_MEMORY_DEDICATED;
    CALL(SUCCESS, cuImportExternalMemory(&memory, &d));
    CALL(SUCCESS, cuDestroyExternalMemory(memory));
    CALL(ERROR_INVALID_HANDLE, cuDestroyExternalMemory(memory));
    CU(cuMemRelease(handle));
}
END_TEST

/* ---- External memory: buffers ---------------------------------------------------------------- */

#define MAP_BUFFER(code, ...)                                                                      \
    do {                                                                                           \
        const CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc_ = {__VA_ARGS__};                              \
        conformance_note("cuExternalMemoryGetMappedBuffer with " #__VA_ARGS__,                     \
                         fx.cu->cuExternalMemoryGetMappedBuffer(&p, memory, &desc_), CUDA_##code); \
    } while (0)

START_TEST(buffer_codes)
{
    need_imports();
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUexternalMemory memory = share_import(handle, SHARE_SIZE - 4096);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC d = {.size = 4096};
    CUdeviceptr p = 0;
    CALL(ERROR_INVALID_VALUE, cuExternalMemoryGetMappedBuffer(NULL, memory, &d));
    CALL(ERROR_INVALID_VALUE, cuExternalMemoryGetMappedBuffer(&p, memory, NULL));
    CALL(ERROR_INVALID_HANDLE, cuExternalMemoryGetMappedBuffer(&p, NULL, &d));
    MAP_BUFFER(ERROR_INVALID_VALUE, .size = 4096, .flags = 1);
    MAP_BUFFER(ERROR_INVALID_VALUE, .size = 0);
    MAP_BUFFER(ERROR_INVALID_VALUE, .size = SHARE_SIZE - 4095);
    MAP_BUFFER(ERROR_INVALID_VALUE, .offset = SHARE_SIZE - 8192, .size = 4097);
    MAP_BUFFER(ERROR_INVALID_VALUE, .offset = UINT64_MAX - 15, .size = 4096);
    d = (CUDA_EXTERNAL_MEMORY_BUFFER_DESC){.offset = SHARE_SIZE - 8192, .size = 4096};
    CALL(SUCCESS, cuExternalMemoryGetMappedBuffer(&p, memory, &d));
    CALL(SUCCESS, cuMemFree(p));
    CALL(ERROR_INVALID_VALUE, cuMemFree(p));
    CALL(SUCCESS, cuDestroyExternalMemory(memory));
    CALL(ERROR_INVALID_HANDLE, cuExternalMemoryGetMappedBuffer(&p, memory, &d));
    CU(cuMemRelease(handle));
}
END_TEST

START_TEST(bytes_of_buffers)
{
    need_imports();
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

    CALL(ERROR_INVALID_VALUE, cuMemcpyDtoH(b, q, 1001));
    CALL(ERROR_INVALID_VALUE, cuMemcpyDtoH(b, q + 999, 2));
    CALL(ERROR_INVALID_VALUE, cuMemFree(q + 4));
    CALL(SUCCESS, cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q + 999));
    ck_assert_int_eq(value, CU_MEMORYTYPE_DEVICE);
    CALL(SUCCESS, cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, q));
    ck_assert_int_eq(value, fx.device);
    MORE(SUCCESS, cuMemGetAddressRange(&base, &extent, q + 999));
    ck_assert_uint_eq(base, q);
    ck_assert_uint_eq(extent, 1000);

    CALL(SUCCESS, cuDestroyExternalMemory(memory));
    share_unmap(all, SHARE_SIZE);
    CU(cuMemRelease(handle));
    share_assert(q, 1000, 22);
    CALL(SUCCESS, cuMemcpyDtoDAsync(p, q, 1000, fx.stream));
    CALL(SUCCESS, cuMemFree(q));
    CU(cuStreamSynchronize(fx.stream));
    share_assert(p, 1000, 22);
    CALL(SUCCESS, cuMemFree(p));
    CALL(ERROR_INVALID_VALUE, cuMemcpyDtoH(b, p, 4));
}
END_TEST

START_TEST(kernels_on_buffers)
{
    need_imports();
    need_kernels();
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUexternalMemory memory = share_import(handle, SHARE_SIZE);
    CUdeviceptr p = share_map_buffer(memory, 4096, 10000),
                q = share_map_buffer(memory, 0, SHARE_SIZE);
    CU(cuDestroyExternalMemory(memory));
    CU(cuMemRelease(handle));
    kernel_fill_pattern(p, 10000, 31, fx.stream);
    CU(cuStreamSynchronize(fx.stream));
    share_assert(q + 4096, 10000, 31);
    CU(cuMemFree(p));
    CU(cuMemFree(q));
}
END_TEST

/* What a context leaves behind ends with it. */
START_TEST(context_with_imports)
{
    need_imports();
    CUmemGenericAllocationHandle handle = share_create(SHARE_SIZE);
    CUcontext second = NULL;
    CU(cuCtxCreate(&second, 0, fx.device));
    CUexternalMemory memory = share_import(handle, SHARE_SIZE);
    CUdeviceptr p = share_map_buffer(memory, 0, 4096);
    CU(cuCtxDestroy(second));
    CALL(ERROR_INVALID_HANDLE, cuDestroyExternalMemory(memory));
    CALL(ERROR_INVALID_VALUE, cuMemFree(p));
    CU(cuMemRelease(handle));
}
END_TEST

void add_external_cases(Suite *suite)
{
    add_tests(add_conformance_case(suite, "external memory"), imports_that_fail, dedicated_memory,
              buffer_codes, bytes_of_buffers, kernels_on_buffers, context_with_imports);
}
