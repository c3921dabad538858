/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernels of the tests, for the GPU and for the software CUDA driver. Each thread handles one
 * byte, so that odd sizes need no special case.
 */
#include <grinterop/cuhost.h>

/* Computes the same bytes as pattern_byte() in support_bytes.c. */
extern "C" __global__ void fill_pattern(unsigned char *out, unsigned long long size, unsigned seed)
{
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        out[i] = (unsigned char)((((unsigned)i + seed * 40503u) * 2654435761u) >> 24);
}
GR_KERNEL(fill_pattern)

extern "C" __global__ void add_one(unsigned char *bytes, unsigned long long size)
{
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        bytes[i] = (unsigned char)(bytes[i] + 1);
}
GR_KERNEL(add_one)

extern "C" __global__ void copy(unsigned char *out, const unsigned char *in,
                                unsigned long long size)
{
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size)
        out[i] = in[i];
}
GR_KERNEL(copy)

/* On the software driver, `assertion` is the address of its gr_softcuda_assert(). */
extern "C" __global__ void fail(unsigned long long assertion)
{
#ifdef __CUDA_ARCH__
    (void)assertion;
    __trap();
#else
    static const unsigned nowhere[3] = {0};
    ((void (*)(const char *, const char *, unsigned, const unsigned *, const unsigned *))assertion)(
        "false", __FILE__, __LINE__, nowhere, nowhere);
#endif
}
GR_KERNEL(fail)
