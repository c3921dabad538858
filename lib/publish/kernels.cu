/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Converts a picture in one pass, from and to strided memory or a surface: each thread loads four
 * pixels of a row, expands them to four channels, and stores the channels that the target has.
 *
 * There is one kernel per common element type of the source, because loading and converting depend
 * on it most. All other branches depend on the job and are uniform across threads.
 * gr_convert_wide computes in doubles, from and to integers of 32 and 64 bits and doubles, and
 * branches by type, too. gr_move_... kernels copy bits unchanged. gr_to_yuv_... convert four pixels
 * of one or two rows per thread, which share samples of chroma.
 */
#include "lib/publish/pixels.cuh"

/* Exports a kernel. The build for the CPU includes a header that defines this macro. */
#ifndef GR_KERNEL
#define GR_KERNEL(name)
#endif

/* ---- Values ------------------------------------------------------------------------------------
 */

#ifndef __CUDACC__
/*
 * Converts from half precision by bit operations, because host compilers have no common half type.
 */
INLINE float half_to_float(bits half)
{
    const uint32_t sign = (half & 0x8000u) << 16, rest = half & 0x7fffu;
    if (rest >= 0x7c00u)
        return __uint_as_float(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x400u)
        return __uint_as_float(sign | ((rest << 13) + 0x38000000u));
    const float small = static_cast<float>(rest) * 0x1p-24f;
    return sign ? -small : small;
}

INLINE bits float_to_half(float value)
{
    const uint32_t all = __float_as_uint(value), sign = all >> 16 & 0x8000u;
    const uint32_t rest = all & 0x7fffffffu;
    if (rest > 0x7f800000u)
        return 0x7fffu; /* the NaN that the conversion of the GPU returns */
    if (rest >= 0x477ff000u)
        return sign | 0x7c00u;
    if (rest < 0x38800000u) {
        /* Adding 0.5 rounds the sum to a multiple of 2^-24, the unit of subnormal halves. */
        const float sum = __uint_as_float(rest) + 0.5f;
        return sign | (__float_as_uint(sum) - 0x3f000000u);
    }
    return sign | ((rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13);
}
#else
INLINE float half_to_float(bits half)
{
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<unsigned short>(half)));
    return value;
}

INLINE bits float_to_half(float value)
{
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}
#endif

INLINE bits float_to_bfloat(float value)
{
    const uint32_t all = __float_as_uint(value);
    if ((all & 0x7fffffffu) > 0x7f800000u)
        return 0x7fffu;
    return (all + 0x7fffu + (all >> 16 & 1u)) >> 16;
}

/*
 * Rounds to the one of the two nearest floats whose last bit is set, unless a float equals the
 * value. Rounding the result to half precision gives the half that is nearest to the value; after
 * rounding to the nearest float it may give another one.
 */
INLINE float round_to_odd(double value)
{
    const float near = static_cast<float>(value);
    const uint32_t all = __float_as_uint(near);
    if ((all & 1u) || static_cast<double>(near) == value)
        return near;
    const bool is_closer_to_0 = (static_cast<double>(near) < value) == (value > 0.0);
    return __uint_as_float(is_closer_to_0 ? all + 1u : all - 1u);
}

/*
 * Divides an integer by the integer that represents 1. On a GPU, two FMA steps correct the product,
 * so that it is rounded like a quotient.
 */
INLINE float divide(float number, float unit)
{
#ifdef __CUDACC__
    const float inverse = __frcp_rn(unit), near = __fmul_rn(number, inverse);
    return __fmaf_rn(__fmaf_rn(-near, unit, number), inverse, near);
#else
    return number / unit;
#endif
}

INLINE double divide(double number, float unit)
{
    const double one = static_cast<double>(unit);
#ifdef __CUDACC__
    const double inverse = 1.0 / one, near = number * inverse;
    return fma(fma(-near, one, number), inverse, near);
#else
    return number / one;
#endif
}

/* Returns a * b + c. On a host without an FMA instruction fma() would be a function call. */
INLINE float multiply_add(float a, float b, float c)
{
#ifdef __CUDACC__
    return __fmaf_rn(a, b, c);
#else
    return a * b + c;
#endif
}

INLINE double multiply_add(double a, double b, double c)
{
    return a * b + c;
}

/* Rounds to the nearest integer from 0 to `most`, ties to even; a NaN becomes 0. */
INLINE bits round_to_integer(float value, float unit, float most)
{
    /* The lowest bits of the sum are the integer, because the sum has no bits for a fraction. */
#ifdef __CUDACC__
    const float clamped = fminf(fmaxf(value, 0.0f), most);
    return __float_as_uint(__fmaf_rn(clamped, unit, 8388608.0f)) & 0x7fffffu;
#else
    const float clamped = value > 0.0f ? (value < most ? value : most) : 0.0f;
    return static_cast<bits>(__double_as_longlong(static_cast<double>(clamped) * unit + 0x1p52));
#endif
}

/* Clears the bits above a negative integer of 8 or 16 bits. */
INLINE bits cut(bits integer, const side &s)
{
    return integer & (2u * s.sign - 1u);
}

