/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What threads of a block share: large tiles, partitions, cuda::barrier and cuda::pipeline. */
#include "expect.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <utility>

namespace cg = cooperative_groups;

#define THREADS 256
#define STAGES  3
#define ROUNDS  8

__global__ void groups(int *out)
{
    __shared__ cg::block_tile_memory<THREADS> scratch;
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ alignas(16) int values[THREADS];
    const int rank = threadIdx.x;
    cg::thread_block block = cg::this_thread_block(scratch);
    auto large = cg::tiled_partition<64>(block);
    int *mine = out + 4 * rank;
    mine[0] = cg::reduce(large, rank, cg::plus<int>());
    /* Only one tile: the others do not take part. */
    mine[1] = large.meta_group_rank() == 1 ? cg::reduce(large, rank, cg::greater<int>()) : -1;
    if (rank == 0)
        init(&barrier, THREADS);
    block.sync();
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        values[rank] = rank + round;
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
        sum += values[(rank + 37) % THREADS];
        barrier.arrive_and_wait();
    }
    mine[2] = sum;
    auto part = cg::binary_partition(cg::tiled_partition<32>(block), rank % 3 == 0);
    mine[3] = 1000 * part.size() + 100 * cg::reduce(part, 1, cg::plus<int>()) + part.thread_rank();
}

/* The last warp loads the rounds, and the others sum each of them before its stage is reused. */
__global__ void stages(int *out, const int *in)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    __shared__ int loaded[STAGES][32];
    const bool produces = threadIdx.x >= THREADS - 32;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state,
                                    produces ? cuda::pipeline_role::producer
                                             : cuda::pipeline_role::consumer);
    const auto size = cuda::aligned_size_t<alignof(int)>(sizeof(int));
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int lane = threadIdx.x % 32, stage = round % STAGES;
        if (produces) {
            pipe.producer_acquire();
            cuda::memcpy_async(&loaded[stage][lane], &in[32 * round + lane], size, pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += (round + 1) * loaded[stage][(lane + 1) % 32];
            pipe.consumer_release();
        }
    }
    out[threadIdx.x] = sum;
}

int main()
{
    numbers<int> out(4 * THREADS), in(32 * ROUNDS), sums(THREADS);
    groups<<<3, THREADS>>>(out.device);
    out.fetch();
    for (int i = 0; i < THREADS; i++) {
        const int *mine = &out[4 * i], tile = i / 64 * 64, warp = i / 32 * 32;
        int sum = 0, size = 0, before = 0;
        for (int round = 0; round < ROUNDS; round++)
            sum += (i + 37) % THREADS + round;
        for (int k = warp; k < warp + 32; k++)
            if ((k % 3 == 0) == (i % 3 == 0)) {
                size++;
                before += k < i;
            }
        EXPECT(mine[0] == 64 * tile + 63 * 32, "%d at %d", mine[0], i);
        EXPECT(mine[1] == (tile == 64 ? 127 : -1), "%d at %d", mine[1], i);
        EXPECT(mine[2] == sum, "%d at %d", mine[2], i);
        EXPECT(mine[3] == 1100 * size + before, "%d at %d", mine[3], i);
    }
    for (int i = 0; i < 32 * ROUNDS; i++)
        in[i] = i * 31 % 101;
    in.send();
    stages<<<2, THREADS>>>(sums.device, in.device);
    sums.fetch();
    for (int i = 0; i < THREADS; i++) {
        int sum = 0;
        for (int round = 0; round < ROUNDS && i < THREADS - 32; round++)
            sum += (round + 1) * in[32 * round + (i + 1) % 32];
        EXPECT(sums[i] == sum, "%d at %d", sums[i], i);
    }
    return 0;
}
