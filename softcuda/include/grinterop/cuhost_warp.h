/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Warp functions, for kernels on the CPU. Included by grinterop/cuhost.h.
 *
 *     __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync, of any type of 1 to 8 bytes
 *     __ballot_sync __any_sync __all_sync __activemask __syncwarp
 *     __match_any_sync __match_all_sync __reduce_add_sync and the like
 *
 * and the variants without _sync and without a mask, from before CUDA 9. A kernel that uses them
 * needs GR_KERNEL_SYNC. Between two of these calls the lanes run one after the other: code that
 * expects lockstep between two calls is undefined on today's GPUs, and has other results here.
 *
 * If a lane of the mask waits elsewhere, at a barrier or in another branch, the other lanes
 * continue without this lane when nothing else can run. A GPU may hang in this case.
 */
#ifndef GR_CUHOST_WARP_H
#define GR_CUHOST_WARP_H

#ifdef GR_CUHOST_H

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/* The values of the lanes, and the mask of the lanes that arrived. */
struct lanes {
    unsigned came;
    uint64_t values[32];
};

[[gnu::always_inline]] inline lanes meet(unsigned mask, uint64_t value)
{
    const gr_cuhost_block *launch = here.launch;
    if (launch->exchange == nullptr)
        refuse_barrier();
    const uint3 mine = threadIdx;
    lanes all;
    all.came = launch->exchange(launch->fibre, mask, value, all.values);
    threadIdx = mine;
    here.launch = launch;
    return all;
}

inline unsigned lane()
{
    return (threadIdx.x + (threadIdx.y + threadIdx.z * blockDim.y) * blockDim.x) % 32;
}

template <class T> inline uint64_t to_word(T value)
{
    static_assert(sizeof(T) <= 8, "lanes exchange values of 8 bytes at most");
    uint64_t word = 0;
    memcpy(&word, &value, sizeof(value));
    return word;
}

template <class T> inline T from_word(uint64_t word)
{
    T value;
    memcpy(static_cast<void *>(&value), &word, sizeof(value));
    return value;
}

/* Returns the value of the lane `from`, or the lane's own value if `inside` is false. */
template <class T>
[[gnu::always_inline]] inline T shuffle(unsigned mask, T value, int from, bool inside)
{
    const lanes all = meet(mask, to_word(value));
    return inside ? from_word<T>(all.values[from & 31]) : value;
}

/* The first lane of the part of the warp that has `width` lanes and contains this thread. */
inline int part_begin(int width)
{
    return static_cast<int>(lane()) & ~(width - 1);
}

template <class T, class F> inline T reduce_lanes(const lanes &all, F change)
{
    T result{};
    bool first = true;
    for (int i = 0; i < 32; i++)
        if (all.came >> i & 1) {
            const T value = from_word<T>(all.values[i]);
            result = first ? value : change(result, value);
            first = false;
        }
    return result;
}

inline unsigned votes(const lanes &all)
{
    unsigned set = 0;
    for (int i = 0; i < 32; i++)
        set |= (all.values[i] != 0 ? 1u : 0u) << i;
    return set & all.came;
}

/*
 * A barrier of some threads of a block, in shared memory. A thread that waits lets the others run.
 */
struct meeting {
    unsigned arrived, phase;

    unsigned arrive(unsigned expected, unsigned count = 1)
    {
        const unsigned current = phase;
        arrived += count;
        if (arrived >= expected) {
            arrived = 0;
            phase++;
        }
        return current;
    }
    /* Waits until the phase has passed. */
    void wait(unsigned current) const
    {
        while (static_cast<int>(*static_cast<const volatile unsigned *>(&phase) - current) <= 0)
            meet(1u << lane(), 0);
    }
    void arrive_and_wait(unsigned expected) { wait(arrive(expected)); }
};

} // namespace gr_cuhost
#pragma GCC visibility pop

#define GR_CUHOST_LANES [[gnu::always_inline]] inline
#define GR_CUHOST_LANE_CALL(type, call, ...)                                                       \
    [[gnu::always_inline]] GR_CUHOST_FUNCTION(type, call, __VA_ARGS__)

template <class T>
GR_CUHOST_LANE_CALL(T, __shfl_sync(unsigned mask, T value, int from, int width = 32),
                    gr_cuhost::shuffle(mask, value,
                                       gr_cuhost::part_begin(width) + (from & (width - 1)), true))

template <class T>
GR_CUHOST_LANES T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int from = static_cast<int>(gr_cuhost::lane()) - static_cast<int>(delta);
    return gr_cuhost::shuffle(mask, value, from, from >= gr_cuhost::part_begin(width));
}