/* The same for signed integers. */
INLINE bits round_to_signed(float value, const side &s)
{
    const float number = value == value ? value : 0.0f;
#ifdef __CUDACC__
    const float clamped = fminf(fmaxf(number, s.lowest), s.highest);
    return cut(__float_as_uint(__fmaf_rn(clamped, s.unit, 12582912.0f)), s);
#else
    const float clamped = number > s.lowest ? (number < s.highest ? number : s.highest) : s.lowest;
    const double sum = static_cast<double>(clamped) * s.unit + 0x1.8p52;
    return cut(static_cast<bits>(__double_as_longlong(sum)), s);
#endif
}

/*
 * Depth of 24 bits as a fraction of the largest integer of 32 bits. The nearest fraction plus 16
 * has the same 24 bits if OpenGL rounds it, truncates it, or converts it by a float.
 */
INLINE bits depth_to_24_bits(bits element)
{
    return (element - (element >> 24) + 128u) >> 8;
}

INLINE bits round_to_depth(float value)
{
    const float clamped = value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
    const bits depth = __float2uint_rn(clamped * 16777215.0f);
    return depth << 8 | min((depth >> 16) + 16u, 255u);
}

/* Returns the integer of an element of 8 or 16 bits; a BOOL is 0 or 1. */
INLINE int to_integer(bits element, const side &s)
{
    const int number = static_cast<int>(element) - static_cast<int>((element & s.sign) << 1);
    return min(max(number, s.least), s.most);
}

template <int E> INLINE float to_value(bits element, float unit)
{
    if (E == GR_JOB_D24)
        return divide(static_cast<float>(depth_to_24_bits(element)), unit);
    if (E == GR_JOB_U8 || E == GR_JOB_U16)
        return divide(static_cast<float>(element), unit);
    if (E == GR_JOB_F16)
        return half_to_float(element);
    if (E == GR_JOB_BF16)
        return __uint_as_float(element << 16);
    return __uint_as_float(element);
}

template <int N> INLINE void to_bits(const side &s, const float *values, bits *to)
{
    const int count = N * CHANNELS;
    if (s.element == GR_JOB_U8 || s.element == GR_JOB_U16) {
        UNROLL
        for (int i = 0; i < count; i++)
            to[i] = round_to_integer(values[i], s.unit, s.highest);
    } else if (s.element == GR_JOB_F16) {
        UNROLL
        for (int i = 0; i < count; i++)
            to[i] = float_to_half(values[i]);
    } else if (s.element == GR_JOB_BF16) {
        UNROLL
        for (int i = 0; i < count; i++)
            to[i] = float_to_bfloat(values[i]);
    } else if (s.element == GR_JOB_D24) {
        UNROLL
        for (int i = 0; i < count; i++)
            to[i] = round_to_depth(values[i]);
    } else if (s.element == GR_JOB_I8 || s.element == GR_JOB_I16) {
        UNROLL
        for (int i = 0; i < count; i++)
            to[i] = round_to_signed(values[i], s);
    } else if (s.element == GR_JOB_BOOL) {
        UNROLL
        for (int i = 0; i < count; i++)
            to[i] = values[i] != 0.0f;
    } else {
        UNROLL
        for (int i = 0; i < count; i++)
            to[i] = __float_as_uint(values[i]);
    }
}

template <int N> INLINE void store_values(const side &s, int x, int y, int z, const float *values)
{
    bits elements[N * CHANNELS];
    to_bits<N>(s, values, elements);
    if (s.bytes == 1)
        store_pixels<1, N>(s, x, y, z, elements);
    else if (s.bytes == 2)
        store_pixels<2, N>(s, x, y, z, elements);
    else
        store_pixels<4, N>(s, x, y, z, elements);
}

/* ---- Packed pixels: one word, whose elements have S bytes --------------------------------------
 */

template <int S> INLINE bool is_packed(const side &s)
{
    return (S == 2 || S == 4) && s.element >= GR_JOB_A2B10G10R10;
}

/* A float without a sign, with 5 bits of exponent and `m` of mantissa. */
INLINE float from_small_float(bits small, int m)
{
    const bits exponent = small >> m;
    if (exponent == 0)
        return static_cast<float>(small) * (m == 6 ? 0x1p-20f : 0x1p-19f);
    return __uint_as_float((small << (23 - m)) + (exponent == 31 ? 224u << 23 : 112u << 23));
}

/*
 * The nearest of these floats, ties to even. As OpenGL and Vulkan define them, finite values become
 * finite, and negative ones 0.
 */
INLINE bits to_small_float(double value, int m)
{
    const bits infinite = 31u << m;
    if (value != value)
        return infinite | 1u << (m - 1);
    if (!(value > 0.0))
        return 0;
    if (value < 0x1p-14) /* the sum has no bits below the lowest one of small floats */
        return static_cast<bits>(__double_as_longlong(value + (m == 6 ? 0x1p32 : 0x1p33)));
    const uint64_t all = static_cast<uint64_t>(__double_as_longlong(value));
    if (all >> 52 == 2047)
        return infinite;
    const int cut = 52 - m;
    const uint64_t half = (static_cast<uint64_t>(1) << (cut - 1)) - 1 + (all >> cut & 1u);
    const bits near = static_cast<bits>((all + half - (static_cast<uint64_t>(1008) << 52)) >> cut);
    return min(near, infinite - 1);
}

