/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions of soft_launch.h, which the test programs of the software CUDA driver share. */
#include "soft_launch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

KERNEL_IMAGE(soft_kernels);

START(fixture_ends_context = true)

static CUmodule module;

const struct kernel_image *soft_kernels(void)
{
    return &soft_kernels_image;
}

void soft_kernels_load(void)
{
    ck_assert(kernel_image_load(&soft_kernels_image, &module));
}

static void begin_kernels(void)
{
    module = NULL;
    if (gr_cuda_is_software())
        soft_kernels_load();
}

TCase *add_soft_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), begin_kernels, NULL);
}

static struct extents at_least_1(struct extents e)
{
    return (struct extents){e.x ? e.x : 1, e.y ? e.y : 1, e.z ? e.z : 1};
}

void soft_launch(const char *name, struct extents grid, struct extents block, CUstream stream,
                 void **parameters)
{
    const struct extents threads = at_least_1(block);
    soft_launch_shared(name, grid, block,
                       threads.x * threads.y * threads.z * (unsigned)sizeof(unsigned), stream,
                       parameters);
}

void soft_launch_shared(const char *name, struct extents grid, struct extents block,
                        unsigned shared, CUstream stream, void **parameters)
{
    CUfunction function = NULL;
    grid = at_least_1(grid);
    block = at_least_1(block);
    CU(ModuleGetFunction(&function, module, name));
    CU(LaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream,
                    parameters, NULL));
}

CUresult soft_run(const char *name, void **parameters)
{
    soft_launch(name, (struct extents){1, 1, 1}, (struct extents){1, 1, 1}, fx.stream, parameters);
    return fx.cu->StreamSynchronize(fx.stream);
}

CUdeviceptr soft_memory(const void *bytes, size_t size)
{
    CUdeviceptr memory = 0;
    CU(MemAlloc(&memory, size));
    CU(MemcpyHtoD(memory, bytes, size));
    CU(CtxSynchronize()); /* the copy may be asynchronous, and fx.stream would not wait for it */
    return memory;
}

const void *soft_bytes(CUdeviceptr memory, size_t size)
{
    static void *bytes;
    free(bytes);
    bytes = must_allocate(size);
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(bytes, memory, size));
    return bytes;
}

unsigned soft_word(CUdeviceptr memory)
{
    unsigned word = 0;
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(&word, memory, sizeof(word)));
    return word;
}

/* With a sanitizer, the child exits instead of dying by the signal. */
void expect_death(const char *child, const char *text, const char *also)
{
    char said[16384];
    int status = child_run(child, said, sizeof(said));
    ck_assert_msg(status != 0 && status != CHILD_FAILED << 8, "%s ended with status 0x%x: %.3500s",
                  child, (unsigned)status, said);
    ck_assert_msg(sanitizer() || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV),
                  "%s ended with status 0x%x: %.3500s", child, (unsigned)status, said);
    ck_assert_msg(strstr(said, text), "%s printed: %s, expected: %s", child, said, text);
    ck_assert_msg(strstr(said, also), "%s printed: %s, expected: %s", child, said, also);
}

void expect_message_once(const char *child, const char *text, const char *also)
{
    char said[8192];
    ck_assert_msg(child_run(child, said, sizeof(said)) == 0, "%s: %.3500s", child, said);
    const char *first = strstr(said, text);
    ck_assert_msg(first && strstr(said, also), "%s printed: %s", child, said);
    ck_assert_msg(!strstr(first + 1, text), "%s, twice: %s", child, said);
}
