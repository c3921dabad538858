/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory shared between processes by cuIpc... handles. */
#define _GNU_SOURCE
#include "client_calls.h"

#include "tests/support/child_check.h"
#include "softcuda/tests/kernels/soft_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAZY CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS

void put_handle(const char *name, const void *handle)
{
    const unsigned char *bytes = handle;
    char text[2 * CU_IPC_HANDLE_SIZE + 1];
    for (int i = 0; i < CU_IPC_HANDLE_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    setenv(name, text, 1);
}

void take_handle(const char *name, void *handle)
{
    unsigned char *bytes = handle;
    const char *text = getenv(name);
    child_check(text && strlen(text) == 2 * CU_IPC_HANDLE_SIZE);
    for (int i = 0; i < CU_IPC_HANDLE_SIZE; i++) {
        unsigned value = 0;
        child_check(sscanf(text + 2 * i, "%2x", &value) == 1);
        bytes[i] = (unsigned char)value;
    }
}

/* Allocates memory whose last byte is 7, and gets its handle. */
static CUdeviceptr exported(size_t size, CUipcMemHandle *handle)
{
    CUdeviceptr memory = 0;
    DRV(cuMemAlloc_v2, (&memory, size));
    DRV(cuMemsetD8_v2, (memory, 7, size));
    DRV(cuIpcGetMemHandle, (handle, memory));
    return memory;
}

static unsigned char last_byte(CUdeviceptr memory, size_t size)
{
    unsigned char byte = 0;
    DRV(cuMemcpyDtoH_v2, (&byte, memory + size - 1, 1));
    return byte;
}

GROUP("memory of other processes", add_case)

#define ODD_SIZE (SIZE + 1000)

/* Opens memory of the parent and writes bytes that the parent then sees. */
CHILD(opens_memory)
{
    CUipcMemHandle handle;
    CUdeviceptr memory = 0, again = 0, base = 0;
    size_t size = 0;
    fixture_setup();
    take_handle("MEMORY", &handle);
    INVALID(cuIpcOpenMemHandle_v2, (&memory, handle, 0));
    INVALID(cuIpcOpenMemHandle_v2, (NULL, handle, LAZY));
    DRV(cuIpcOpenMemHandle_v2, (&memory, handle, LAZY));
    DRV(cuMemGetAddressRange_v2, (&base, &size, memory));
    child_check(base == memory && size >= ODD_SIZE);
    child_check(last_byte(memory, ODD_SIZE) == 7);
    DRV(cuMemsetD8_v2, (memory, 9, ODD_SIZE));
    DRV(cuCtxSynchronize, ());
    DRV(cuIpcOpenMemHandle_v2, (&again, handle, LAZY));
    child_check(again == memory);
    DRV(cuIpcCloseMemHandle, (memory));
    child_check(last_byte(memory, ODD_SIZE) == 9);
    DRV(cuIpcCloseMemHandle, (memory));
    INVALID(cuIpcCloseMemHandle, (memory));
    DRV(cuIpcOpenMemHandle_v2, (&memory, handle, LAZY)); /* the end of the process closes it */
    return 0;
}

TEST(second_process_writes_shared_memory)
{
    CUipcMemHandle handle, same;
    CUdeviceptr memory = exported(ODD_SIZE, &handle);
    DRV(cuIpcGetMemHandle, (&same, memory));
    ck_assert_mem_eq(&same, &handle, sizeof(handle));
    put_handle("MEMORY", &handle);
    expect_child("opens_memory");
    ck_assert_int_eq(last_byte(memory, ODD_SIZE), 9);
}

#define PIECES ((size_t)16384)
#define PIECE  ((size_t)1024)

/* Simulates a kernel that runs for some time and writes the beginning of the memory last. */
static void CUDA_CB write_slowly(void *user)
{
    unsigned char *bytes = user;
    for (size_t i = PIECES; i-- > 0;) {
        memset(bytes + i * PIECE, 3, PIECE);
        if (i % 64 == 0)
            usleep(500);
    }
}

/* Bytes that a stream writes while the pages are replaced are not lost. */
SOFT_TEST(export_keeps_the_writes_of_running_work)
{
    static unsigned char bytes[PIECES * PIECE];
    CUipcMemHandle handle;
    CUdeviceptr memory = 0;
    DRV(cuMemAlloc_v2, (&memory, sizeof(bytes)));
    CU(LaunchHostFunc(fx.stream, write_slowly, (void *)(uintptr_t)memory));
    DRV(cuIpcGetMemHandle, (&handle, memory));
    CU(StreamSynchronize(fx.stream));
    DRV(cuMemcpyDtoH_v2, (bytes, memory, sizeof(bytes)));
    for (size_t i = 0; i < PIECES; i++)
        ck_assert_msg(bytes[i * PIECE] == 3, "piece %zu has %u", i, bytes[i * PIECE]);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

TEST(handle_of_the_same_process_is_refused)
{
    CUipcMemHandle handle;
    CUdeviceptr memory = exported(SIZE, &handle), opened = 0;
    GIVES(ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle_v2, (&opened, handle, LAZY));
    INVALID(cuIpcCloseMemHandle, (memory));
}

/* Each allocation has its own handle until it is freed. */
TEST(each_allocation_keeps_its_handle)
{
    CUipcMemHandle first, second, third, again;
    CUdeviceptr memory[] = {exported(SIZE, &first), exported(SIZE, &second),
                            exported(SIZE, &third)},
                plain = 0;
    DRV(cuMemAlloc_v2, (&plain, SIZE));
    DRV(cuIpcGetMemHandle, (&again, memory[0]));
    ck_assert_mem_eq(&again, &first, sizeof(first));
    DRV(cuMemFree_v2, (plain)); /* the memory with handles stays */
    DRV(cuMemFree_v2, (memory[1]));
    DRV(cuIpcGetMemHandle, (&again, memory[2]));
    ck_assert_mem_eq(&again, &third, sizeof(third));
    DRV(cuIpcGetMemHandle, (&again, memory[0]));
    ck_assert_mem_eq(&again, &first, sizeof(first));
}

static bool has_a_handle(CUdeviceptr memory)
{
    int has = 99;
    DRV(cuPointerGetAttribute, (&has, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, memory));
    ck_assert_int_le(has, 1);
    return has;
}

TEST(pool_memory_has_no_ipc_handle)
{
    CUipcMemHandle handle = {{0}};
    CUdeviceptr memory = 0, pooled = 0;
    DRV(cuMemAlloc_v2, (&memory, SIZE));
    DRV(cuMemAllocAsync, (&pooled, SIZE, fx.stream));
    ck_assert(has_a_handle(memory) && !has_a_handle(pooled));
    INVALID(cuIpcGetMemHandle, (&handle, pooled));
    INVALID(cuIpcGetMemHandle, (&handle, 0));
    INVALID(cuIpcGetMemHandle, (NULL, memory));
    DRV(cuMemFreeAsync, (pooled, fx.stream));
    DRV(cuMemFree_v2, (memory));
    INVALID(cuIpcGetMemHandle, (&handle, memory));
    DRV(cuCtxSetCurrent, (NULL));
    GIVES(ERROR_INVALID_CONTEXT, cuIpcGetMemHandle, (&handle, memory));
    GIVES(ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle_v2, (&pooled, handle, LAZY));
    GIVES(ERROR_INVALID_CONTEXT, cuIpcCloseMemHandle, (memory));
}

TEST(zero_handle_is_refused)
{
    CUipcMemHandle handle;
    CUdeviceptr opened = 0;
    memset(&handle, 0, sizeof(handle));
    INVALID(cuIpcOpenMemHandle_v2, (&opened, handle, LAZY));
    ck_assert_uint_eq(opened, 0);
}

/* In a process, a handle can be open in only one context per device. */
CHILD(opens_in_two_contexts)
{
    CUipcMemHandle handle;
    CUdeviceptr memory = 0, other = 0;
    fixture_setup();
    take_handle("MEMORY", &handle);
    DRV(cuIpcOpenMemHandle_v2, (&memory, handle, LAZY));
    CUcontext context = new_context(NULL);
    GIVES(ERROR_INVALID_HANDLE, cuIpcOpenMemHandle_v2, (&other, handle, LAZY));
    DRV(cuCtxSetCurrent, (fx.context));
    DRV(cuIpcCloseMemHandle, (memory));
    DRV(cuCtxSetCurrent, (context));
    DRV(cuIpcOpenMemHandle_v2, (&other, handle, LAZY));
    DRV(cuCtxDestroy_v2, (context)); /* this also closes the handle */
    DRV(cuCtxSetCurrent, (fx.context));
    INVALID(cuIpcCloseMemHandle, (other));
    return 0;
}

/* Runs the child with the handle of memory that exists until the child ends. */
static void expect_child_of_memory(const char *child)
{
    CUipcMemHandle handle;
    CUdeviceptr memory = exported(SIZE, &handle);
    put_handle("MEMORY", &handle);
    expect_child(child);
    DRV(cuMemFree_v2, (memory));
}

TEST(handle_opens_in_one_context_per_device)
{
    expect_child_of_memory("opens_in_two_contexts");
}

/* Expects that the handle of freed memory is refused. */
CHILD(fails_to_open_freed_memory)
{
    CUipcMemHandle handle;
    CUdeviceptr memory = 0;
    fixture_setup();
    take_handle("MEMORY", &handle);
    INVALID(cuIpcOpenMemHandle_v2, (&memory, handle, LAZY));
    child_check(memory == 0);
    return 0;
}

SOFT_TEST(handle_of_freed_memory_is_refused)
{
    CUipcMemHandle handle, other;
    DRV(cuMemFree_v2, (exported(SIZE, &handle)));
    put_handle("MEMORY", &handle);
    expect_child("fails_to_open_freed_memory");
    /* The new memory may have the address and the descriptor of the freed memory. */
    exported(SIZE, &other);
    ck_assert_mem_ne(&other, &handle, sizeof(handle));
    expect_child("fails_to_open_freed_memory");
}

/* Flips each byte of the handle in turn. A few bytes have no effect. */
CHILD(opens_changed_handles)
{
    CUipcMemHandle good;
    CUdeviceptr memory = 0;
    int refused = 0;
    fixture_setup();
    take_handle("MEMORY", &good);
    for (size_t i = 0; i < sizeof(good); i++) {
        CUipcMemHandle bad = good;
        bad.reserved[i] ^= 0x41;
        CUresult result = DRIVER(cuIpcOpenMemHandle_v2)(&memory, bad, LAZY);
        child_check(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_VALUE);
        refused += result != CUDA_SUCCESS;
        if (result == CUDA_SUCCESS)
            DRV(cuIpcCloseMemHandle, (memory));
    }
    child_check(refused >= 48);
    memset(&good, 0xff, sizeof(good));
    INVALID(cuIpcOpenMemHandle_v2, (&memory, good, LAZY));
    return 0;
}

SOFT_TEST(changed_memory_handles_are_refused)
{
    expect_child_of_memory("opens_changed_handles");
}