/* 2 to the power of an exponent of doubles that are not subnormal. */
INLINE double power_of_2(int exponent)
{
    return __longlong_as_double(static_cast<long long>(1023 + exponent) << 52);
}

INLINE bits round_half_up(double value)
{
    const bits whole = static_cast<bits>(value);
    return whole + (value - whole >= 0.5);
}

/* Three mantissas of 9 bits with one exponent, by the algorithm of EXT_texture_shared_exponent. */
INLINE bits to_shared_exponent(const double *colour)
{
    double parts[3], most = 0.0;
    UNROLL
    for (int c = 0; c < 3; c++) {
        parts[c] = colour[c] > 0.0 ? (colour[c] < 65408.0 ? colour[c] : 65408.0) : 0.0;
        most = parts[c] > most ? parts[c] : most;
    }
    int exponent = max(static_cast<int>(__double_as_longlong(most) >> 52) - 1023, -16) + 16;
    if (round_half_up(most * power_of_2(24 - exponent)) == 512)
        exponent++;
    const double unit = power_of_2(24 - exponent);
    return round_half_up(parts[0] * unit) | round_half_up(parts[1] * unit) << 9 |
           round_half_up(parts[2] * unit) << 18 | static_cast<bits>(exponent) << 27;
}

/* Channel `c` of a pixel of S bytes; 0 if there is none. */
template <int S, class V> INLINE V unpack(uint32_t element, bits pixel, int c)
{
    const int place = element == GR_JOB_A2R10G10B10 || element == GR_JOB_R5G6B5 ? 2 - c : c;
    if (c == 3 && element > GR_JOB_A2R10G10B10)
        return 0;
    if (S == 2)
        return divide(static_cast<V>(pixel >> (place * 11 / 2) & (c == 1 ? 63u : 31u)),
                      c == 1 ? 63.0f : 31.0f);
    if (element == GR_JOB_B10G11R11)
        return from_small_float(pixel >> 11 * c & (c < 2 ? 2047u : 1023u), c < 2 ? 6 : 5);
    if (element == GR_JOB_E5B9G9R9)
        return static_cast<V>((pixel >> 9 * c & 511u) *
                              power_of_2(static_cast<int>(pixel >> 27) - 24));
    return divide(static_cast<V>(c < 3 ? pixel >> 10 * place & 1023u : pixel >> 30),
                  c < 3 ? 1023.0f : 3.0f);
}

INLINE bits to_fraction(double value, unsigned most)
{
    const double clamped = value > 0.0 ? (value < 1.0 ? value : 1.0) : 0.0;
    return __double2uint_rn(clamped * most);
}

template <int S> INLINE bits pack(uint32_t element, const double *colour)
{
    const bool blue_first = element == GR_JOB_A2R10G10B10 || element == GR_JOB_R5G6B5;
    const double low = blue_first ? colour[2] : colour[0],
                 high = blue_first ? colour[0] : colour[2];
    if (S == 2)
        return to_fraction(low, 31) | to_fraction(colour[1], 63) << 5 | to_fraction(high, 31) << 11;
    if (element == GR_JOB_B10G11R11)
        return to_small_float(colour[0], 6) | to_small_float(colour[1], 6) << 11 |
               to_small_float(colour[2], 5) << 22;
    if (element == GR_JOB_E5B9G9R9)
        return to_shared_exponent(colour);
    return to_fraction(low, 1023) | to_fraction(colour[1], 1023) << 10 |
           to_fraction(high, 1023) << 20 | to_fraction(colour[3], 3) << 30;
}

/* ---- Conversion steps --------------------------------------------------------------------------
 */

/* Applies the steps without arithmetic, which are the same for bits and for numbers. */
template <int N, class T> INLINE void arrange(uint32_t steps, T fill, T *pixels)
{
    if (steps & GR_JOB_GREY)
        UNROLL
    for (int i = 0; i < N * CHANNELS; i += CHANNELS)
        pixels[i + 1] = pixels[i + 2] = pixels[i];
    if (steps & GR_JOB_OPAQUE)
        UNROLL
    for (int i = 0; i < N * CHANNELS; i += CHANNELS)
        pixels[i + 3] = fill;
    if (steps & GR_JOB_SWAP)
        UNROLL
    for (int i = 0; i < N * CHANNELS; i += CHANNELS) {
        const T first = pixels[i];
        pixels[i] = pixels[i + 2];
        pixels[i + 2] = first;
    }
}

INLINE float srgb_encode(float value)
{
    if (!(value > 0.0031308f))
        return __fmul_rn(value, 12.92f);
    return multiply_add(1.055f, __powf(value, 1.0f / 2.4f), -0.055f);
}

INLINE float srgb_decode(float value)
{
    if (!(value > 0.04045f))
        return __fmul_rn(value, 1.0f / 12.92f);
    return __powf(__fmul_rn(__fadd_rn(value, 0.055f), 1.0f / 1.055f), 2.4f);
}

