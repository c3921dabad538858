/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Arithmetic that rounds towards 0 (_rz), up (_ru) or down (_rd). _rn rounds to nearest, which is
 * the C++ default.
 */
#ifndef GRINTEROP_NVCC_ROUND_HPP
#define GRINTEROP_NVCC_ROUND_HPP

#pragma GCC system_header

#include <cfenv>
#include <cmath>

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/*
 * volatile keeps the read of `value` and the write of the result between the two calls that set the
 * rounding mode.
 */
template <class To, class From, class F> inline To round_as(int mode, From value, F f)
{
    const int before = fegetround();
    fesetround(mode);
    volatile From in = value;
    volatile To out = f(static_cast<From>(in));
    fesetround(before);
    return out;
}

} // namespace gr_cuhost
#pragma GCC visibility pop

#define GR_ROUND_ONE(name, to, from, expression, mode)                                             \
    inline to name(from given)                                                                     \
    {                                                                                              \
        return gr_cuhost::round_as<to>(mode, given, [](from x) { return expression; });            \
    }
#define GR_ROUND_TWO(name, type, expression, mode)                                                 \
    inline type name(type given, type y)                                                           \
    {                                                                                              \
        return gr_cuhost::round_as<type>(mode, given, [y](type x) { return expression; });         \
    }
#define GR_ROUND_THREE(name, type, expression, mode)                                               \
    inline type name(type given, type y, type z)                                                   \
    {                                                                                              \
        return gr_cuhost::round_as<type>(mode, given, [y, z](type x) { return expression; });      \
    }
#define GR_ROUND(suffix, mode)                                                                     \
    GR_ROUND_ONE(__int2float_##suffix, float, int, static_cast<float>(x), mode)                    \
    GR_ROUND_ONE(__uint2float_##suffix, float, unsigned, static_cast<float>(x), mode)              \
    GR_ROUND_ONE(__ll2float_##suffix, float, long long, static_cast<float>(x), mode)               \
    GR_ROUND_ONE(__ull2float_##suffix, float, unsigned long long, static_cast<float>(x), mode)     \
    GR_ROUND_ONE(__ll2double_##suffix, double, long long, static_cast<double>(x), mode)            \
    GR_ROUND_ONE(__ull2double_##suffix, double, unsigned long long, static_cast<double>(x), mode)  \
    GR_ROUND_ONE(__double2float_##suffix, float, double, static_cast<float>(x), mode)              \
    GR_ROUND_ONE(__frcp_##suffix, float, float, 1.0f / x, mode)                                    \
    GR_ROUND_ONE(__drcp_##suffix, double, double, 1.0 / x, mode)                                   \
    GR_ROUND_ONE(__fsqrt_##suffix, float, float, std::sqrt(x), mode)                               \
    GR_ROUND_ONE(__dsqrt_##suffix, double, double, std::sqrt(x), mode)                             \
    GR_ROUND_TWO(__fadd_##suffix, float, x + y, mode)                                              \
    GR_ROUND_TWO(__dadd_##suffix, double, x + y, mode)                                             \
    GR_ROUND_TWO(__fsub_##suffix, float, x - y, mode)                                              \
    GR_ROUND_TWO(__dsub_##suffix, double, x - y, mode)                                             \
    GR_ROUND_TWO(__fmul_##suffix, float, x *y, mode)                                               \
    GR_ROUND_TWO(__dmul_##suffix, double, x *y, mode)                                              \
    GR_ROUND_TWO(__fdiv_##suffix, float, x / y, mode)                                              \
    GR_ROUND_TWO(__ddiv_##suffix, double, x / y, mode)                                             \
    GR_ROUND_THREE(__fmaf_##suffix, float, std::fma(x, y, z), mode)                                \
    GR_ROUND_THREE(__fma_##suffix, double, std::fma(x, y, z), mode)
GR_ROUND(rz, FE_TOWARDZERO)
GR_ROUND(ru, FE_UPWARD)
GR_ROUND(rd, FE_DOWNWARD)
#undef GR_ROUND
#undef GR_ROUND_THREE
#undef GR_ROUND_TWO
#undef GR_ROUND_ONE

#endif
