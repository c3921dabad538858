/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Cooperative groups on the host: thread blocks, tiles and coalesced groups. Grid groups only have
 * the parts that need no barrier of the whole grid.
 */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#pragma GCC system_header

#include <grinterop_nvcc.h>

#pragma GCC visibility push(hidden)
namespace cooperative_groups
{

/* Where the threads of a tile of several warps meet. */
struct tile_point {
    gr_cuhost::meeting meeting;
    uint64_t result;
};

/* The shared memory for tiles of several warps. */
template <unsigned MaxThreads = 1024> struct block_tile_memory {
    tile_point points[(MaxThreads + 63) / 64];
    uint64_t values[MaxThreads];
};

class thread_block
{
public:
    tile_point *gr_points = nullptr;
    uint64_t *gr_values = nullptr;

    static void sync() { gr_cuhost::barrier(0); }
    static unsigned thread_rank()
    {
        return threadIdx.x + (threadIdx.y + threadIdx.z * blockDim.y) * blockDim.x;
    }
    static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned size() { return num_threads(); }
    static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};

inline thread_block this_thread_block()
{
    return {};
}

template <unsigned MaxThreads>
inline thread_block this_thread_block(block_tile_memory<MaxThreads> &memory)
{
    thread_block block;
    block.gr_points = memory.points;
    block.gr_values = memory.values;
    block.sync();
    for (tile_point &point : memory.points)
        point = {};
    block.sync();
    return block;
}

class grid_group
{
public:
    static bool is_valid() { return false; }
    [[noreturn]] static void sync()
    {
        fprintf(stderr,
                "grinterop-nvcc: kernel %s waits for its whole grid, but blocks run one after the "
                "other here: split the kernel in two at that point\n",
                gr_cuhost::here.launch->kernel);
        abort();
    }
    static unsigned long long block_rank()
    {
        return blockIdx.x + (blockIdx.y + 1ull * blockIdx.z * gridDim.y) * gridDim.x;
    }
    static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long thread_rank()
    {
        return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
    }
    static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
    static unsigned long long size() { return num_threads(); }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
};

inline grid_group this_grid()
{
    return {};
}

/* The lanes of one warp that a mask selects. Ranks count from the lowest of these lanes. */
class lane_group
{
protected:
    unsigned mask;

    int lane_of(int rank) const
    {
        for (int lane = 0; lane < 32; lane++)
            if ((mask >> lane & 1) && rank-- == 0)
                return lane;
        return static_cast<int>(gr_cuhost::lane());
    }
    unsigned ranks_of(unsigned lanes) const
    {
        unsigned ranks = 0, rank = 0;
        for (int lane = 0; lane < 32; lane++)
            if (mask >> lane & 1)
                ranks |= (lanes >> lane & 1) << rank++;
        return ranks;
    }
    template <class T> T take(T value, int rank) const
    {
        const bool inside = rank >= 0 && rank < static_cast<int>(num_threads());
        const int from = inside ? lane_of(rank) : static_cast<int>(gr_cuhost::lane());
        uint64_t words[(sizeof(T) + 7) / 8] = {};
        memcpy(words, &value, sizeof(value));
        for (uint64_t &word : words)
            word = gr_cuhost::shuffle(mask, word, from, true);
        memcpy(static_cast<void *>(&value), words, sizeof(value));
        return value;
    }

public:
    explicit lane_group(unsigned lanes) : mask(lanes) {}
    unsigned num_threads() const { return static_cast<unsigned>(__builtin_popcount(mask)); }
    unsigned size() const { return num_threads(); }
    unsigned thread_rank() const
    {
        return static_cast<unsigned>(__builtin_popcount(mask & ((1u << gr_cuhost::lane()) - 1)));
    }
    unsigned gr_mask() const { return mask; }
    void sync() const { gr_cuhost::meet(mask, 0); }
    template <class T> T shfl(T value, int rank) const
    {
        return take(value, rank % static_cast<int>(num_threads()));
    }
    template <class T> T shfl_up(T value, unsigned delta) const
    {
        return take(value, static_cast<int>(thread_rank()) - static_cast<int>(delta));
    }
    template <class T> T shfl_down(T value, unsigned delta) const
    {
        return take(value, static_cast<int>(thread_rank()) + static_cast<int>(delta));
    }
    template <class T> T shfl_xor(T value, unsigned with) const
    {
        return take(value, static_cast<int>(thread_rank() ^ with));
    }
    int any(int predicate) const { return __any_sync(mask, predicate); }
    int all(int predicate) const { return __all_sync(mask, predicate); }
    unsigned ballot(int predicate) const { return ranks_of(__ballot_sync(mask, predicate)); }
    template <class T> unsigned match_any(T value) const
    {
        return ranks_of(__match_any_sync(mask, value));
    }
    template <class T> unsigned match_all(T value, int &same) const
    {
        return ranks_of(__match_all_sync(mask, value, &same));
    }
};

/* The lanes that are active when the group is created. */
class coalesced_group : public lane_group
{
public:
    explicit coalesced_group(unsigned lanes) : lane_group(lanes) {}
    unsigned meta_group_rank() const { return 0; }
    unsigned meta_group_size() const { return 1; }
};

inline coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}

