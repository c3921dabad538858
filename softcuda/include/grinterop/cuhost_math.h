/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Arithmetic and conversions that are built into nvcc, for kernels on the CPU. Included by
 * grinterop/cuhost.h.
 */
#ifndef GR_CUHOST_MATH_H
#define GR_CUHOST_MATH_H

#ifdef GR_CUHOST_H

#define GR_CUHOST_FUNCTION(type, call, ...)                                                        \
    inline type call                                                                               \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/*
 * Converts a number to an integer. Numbers out of range become the nearest integer; a NaN becomes
 * 0.
 */
template <class T, class F> inline T saturate(F value)
{
    constexpr bool is_signed = std::is_signed_v<T>;
    constexpr T highest = static_cast<T>(~static_cast<std::make_unsigned_t<T>>(0) >> is_signed);
    constexpr T lowest = is_signed ? static_cast<T>(-highest - 1) : 0;
    /* One more than the highest value. It is a power of two, which F represents exactly. */
    const F end = static_cast<F>(highest / 2 + 1) * 2;
    if (value != value)
        return 0;
    if (value >= end)
        return highest;
    if (value < static_cast<F>(lowest))
        return lowest;
    return static_cast<T>(value);
}

template <class To, class From> inline To bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same number of bytes");
    To to;
    memcpy(static_cast<void *>(&to), &from, sizeof(to));
    return to;
}

/*
 * Rounds a product before it is added. On CPUs with fused multiply-add (AArch64, x86-64 with -mfma)
 * GCC would combine the product with a sum and round only once.
 */
template <class T> inline T rounded(T value)
{
#if defined(__FP_FAST_FMAF) && defined(__aarch64__)
    __asm__("" : "+w"(value));
#elif defined(__FP_FAST_FMAF) && defined(__x86_64__)
    __asm__("" : "+x"(value));
#endif
    return value;
}

template <class T> inline T pi_times(T x)
{
    return static_cast<T>(3.14159265358979323846) * x;
}

/* The argument is reduced before the multiplication by pi, so that large arguments stay precise. */
template <class T> inline T sin_pi(T x)
{
    return std::sin(pi_times(std::remainder(x, static_cast<T>(2))));
}

template <class T> inline T cos_pi(T x)
{
    return std::cos(pi_times(std::remainder(x, static_cast<T>(2))));
}

} // namespace gr_cuhost
#pragma GCC visibility pop

/*
 * The result for two integers of different signedness is unsigned. The result for float and double
 * is double.
 */
#define GR_CUHOST_MIN_MAX(type, a_type, b_type)                                                    \
    inline type min(a_type a, b_type b)                                                            \
    {                                                                                              \
        const type x = static_cast<type>(a), y = static_cast<type>(b);                             \
        return y < x ? y : x;                                                                      \
    }                                                                                              \
    inline type max(a_type a, b_type b)                                                            \
    {                                                                                              \
        const type x = static_cast<type>(a), y = static_cast<type>(b);                             \
        return x < y ? y : x;                                                                      \
    }
#define GR_CUHOST_MIN_MAX_OF(name)                                                                 \
    GR_CUHOST_MIN_MAX(name, name, name)                                                            \
    GR_CUHOST_MIN_MAX(unsigned name, unsigned name, unsigned name)                                 \
    GR_CUHOST_MIN_MAX(unsigned name, name, unsigned name)                                          \
    GR_CUHOST_MIN_MAX(unsigned name, unsigned name, name)
GR_CUHOST_MIN_MAX_OF(int)
GR_CUHOST_MIN_MAX_OF(long)
GR_CUHOST_MIN_MAX_OF(long long)
#undef GR_CUHOST_MIN_MAX
#undef GR_CUHOST_MIN_MAX_OF

