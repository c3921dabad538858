/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The tests of libgrinterop-softcudart. They use only the runtime API. To compare the results with
 * a GPU, compile them with -DREAL_CUDART, which leaves out features of the software runtime, and
 * link them with the libcudart of NVIDIA.
 */
#ifndef GR_TESTS_SOFTCUDART_H
#define GR_TESTS_SOFTCUDART_H

#include "tests/support/plain_case.h"

#include <cuda_runtime_api.h>

#include <stddef.h>
#include <string.h>

/* A call that must succeed. */
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        if (got_ != cudaSuccess)                                                                   \
            FAIL("%s returned %s", #call, cudaGetErrorName(got_));                                 \
    } while (0)

/* A query that must overwrite `value` with the expected value. */
#define READS(value, expected, call)                                                               \
    do {                                                                                           \
        memset(&(value), 0x5a, sizeof(value));                                                     \
        CUDA(call);                                                                                \
        REQUIRE((value) == (expected));                                                            \
    } while (0)

/*
 * A call that must fail with this error. It must set the last error, which the first query then
 * clears.
 */
#define FAILS(error, call)                                                                         \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        if (got_ != (error))                                                                       \
            FAIL("%s returned %s, expected %s", #call, cudaGetErrorName(got_),                     \
                 cudaGetErrorName(error));                                                         \
        if (cudaPeekAtLastError() != (error) || cudaGetLastError() != (error) ||                   \
            cudaGetLastError() != cudaSuccess)                                                     \
            FAIL("%s did not set the last error to %s", #call, cudaGetErrorName(error));           \
    } while (0)

struct softcudart_case {
    const char *group;
    int line; /* orders the cases of a group */
    const char *name;
    void (*run)(void);
    struct softcudart_case *next;
};
void softcudart_list(struct softcudart_case *one);

/* Runs code in which FAIL() ends the run. Returns the text of the failure, or NULL. */
const char *softcudart_run(void (*run)(void));
_Noreturn void softcudart_end(const char *wrong);
#undef FAIL
#define FAIL(...) softcudart_end(fail_at(__FILE__, __LINE__, __VA_ARGS__))

/* A case in the GROUP of the file. Its end resets the devices, with all objects but graphs. */
#define CASE(title)                                                                                \
    static void title(void);                                                                       \
    __attribute__((constructor)) static void list_##title(void)                                    \
    {                                                                                              \
        static struct softcudart_case listed = {GROUP, __LINE__, #title, title, NULL};             \
        softcudart_list(&listed);                                                                  \
    }                                                                                              \
    static void title(void)

/* The beginning of a gr_cuhost_kernel, as in the output of grinterop-nvcc. */
#define RECORD(title, params, sizes, offsets, bytes)                                               \
    .abi = GR_CUHOST_ABI, .size = sizeof(gr_cuhost_kernel), .param_count = (params),               \
    .name = (title), .param_sizes = (sizes), .param_offsets = (offsets), .params_size = (bytes)

/*
 * With this argument, the program runs as the second process of softcudart_ipc.c.
 * softcudart_second_process() returns its exit status.
 */
#define SOFTCUDART_SECOND "--other"
int softcudart_second_process(void);

/* Byte i of a pattern in which adjacent bytes, and adjacent rows, differ. */
unsigned char softcudart_byte(size_t i);
void softcudart_pattern(void *bytes, size_t size);
/* Whether the bytes match the pattern from byte `first` on. */
int softcudart_is_pattern(const void *bytes, size_t size, size_t first);

#endif