template <class V> INLINE V depth_to_distance(const gr_job_distance &d, V depth)
{
    const V last = depth * static_cast<V>(d.weights[1]);
    return static_cast<V>(d.z_near) / multiply_add(1 - depth, static_cast<V>(d.weights[0]), last);
}

INLINE float scaled(const gr_job &job, float value, int c)
{
    return multiply_add(value, job.scale[c], job.bias[c]);
}

INLINE double scaled(const gr_job &job, double value, int c)
{
    return multiply_add(value, job.scale_f64[c], job.bias_f64[c]);
}

template <int N, class V> INLINE void grade(const gr_job &job, V *values)
{
    if (!(job.steps & (GR_JOB_DECODE | GR_JOB_DISTANCE | GR_JOB_SCALE | GR_JOB_ENCODE)))
        return;
    UNROLL
    for (int i = 0; i < N * CHANNELS; i++) {
        const int c = i % CHANNELS;
        if (c < 3 && job.steps & GR_JOB_DECODE)
            values[i] = srgb_decode(static_cast<float>(values[i]));
        if (c < 3 && job.steps & GR_JOB_DISTANCE)
            values[i] = depth_to_distance(job.distance, values[i]);
        if (job.steps & GR_JOB_SCALE)
            values[i] = scaled(job, values[i], c);
        if (c < 3 && job.steps & GR_JOB_ENCODE)
            values[i] = srgb_encode(static_cast<float>(values[i]));
    }
}

template <int E, int S, int N> INLINE void convert_pixels(const gr_job &job, int x, int y, int z)
{
    bits elements[N * CHANNELS] = {};
    float values[N * CHANNELS];
    load_pixels<S, N>(job.from, x, y, z, elements);
    if ((E == GR_JOB_U8 || E == GR_JOB_U16) && job.from.element != E)
        UNROLL
    for (int i = 0; i < N * CHANNELS; i++)
        values[i] = divide(static_cast<float>(to_integer(elements[i], job.from)), job.from.unit);
    else UNROLL for (int i = 0; i < N * CHANNELS; i++) values[i] =
        to_value<E>(elements[i], job.from.unit);
    arrange<N>(job.steps, job.alpha, values);
    grade<N>(job, values);
    store_values<N>(job.to, x, y, z, values);
}

/* Converts depth of 24 bits to floats, the only type to which it is converted, without steps. */
template <int N> INLINE void depth_pixels(const gr_job &job, int x, int y, int z)
{
    bits elements[N * CHANNELS] = {};
    load_pixels<4, N>(job.from, x, y, z, elements);
    UNROLL
    for (int i = 0; i < N * CHANNELS; i++)
        elements[i] = __float_as_uint(to_value<GR_JOB_D24>(elements[i], job.from.unit));
    store_pixels<4, N>(job.to, x, y, z, elements);
}

template <int S, int N> INLINE void move_pixels(const gr_job &job, int x, int y, int z)
{
    ELEMENT elements[N * CHANNELS] = {};
    load_pixels<S, N>(job.from, x, y, z, elements);
    arrange<N>(job.steps, static_cast<ELEMENT>(job.raw_fill), elements);
    store_pixels<S, N>(job.to, x, y, z, elements);
}

/* ---- Wide types --------------------------------------------------------------------------------
 */

/* Converts an element of the type E; all narrow integers of a size share the code of one. */
template <int E, class T> INLINE double to_double(T element, const side &s)
{
    const bits low = static_cast<bits>(element);
    if (E == GR_JOB_U8 || E == GR_JOB_U16)
        return divide(static_cast<double>(to_integer(low, s)), s.unit);
    if (E == GR_JOB_U32)
        return low;
    if (E == GR_JOB_I32)
        return static_cast<int>(low);
    if (E == GR_JOB_U64)
        return static_cast<double>(element);
    if (E == GR_JOB_I64)
        return static_cast<double>(static_cast<long long>(element));
    if (E == GR_JOB_F64)
        return __longlong_as_double(static_cast<long long>(element));
    return to_value<E>(low, s.unit);
}

template <int E> INLINE uint64_t from_double(double value, const side &s)
{
    const double number = value == value ? value : 0.0;
    if (E == GR_JOB_BOOL)
        return value != 0.0;
    if (E == GR_JOB_U8 || E == GR_JOB_U16)
        return cut(static_cast<bits>(min(max(__double2int_rn(number * s.unit), s.least), s.most)),
                   s);
    if (E == GR_JOB_F16)
        return float_to_half(round_to_odd(value));
    if (E == GR_JOB_BF16)
        return float_to_bfloat(round_to_odd(value));
    if (E == GR_JOB_F32)
        return __float_as_uint(static_cast<float>(value));
    if (E == GR_JOB_U32)
        return __double2uint_rn(number);
    if (E == GR_JOB_I32)
        return static_cast<bits>(__double2int_rn(number));
    if (E == GR_JOB_U64)
        return __double2ull_rn(number);
    if (E == GR_JOB_I64)
        return static_cast<uint64_t>(__double2ll_rn(number));
    return static_cast<uint64_t>(__double_as_longlong(value));
}