/* The mask of the tile of `size` lanes that contains this thread. */
inline unsigned tile_mask(unsigned size)
{
    const unsigned first = thread_block::thread_rank() / size * size % 32;
    return (size == 32 ? ~0u : (1u << size) - 1) << first;
}

template <unsigned Size, class Parent = void> class thread_block_tile;

template <unsigned Size> class thread_block_tile<Size, void> : public lane_group
{
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "a tile must have 1, 2, 4, 8, 16 or 32 threads");

public:
    thread_block_tile() : lane_group(tile_mask(Size)) {}
    /* Both functions return the full size, although the last tile may have fewer threads. */
    static constexpr unsigned num_threads() { return Size; }
    static constexpr unsigned size() { return Size; }
    static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
    static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
    static unsigned meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }
};

/* A tile of several warps, which needs the memory that its thread block was created with. */
template <unsigned Size> class large_tile
{
    thread_block block;

public:
    explicit large_tile(const thread_block &parent) : block(parent) {}
    static constexpr unsigned num_threads() { return Size; }
    static constexpr unsigned size() { return Size; }
    static unsigned thread_rank() { return thread_block::thread_rank() % Size; }
    static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
    static unsigned meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }
    void sync() const { block.gr_points[meta_group_rank()].meeting.arrive_and_wait(Size); }
    template <class T, class F> T gr_reduce(T value, F &&f) const
    {
        uint64_t *values = block.gr_values + meta_group_rank() * Size;
        uint64_t &result = block.gr_points[meta_group_rank()].result;
        values[thread_rank()] = gr_cuhost::to_word(value);
        sync();
        if (thread_rank() == 0) {
            for (unsigned i = 1; i < Size; i++)
                value = f(value, gr_cuhost::from_word<T>(values[i]));
            result = gr_cuhost::to_word(value);
        }
        sync();
        return gr_cuhost::from_word<T>(result);
    }
};

template <unsigned Size, class Parent>
class thread_block_tile
    : public std::conditional_t<(Size > 32), large_tile<Size>, thread_block_tile<Size, void>>
{
    using base = std::conditional_t<(Size > 32), large_tile<Size>, thread_block_tile<Size, void>>;

public:
    using base::base;
};

template <unsigned Size, class Parent>
inline thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
    if constexpr (Size > 32)
        return thread_block_tile<Size, Parent>(parent);
    else
        return {};
}

/* The lanes of the group whose predicate is the same. */
inline coalesced_group binary_partition(const lane_group &group, bool predicate)
{
    const gr_cuhost::lanes all = gr_cuhost::meet(group.gr_mask(), predicate);
    const unsigned set = gr_cuhost::votes(all);
    return coalesced_group(predicate ? set : all.came & ~set);
}

/* The lanes of the group whose label is the same. */
template <class T> inline coalesced_group labeled_partition(const lane_group &group, T label)
{
    return coalesced_group(__match_any_sync(group.gr_mask(), label));
}

/* The parameter type of functions that accept any group. */
class thread_group : public lane_group
{
    bool whole;

public:
    thread_group(const thread_block &) : lane_group(0), whole(true) {}
    thread_group(const lane_group &lanes) : lane_group(lanes), whole(false) {}
    unsigned num_threads() const
    {
        return whole ? thread_block::num_threads() : lane_group::num_threads();
    }
    unsigned size() const { return num_threads(); }
    unsigned thread_rank() const
    {
        return whole ? thread_block::thread_rank() : lane_group::thread_rank();
    }
    void sync() const
    {
        if (whole)
            thread_block::sync();
        else
            lane_group::sync();
    }
};

inline thread_group tiled_partition(const thread_group &, unsigned size)
{
    return thread_group(lane_group(tile_mask(size)));
}

template <class Group> inline void sync(const Group &group)
{
    group.sync();
}

template <class Group> inline unsigned thread_rank(const Group &group)
{
    return static_cast<unsigned>(group.thread_rank());
}

template <class Group> inline unsigned group_size(const Group &group)
{
    return static_cast<unsigned>(group.size());
}

template <class Group, class F> inline void invoke_one(const Group &group, F &&f)
{
    if (group.thread_rank() == 0)
        f();
}

} // namespace cooperative_groups
#pragma GCC visibility pop

#endif