template <class T>
GR_CUHOST_LANES T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    const int from = static_cast<int>(gr_cuhost::lane()) + static_cast<int>(delta);
    return gr_cuhost::shuffle(mask, value, from, from < gr_cuhost::part_begin(width) + width);
}

template <class T>
GR_CUHOST_LANES T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32)
{
    const int from = static_cast<int>(gr_cuhost::lane()) ^ with;
    return gr_cuhost::shuffle(mask, value, from, from < gr_cuhost::part_begin(width) + width);
}

GR_CUHOST_LANE_CALL(unsigned, __ballot_sync(unsigned mask, int predicate),
                    gr_cuhost::votes(gr_cuhost::meet(mask, predicate != 0)))
GR_CUHOST_LANE_CALL(int, __any_sync(unsigned mask, int predicate),
                    gr_cuhost::votes(gr_cuhost::meet(mask, predicate != 0)) != 0)
GR_CUHOST_LANE_CALL(int, __all_sync(unsigned mask, int predicate),
                    gr_cuhost::votes(gr_cuhost::meet(mask, predicate == 0)) == 0)

GR_CUHOST_LANES void __syncwarp(unsigned mask = 0xffffffffu)
{
    gr_cuhost::meet(mask, 0);
}

/* The mask of the lanes that make this call before all threads of the block wait. */
GR_CUHOST_LANE_CALL(unsigned, __activemask(), gr_cuhost::meet(0, 0).came)

template <class T> GR_CUHOST_LANES unsigned __match_any_sync(unsigned mask, T value)
{
    const gr_cuhost::lanes all = gr_cuhost::meet(mask, gr_cuhost::to_word(value));
    unsigned same = 0;
    for (int i = 0; i < 32; i++)
        same |= (all.values[i] == gr_cuhost::to_word(value) ? 1u : 0u) << i;
    return same & all.came;
}

template <class T> GR_CUHOST_LANES unsigned __match_all_sync(unsigned mask, T value, int *all_same)
{
    const gr_cuhost::lanes all = gr_cuhost::meet(mask, gr_cuhost::to_word(value));
    *all_same = 1;
    for (int i = 0; i < 32; i++)
        if ((all.came >> i & 1) && all.values[i] != gr_cuhost::to_word(value))
            *all_same = 0;
    return *all_same ? all.came : 0;
}

#define GR_CUHOST_REDUCE(name, type, expression)                                                   \
    GR_CUHOST_LANES type __reduce_##name##_sync(unsigned mask, type value)                         \
    {                                                                                              \
        return gr_cuhost::reduce_lanes<type>(gr_cuhost::meet(mask, gr_cuhost::to_word(value)),     \
                                             [](type a, type b) { return expression; });           \
    }
GR_CUHOST_REDUCE(add, unsigned, a + b)
GR_CUHOST_REDUCE(add, int, static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
GR_CUHOST_REDUCE(min, unsigned, b < a ? b : a)
GR_CUHOST_REDUCE(min, int, b < a ? b : a)
GR_CUHOST_REDUCE(max, unsigned, b > a ? b : a)
GR_CUHOST_REDUCE(max, int, b > a ? b : a)
GR_CUHOST_REDUCE(and, unsigned, a &b)
GR_CUHOST_REDUCE(or, unsigned, a | b)
GR_CUHOST_REDUCE(xor, unsigned, a ^ b)
#undef GR_CUHOST_REDUCE

template <class T>
GR_CUHOST_LANE_CALL(T, __shfl(T value, int from, int width = 32),
                    __shfl_sync(0xffffffffu, value, from, width))
template <class T>
GR_CUHOST_LANE_CALL(T, __shfl_up(T value, unsigned delta, int width = 32),
                    __shfl_up_sync(0xffffffffu, value, delta, width))
template <class T>
GR_CUHOST_LANE_CALL(T, __shfl_down(T value, unsigned delta, int width = 32),
                    __shfl_down_sync(0xffffffffu, value, delta, width))
template <class T>
GR_CUHOST_LANE_CALL(T, __shfl_xor(T value, int with, int width = 32),
                    __shfl_xor_sync(0xffffffffu, value, with, width))
GR_CUHOST_LANE_CALL(unsigned, __ballot(int predicate), __ballot_sync(0xffffffffu, predicate))
GR_CUHOST_LANE_CALL(int, __any(int predicate), __any_sync(0xffffffffu, predicate))
GR_CUHOST_LANE_CALL(int, __all(int predicate), __all_sync(0xffffffffu, predicate))

#undef GR_CUHOST_LANES
#undef GR_CUHOST_LANE_CALL

#endif /* GR_CUHOST_H */
#endif /* GR_CUHOST_WARP_H */