/* If one operand is a NaN, the result is the other operand. */
#define GR_CUHOST_FMIN_FMAX(type, a_type, b_type)                                                  \
    GR_CUHOST_FUNCTION(type, min(a_type a, b_type b),                                              \
                       std::fmin(static_cast<type>(a), static_cast<type>(b)))                      \
    GR_CUHOST_FUNCTION(type, max(a_type a, b_type b),                                              \
                       std::fmax(static_cast<type>(a), static_cast<type>(b)))
GR_CUHOST_FMIN_FMAX(float, float, float)
GR_CUHOST_FMIN_FMAX(double, double, double)
GR_CUHOST_FMIN_FMAX(double, float, double)
GR_CUHOST_FMIN_FMAX(double, double, float)
#undef GR_CUHOST_FMIN_FMAX

#define umin(a, b)  (::min(static_cast<unsigned>(a), static_cast<unsigned>(b)))
#define umax(a, b)  (::max(static_cast<unsigned>(a), static_cast<unsigned>(b)))
#define llmin(a, b) (::min(static_cast<long long>(a), static_cast<long long>(b)))
#define llmax(a, b) (::max(static_cast<long long>(a), static_cast<long long>(b)))

#define rsqrtf(x)         (1.0f / sqrtf(x))
#define rsqrt(x)          (1.0 / sqrt(static_cast<double>(x)))
#define rcbrtf(x)         (1.0f / cbrtf(x))
#define rcbrt(x)          (1.0 / cbrt(static_cast<double>(x)))
#define sinpif(x)         (::gr_cuhost::sin_pi<float>(x))
#define sinpi(x)          (::gr_cuhost::sin_pi<double>(x))
#define cospif(x)         (::gr_cuhost::cos_pi<float>(x))
#define cospi(x)          (::gr_cuhost::cos_pi<double>(x))
#define norm3df(x, y, z)  (static_cast<float>(hypot(x, y, z)))
#define rnorm3df(x, y, z) (1.0f / norm3df(x, y, z))
#define fdividef(x, y)    (static_cast<float>(x) / static_cast<float>(y))

#define __sinf(x)          (sinf(x))
#define __cosf(x)          (cosf(x))
#define __tanf(x)          (tanf(x))
#define __expf(x)          (expf(x))
#define __exp10f(x)        (exp10f(x))
#define __logf(x)          (logf(x))
#define __log2f(x)         (log2f(x))
#define __log10f(x)        (log10f(x))
#define __powf(x, y)       (powf(x, y))
#define __sincosf(x, s, c) (sincosf(x, s, c))

inline void sincospif(float x, float *s, float *c)
{
    *s = sinpif(x);
    *c = cospif(x);
}

/* The result for a NaN is 0, as on a GPU. */
GR_CUHOST_FUNCTION(float, __saturatef(float x), fminf(fmaxf(x, 0.0f), 1.0f))
GR_CUHOST_FUNCTION(float, __fdividef(float x, float y), x / y)
GR_CUHOST_FUNCTION(float, __fadd_rn(float x, float y),
                   gr_cuhost::rounded(x) + gr_cuhost::rounded(y))
GR_CUHOST_FUNCTION(float, __fsub_rn(float x, float y),
                   gr_cuhost::rounded(x) - gr_cuhost::rounded(y))
GR_CUHOST_FUNCTION(float, __fmul_rn(float x, float y), gr_cuhost::rounded((x)*y))
GR_CUHOST_FUNCTION(float, __fdiv_rn(float x, float y), x / y)
GR_CUHOST_FUNCTION(float, __fmaf_rn(float x, float y, float z), fmaf(x, y, z))
GR_CUHOST_FUNCTION(float, __frcp_rn(float x), 1.0f / x)
GR_CUHOST_FUNCTION(float, __fsqrt_rn(float x), sqrtf(x))
GR_CUHOST_FUNCTION(float, __frsqrt_rn(float x), rsqrtf(x))

