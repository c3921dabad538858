/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mathematical functions that kernels have in CUDA and that C++ does not have. */
#ifndef GRINTEROP_NVCC_SPECIAL_HPP
#define GRINTEROP_NVCC_SPECIAL_HPP

#pragma GCC system_header

#include <cmath>
#include <limits>

#include <grinterop/cuhost.h>

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

inline constexpr double root_of_pi = 1.7724538509055160273, root_of_2 = 1.4142135623730950488;

/* Finds the root of f near x by Halley's iterations. f is erf or erfc minus a constant. */
template <class F> inline double refine(double x, double slope_sign, F f)
{
    for (int i = 0; i < 4; i++) {
        const double error = f(x) * slope_sign;
        const double slope = 2 / root_of_pi * std::exp(-x * x);
        x -= error / (slope + x * error);
    }
    return x;
}

/*
 * Returns the x for which erfc(x) is y, for y of at most 0.5. The first guess, by Hastings, is off
 * by at most 4.5e-4.
 */
inline double inverse_tail(double y)
{
    const double t = std::sqrt(-2 * std::log(y / 2));
    const double guess = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                                 (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    return refine(guess / root_of_2, -1, [y](double x) { return std::erfc(x) - y; });
}

} // namespace gr_cuhost
#pragma GCC visibility pop

inline double erfinv(double y)
{
    const double size = std::fabs(y);
    if (!(size < 1))
        return size == 1 ? std::copysign(std::numeric_limits<double>::infinity(), y)
                         : std::numeric_limits<double>::quiet_NaN();
    if (size >= 0.5)
        return std::copysign(gr_cuhost::inverse_tail(1 - size), y);
    if (size < 1e-9) /* the other terms of the series are below the last bit */
        return y * (gr_cuhost::root_of_pi / 2);
    return gr_cuhost::refine(y * (gr_cuhost::root_of_pi / 2), 1,
                             [y](double x) { return std::erf(x) - y; });
}

inline double erfcinv(double y)
{
    if (!(y > 0 && y < 2)) {
        if (y == 0 || y == 2)
            return y == 0 ? std::numeric_limits<double>::infinity()
                          : -std::numeric_limits<double>::infinity();
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (y <= 0.5)
        return gr_cuhost::inverse_tail(y);
    return y >= 1.5 ? -gr_cuhost::inverse_tail(2 - y) : erfinv(1 - y);
}

GR_CUHOST_FUNCTION(double, normcdf(double x), 0.5 * std::erfc(-x / gr_cuhost::root_of_2))
GR_CUHOST_FUNCTION(double, normcdfinv(double p), -gr_cuhost::root_of_2 *erfcinv(2 * p))

/*
 * Computes exp(x * x) * erfc(x). The rounding error of x * x is added back. For large x a short
 * series is exact enough.
 */
inline double erfcx(double x)
{
    if (x < 10) {
        const double square = x * x, rest = std::fma(x, x, -square);
        const double large = std::exp(square);
        return std::isinf(large) ? large : large * std::erfc(x) * (1 + rest);
    }
    double term = 1, sum = 1;
    for (int n = 1; n < 14; n++) {
        term *= -(2 * n - 1) / (2 * x * x);
        sum += term;
    }
    return sum / (x * gr_cuhost::root_of_pi);
}

/* Sums the series (x/2)^(2k+order) / (k! (k+order)!), whose terms all have the same sign. */
inline double gr_bessel_i(int order, double x)
{
    const double half = std::fabs(x) / 2;
    if (!(half < 400))
        return std::isnan(x) ? x : std::numeric_limits<double>::infinity();
    double term = order ? half : 1, sum = term;
    for (int k = 1; term > sum * 1e-18; k++) {
        term *= half / k * (half / (k + order));
        sum += term;
    }
    return sum;
}

GR_CUHOST_FUNCTION(double, cyl_bessel_i0(double x), gr_bessel_i(0, x))
GR_CUHOST_FUNCTION(double, cyl_bessel_i1(double x), std::copysign(gr_bessel_i(1, x), x))

#define GR_SPECIAL_FLOAT(name)                                                                     \
    inline float name##f(float x)                                                                  \
    {                                                                                              \
        return static_cast<float>(name(static_cast<double>(x)));                                   \
    }                                                                                              \
    inline float name(float x)                                                                     \
    {                                                                                              \
        return name##f(x);                                                                         \
    }
GR_SPECIAL_FLOAT(erfinv)
GR_SPECIAL_FLOAT(erfcinv)
GR_SPECIAL_FLOAT(normcdf)
GR_SPECIAL_FLOAT(normcdfinv)
GR_SPECIAL_FLOAT(erfcx)
GR_SPECIAL_FLOAT(cyl_bessel_i0)
GR_SPECIAL_FLOAT(cyl_bessel_i1)
#undef GR_SPECIAL_FLOAT

/* ---- Lengths of vectors, computed without overflow ------------------------------------------- */

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

inline double length(int count, const double *p)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum = std::hypot(sum, p[i]);
    return sum;
}

inline float length(int count, const float *p)
{
    double sum = 0; /* the square of any float fits in a double */
    for (int i = 0; i < count; i++)
        sum += static_cast<double>(p[i]) * p[i];
    return static_cast<float>(std::sqrt(sum));
}

} // namespace gr_cuhost
#pragma GCC visibility pop

#undef norm3df /* these names are macros in grinterop/cuhost.h */
#undef rnorm3df

#define GR_SPECIAL_NORM(type, suffix)                                                              \
    inline type norm##suffix(int count, const type *p)                                             \
    {                                                                                              \
        return gr_cuhost::length(count, p);                                                        \
    }                                                                                              \
    inline type norm3d##suffix(type x, type y, type z)                                             \
    {                                                                                              \
        const type all[] = {x, y, z};                                                              \
        return gr_cuhost::length(3, all);                                                          \
    }                                                                                              \
    inline type norm4d##suffix(type x, type y, type z, type w)                                     \
    {                                                                                              \
        const type all[] = {x, y, z, w};                                                           \
        return gr_cuhost::length(4, all);                                                          \
    }                                                                                              \
    inline type rhypot##suffix(type x, type y)                                                     \
    {                                                                                              \
        return 1 / std::hypot(x, y);                                                               \
    }                                                                                              \
    inline type rnorm3d##suffix(type x, type y, type z)                                            \
    {                                                                                              \
        return 1 / norm3d##suffix(x, y, z);                                                        \
    }                                                                                              \
    inline type rnorm4d##suffix(type x, type y, type z, type w)                                    \
    {                                                                                              \
        return 1 / norm4d##suffix(x, y, z, w);                                                     \
    }                                                                                              \
    inline type rnorm##suffix(int count, const type *p)                                            \
    {                                                                                              \
        return 1 / norm##suffix(count, p);                                                         \
    }
GR_SPECIAL_NORM(float, f)
GR_SPECIAL_NORM(double, )
#undef GR_SPECIAL_NORM

#endif
