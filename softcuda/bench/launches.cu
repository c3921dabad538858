// SPDX-License-Identifier: Apache-2.0 OR MIT
// The kernels of loops.cu, compiled by grinterop-nvcc and launched by <<< >>>.
#include "loops.cu"
#include "launches.h"

static dim3 blocks(dim3 block, unsigned width, unsigned height)
{
    return dim3((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
}

static dim3 square(const struct loops *l)
{
    return dim3(l->block_x, l->block_y);
}

bool launch_loop(enum loop_kind kind, const struct loops *l)
{
    const unsigned threads = l->block_x * l->block_y, n = l->width * l->height;
    if (kind == LOOP_SAXPY)
        saxpy<<<blocks(threads, n, 1), threads>>>(l->to, l->from, n);
    else if (kind == LOOP_POLYNOMIAL)
        polynomial<<<blocks(threads, n, 1), threads>>>(l->to, l->from, n);
    else if (kind == LOOP_STENCIL)
        stencil<<<blocks(square(l), l->width, l->height), square(l)>>>(l->to, l->from, l->width,
                                                                       l->height);
    else
        nothing<<<1, 1>>>();
    return cudaGetLastError() == cudaSuccess;
}

bool launch_wait(void)
{
    return cudaDeviceSynchronize() == cudaSuccess;
}
