/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reductions over tiles and coalesced groups, on the host. */
#ifndef _CG_REDUCE_H_
#define _CG_REDUCE_H_

#pragma GCC system_header

#include <cooperative_groups.h>

#pragma GCC visibility push(hidden)
namespace cooperative_groups
{

#define GR_CUHOST_OPERATION(name, expression)                                                      \
    template <class T> struct name {                                                               \
        T operator()(const T &a, const T &b) const { return expression; }                          \
    };
GR_CUHOST_OPERATION(plus, static_cast<T>(a + b))
GR_CUHOST_OPERATION(less, b < a ? b : a)
GR_CUHOST_OPERATION(greater, a < b ? b : a)
GR_CUHOST_OPERATION(bit_and, static_cast<T>(a &b))
GR_CUHOST_OPERATION(bit_or, static_cast<T>(a | b))
GR_CUHOST_OPERATION(bit_xor, static_cast<T>(a ^ b))
#undef GR_CUHOST_OPERATION

/*
 * The values of all lanes of the group. They are exchanged in words of 8 bytes, since a value may
 * be larger than a word. fold() combines the values of the lanes in `of`, from the lowest lane to
 * the highest.
 */
template <class T> struct lane_values {
    static constexpr size_t words = (sizeof(T) + 7) / 8;
    unsigned came;
    T values[32];

    lane_values(unsigned mask, const T &mine)
    {
        uint64_t raw[words] = {};
        memcpy(raw, &mine, sizeof(mine));
        unsigned char bytes[32][words * 8];
        for (size_t w = 0; w < words; w++) {
            const gr_cuhost::lanes all = gr_cuhost::meet(mask, raw[w]);
            came = all.came;
            for (int lane = 0; lane < 32; lane++)
                memcpy(bytes[lane] + 8 * w, &all.values[lane], 8);
        }
        for (int lane = 0; lane < 32; lane++)
            memcpy(static_cast<void *>(&values[lane]), bytes[lane], sizeof(T));
    }

    template <class F> T fold(unsigned of, F &&f) const
    {
        bool first = true;
        T result{};
        for (int lane = 0; lane < 32; lane++)
            if (came & of & 1u << lane) {
                result = first ? values[lane] : f(result, values[lane]);
                first = false;
            }
        return result;
    }
};

template <class Group, class T, class F> inline T reduce(const Group &group, T value, F &&f)
{
    return lane_values<T>(group.gr_mask(), value).fold(~0u, f);
}

template <unsigned Size, class Parent, class T, class F>
inline std::enable_if_t<(Size > 32), T> reduce(const thread_block_tile<Size, Parent> &tile, T value,
                                               F &&f)
{
    return tile.gr_reduce(value, f);
}

} // namespace cooperative_groups
#pragma GCC visibility pop

#endif