/* Runs LOOP(E) for the type E of a side, whose elements have S bytes. */
#define LOOP_OF_TYPE(S, LOOP)                                                                      \
    if (S == 1 || (S == 2 && (s.element == GR_JOB_U16 || s.element == GR_JOB_I16)))                \
        LOOP(GR_JOB_U8)                                                                            \
    else if (S == 2 && s.element == GR_JOB_F16)                                                    \
        LOOP(GR_JOB_F16)                                                                           \
    else if (S == 2)                                                                               \
        LOOP(GR_JOB_BF16)                                                                          \
    else if (S == 4 && s.element == GR_JOB_U32)                                                    \
        LOOP(GR_JOB_U32)                                                                           \
    else if (S == 4 && s.element == GR_JOB_I32)                                                    \
        LOOP(GR_JOB_I32)                                                                           \
    else if (S == 4)                                                                               \
        LOOP(GR_JOB_F32)                                                                           \
    else if (s.element == GR_JOB_U64)                                                              \
        LOOP(GR_JOB_U64)                                                                           \
    else if (s.element == GR_JOB_I64)                                                              \
        LOOP(GR_JOB_I64)                                                                           \
    else                                                                                           \
        LOOP(GR_JOB_F64)

template <int S, int N> INLINE void load_doubles_of(const side &s, int x, int y, int z, double *to)
{
    ELEMENT elements[N * CHANNELS] = {};
    load_pixels<S, N>(s, x, y, z, elements);
    if (is_packed<S>(s)) {
        UNROLL
        for (int i = 0; i < N * CHANNELS; i++)
            to[i] = unpack<S, double>(s.element, static_cast<bits>(elements[i - i % CHANNELS]),
                                      i % CHANNELS);
        return;
    }
#define LOAD(E) UNROLL for (int i = 0; i < N * CHANNELS; i++) to[i] = to_double<E>(elements[i], s);
    LOOP_OF_TYPE(S, LOAD)
#undef LOAD
}

template <int S, int N>
INLINE void store_doubles_of(const side &s, int x, int y, int z, const double *from)
{
    ELEMENT elements[N * CHANNELS];
#define STORE(E)                                                                                   \
    UNROLL for (int i = 0; i < N * CHANNELS; i++) elements[i] =                                    \
        static_cast<ELEMENT>(from_double<E>(from[i], s));
    if (is_packed<S>(s))
        UNROLL
    for (int i = 0; i < N * CHANNELS; i += CHANNELS)
        elements[i] = pack<S>(s.element, from + i);
    else if (s.element == GR_JOB_BOOL) STORE(GR_JOB_BOOL) else LOOP_OF_TYPE(S, STORE)
#undef STORE
        store_pixels<S, N>(s, x, y, z, elements);
}

template <int N> INLINE void wide_pixels(const gr_job &job, int x, int y, int z)
{
    double values[N * CHANNELS];
    if (job.from.bytes == 1)
        load_doubles_of<1, N>(job.from, x, y, z, values);
    else if (job.from.bytes == 2)
        load_doubles_of<2, N>(job.from, x, y, z, values);
    else if (job.from.bytes == 4)
        load_doubles_of<4, N>(job.from, x, y, z, values);
    else
        load_doubles_of<8, N>(job.from, x, y, z, values);
    arrange<N>(job.steps, job.alpha_f64, values);
    grade<N>(job, values);
    if (job.to.bytes == 1)
        store_doubles_of<1, N>(job.to, x, y, z, values);
    else if (job.to.bytes == 2)
        store_doubles_of<2, N>(job.to, x, y, z, values);
    else if (job.to.bytes == 4)
        store_doubles_of<4, N>(job.to, x, y, z, values);
    else
        store_doubles_of<8, N>(job.to, x, y, z, values);
}

/* ---- Brightness and colour ---------------------------------------------------------------------
 */

INLINE unsigned char *sample(const gr_job_chroma &c, const gr_job_plane &plane, int x, int y)
{
    return reinterpret_cast<unsigned char *>(plane.base) + (x >> c.x_shift) * plane.pixel +
           (y >> c.y_shift) * plane.row;
}

template <int S> INLINE void load_chroma_of(const gr_job_chroma &c, int x, int y, bits *u, bits *v)
{
    *u = load_element<S>(sample(c, c.u, x, y));
    *v = load_element<S>(sample(c, c.v, x, y));
}

/* Loads the samples of four pixels, which are adjacent. */
template <int S> INLINE void load_samples(const unsigned char *from, uint32_t x_shift, bits *to)
{
    uint32_t words[S];
    if (x_shift)
        words[0] = load_element<2 * S>(from);
    else
        load_words<S>(from, words);
    UNROLL
    for (int p = 0; p < PIXELS; p++)
        to[p] = x_shift ? extract<S>(words, p / 2) : extract<S>(words, p);
}

