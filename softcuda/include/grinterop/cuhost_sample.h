/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads of texture objects, for grinterop/cuhost_texture.h: conversion of elements, coordinates,
 * interpolation and mipmap levels. Included by grinterop/cuhost.h.
 */
#ifndef GR_CUHOST_SAMPLE_H
#define GR_CUHOST_SAMPLE_H

#ifdef GR_CUHOST_H

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/* ---- Objects ---- */

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_object(unsigned long long handle,
                                                                 uint64_t kind)
{
    const char *wanted = kind == GR_CUHOST_TEXTURE ? "texture" : "surface";
    const uint64_t other = kind == GR_CUHOST_TEXTURE ? GR_CUHOST_SURFACE : GR_CUHOST_TEXTURE;
    const char *found = handle >> GR_CUHOST_KIND_SHIFT == kind    ? "was destroyed"
                        : handle >> GR_CUHOST_KIND_SHIFT == other ? "is of the other kind"
                                                                  : "is not of an object";
    fprintf(stderr, "grinterop/cuhost.h: kernel %s uses a %s object, but its handle 0x%llx %s\n",
            here.launch->kernel, wanted, handle, found);
    abort();
}

inline const gr_cuhost_image &object(unsigned long long handle, uint64_t kind)
{
    const gr_cuhost_image *image = __atomic_load_n(
        &here.launch->images->slots[handle & (GR_CUHOST_SLOTS - 1)], __ATOMIC_ACQUIRE);
    if (__builtin_expect(image == nullptr || handle >> GR_CUHOST_KIND_SHIFT != kind ||
                             __atomic_load_n(&image->handle, __ATOMIC_RELAXED) != handle,
                         0))
        refuse_object(handle, kind);
    return *image;
}

inline int clamp_index(int i, uint32_t count)
{
    return i < 0 ? 0 : i >= static_cast<int>(count) ? static_cast<int>(count) - 1 : i;
}

/*
 * GPUs treat the number of a layer or face as unsigned, so a negative number becomes the last one.
 */
inline int clamp_layer(int i, uint32_t count)
{
    return static_cast<uint32_t>(i) >= count ? static_cast<int>(count) - 1 : i;
}

/* ---- Elements ---- */

/* An element as a GPU returns it: four words of 32 bits, which are floats or integers. */
struct texel {
    uint32_t bits[4];
};

inline float half_to_float(uint16_t half)
{
    const uint32_t sign = (half & 0x8000u) << 16;
    const uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ffu;
    if (exponent == 0) {
        const float small = static_cast<float>(fraction) * 0x1p-24f;
        return sign ? -small : small;
    }
    return bits<float>(sign | (exponent == 31 ? 0xffu : exponent + 112) << 23 | fraction << 13);
}

struct srgb_table {
    float linear[256];

