/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions of half types that the CUDA headers only provide for the device. GR_HALF_ALL(H, H2, to,
 * from, low, high, two) defines them for one type. They compute in float and round like the device,
 * except in the last bit.
 */
#ifndef GRINTEROP_NVCC_HALF_HPP
#define GRINTEROP_NVCC_HALF_HPP

#pragma GCC system_header

#include <grinterop_nvcc.h>

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/* Updates *p as a Word, because atomics refuse types that have their own copy functions. */
template <class Word, class T, class F> inline T update_bits(T *p, F change)
{
    return bits<T>(update(reinterpret_cast<Word *>(p), [change](Word old) {
        const T after = change(bits<T>(old));
        return bits<Word>(after);
    }));
}

} // namespace gr_cuhost
#pragma GCC visibility pop

#define GR_HALF_ONE(H, H2, name, to, from, low, high, two, expression)                             \
    inline H h##name(H h)                                                                          \
    {                                                                                              \
        const float x = to(h);                                                                     \
        return from(expression);                                                                   \
    }                                                                                              \
    inline H2 h2##name(H2 h)                                                                       \
    {                                                                                              \
        return two(h##name(low(h)), h##name(high(h)));                                             \
    }

#define GR_HALF_ALL(H, H2, to, from, low, high, two)                                               \
    GR_HALF_ONE(H, H2, ceil, to, from, low, high, two, ceilf(x))                                   \
    GR_HALF_ONE(H, H2, floor, to, from, low, high, two, floorf(x))                                 \
    GR_HALF_ONE(H, H2, rint, to, from, low, high, two, rintf(x))                                   \
    GR_HALF_ONE(H, H2, trunc, to, from, low, high, two, truncf(x))                                 \
    GR_HALF_ONE(H, H2, cos, to, from, low, high, two, cosf(x))                                     \
    GR_HALF_ONE(H, H2, sin, to, from, low, high, two, sinf(x))                                     \
    GR_HALF_ONE(H, H2, exp, to, from, low, high, two, expf(x))                                     \
    GR_HALF_ONE(H, H2, exp2, to, from, low, high, two, exp2f(x))                                   \
    GR_HALF_ONE(H, H2, exp10, to, from, low, high, two, exp10f(x))                                 \
    GR_HALF_ONE(H, H2, log, to, from, low, high, two, logf(x))                                     \
    GR_HALF_ONE(H, H2, log2, to, from, low, high, two, log2f(x))                                   \
    GR_HALF_ONE(H, H2, log10, to, from, low, high, two, log10f(x))                                 \
    GR_HALF_ONE(H, H2, rcp, to, from, low, high, two, 1.0f / x)                                    \
    GR_HALF_ONE(H, H2, sqrt, to, from, low, high, two, sqrtf(x))                                   \
    GR_HALF_ONE(H, H2, rsqrt, to, from, low, high, two, 1.0f / sqrtf(x))                           \
    GR_HALF_ONE(H, H2, tanh, to, from, low, high, two, tanhf(x))

/*
 * In a double the product of two halves is exact, and so is nearly every sum of such a product and
 * a third half.
 */
#define GR_HALF_FMA(H, H2, to, from, low, high, two)                                               \
    inline H __hfma(H a, H b, H c)                                                                 \
    {                                                                                              \
        return from(static_cast<double>(to(a)) * to(b) + to(c));                                   \
    }                                                                                              \
    inline H __hfma_relu(H a, H b, H c)                                                            \
    {                                                                                              \
        const H h = __hfma(a, b, c);                                                               \
        return to(h) > 0.0f ? h : from(0.0);                                                       \
    }                                                                                              \
    inline H __hfma_sat(H a, H b, H c)                                                             \
    {                                                                                              \
        return from(static_cast<double>(__saturatef(to(__hfma(a, b, c)))));                        \
    }                                                                                              \
    inline H2 __hfma2(H2 a, H2 b, H2 c)                                                            \
    {                                                                                              \
        return two(__hfma(low(a), low(b), low(c)), __hfma(high(a), high(b), high(c)));             \
    }                                                                                              \
    inline H2 __hfma2_relu(H2 a, H2 b, H2 c)                                                       \
    {                                                                                              \
        return two(__hfma_relu(low(a), low(b), low(c)), __hfma_relu(high(a), high(b), high(c)));   \
    }                                                                                              \
    inline H2 __hfma2_sat(H2 a, H2 b, H2 c)                                                        \
    {                                                                                              \
        return two(__hfma_sat(low(a), low(b), low(c)), __hfma_sat(high(a), high(b), high(c)));     \
    }                                                                                              \
    inline H atomicAdd(H *p, H value)                                                              \
    {                                                                                              \
        return gr_cuhost::update_bits<unsigned short>(                                             \
            p, [value](H old) { return __hadd(old, value); });                                     \
    }                                                                                              \
    inline H2 atomicAdd(H2 *p, H2 value)                                                           \
    {                                                                                              \
        return gr_cuhost::update_bits<unsigned>(p,                                                 \
                                                [value](H2 old) { return __hadd2(old, value); });  \
    }

#endif