template <int S> INLINE void load_chroma(const gr_job_chroma &c, int x, int y, bits *u, bits *v)
{
    if (c.access == GR_JOB_PACKED) {
        uint32_t words[S];
        load_words<S>(sample(c, c.u, x, y), words);
        UNROLL
        for (int p = 0; p < PIXELS; p++) {
            u[p] = extract<S>(words, p / 2 * 2);
            v[p] = extract<S>(words, p / 2 * 2 + 1);
        }
        return;
    }
    if (c.access == GR_JOB_PLANAR) {
        load_samples<S>(sample(c, c.u, x, y), c.x_shift, u);
        load_samples<S>(sample(c, c.v, x, y), c.x_shift, v);
        return;
    }
    UNROLL
    for (int p = 0; p < PIXELS; p++)
        load_chroma_of<S>(c, x + p, y, &u[p], &v[p]);
}

/* Separates the two channels of four pixels: luma, and u and v in turn. */
INLINE void unweave(const bits *pixels, uint32_t luma, bits *u, bits *v)
{
    UNROLL
    for (int p = 0; p < PIXELS; p++) {
        const bits *pair = pixels + p / 2 * 2 * CHANNELS;
        u[p] = luma ? pair[0] : pair[1];
        v[p] = luma ? pair[CHANNELS] : pair[CHANNELS + 1];
    }
}

template <int S, int N> INLINE void yuv_pixels(const gr_job &job, int x, int y, int z)
{
    bits pixels[N * CHANNELS] = {}, u[N], v[N];
    float values[N * CHANNELS];
    load_pixels<S, N>(job.from, x, y, z, pixels);
    if (N == PIXELS && job.chroma.access == GR_JOB_WOVEN)
        unweave(pixels, job.chroma.luma, u, v);
    else if (N == PIXELS)
        load_chroma<S>(job.chroma, x, y, u, v);
    else
        load_chroma_of<S>(job.chroma, x, y, u, v);
    UNROLL
    for (int p = 0; p < N; p++) {
        const bits *pixel = pixels + p * CHANNELS;
        const float b = static_cast<float>(job.chroma.luma ? pixel[1] : pixel[0]);
        const float cu = static_cast<float>(u[p]), cv = static_cast<float>(v[p]);
        UNROLL
        for (int c = 0; c < 3; c++) {
            const float *row = job.matrix + 4 * c;
            values[p * CHANNELS + c] =
                multiply_add(row[0], b, multiply_add(row[1], cu, multiply_add(row[2], cv, row[3])));
        }
        values[p * CHANNELS + 3] = job.alpha;
    }
    grade<N>(job, values);
    store_values<N>(job.to, x, y, z, values);
}

/* ---- To brightness and colour ------------------------------------------------------------------
 */

/* Loads four pixels. Those behind the edge are the last one. */
template <int S> INLINE void load_line(const gr_job &job, int x, int y, bool whole, bits *elements)
{
    if (whole) {
        load_four<S>(job.from, x, y, 0, elements);
        return;
    }
    UNROLL
    for (int p = 0; p < PIXELS; p++)
        load_pixel<S>(job.from, min(x + p, static_cast<int>(job.width) - 1), y, 0,
                      elements + p * CHANNELS);
}

/* Clamps to 0 to 1; a NaN becomes 0. */
INLINE float saturate(float value)
{
#ifdef __CUDACC__
    return __saturatef(value);
#else
    return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
#endif
}

/* Converts elements to colours from 0 to 1. */
template <int S, int N> INLINE void to_colours(const gr_job &job, const bits *elements, float *to)
{
    const int count = N * CHANNELS;
    const float part = 1.0f / job.from.unit;
    if (is_packed<S>(job.from))
        UNROLL
    for (int i = 0; i < count; i++)
        to[i] = unpack<S, float>(job.from.element, elements[i - i % CHANNELS], i % CHANNELS);
    else if (S == 4) UNROLL for (int i = 0; i < count; i++) to[i] = __uint_as_float(elements[i]);
    else if (S == 2 && job.from.element == GR_JOB_F16) UNROLL for (int i = 0; i < count; i++)
        to[i] = half_to_float(elements[i]);
    else if (S == 2 && job.from.element == GR_JOB_BF16) UNROLL for (int i = 0; i < count; i++)
        to[i] = __uint_as_float(elements[i] << 16);
    else UNROLL for (int i = 0; i < count; i++) to[i] = static_cast<float>(elements[i]) * part;
    arrange<N>(job.steps, job.alpha, to);
    grade<N>(job, to);
    UNROLL
    for (int i = 0; i < count; i++)
        to[i] = saturate(to[i]);
}

/* The stored value of luma (0), u (1) or v (2) of a colour. */
INLINE bits to_component(const gr_job &job, int which, const float *colour)
{
    const float *row = job.matrix + 4 * which;
    const float value =
        multiply_add(row[0], colour[0],
                     multiply_add(row[1], colour[1], multiply_add(row[2], colour[2], row[3])));
    return round_to_integer(value, 1.0f, job.samples.most) << job.samples.low_bits;
}

template <int N> INLINE void add_colours(float weight, const float *colours, float *sums)
{
    UNROLL
    for (int i = 0; i < N * CHANNELS; i++)
        sums[i] = multiply_add(weight, colours[i], sums[i]);
}