    srgb_table()
    {
        for (int i = 0; i < 256; i++) {
            const double c = i / 255.0;
            linear[i] =
                static_cast<float>(c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
        }
    }
};

inline const float *srgb()
{
    static const srgb_table table;
    return table.linear;
}

template <class T> inline T component(const unsigned char *element, uint32_t channel)
{
    T value;
    memcpy(&value, element + channel * sizeof(T), sizeof(value));
    return value;
}

/* Converts an integer to a number from 0 to 1, or from -1 to 1 if its type is signed. */
template <class T> inline float normalised(T value)
{
    constexpr float highest = static_cast<float>(std::numeric_limits<T>::max());
    const float number = static_cast<float>(value) / highest;
    return number < -1.0f ? -1.0f : number;
}

template <class T>
inline uint32_t decode(const gr_cuhost_image &image, const unsigned char *element, uint32_t channel)
{
    const T value = component<T>(element, channel);
    if (!(image.flags & GR_CUHOST_NORMALISED_READ))
        return static_cast<uint32_t>(static_cast<int32_t>(value));
    if (std::is_same_v<T, uint8_t> && (image.flags & GR_CUHOST_SRGB) &&
        channel < (image.channels == 2 ? 1u : 3u))
        return bits<uint32_t>(srgb()[static_cast<uint8_t>(value)]);
    return bits<uint32_t>(normalised(value));
}

/* A channel of packed texels: 10 bits each of red, green and blue, 2 bits of alpha. */
inline float unorm10(uint32_t texel, uint32_t channel)
{
    const uint32_t highest = channel < 3 ? 1023 : 3;
    return static_cast<float>(texel >> 10 * channel & highest) / static_cast<float>(highest);
}

/* Reads the components that the array has. The others, including alpha, are 0. */
inline texel load_texel(const gr_cuhost_image &image, const gr_cuhost_level &level, int x, int y,
                        int slice)
{
    const unsigned char *element = level.base + static_cast<size_t>(slice) * level.slice_pitch +
                                   static_cast<size_t>(y) * level.row_pitch +
                                   static_cast<size_t>(x) * image.element;
    texel t = {{0, 0, 0, 0}};
    for (uint32_t i = 0; i < image.channels; i++) {
        switch (image.component) {
        case GR_CUHOST_UINT8:
            t.bits[i] = decode<uint8_t>(image, element, i);
            break;
        case GR_CUHOST_UINT16:
            t.bits[i] = decode<uint16_t>(image, element, i);
            break;
        case GR_CUHOST_SINT8:
            t.bits[i] = decode<int8_t>(image, element, i);
            break;
        case GR_CUHOST_SINT16:
            t.bits[i] = decode<int16_t>(image, element, i);
            break;
        case GR_CUHOST_UNORM10:
            t.bits[i] = bits<uint32_t>(unorm10(component<uint32_t>(element, 0), i));
            break;
        case GR_CUHOST_HALF:
            t.bits[i] = bits<uint32_t>(half_to_float(component<uint16_t>(element, i)));
            break;
        default:
            t.bits[i] = component<uint32_t>(element, i);
        }
    }
    return t;
}

/* ---- Coordinates ---- */

/*
 * The two elements of a read along one axis, and the distance from the first element. An index of
 * -1 is the border. A read without interpolation uses the first element.
 */
struct taps {
    int index[2];
    int fraction; /* in 256ths */
};

inline int resolve_index(int i, int count, uint32_t mode)
{
    if (i >= 0 && i < count)
        return i;
    if (mode == GR_CUHOST_BORDER)
        return -1;
    if (mode == GR_CUHOST_WRAP)
        return i < 0 ? count - 1 : 0;
    if (mode == GR_CUHOST_MIRROR)
        return i < 0 || i >= 2 * count ? 0 : 2 * count - 1 - i;
    return i < 0 ? 0 : count - 1;
}

/*
 * Finds the elements for a coordinate. Repeating coordinates are first reduced to [0, 1], or to [0,
 * 2] for mirroring. GPUs keep 21 bits of a normalised coordinate.
 */
inline taps find_taps(float coordinate, uint32_t count, uint32_t mode, bool is_normalised,
                      bool linear)
{
    double at = coordinate;
    if (at != at)
        at = 0;
    const bool repeats = mode == GR_CUHOST_WRAP || mode == GR_CUHOST_MIRROR;
    if (repeats && !is_normalised)
        mode = GR_CUHOST_CLAMP;
    else if (repeats && std::isinf(at))
        at = 0;
    else if (mode == GR_CUHOST_WRAP)
        at -= std::floor(at);
    else if (mode == GR_CUHOST_MIRROR)
        at -= 2 * std::floor(at / 2);
    if (is_normalised)
        at = std::floor(at * 0x1p21) / 0x1p21 * count;
    at = std::fmin(std::fmax(at, -2.0), 2.0 * count + 2.0);

    const int n = static_cast<int>(count);
    if (!linear) {
        const int i = resolve_index(static_cast<int>(std::floor(at)), n, mode);
        return {{i, i}, 0};
    }
    const int fixed = static_cast<int>(std::floor(at * 256 + 0.5)) - 128;
    const int first = fixed >> 8;
    return {{resolve_index(first, n, mode), resolve_index(first + 1, n, mode)}, fixed & 255};
}

/* ---- Interpolation ---- */

/*
 * The number of interpolation steps from 0 to 1 for numbers that come from integers; 0 for floats.
 */
inline int mixing_steps(const gr_cuhost_image &image)
{
    switch (image.component) {
    case GR_CUHOST_HALF:
    case GR_CUHOST_FLOAT:
        return 0;
    case GR_CUHOST_UNORM10:
        return 65535;
    case GR_CUHOST_UINT8:
    case GR_CUHOST_UINT16:
        return image.flags & GR_CUHOST_NORMALISED_READ ? 65535 : 1;
    default:
        return image.flags & GR_CUHOST_NORMALISED_READ ? 32767 : 1;
    }
}

inline double nearest(double value)
{
    return std::floor(value + 0.5);
}

/* The nearest float with `count` significant bits. Halves are rounded away from zero. */
inline float keep_bits(double value, int count)
{
    const uint64_t last = 1ull << (53 - count);
    return static_cast<float>(bits<double>((bits<uint64_t>(value) + last / 2) & ~(last - 1)));
}

inline float keep_half(double value)
{
    return std::fabs(value) < 0x1p-14 ? static_cast<float>(std::round(value * 0x1p24) * 0x1p-24)
                                      : keep_bits(value, 11);
}

/*
 * Converts a number that comes from an integer to interpolation steps. With signed 8-bit integers
 * the result is not always a whole number of steps.
 */
inline double in_steps(const gr_cuhost_image &image, float number, int steps)
{
    return image.component == GR_CUHOST_SINT8
               ? nearest(static_cast<double>(number) * 127) * steps / 127
               : nearest(static_cast<double>(number) * steps);
}

/*
 * The mean of texels, as precise as on a GPU: values that come from integers are rounded to a step.
 */
struct colour_sum {
    const gr_cuhost_image &image;
    const int steps = mixing_steps(image);
    const bool is_wide = image.component == GR_CUHOST_UINT32 || image.component == GR_CUHOST_SINT32;
    double sum[4] = {0, 0, 0, 0};

