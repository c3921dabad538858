/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Cooperative groups: sums of blocks by tiles, prefix sums, and coalesced lanes. */
#include "expect.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <unsigned Size, class Parent>
__device__ int tile_sum(cg::thread_block_tile<Size, Parent> tile, int value)
{
    for (int step = tile.size() / 2; step > 0; step /= 2)
        value += tile.shfl_down(value, step);
    return tile.shfl(value, 0);
}

__device__ int group_sum(const cg::thread_group &group, int *scratch, int value)
{
    const int lane = group.thread_rank();
    for (int i = group.size() / 2; i > 0; i /= 2) {
        scratch[lane] = value;
        group.sync();
        if (lane < i)
            value += scratch[lane + i];
        group.sync();
    }
    return value;
}

__global__ void sums(int *out, const int *in)
{
    __shared__ int scratch[128];
    cg::thread_block block = cg::this_thread_block();
    const int rank = block.thread_rank();
    const int value = in[rank];
    auto tile = cg::tiled_partition<16>(block);
    int *mine = out + 6 * rank;
    mine[0] = tile_sum(cg::tiled_partition<32>(block), value);
    mine[1] = cg::reduce(tile, value, cg::plus<int>());
    mine[2] = cg::exclusive_scan(tile, value);
    mine[3] = cg::reduce(tile, value, cg::greater<int>());
    const uint4 four = tile.shfl(make_uint4(rank, rank + 1, rank + 2, rank + 3), 5);
    mine[4] = 0;
    if ((int)four.x != rank / 16 * 16 + 5 || four.w != four.x + 3)
        mine[0] = -1;
    if (rank % 3 == 0) {
        cg::coalesced_group together = cg::coalesced_threads();
        mine[4] = 100 * together.size() + together.thread_rank();
    }
    cg::sync(block);
    const int sum = group_sum(block, scratch, value);
    if (rank == 0)
        scratch[0] = sum;
    block.sync();
    mine[5] = scratch[0];
}

/* The odd threads of a warp, grouped by their values. */
__global__ void labels(int *out, const int *in)
{
    const int i = threadIdx.x;
    out[i] = 0;
    if (i % 2) {
        auto same = cg::labeled_partition(cg::coalesced_threads(), in[i] % 3);
        out[i] = 100 * same.size() + same.thread_rank();
    }
}

static int sum_of(numbers<int> &in, int first, int end)
{
    int sum = 0;
    for (int i = first; i < end; i++)
        sum += in[i];
    return sum;
}

int main()
{
    numbers<int> in(128), out(6 * 128);
    for (int i = 0; i < 128; i++)
        in[i] = i * 31 % 17;
    in.send();
    sums<<<1, dim3(16, 8)>>>(out.device, in.device);
    out.fetch();
    for (int i = 0; i < 128; i++) {
        const int *mine = &out[6 * i], tile = i / 16 * 16, warp = i / 32 * 32;
        int most = 0, together = 0, before = 0;
        for (int k = tile; k < tile + 16; k++)
            most = in[k] > most ? in[k] : most;
        for (int k = warp; k < warp + 32; k++) {
            together += k % 3 == 0;
            before += k % 3 == 0 && k < i;
        }
        EXPECT(mine[0] == sum_of(in, warp, warp + 32), "%d at %d", mine[0], i);
        EXPECT(mine[1] == sum_of(in, tile, tile + 16), "%d at %d", mine[1], i);
        EXPECT(mine[2] == sum_of(in, tile, i), "%d at %d", mine[2], i);
        EXPECT(mine[3] == most, "%d at %d", mine[3], i);
        EXPECT(mine[4] == (i % 3 ? 0 : 100 * together + before), "%d at %d", mine[4], i);
        EXPECT(mine[5] == sum_of(in, 0, 128), "%d at %d", mine[5], i);
    }
    labels<<<1, 64>>>(out.device, in.device);
    out.fetch();
    for (int i = 0; i < 64; i++) {
        int same = 0, before = 0;
        for (int k = i / 32 * 32 + 1; k < i / 32 * 32 + 32; k += 2) {
            same += in[k] % 3 == in[i] % 3;
            before += in[k] % 3 == in[i] % 3 && k < i;
        }
        EXPECT(out[i] == (i % 2 ? 100 * same + before : 0), "%d at %d", out[i], i);
    }
    return 0;
}
