/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Out-of-bounds accesses to the dynamic shared memory of a block, and stack overflows of its
 * threads.
 */
#define _GNU_SOURCE
#include "tests/support/child_check.h"
#include "soft_guards.h"

/* The maximum dynamic shared memory of a launch without opt-in. */
#define LARGE_SHARED 49152

GROUP("shared memory", add_case)
TAG("alone")

#define SHARED_KERNEL "driver: kernel write_shared_at accessed address 0x"

/* A kernel writes one byte at this offset from the beginning of its dynamic shared memory. */
static int write_shared(unsigned size, long long offset)
{
    begin();
    soft_launch_shared("write_shared_at", (struct extents){.x = 3}, (struct extents){.x = 1}, size,
                       fx.stream, (void *[]){&offset});
    return fx.cu->StreamSynchronize(fx.stream) != CUDA_SUCCESS;
}

/*
 * Catches: for a launch without shared memory, the message reported an access through NULL, and
 * accesses past the end of shared memory were not detected.
 */
DIES(past_shared_memory, SHARED_KERNEL,
     ", which is 0 bytes past the end of its extern __shared__ memory: the launch gives "
     "it 128 bytes, by <<<grid, block, bytes>>> or cuLaunchKernel's sharedMemBytes\n")
{
    return write_shared(128, 128);
}

DIES(past_unaligned_shared_memory, SHARED_KERNEL,
     ", which is 24 bytes past the end of its extern __shared__ memory: the launch ")
{
    return write_shared(1000, 1024);
}

DIES(far_past_shared_memory, SHARED_KERNEL,
     ", which is 79872 bytes past the end of its extern __shared__ memory: the launch ")
{
    return write_shared(128, 80000);
}

DIES(before_shared_memory, SHARED_KERNEL,
     ", which is 65536 bytes before the beginning of its extern __shared__ memory: ")
{
    return write_shared(LARGE_SHARED, -65536);
}

DIES(without_shared_memory, SHARED_KERNEL,
     ", which is 16 bytes past the end of its extern __shared__ memory: the launch gives "
     "it 0 bytes, by <<<grid, block, bytes>>> or")
{
    return write_shared(0, 16);
}

PASSES(within_shared_memory)
{
    if (write_shared(128, 0) || write_shared(128, 127))
        return 1;
    return write_shared(LARGE_SHARED, 0) || write_shared(LARGE_SHARED, LARGE_SHARED - 1);
}

GROUP("stacks", add_soft_case)

static int run_frame_kernel(const char *kernel)
{
    CUdeviceptr out = allocated(SIZE);
    soft_launch(kernel, (struct extents){.x = 2}, (struct extents){.x = 33}, fx.stream,
                (void *[]){&out});
    fx.cu->StreamSynchronize(fx.stream);
    return 0;
}

CHILD(frame_of_66000)
{
    return run_frame_kernel("frame_66000");
}

CHILD(frame_of_300000)
{
    return run_frame_kernel("frame_300000");
}

DIES(endless_recursion, "kernel recurse needs more stack than the ",
     " bytes that a thread has: make its local arrays smaller, ")
{
    CUdeviceptr out = allocated(SIZE);
    unsigned depth = 100 * 1000 * 1000;
    soft_run("recurse", (void *[]){&out, &depth});
    return 0;
}

/* Catches: a 66,000-byte frame skipped the canary and was not detected. */
SOFT_TEST(stack_overflow_with_barriers_is_reported)
{
    if (!sanitizer()) /* stacks are larger with a sanitizer */
        expect_death("frame_of_66000", "kernel frame_66000 needs more stack than the 65536 bytes",
                     " bytes that a thread has: make its local arrays smaller, ");
    expect_death("frame_of_300000", "kernel frame_300000 needs more stack than the ",
                 " bytes that a thread has: make its local arrays smaller, ");
}

/*
 * The default stack is large enough for the first kernel's frame. The second kernel needs
 * cuCtxSetLimit().
 */
SOFT_TEST(large_frame_fits_if_the_stack_limit_allows, 2)
{
    unsigned char bytes[64] = {0};
    CUdeviceptr out = soft_memory(bytes, sizeof(bytes));
    size_t before;
    CU_READS(before, 1024, CtxGetLimit(&before, CU_LIMIT_STACK_SIZE));
    if (_i)
        CU(CtxSetLimit(CU_LIMIT_STACK_SIZE, 400000));
    soft_launch(_i ? "frame_300000" : "frame_16000", (struct extents){.x = 1},
                (struct extents){.x = 64}, fx.stream, (void *[]){&out});
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(bytes, out, sizeof(bytes)));
    for (unsigned i = 0; i < sizeof(bytes); i++)
        ck_assert_uint_eq(bytes[i], i);
    CU(CtxSetLimit(CU_LIMIT_STACK_SIZE, before));
}