/* Makes the samples of four pixels; `before` is the column before them. */
INLINE void to_chroma(const gr_job &job, const float *sums, const float *before, bits *u, bits *v)
{
    const float *weights = job.samples.column_weights;
    UNROLL
    for (int i = 0; i < PIXELS; i++) {
        float colour[CHANNELS] = {};
        if (!job.chroma.x_shift)
            add_colours<1>(1.0f, sums + i * CHANNELS, colour);
        else if (i < PIXELS / 2) {
            add_colours<1>(weights[0], i ? sums + (2 * i - 1) * CHANNELS : before, colour);
            add_colours<1>(weights[1], sums + 2 * i * CHANNELS, colour);
            add_colours<1>(weights[2], sums + (2 * i + 1) * CHANNELS, colour);
        }
        u[i] = to_component(job, 1, colour);
        v[i] = to_component(job, 2, colour);
    }
}

template <int T> INLINE void store_samples(unsigned char *to, uint32_t x_shift, const bits *from)
{
    uint32_t words[T] = {};
    UNROLL
    for (int i = 0; i < PIXELS; i++)
        if (i < PIXELS / 2 || !x_shift)
            insert<T>(words, i, from[i]);
    if (x_shift)
        store_element<2 * T>(to, words[0]);
    else
        store_words<T>(to, words);
}

template <int T>
INLINE void store_chroma(const gr_job_chroma &c, int x, int y, int left, const bits *u,
                         const bits *v)
{
    if (left == PIXELS && c.access == GR_JOB_PACKED) {
        const bits pairs[] = {u[0], v[0], u[1], v[1]};
        store_samples<T>(sample(c, c.u, x, y), 0, pairs);
        return;
    }
    if (left == PIXELS && c.access == GR_JOB_PLANAR) {
        store_samples<T>(sample(c, c.u, x, y), c.x_shift, u);
        store_samples<T>(sample(c, c.v, x, y), c.x_shift, v);
        return;
    }
    UNROLL
    for (int i = 0; i < PIXELS; i++) {
        if (i << c.x_shift >= left)
            break;
        store_element<T>(sample(c, c.u, x + (i << c.x_shift), y), static_cast<bits>(u[i]));
        store_element<T>(sample(c, c.v, x + (i << c.x_shift), y), static_cast<bits>(v[i]));
    }
}

template <int T> INLINE void store_luma(const gr_job &job, int x, int y, int left, const bits *luma)
{
    if (left == PIXELS && job.to.access != GR_JOB_STRIDED) {
        store_samples<T>(address(job.to, x, y, 0), 0, luma);
        return;
    }
    UNROLL
    for (int p = 0; p < PIXELS; p++)
        if (p < left)
            store_element<T>(address(job.to, x + p, y, 0), luma[p]);
}

/* Stores luma and chroma in turn, which have 8 bits. */
INLINE void store_woven(const gr_job &job, int x, int y, int left, const bits *luma, const bits *u,
                        const bits *v)
{
    const bits second = job.chroma.luma;
    UNROLL
    for (int p = 0; p < PIXELS; p++) {
        if (p >= left)
            break;
        unsigned char *to = address(job.to, x + p, y, 0);
        store_element<1>(to + second * job.to.channel, luma[p]);
        store_element<1>(to + (1 - second) * job.to.channel, p % 2 ? v[p / 2] : u[p / 2]);
    }
}

/*
 * Converts `left` pixels, which are at most four, of one or two rows. If chroma lies at one of the
 * rows, the row on its other side comes last. If it lies at the left column, each row has a column
 * before.
 */
template <int S> INLINE void to_yuv(const gr_job &job, int x, int y, int left)
{
    const gr_job_chroma &c = job.chroma;
    const bool whole = left == PIXELS && job.from.access != GR_JOB_STRIDED;
    /* loads of elements of 4 bytes are long enough without */
    const bool both = S < 4 && whole && job.row_shift && job.from.access == GR_JOB_PACKED &&
                      job.from.channels == 4;
    const int rows = job.samples.row_weights[2] != 0.0f ? 3 : job.row_shift ? 2 : 1;
    const int last = static_cast<int>(job.height) - 1;
    bits luma[PIXELS], u[PIXELS], v[PIXELS];
    uint32_t words[8 * S] = {};
    float sums[PIXELS * CHANNELS] = {}, before[CHANNELS] = {};
    if (both)
        load_two_rows<S>(job.from, x, y, min(y + 1, last), words);
    ROLL for (int i = 0; i < rows; i++)
    {
        const int row = min(max(y + (i == 2 ? job.samples.other_row : i), 0), last);
        const float weight = job.samples.row_weights[i];
        bits line[PIXELS * CHANNELS] = {}, one[CHANNELS] = {};
        float colours[PIXELS * CHANNELS];
        if (i < 2 && both) {
            UNROLL
            for (int k = 0; k < PIXELS * CHANNELS; k++)
                line[k] = extract<S>(words, k);
            UNROLL
            for (int k = 0; k < 4 * S; k++)
                words[k] = words[4 * S + k];
        } else {
            load_line<S>(job, x, row, whole, line);
        }
        to_colours<S, PIXELS>(job, line, colours);
        add_colours<PIXELS>(weight, colours, sums);
        if (i == 0 || (i == 1 && y < last)) {
            UNROLL
            for (int p = 0; p < PIXELS; p++)
                luma[p] = to_component(job, 0, colours + p * CHANNELS);
            if (job.to.bytes == 2)
                store_luma<2>(job, x, row, left, luma);
            else if (c.access != GR_JOB_WOVEN)
                store_luma<1>(job, x, row, left, luma);
        }
        if (job.samples.column_weights[0] == 0.0f)
            continue;
        load_pixel<S>(job.from, max(x - 1, 0), row, 0, one);
        to_colours<S, 1>(job, one, colours);
        add_colours<1>(weight, colours, before);
    }
    to_chroma(job, sums, before, u, v);
    if (job.to.bytes == 2)
        store_chroma<2>(c, x, y, left, u, v);
    else if (c.access != GR_JOB_WOVEN)
        store_chroma<1>(c, x, y, left, u, v);
    else
        store_woven(job, x, y, left, luma, u, v);
}

