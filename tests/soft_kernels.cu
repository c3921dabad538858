/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that look at the host's threads, for the tests of the software CUDA driver alone. */
#include <grinterop/cuhost.h>

#ifndef __CUDACC__
#include <pthread.h>
#include <unistd.h>
#endif

/*
 * Each block notes the thread that runs it, then waits for the others, so that they can only all
 * arrive if as many threads run blocks at the same time. Gives up after five seconds.
 */
extern "C" __global__ void meet(unsigned *arrived, unsigned long long *threads)
{
#ifdef __CUDACC__
    (void)arrived;
    (void)threads;
#else
    threads[blockIdx.x] = (unsigned long long)pthread_self();
    atomicAdd(arrived, 1u);
    for (int i = 0; i < 5000 && __atomic_load_n(arrived, __ATOMIC_ACQUIRE) < gridDim.x; i++)
        usleep(1000);
#endif
}
GR_KERNEL(meet)