/* Rounding modes: rn: to nearest, rz: towards zero, ru: up, rd: down. */
#define GR_CUHOST_TO_INTEGER(name, type, from)                                                     \
    GR_CUHOST_FUNCTION(type, __##name##_rn(from x), gr_cuhost::saturate<type>(std::rint(x)))       \
    GR_CUHOST_FUNCTION(type, __##name##_rz(from x), gr_cuhost::saturate<type>(std::trunc(x)))      \
    GR_CUHOST_FUNCTION(type, __##name##_ru(from x), gr_cuhost::saturate<type>(std::ceil(x)))       \
    GR_CUHOST_FUNCTION(type, __##name##_rd(from x), gr_cuhost::saturate<type>(std::floor(x)))
GR_CUHOST_TO_INTEGER(float2int, int, float)
GR_CUHOST_TO_INTEGER(float2uint, unsigned, float)
GR_CUHOST_TO_INTEGER(float2ll, long long, float)
GR_CUHOST_TO_INTEGER(float2ull, unsigned long long, float)
GR_CUHOST_TO_INTEGER(double2int, int, double)
GR_CUHOST_TO_INTEGER(double2uint, unsigned, double)
GR_CUHOST_TO_INTEGER(double2ll, long long, double)
GR_CUHOST_TO_INTEGER(double2ull, unsigned long long, double)
#undef GR_CUHOST_TO_INTEGER

GR_CUHOST_FUNCTION(float, __int2float_rn(int x), static_cast<float>(x))
GR_CUHOST_FUNCTION(float, __uint2float_rn(unsigned x), static_cast<float>(x))
GR_CUHOST_FUNCTION(double, __int2double_rn(int x), x)
GR_CUHOST_FUNCTION(double, __uint2double_rn(unsigned x), x)
GR_CUHOST_FUNCTION(float, __double2float_rn(double x), static_cast<float>(x))
GR_CUHOST_FUNCTION(int, __float_as_int(float x), gr_cuhost::bits<int>(x))
GR_CUHOST_FUNCTION(unsigned, __float_as_uint(float x), gr_cuhost::bits<unsigned>(x))
GR_CUHOST_FUNCTION(float, __int_as_float(int x), gr_cuhost::bits<float>(x))
GR_CUHOST_FUNCTION(float, __uint_as_float(unsigned x), gr_cuhost::bits<float>(x))
GR_CUHOST_FUNCTION(long long, __double_as_longlong(double x), gr_cuhost::bits<long long>(x))
GR_CUHOST_FUNCTION(double, __longlong_as_double(long long x), gr_cuhost::bits<double>(x))

inline int __mul24(int x, int y)
{
    const int a = static_cast<int>(static_cast<unsigned>(x) << 8) >> 8;
    const int b = static_cast<int>(static_cast<unsigned>(y) << 8) >> 8;
    return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
}

GR_CUHOST_FUNCTION(unsigned, __umul24(unsigned x, unsigned y), (x & 0xffffffu) * (y & 0xffffffu))
GR_CUHOST_FUNCTION(int, __mulhi(int x, int y),
                   static_cast<int>((static_cast<long long>(x) * y) >> 32))
GR_CUHOST_FUNCTION(unsigned, __umulhi(unsigned x, unsigned y),
                   static_cast<unsigned>((static_cast<unsigned long long>(x) * y) >> 32))
GR_CUHOST_FUNCTION(int, __popc(unsigned x), __builtin_popcount(x))
GR_CUHOST_FUNCTION(int, __popcll(unsigned long long x), __builtin_popcountll(x))
GR_CUHOST_FUNCTION(int, __clz(int x), x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)))
GR_CUHOST_FUNCTION(int, __clzll(long long x),
                   x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)))
GR_CUHOST_FUNCTION(int, __ffs(int x), __builtin_ffs(x))
GR_CUHOST_FUNCTION(int, __ffsll(long long x), __builtin_ffsll(x))

inline unsigned __brev(unsigned x)
{
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    return __builtin_bswap32(x);
}

#endif
#endif