/* ---- Kernels -----------------------------------------------------------------------------------
 */

/* Whether both sides can access four pixels with one wide access. */
INLINE bool is_wide(const gr_job &job)
{
    return job.from.access != GR_JOB_STRIDED && job.to.access != GR_JOB_STRIDED;
}

/*
 * Runs `four` if at least four pixels are left in the row, otherwise `one` for each remaining
 * pixel.
 */
#define FOR_PIXELS(job, four, one)                                                                 \
    const unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * GR_JOB_PIXELS;                \
    if (first >= (job).width)                                                                      \
        return;                                                                                    \
    const int left = static_cast<int>(min((job).width - first, GR_JOB_PIXELS));                    \
    const int x = static_cast<int>(first), z = static_cast<int>(blockIdx.z);                       \
    const bool whole = left == PIXELS && is_wide(job);                                             \
    ROLL for (unsigned row = blockIdx.y * blockDim.y + threadIdx.y; row < (job).height;            \
              row += gridDim.y * blockDim.y)                                                       \
    {                                                                                              \
        const int y = static_cast<int>(row);                                                       \
        if (whole) {                                                                               \
            four(job, x, y, z);                                                                    \
        } else {                                                                                   \
            ROLL for (int i = 0; i < left; i++) one(job, x + i, y, z);                             \
        }                                                                                          \
    }

/* The number of blocks per multiprocessor, limited by registers, and on Turing by threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define BLOCKS 4
#else
#define BLOCKS 5
#endif

#define KERNEL_OF(blocks, name, four, one)                                                         \
    extern "C" __global__ void __launch_bounds__(GR_JOB_BLOCK_WIDTH *GR_JOB_BLOCK_HEIGHT, blocks)  \
        name(const gr_job job){FOR_PIXELS(job, four, one)} GR_KERNEL(name)

#define KERNEL(name, four, one) KERNEL_OF(BLOCKS, name, four, one)

#define CONVERT(constant, kernel, size, name, typestr, code)                                       \
    KERNEL(gr_convert_##kernel, (convert_pixels<GR_JOB_##constant, size, PIXELS>),                 \
           (convert_pixels<GR_JOB_##constant, size, 1>))
GR_COMMON_TYPES(CONVERT)
KERNEL(gr_convert_d24, depth_pixels<PIXELS>, depth_pixels<1>)

/* Elements of 8 bytes need more registers. */
KERNEL_OF(2, gr_convert_wide, wide_pixels<PIXELS>, wide_pixels<1>)
KERNEL_OF(4, gr_move_8, (move_pixels<8, PIXELS>), (move_pixels<8, 1>))

#define MOVE(S) KERNEL(gr_move_##S, (move_pixels<S, PIXELS>), (move_pixels<S, 1>))
MOVE(1)
MOVE(2)
MOVE(4)

#define YUV(name, S) KERNEL(gr_yuv_##name, (yuv_pixels<S, PIXELS>), (yuv_pixels<S, 1>))
YUV(u8, 1)
YUV(u16, 2)

/* Two rows of four pixels need more registers. */
#define TO_YUV(S, blocks)                                                                          \
    extern "C" __global__ void __launch_bounds__(GR_JOB_BLOCK_WIDTH *GR_JOB_BLOCK_HEIGHT, blocks)  \
        gr_to_yuv_##S(const gr_job job)                                                            \
    {                                                                                              \
        const unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * GR_JOB_PIXELS;                \
        const unsigned step = gridDim.y * blockDim.y << job.row_shift;                             \
        if (x >= job.width)                                                                        \
            return;                                                                                \
        ROLL for (unsigned y = (blockIdx.y * blockDim.y + threadIdx.y) << job.row_shift;           \
                  y < job.height; y += step)                                                       \
            to_yuv<S>(job, static_cast<int>(x), static_cast<int>(y),                               \
                      static_cast<int>(min(job.width - x, GR_JOB_PIXELS)));                        \
    }                                                                                              \
    GR_KERNEL(gr_to_yuv_##S)
TO_YUV(1, 4)
TO_YUV(2, 3)
TO_YUV(4, 3)
