/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Operations on two halves or four bytes of a word at once: __vadd2, __vcmpeq4 and others. */
#ifndef GRINTEROP_NVCC_SIMD_HPP
#define GRINTEROP_NVCC_SIMD_HPP

#pragma GCC system_header

#include <cstdint>
#include <limits>

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/* Applies f to each part of the words, as a number of type Part. */
template <class Part, class F> inline unsigned of_parts(unsigned a, unsigned b, F f)
{
    constexpr unsigned bits = 8 * sizeof(Part), mask = (1u << bits) - 1;
    unsigned result = 0;
    for (unsigned at = 0; at < 32; at += bits)
        result |= (static_cast<unsigned>(f(static_cast<int>(static_cast<Part>(a >> at)),
                                           static_cast<int>(static_cast<Part>(b >> at)))) &
                   mask)
                  << at;
    return result;
}

/* Sums f over all parts of the words. */
template <class Part, class F> inline unsigned sum_of_parts(unsigned a, unsigned b, F f)
{
    unsigned sum = 0;
    for (unsigned at = 0; at < 32; at += 8 * sizeof(Part))
        sum += static_cast<unsigned>(f(static_cast<int>(static_cast<Part>(a >> at)),
                                       static_cast<int>(static_cast<Part>(b >> at))));
    return sum;
}

template <class Part> inline int saturated(int x)
{
    constexpr int low = std::numeric_limits<Part>::min(), high = std::numeric_limits<Part>::max();
    return x < low ? low : x > high ? high : x;
}

inline int distance(int a, int b)
{
    return a < b ? b - a : a - b;
}

} // namespace gr_cuhost
#pragma GCC visibility pop

#define GR_SIMD_ONE(name, part, expression)                                                        \
    inline unsigned name(unsigned x)                                                               \
    {                                                                                              \
        using type = part;                                                                         \
        return gr_cuhost::of_parts<type>(x, 0, [](int a, int) { return expression; });             \
    }
#define GR_SIMD_TWO(name, part, expression)                                                        \
    inline unsigned name(unsigned x, unsigned y)                                                   \
    {                                                                                              \
        using type = part;                                                                         \
        (void)sizeof(type);                                                                        \
        return gr_cuhost::of_parts<type>(x, y, [](int a, int b) { return expression; });           \
    }
#define GR_SIMD_SUM(name, part)                                                                    \
    inline unsigned name(unsigned x, unsigned y)                                                   \
    {                                                                                              \
        return gr_cuhost::sum_of_parts<part>(x, y, gr_cuhost::distance);                           \
    }
/* Where the condition is true, __vcmp sets all bits of a part, and __vset sets the part to 1. */
#define GR_SIMD_COMPARE(name, count, part, condition)                                              \
    GR_SIMD_TWO(__vcmp##name##count, part, (condition) ? -1 : 0)                                   \
    GR_SIMD_TWO(__vset##name##count, part, (condition) ? 1 : 0)
/*
 * Signed and Whole are the signed and the unsigned type of a part. Signed averages are rounded away
 * from 0.
 */
#define GR_SIMD(count, Signed, Whole)                                                              \
    GR_SIMD_ONE(__vabs##count, Signed, a < 0 ? -a : a)                                             \
    GR_SIMD_ONE(__vabsss##count, Signed, gr_cuhost::saturated<type>(a < 0 ? -a : a))               \
    GR_SIMD_ONE(__vneg##count, Signed, -a)                                                         \
    GR_SIMD_ONE(__vnegss##count, Signed, gr_cuhost::saturated<type>(-a))                           \
    GR_SIMD_TWO(__vadd##count, Whole, a + b)                                                       \
    GR_SIMD_TWO(__vaddss##count, Signed, gr_cuhost::saturated<type>(a + b))                        \
    GR_SIMD_TWO(__vaddus##count, Whole, gr_cuhost::saturated<type>(a + b))                         \
    GR_SIMD_TWO(__vsub##count, Whole, a - b)                                                       \
    GR_SIMD_TWO(__vsubss##count, Signed, gr_cuhost::saturated<type>(a - b))                        \
    GR_SIMD_TWO(__vsubus##count, Whole, gr_cuhost::saturated<type>(a - b))                         \
    GR_SIMD_TWO(__vabsdiffs##count, Signed, gr_cuhost::distance(a, b))                             \
    GR_SIMD_TWO(__vabsdiffu##count, Whole, gr_cuhost::distance(a, b))                              \
    GR_SIMD_TWO(__vavgs##count, Signed, (a + b + (a + b >= 0)) >> 1)                               \
    GR_SIMD_TWO(__vavgu##count, Whole, (a + b + 1) >> 1)                                           \
    GR_SIMD_TWO(__vhaddu##count, Whole, (a + b) >> 1)                                              \
    GR_SIMD_TWO(__vmaxs##count, Signed, a < b ? b : a)                                             \
    GR_SIMD_TWO(__vmaxu##count, Whole, a < b ? b : a)                                              \
    GR_SIMD_TWO(__vmins##count, Signed, b < a ? b : a)                                             \
    GR_SIMD_TWO(__vminu##count, Whole, b < a ? b : a)                                              \
    GR_SIMD_SUM(__vsads##count, Signed)                                                            \
    GR_SIMD_SUM(__vsadu##count, Whole)                                                             \
    GR_SIMD_COMPARE(eq, count, Whole, a == b)                                                      \
    GR_SIMD_COMPARE(ne, count, Whole, a != b)                                                      \
    GR_SIMD_COMPARE(ges, count, Signed, a >= b)                                                    \
    GR_SIMD_COMPARE(geu, count, Whole, a >= b)                                                     \
    GR_SIMD_COMPARE(gts, count, Signed, a > b)                                                     \
    GR_SIMD_COMPARE(gtu, count, Whole, a > b)                                                      \
    GR_SIMD_COMPARE(les, count, Signed, a <= b)                                                    \
    GR_SIMD_COMPARE(leu, count, Whole, a <= b)                                                     \
    GR_SIMD_COMPARE(lts, count, Signed, a < b)                                                     \
    GR_SIMD_COMPARE(ltu, count, Whole, a < b)
GR_SIMD(2, int16_t, uint16_t)
GR_SIMD(4, int8_t, uint8_t)
#undef GR_SIMD
#undef GR_SIMD_COMPARE
#undef GR_SIMD_SUM
#undef GR_SIMD_TWO
#undef GR_SIMD_ONE

#endif
