/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Texture functions of nvcc, for kernels on the CPU. Included by grinterop/cuhost.h.
 *
 *     tex1D tex2D tex3D tex1DLayered tex2DLayered texCubemap texCubemapLayered
 *     tex1DLod tex2DLod tex3DLod tex1DLayeredLod tex2DLayeredLod texCubemapLod
 *     texCubemapLayeredLod tex2Dgather tex1Dfetch
 *
 * have the same signatures as in nvcc: tex2D<float4>(object, x, y) and tex2D(&value, object, x, y).
 * Gradients (tex2DGrad), anisotropy, and residency of sparse arrays are not supported.
 * Interpolation matches an H200: positions between two elements or levels, and weights, are
 * multiples of 1/256, and integers are interpolated as well. A function that does not match the
 * object's array (tex2D of a 3D array) is undefined on a GPU; here it stays within the memory of
 * the array.
 */
#ifndef GR_CUHOST_TEXTURE_H
#define GR_CUHOST_TEXTURE_H

#ifdef GR_CUHOST_H

#include <grinterop/cuhost_sample.h>

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

/* ---- Cubes ---- */

/*
 * The intersection of a direction with the cube: the face, and the position on the face from -1 to
 * 1.
 */
struct cube_place {
    int face;
    float s, t;
};

/*
 * The axes along which s and t of each face grow, from 1 to 3; negative if they grow in the
 * opposite direction.
 */
inline constexpr int cube_axes[6][2] = {{-3, -2}, {3, -2}, {1, 3}, {1, -3}, {1, -2}, {-1, -2}};

inline float along(const float *v, int axis)
{
    return axis > 0 ? v[axis - 1] : -v[-axis - 1];
}

inline cube_place place_on_face(int face, const float *v)
{
    const float m = std::fabs(v[face / 2]);
    return {face, m > 0 ? along(v, cube_axes[face][0]) / m : 0,
            m > 0 ? along(v, cube_axes[face][1]) / m : 0};
}

inline cube_place place_on_cube(float x, float y, float z)
{
    const float v[3] = {x, y, z};
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    const int axis = az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
    return place_on_face(2 * axis + std::signbit(v[axis]), v);
}

/*
 * Reads the element beyond the edge of a face: the adjacent element of the next face. One of the
 * two indices is outside the face by one.
 */
inline texel load_beyond_edge(const gr_cuhost_image &image, const gr_cuhost_level &level, int face,
                              int first_face, int i, int j)
{
    const int n = static_cast<int>(level.width);
    const bool s_outside = i < 0 || i >= n;
    const auto middle = [n](int index) {
        return index < 0 ? -1.0f : index >= n ? 1.0f : static_cast<float>(2 * index + 1) / n - 1;
    };
    float v[3];
    v[face / 2] = face & 1 ? -1.0f : 1.0f;
    const float st[2] = {middle(i), middle(j)};
    for (int k = 0; k < 2; k++) {
        const int axis = cube_axes[face][k];
        v[std::abs(axis) - 1] = axis > 0 ? st[k] : -st[k];
    }
    const int crossed = std::abs(cube_axes[face][s_outside ? 0 : 1]) - 1;
    const cube_place p = place_on_face(2 * crossed + std::signbit(v[crossed]), v);
    const int x = clamp_index(static_cast<int>(std::floor((p.s + 1) / 2 * n)), level.width);
    const int y = clamp_index(static_cast<int>(std::floor((p.t + 1) / 2 * n)), level.height);
    return load_texel(image, level, x, y, first_face + p.face);
}

/*
 * Adds an element that is on a face or beyond its edge. At a corner of the cube, where three faces
 * meet, the element is the mean of the elements of these faces.
 */
inline void add_seamless(colour_sum &sum, double weight, const gr_cuhost_image &image,
                         const gr_cuhost_level &level, int face, int first_face, int i, int j)
{
    const int x = clamp_index(i, level.width), y = clamp_index(j, level.height);
    if (x == i && y == j) {
        sum.add(weight, load_texel(image, level, i, j, first_face + face).bits);
    } else if (x == i || y == j) {
        sum.add(weight, load_beyond_edge(image, level, face, first_face, i, j).bits);
    } else {
        sum.add(weight / 3, load_texel(image, level, x, y, first_face + face).bits);
        sum.add(weight / 3, load_beyond_edge(image, level, face, first_face, i, y).bits);
        sum.add(weight / 3, load_beyond_edge(image, level, face, first_face, x, j).bits);
    }
}

