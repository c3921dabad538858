/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Out-of-bounds accesses to device and host memory, and the messages that name this memory. */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "softcuda/tests/conformance/conformance_share.h"
#include "soft_guards.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The offset of the guard after an object of SIZE bytes: objects begin at multiples of 512. */
#define END 1024

#define GRANULE ((size_t)2 << 20)

GROUP("accesses that miss", add_case)
TAG("alone")

#define KERNEL "driver: kernel write_at accessed address 0x"

/*
 * Catches: a write past the end of an allocation was not detected, although a write after its free
 * was.
 */
DIES(past_an_allocation, KERNEL,
     ", which is 24 bytes past the end of device memory of cuMemAlloc (1000 bytes at ")
{
    return write_at(allocated(SIZE), END);
}

DIES(before_an_allocation, KERNEL,
     ", which is 1 bytes before the beginning of device memory of cuMemAlloc (4096 ")
{
    return write_at(allocated(4096), -1);
}

/* The access is beyond the page of a small allocation, in the last bytes of the guard. */
DIES(far_past_an_allocation, KERNEL,
     ", which is 66046 bytes past the end of device memory of cuMemAlloc (1 bytes ")
{
    return write_at(allocated(1), 512 + 65535);
}

DIES(past_a_pitched_allocation, KERNEL,
     ", which is 0 bytes past the end of device memory of cuMemAlloc (1536 bytes at ")
{
    CUdeviceptr memory = 0;
    size_t pitch = 0;
    begin();
    CU(MemAllocPitch(&memory, &pitch, 100, 3, 4));
    child_check(pitch == 512);
    return write_at(memory, 3 * 512);
}

DIES(past_managed_memory, KERNEL,
     ", which is 24 bytes past the end of managed memory of cuMemAllocManaged (1000 ")
{
    CUdeviceptr memory = 0;
    begin();
    CU(MemAllocManaged(&memory, SIZE, CU_MEM_ATTACH_GLOBAL));
    return write_at(memory, END);
}

DIES(past_pinned_memory, KERNEL,
     ", which is 3096 bytes past the end of pinned memory of cuMemHostAlloc (1000 ")
{
    void *memory = NULL;
    begin();
    CU(MemAllocHost(&memory, SIZE));
    return write_at((CUdeviceptr)(uintptr_t)memory, 4096);
}

DIES(past_pool_memory, KERNEL,
     ", which is 24 bytes past the end of stream-ordered memory of cuMemAllocAsync (")
{
    CUdeviceptr memory = 0;
    begin();
    CU(MemAllocAsync(&memory, SIZE, fx.stream));
    return write_at(memory, END);
}

static gr_buffer *mapped_buffer(void)
{
    begin();
    gr_buffer *buffer =
        must_make(gr_map_gl_buffer(gl_buffer_filled(SIZE, 1), GR_READ_WRITE, fx.stream));
    return buffer;
}

/*
 * Catches: a write past the end of a mapped buffer was not detected, although a write after its
 * unmap was.
 */
DIES(past_a_mapped_buffer, KERNEL, ", which is 24 bytes past the end of OpenGL buffer ")
{
    return write_at(gr_buffer_ptr(mapped_buffer()), END);
}

DIES(before_a_mapped_buffer, KERNEL, ", which is 3073 bytes before the beginning of OpenGL buffer ")
{
    CUdeviceptr pages = gr_buffer_ptr(mapped_buffer()) & ~(CUdeviceptr)4095;
    return write_at(pages, -1);
}

/* The access is in the guard of an unmapped buffer. */
DIES(past_an_unmapped_buffer, KERNEL, ", which is 124 bytes past the end of OpenGL buffer ")
{
    begin();
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    gr_buffer *buffer = must_map(resource);
    CUdeviceptr stale = gr_buffer_ptr(buffer);
    child_check(gr_buffer_release(buffer) == GR_OK);
    return write_at(stale, END + 100);
}

DIES(past_freed_memory, KERNEL,
     ", which is 24 bytes past the end of device memory after cuMemFree\n")
{
    CUdeviceptr memory = allocated(SIZE);
    CU(MemFree(memory));
    return write_at(memory, END);
}

DIES(past_a_mapping, KERNEL,
     ", which is 0 bytes past the end of a mapping of cuMemMap (2097152 bytes at ")
{
    begin();
    return write_at(share_map(share_create(GRANULE), GRANULE), GRANULE);
}

DIES(before_a_mapping, KERNEL,
     ", which is 1 bytes before the beginning of a mapping of cuMemMap (2097152 ")
{
    begin();
    return write_at(share_map(share_create(GRANULE), GRANULE), -1);
}

/*
 * A view of SIZE bytes in the middle of imported memory. The bytes around it in the same pages are
 * accessible.
 */
static CUdeviceptr external_buffer(void)
{
    begin();
    return share_map_buffer(share_import(share_create(GRANULE), GRANULE), 8192 + 256, SIZE);
}

DIES(past_external_memory, KERNEL,
     ", which is 2840 bytes past the end of a buffer of external memory (1000 bytes at")
{
    return write_at(external_buffer(), 4096 - 256);
}

DIES(before_external_memory, KERNEL,
     ", which is 257 bytes before the beginning of a buffer of external memory (1000 ")
{
    return write_at(external_buffer(), -256 - 1);
}

CHILD(through_null)
{
    begin();
    return write_at(0, 16);
}

