/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tests of libgrinterop-softcudart. They ask the runtime API alone, so that the same files,
 * linked with NVIDIA's library, say on a GPU whether it answers the same; with -DREAL_CUDART, which
 * leaves out what only the software runtime has.
 */
#ifndef GR_TESTS_SOFTCUDART_H
#define GR_TESTS_SOFTCUDART_H

#include "tests/support/plain_case.h"

#include <cuda_runtime_api.h>

#include <stddef.h>

/* A call that succeeds. */
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        if (got_ != cudaSuccess)                                                                   \
            FAIL("%s gives %s", #call, cudaGetErrorName(got_));                                    \
    } while (0)

/* A call that fails with this, and leaves it as the last error, once. */
#define FAILS(error, call)                                                                         \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        if (got_ != (error))                                                                       \
            FAIL("%s gives %s, not %s", #call, cudaGetErrorName(got_), cudaGetErrorName(error));   \
        if (cudaPeekAtLastError() != (error) || cudaGetLastError() != (error) ||                   \
            cudaGetLastError() != cudaSuccess)                                                     \
            FAIL("%s leaves another last error than %s", #call, cudaGetErrorName(error));          \
    } while (0)

struct softcudart_case {
    const char *name;
    const char *(*run)(void);
};

/* Each ends with an entry without a name. */
extern const struct softcudart_case softcudart_arrays[];
extern const struct softcudart_case softcudart_copies[];
extern const struct softcudart_case softcudart_devices[];
extern const struct softcudart_case softcudart_errors[];
extern const struct softcudart_case softcudart_ipc[];
extern const struct softcudart_case softcudart_kernels[];
extern const struct softcudart_case softcudart_memory[];
extern const struct softcudart_case softcudart_streams[];
extern const struct softcudart_case softcudart_twins[];

/* The program as the other process of softcudart_ipc.c, when it is given this argument; what main()
 * returns. */
#define SOFTCUDART_OTHER "--other"
int softcudart_other(void);

/* Byte i of a pattern: no two neighbours, or rows, are equal. */
unsigned char softcudart_byte(size_t i);
void softcudart_pattern(void *bytes, size_t size);
/* Whether they are the pattern from byte `first` on. */
int softcudart_is_pattern(const void *bytes, size_t size, size_t first);

#endif