inline texel read_seamless(const gr_cuhost_image &image, const gr_cuhost_level &level,
                           const cube_place &p, int first_face)
{
    int first[2];
    int fraction[2], weight[4];
    for (int k = 0; k < 2; k++) {
        const double at = ((k == 0 ? p.s : p.t) + 1.0) / 2 * level.width;
        const int fixed = static_cast<int>(std::floor(at * 256 + 0.5)) - 128;
        first[k] = fixed >> 8;
        fraction[k] = fixed & 255;
    }
    corner_weights<2>(fraction, weight);
    colour_sum sum(image);
    for (int corner = 0; corner < 4; corner++) {
        if (weight[corner] != 0)
            add_seamless(sum, weight[corner] / 256.0, image, level, p.face, first_face,
                         first[0] + (corner & 1), first[1] + (corner >> 1));
    }
    return sum.result();
}

inline texel read_face(const gr_cuhost_image &image, const gr_cuhost_level &level,
                       const cube_place &p, int layer)
{
    const int cubes = static_cast<int>(level.depth / 6);
    const int first_face = cubes > 0 ? 6 * clamp_layer(layer, static_cast<uint32_t>(cubes)) : 0;
    const bool linear = image.flags & GR_CUHOST_LINEAR;
    if (linear && cubes > 0 && (image.flags & GR_CUHOST_SEAMLESS))
        return read_seamless(image, level, p, first_face);
    const int slice = clamp_index(first_face + p.face, level.depth);
    const taps tx = find_taps((p.s + 1) / 2, level.width, image.address[0], true, linear);
    const taps ty = find_taps((p.t + 1) / 2, level.height, image.address[1], true, linear);
    if (!linear)
        return load_texel(image, level, tx.index[0], ty.index[0], slice);
    const int fraction[2] = {tx.fraction, ty.fraction};
    int weight[4];
    corner_weights<2>(fraction, weight);
    colour_sum sum(image);
    for (int corner = 0; corner < 4; corner++) {
        if (weight[corner] != 0)
            sum.add(weight[corner] / 256.0, texel_or_border(image, level, tx.index[corner & 1],
                                                            ty.index[corner >> 1], slice)
                                                .bits);
    }
    return sum.result();
}

inline texel read_cube(unsigned long long handle, float x, float y, float z, int layer, float lod)
{
    const gr_cuhost_image &image = object(handle, GR_CUHOST_TEXTURE);
    const cube_place p = place_on_cube(x, y, z);
    return read_levels(image, lod, [&](const gr_cuhost_level &level) {
        return read_face(image, level, p, layer);
    });
}

/* ---- Other reads ----------------------------------------------------------------------------- */

/* Reads one component of the four elements that an interpolated read would use. */
inline texel gather(unsigned long long handle, float x, float y, int component)
{
    const gr_cuhost_image &image = object(handle, GR_CUHOST_TEXTURE);
    const gr_cuhost_level &level = image.levels[0];
    const bool is_normalised = image.flags & GR_CUHOST_NORMALISED_AT;
    const taps tx = find_taps(x, level.width, image.address[0], is_normalised, true);
    const taps ty = find_taps(y, level.height, image.address[1], is_normalised, true);
    const int order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    texel t;
    for (int i = 0; i < 4; i++)
        t.bits[i] = texel_or_border(image, level, tx.index[order[i][0]], ty.index[order[i][1]], 0)
                        .bits[component & 3];
    return t;
}

/* Reads an element of linear memory; 0 outside of the memory. */
inline texel fetch(unsigned long long handle, int x)
{
    const gr_cuhost_image &image = object(handle, GR_CUHOST_TEXTURE);
    const gr_cuhost_level &level = image.levels[0];
    if (x < 0 || static_cast<uint32_t>(x) >= level.width)
        return {{0, 0, 0, 0}};
    return load_texel(image, level, x, 0, 0);
}

/* ---- Types ---- */

template <class T, bool = std::is_class_v<T>> struct vector_of {
    using component = T;
};
template <class T> struct vector_of<T, true> {
    using component = decltype(T::x);
};
template <class T> using component_of = typename vector_of<T>::component;

template <class T> inline constexpr size_t components = sizeof(T) / sizeof(component_of<T>);