CHILD(through_invalid_address)
{
    CUdeviceptr fresh = allocated(SIZE);
    soft_run("write_to_address_in", (void *[]){&fresh});
    return 0;
}

CHILD(misaligned)
{
    CUdeviceptr memory = allocated(SIZE);
    long long offset = 4;
    soft_run("write_vector_at", (void *[]){&memory, &offset});
    return 0;
}

CHILD(at_unknown_address)
{
    begin();
    /*
     * The middle of this mapping is too far below the next mapping to be reported as a stack
     * overflow.
     */
    const long long size = 8 << 20;
    void *pages = mmap(NULL, (size_t)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    child_check(pages != MAP_FAILED);
    return write_at((CUdeviceptr)(uintptr_t)pages, size / 2);
}

/* Catches: an access through NULL ended the program without a message. */
SOFT_TEST(invalid_pointers_are_reported)
{
    if (thread_sanitizer())
        skip("ThreadSanitizer faults before the access does, at an address of its own");
    expect_death("through_null", "kernel write_at accessed address 0x10, ",
                 ", which is NULL plus 16 bytes: was a parameter not set?\n");
    expect_death("at_unknown_address", KERNEL,
                 ", which is not, or no longer, memory of this driver\n");
#ifdef __x86_64__
    if (!sanitizer())
        expect_death(
            "through_invalid_address",
            "kernel write_to_address_in accessed a vector type (float4, ...) at an ",
            " or used an invalid pointer: was the pointer read from uninitialised memory?\n");
#endif
}

/* Catches: the message for a misaligned float4 pointer said that the address was invalid. */
SOFT_TEST(misaligned_vectors_are_reported)
{
#ifdef __SSE__
    if (!sanitizer())
        expect_death("misaligned", "kernel write_vector_at accessed a vector type (float4, ...) at",
                     " an address that is not a multiple of its alignment, or ");
#endif
}

DIES(by_the_application, "driver: the application accessed address 0x",
     ", which is 24 bytes past the end of device memory of cuMemAlloc (1000 bytes at ")
{
    CUdeviceptr memory = allocated(SIZE);
    memset((void *)(uintptr_t)memory, 1, END + 1);
    return 0;
}

#define NOT_MAPPED                                                                                 \
    ", which is not mapped: the pointer was used after its unmap, before its next map, or in a "   \
    "stream that the unmap did not wait for\n"

/* Queues a fill or a copy of a mapped buffer that runs after the release of the buffer. */
static int work_after_release(bool copies)
{
    CUdeviceptr memory = allocated(SIZE);
    gr_resource *resource = must_register(gl_buffer_filled(SIZE, 1));
    struct gate *gate = gate_put(fx.stream);
    gr_buffer *buffer = must_map_on(resource, fx.other);
    if (copies)
        CU(MemcpyDtoDAsync(memory, gr_buffer_ptr(buffer), SIZE, fx.stream));
    else
        CU(MemsetD8Async(gr_buffer_ptr(buffer), 1, SIZE, fx.stream));
    child_check(gr_buffer_release(buffer) == GR_OK);
    gate_open(gate);
    fx.cu->StreamSynchronize(fx.stream);
    return 0;
}

/*
 * The C library chooses at which byte a fill or a copy starts, so the test does not check the byte
 * in the message.
 */
DIES(by_a_fill, "driver: a fill accessed address 0x", NOT_MAPPED)
{
    return work_after_release(false);
}

DIES(by_a_copy, "driver: a copy accessed address 0x", NOT_MAPPED)
{
    return work_after_release(true);
}

/* ---- Host memory ----------------------------------------------------------------------------- */

/* A kernel writes the first byte of the memory, twice. */
static int write_to_host(unsigned char *memory)
{
    begin();
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)memory;
    for (unsigned char i = 0; i < 2; i++) {
        memory[0] = 0;
        write_at(address, 0);
        child_check(memory[0] == 0x5a);
    }
    return 0;
}

static int write_to_heap(size_t size)
{
    unsigned char *memory = malloc(size);
    int status = write_to_host(memory);
    free(memory);
    return status;
}

CHILD(to_small_memory)
{
    return write_to_heap(64);
}

CHILD(to_large_memory)
{
    return write_to_heap(4 << 20);
}

CHILD(to_the_stack)
{
    unsigned char memory[64];
    return write_to_host(memory);
}

CHILD(to_cuda_memory)
{
    void *pinned = NULL;
    CUdeviceptr managed = 0, memory = allocated(64);
    CU(MemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    CU(MemAllocHost(&pinned, 64));
    soft_run("write_vector_at", (void *[]){&managed, &(long long){0}});
    soft_run("wait_until", (void *[]){&memory});
    return write_at((CUdeviceptr)(uintptr_t)pinned, 0);
}

#define HOST_MEMORY "which is host memory unknown to CUDA"

/*
 * Catches: a kernel accessed memory of malloc() without a message. On a GPU such an access faults.
 */
SOFT_TEST(kernel_parameter_in_host_memory_is_reported)
{
    char said[8192];
    expect_message_once("to_small_memory", HOST_MEMORY, "");
    expect_message_once("to_large_memory", HOST_MEMORY, "");
    expect_message_once("to_the_stack", HOST_MEMORY, "");
    ck_assert_msg(child_run("to_cuda_memory", said, sizeof(said)) == 0, "%s", said);
    ck_assert_msg(!strstr(said, HOST_MEMORY), "%s", said);
}