    explicit colour_sum(const gr_cuhost_image &of) : image(of) {}

    void add(double weight, const uint32_t *from)
    {
        for (int i = 0; i < 4; i++) {
            if (steps == 0)
                sum[i] += weight * bits<float>(from[i]);
            else if (steps > 1)
                sum[i] += weight * in_steps(image, bits<float>(from[i]), steps);
            else if (image.component >= GR_CUHOST_SINT8)
                sum[i] += weight * static_cast<int32_t>(from[i]);
            else
                sum[i] += weight * from[i];
        }
    }

    uint32_t component(int i) const
    {
        if (steps == 1 && is_wide)
            return static_cast<uint32_t>(static_cast<int64_t>(std::floor(sum[i])));
        if (steps == 1)
            return static_cast<uint32_t>(static_cast<int64_t>(nearest(sum[i])));
        if (steps)
            return bits<uint32_t>(static_cast<float>(nearest(sum[i]) / steps));
        return bits<uint32_t>(image.component == GR_CUHOST_HALF ? keep_half(sum[i])
                                                                : keep_bits(sum[i], 24));
    }

    texel result() const { return {{component(0), component(1), component(2), component(3)}}; }
};

/*
 * The weights of the 2, 4 or 8 elements that an interpolation reads, in 256ths, rounded like on a
 * GPU. With two axes the product of the fractions is rounded, and the other three weights follow
 * from it. With three axes, x and z first give four weights in this way, and y then splits each of
 * them: halves are rounded up only for the greater x.
 */
template <int Axes> inline void corner_weights(const int *fraction, int *weight)
{
    const int x = fraction[0], y = Axes == 1 ? 0 : fraction[Axes - 1];
    const int both = (x * y + 128) >> 8;
    const int plane[4] = {256 - x - y + both, x - both, y - both, both};
    for (int i = 0; i < (Axes == 1 ? 2 : 4); i++) {
        if constexpr (Axes == 3) {
            const int far = (plane[i] * fraction[1] + 127 + (i & 1)) >> 8;
            weight[(i & 1) + (i & 2) * 2] = plane[i] - far;
            weight[(i & 1) + (i & 2) * 2 + 2] = far;
        } else {
            weight[i] = plane[i];
        }
    }
}

inline texel texel_or_border(const gr_cuhost_image &image, const gr_cuhost_level &level, int x,
                             int y, int slice)
{
    if (x < 0 || y < 0 || slice < 0)
        return {{image.border[0], image.border[1], image.border[2], image.border[3]}};
    return load_texel(image, level, x, y, slice);
}

/* Reads a level along the first Axes axes. `slice` is used if the third axis is not one of them. */
template <int Axes>
inline texel read_level(const gr_cuhost_image &image, const gr_cuhost_level &level, const float *at,
                        int slice)
{
    const bool linear = image.flags & GR_CUHOST_LINEAR;
    const uint32_t counts[3] = {level.width, level.height, level.depth};
    taps t[3] = {{{0, 0}, 0}, {{0, 0}, 0}, {{slice, slice}, 0}};
    for (int i = 0; i < Axes; i++)
        t[i] = find_taps(at[i], counts[i], image.address[i], image.flags & GR_CUHOST_NORMALISED_AT,
                         linear);
    if (!linear)
        return texel_or_border(image, level, t[0].index[0], t[1].index[0], t[2].index[0]);
    /* GPUs read a 1D array like a 2D array of one row, at y = 0, the edge of the row. */
    if (Axes == 1 && image.address[1] == GR_CUHOST_BORDER && !(image.flags & GR_CUHOST_LAYERS))
        return read_level<2>(image, level, at, slice);

    colour_sum sum(image);
    const int fractions[3] = {t[0].fraction, t[1].fraction, t[2].fraction};
    int weight[1 << Axes];
    corner_weights<Axes>(fractions, weight);
    for (int corner = 0; corner < 1 << Axes; corner++) {
        if (weight[corner] == 0)
            continue;
        const texel value =
            texel_or_border(image, level, t[0].index[corner & 1], t[1].index[corner >> 1 & 1],
                            t[2].index[corner >> 2 & 1]);
        sum.add(weight[corner] / 256.0, value.bits);
    }
    return sum.result();
}

/* Converts a level to 256ths, in which GPUs count levels. */
inline int in_256ths(float level)
{
    return static_cast<int>(std::floor(std::fmin(std::fmax(level, -64.0f), 64.0f) * 256));
}

inline int within(int value, int least, int most)
{
    value = value < least ? least : value;
    return value > most ? most : value;
}

/*
 * Calls read(level) for the level that lod selects, or interpolates between the two nearest levels.
 */
template <class Read> inline texel read_levels(const gr_cuhost_image &image, float lod, Read read)
{
    const int last = 256 * static_cast<int>(image.level_count - 1);
    int fixed = in_256ths(lod) + in_256ths(image.level_bias);
    fixed = within(fixed, in_256ths(image.level_min), in_256ths(image.level_max));
    fixed = within(fixed, 0, last);
    const bool linear = image.flags & GR_CUHOST_LINEAR_LEVELS;
    if (!linear)
        return read(image.levels[(fixed + 128) >> 8]);
    const texel near = read(image.levels[fixed >> 8]);
    if (!(fixed & 255))
        return near;
    const texel far = read(image.levels[(fixed >> 8) + 1]);
    const double fraction = (fixed & 255) / 256.0;
    colour_sum sum(image);
    sum.add(1 - fraction, near.bits);
    sum.add(fraction, far.bits);
    return sum.result();
}

template <int Axes>
inline texel read_array(unsigned long long handle, float x, float y, float z, int layer, float lod)
{
    const gr_cuhost_image &image = object(handle, GR_CUHOST_TEXTURE);
    const float at[3] = {x, y, z};
    return read_levels(image, lod, [&](const gr_cuhost_level &level) {
        return read_level<Axes>(image, level, at, clamp_layer(layer, level.depth));
    });
}

} // namespace gr_cuhost
#pragma GCC visibility pop

#endif /* GR_CUHOST_H */
#endif /* GR_CUHOST_SAMPLE_H */