template <class T, class... C>
inline constexpr bool is_vector_of = one_of<component_of<T>, C...> &&
                                     (components<T> == 1 || components<T> == 2 ||
                                      components<T> == 4);

template <class T>
inline constexpr bool is_texture_type =
    is_vector_of<T, char, signed char, unsigned char, short, unsigned short, int, unsigned, float>;

template <class T> inline void store_texel(T *to, const texel &from)
{
    using C = component_of<T>;
    C values[components<T>];
    for (size_t i = 0; i < components<T>; i++) {
        if constexpr (std::is_same_v<C, float>)
            values[i] = bits<float>(from.bits[i]);
        else
            values[i] = static_cast<C>(from.bits[i]);
    }
    memcpy(to, values, sizeof(values));
}

} // namespace gr_cuhost
#pragma GCC visibility pop

#define GR_CUHOST_LIST(...) __VA_ARGS__
#define GR_CUHOST_TEX(name, params, args, value)                                                   \
    template <class T>                                                                             \
    inline std::enable_if_t<gr_cuhost::is_texture_type<T>> name(T *to, cudaTextureObject_t object, \
                                                                GR_CUHOST_LIST params)             \
    {                                                                                              \
        gr_cuhost::store_texel(to, gr_cuhost::value);                                              \
    }                                                                                              \
    template <class T> inline T name(cudaTextureObject_t object, GR_CUHOST_LIST params)            \
    {                                                                                              \
        T result;                                                                                  \
        name(&result, object, GR_CUHOST_LIST args);                                                \
        return result;                                                                             \
    }

GR_CUHOST_TEX(tex1Dfetch, (int x), (x), fetch(object, x))
GR_CUHOST_TEX(tex1D, (float x), (x), read_array<1>(object, x, 0, 0, 0, 0))
GR_CUHOST_TEX(tex2D, (float x, float y), (x, y), read_array<2>(object, x, y, 0, 0, 0))
GR_CUHOST_TEX(tex3D, (float x, float y, float z), (x, y, z), read_array<3>(object, x, y, z, 0, 0))
GR_CUHOST_TEX(tex1DLayered, (float x, int layer), (x, layer),
              read_array<1>(object, x, 0, 0, layer, 0))
GR_CUHOST_TEX(tex2DLayered, (float x, float y, int layer), (x, y, layer),
              read_array<2>(object, x, y, 0, layer, 0))
GR_CUHOST_TEX(texCubemap, (float x, float y, float z), (x, y, z), read_cube(object, x, y, z, 0, 0))
GR_CUHOST_TEX(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer),
              read_cube(object, x, y, z, layer, 0))
GR_CUHOST_TEX(tex1DLod, (float x, float level), (x, level),
              read_array<1>(object, x, 0, 0, 0, level))
GR_CUHOST_TEX(tex2DLod, (float x, float y, float level), (x, y, level),
              read_array<2>(object, x, y, 0, 0, level))
GR_CUHOST_TEX(tex3DLod, (float x, float y, float z, float level), (x, y, z, level),
              read_array<3>(object, x, y, z, 0, level))
GR_CUHOST_TEX(tex1DLayeredLod, (float x, int layer, float level), (x, layer, level),
              read_array<1>(object, x, 0, 0, layer, level))
GR_CUHOST_TEX(tex2DLayeredLod, (float x, float y, int layer, float level), (x, y, layer, level),
              read_array<2>(object, x, y, 0, layer, level))
GR_CUHOST_TEX(texCubemapLod, (float x, float y, float z, float level), (x, y, z, level),
              read_cube(object, x, y, z, 0, level))
GR_CUHOST_TEX(texCubemapLayeredLod, (float x, float y, float z, int layer, float level),
              (x, y, z, layer, level), read_cube(object, x, y, z, layer, level))

template <class T>
inline std::enable_if_t<gr_cuhost::is_texture_type<T>> tex2Dgather(T *to,
                                                                   cudaTextureObject_t object,
                                                                   float x, float y,
                                                                   int component = 0)
{
    gr_cuhost::store_texel(to, gr_cuhost::gather(object, x, y, component));
}

template <class T>
inline T tex2Dgather(cudaTextureObject_t object, float x, float y, int component = 0)
{
    T result;
    tex2Dgather(&result, object, x, y, component);
    return result;
}

#undef GR_CUHOST_TEX
#undef GR_CUHOST_LIST

#endif /* GR_CUHOST_H */
#endif /* GR_CUHOST_TEXTURE_H */
