/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Device functions that programs use and that grinterop/cuhost.h does not define. */
#ifndef GRINTEROP_NVCC_MATH_HPP
#define GRINTEROP_NVCC_MATH_HPP

#pragma GCC system_header

#include <chrono>
#include <thread>

#include <grinterop/cuhost.h>

/* ---- Atomics of block and system scope: all have system scope here --------------------------- */

#define GR_CUHOST_SCOPES(name)                                                                     \
    template <class T, class... A> inline T name##_block(T *p, A... a)                             \
    {                                                                                              \
        return name(p, a...);                                                                      \
    }                                                                                              \
    template <class T, class... A> inline T name##_system(T *p, A... a)                            \
    {                                                                                              \
        return name(p, a...);                                                                      \
    }
GR_CUHOST_SCOPES(atomicAdd)
GR_CUHOST_SCOPES(atomicSub)
GR_CUHOST_SCOPES(atomicMin)
GR_CUHOST_SCOPES(atomicMax)
GR_CUHOST_SCOPES(atomicExch)
GR_CUHOST_SCOPES(atomicCAS)
GR_CUHOST_SCOPES(atomicAnd)
GR_CUHOST_SCOPES(atomicOr)
GR_CUHOST_SCOPES(atomicXor)
GR_CUHOST_SCOPES(atomicInc)
GR_CUHOST_SCOPES(atomicDec)
#undef GR_CUHOST_SCOPES

/* ---- Loads and stores with cache hints ------------------------------------------------------- */

#define GR_CUHOST_LOAD(name)                                                                       \
    template <class T> inline T name(const T *p)                                                   \
    {                                                                                              \
        return *p;                                                                                 \
    }
#define GR_CUHOST_STORE(name)                                                                      \
    template <class T> inline void name(T *p, gr_cuhost::same<T> value)                            \
    {                                                                                              \
        *p = value;                                                                                \
    }
GR_CUHOST_LOAD(__ldca)
GR_CUHOST_LOAD(__ldcg)
GR_CUHOST_LOAD(__ldcs)
GR_CUHOST_LOAD(__ldcv)
GR_CUHOST_LOAD(__ldlu)
GR_CUHOST_STORE(__stcg)
GR_CUHOST_STORE(__stcs)
GR_CUHOST_STORE(__stwb)
GR_CUHOST_STORE(__stwt)
#undef GR_CUHOST_LOAD
#undef GR_CUHOST_STORE

/* ---- Integers -------------------------------------------------------------------------------- */

GR_CUHOST_FUNCTION(long long, __mul64hi(long long x, long long y),
                   static_cast<long long>((static_cast<__int128>(x) * y) >> 64))
GR_CUHOST_FUNCTION(unsigned long long, __umul64hi(unsigned long long x, unsigned long long y),
                   static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64))
GR_CUHOST_FUNCTION(unsigned long long, __brevll(unsigned long long x),
                   static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
                       __brev(static_cast<unsigned>(x >> 32)))

inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s)
{
    const unsigned long long both = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= static_cast<unsigned>(both >> 8 * (s >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}

GR_CUHOST_FUNCTION(unsigned, __funnelshift_l(unsigned low, unsigned high, unsigned shift),
                   static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low)
                                             << (shift & 31) >>
                                         32))
GR_CUHOST_FUNCTION(unsigned, __funnelshift_r(unsigned low, unsigned high, unsigned shift),
                   static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >>
                                         (shift & 31)))
GR_CUHOST_FUNCTION(unsigned, __sad(int x, int y, unsigned z),
                   z + static_cast<unsigned>(x > y ? static_cast<long long>(x) - y
                                                   : static_cast<long long>(y) - x))
GR_CUHOST_FUNCTION(unsigned, __usad(unsigned x, unsigned y, unsigned z),
                   z + (x > y ? x - y : y - x))
GR_CUHOST_FUNCTION(int, __hadd(int x, int y),
                   static_cast<int>((static_cast<long long>(x) + y) >> 1))
GR_CUHOST_FUNCTION(unsigned, __uhadd(unsigned x, unsigned y),
                   static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1))
GR_CUHOST_FUNCTION(int, __rhadd(int x, int y),
                   static_cast<int>((static_cast<long long>(x) + y + 1) >> 1))
GR_CUHOST_FUNCTION(unsigned, __urhadd(unsigned x, unsigned y),
                   static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1))

inline int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 4; i++)
        c += static_cast<signed char>(a >> 8 * i) * static_cast<signed char>(b >> 8 * i);
    return c;
}

inline unsigned __dp4a(unsigned a, unsigned b, unsigned c)
{
    for (int i = 0; i < 4; i++)
        c += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
    return c;
}

/* ---- Floating point -------------------------------------------------------------------------- */

GR_CUHOST_FUNCTION(int, __double2loint(double x),
                   static_cast<int>(gr_cuhost::bits<unsigned long long>(x)))
GR_CUHOST_FUNCTION(int, __double2hiint(double x),
                   static_cast<int>(gr_cuhost::bits<unsigned long long>(x) >> 32))
GR_CUHOST_FUNCTION(
    double, __hiloint2double(int high, int low),
    gr_cuhost::bits<double>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 |
                            static_cast<unsigned>(low)))
GR_CUHOST_FUNCTION(double, __dadd_rn(double x, double y),
                   gr_cuhost::rounded(x) + gr_cuhost::rounded(y))
GR_CUHOST_FUNCTION(double, __dsub_rn(double x, double y),
                   gr_cuhost::rounded(x) - gr_cuhost::rounded(y))
GR_CUHOST_FUNCTION(double, __dmul_rn(double x, double y), gr_cuhost::rounded((x)*y))
GR_CUHOST_FUNCTION(double, __ddiv_rn(double x, double y), x / y)
GR_CUHOST_FUNCTION(double, __fma_rn(double x, double y, double z), fma(x, y, z))
GR_CUHOST_FUNCTION(double, __drcp_rn(double x), 1.0 / x)
GR_CUHOST_FUNCTION(double, __dsqrt_rn(double x), sqrt(x))

GR_CUHOST_FUNCTION(float, __ll2float_rn(long long x), static_cast<float>(x))
GR_CUHOST_FUNCTION(float, __ull2float_rn(unsigned long long x), static_cast<float>(x))
GR_CUHOST_FUNCTION(double, __ll2double_rn(long long x), static_cast<double>(x))
GR_CUHOST_FUNCTION(double, __ull2double_rn(unsigned long long x), static_cast<double>(x))

inline void sincospi(double x, double *s, double *c)
{
    *s = sinpi(x);
    *c = cospi(x);
}

/* ---- Time and termination -------------------------------------------------------------------- */

/* A clock of 1 GHz: it counts nanoseconds. */
GR_CUHOST_FUNCTION(long long, clock64(),
                   std::chrono::duration_cast<std::chrono::nanoseconds>(
                       std::chrono::steady_clock::now().time_since_epoch())
                       .count())

inline void __nanosleep(unsigned nanoseconds)
{
    std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
}

[[noreturn]] inline void __trap()
{
    fprintf(stderr, "grinterop-nvcc: kernel %s called __trap()\n", gr_cuhost::here.launch->kernel);
    abort();
}

/* A mark for profilers, without an effect. */
inline void __prof_trigger(int)
{
}

#ifndef __clang__
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif
#define __assume(condition) __builtin_assume(condition)

inline void __brkpt()
{
    __builtin_trap();
}

#endif
