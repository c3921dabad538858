/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Surface functions of nvcc, for kernels on the CPU. Included by grinterop/cuhost.h.
 *
 *     surf1Dread surf2Dread surf3Dread surf1DLayeredread surf2DLayeredread surfCubemapread
 *     surfCubemapLayeredread, and the same with write
 *
 * have the same signatures as in nvcc. x is in bytes. An access that is undefined on a GPU, or that
 * ends a kernel there (cudaBoundaryModeTrap), prints a message and ends the program.
 */
#ifndef GR_CUHOST_SURFACE_H
#define GR_CUHOST_SURFACE_H

#ifdef GR_CUHOST_H

#pragma GCC visibility push(hidden)
namespace gr_cuhost
{

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_place(const gr_cuhost_image &image,
                                                                size_t size, int x, int y,
                                                                int slice, const char *why)
{
    const gr_cuhost_level &level = image.levels[0];
    fprintf(stderr,
            "grinterop/cuhost.h: kernel %s accesses %zu bytes of a surface at byte %d, row %d, "
            "slice %d, %s (%s: %u elements of %u bytes, %u rows, %u slices)\n",
            here.launch->kernel, size, x, y, slice, why, image.what, level.width, image.element,
            level.height, level.depth);
    abort();
}

/* The address of the bytes in the array; NULL if they are outside and are read as zero. */
inline unsigned char *surface_bytes(unsigned long long handle, size_t size, int x, int y, int slice,
                                    cudaSurfaceBoundaryMode mode)
{
    const gr_cuhost_image &image = object(handle, GR_CUHOST_SURFACE);
    const gr_cuhost_level &level = image.levels[0];
    const int64_t row = static_cast<int64_t>(level.width) * image.element;
    if (x % static_cast<int>(size) != 0)
        refuse_place(image, size, x, y, slice, "which is not a multiple of that size");
    const bool inside = x >= 0 && x + static_cast<int64_t>(size) <= row && y >= 0 &&
                        y < static_cast<int64_t>(level.height) && slice >= 0 &&
                        slice < static_cast<int64_t>(level.depth);
    int64_t column = x;
    if (!inside) {
        if (mode == cudaBoundaryModeZero)
            return nullptr;
        if (mode != cudaBoundaryModeClamp || row < static_cast<int64_t>(size))
            refuse_place(image, size, x, y, slice, "which is outside");
        const int64_t last = (row / static_cast<int64_t>(size) - 1) * static_cast<int64_t>(size);
        column = x < 0 ? 0 : x > last ? last : x;
        y = clamp_index(y, level.height);
        slice = image.flags & (GR_CUHOST_LAYERS | GR_CUHOST_CUBE) ? clamp_layer(slice, level.depth)
                                                                  : clamp_index(slice, level.depth);
    }
    return level.base + static_cast<size_t>(slice) * level.slice_pitch +
           static_cast<size_t>(y) * level.row_pitch + column;
}

template <class T>
inline constexpr bool is_surface_type =
    is_vector_of<T, char, signed char, unsigned char, short, unsigned short, int, unsigned,
                 long long, unsigned long long, float> &&
    sizeof(T) <= 16;

template <class T>
inline void surface_read(T *to, unsigned long long handle, int x, int y, int slice,
                         cudaSurfaceBoundaryMode mode)
{
    const unsigned char *from = surface_bytes(handle, sizeof(T), x, y, slice, mode);
    if (from)
        memcpy(to, from, sizeof(T));
    else
        memset(static_cast<void *>(to), 0, sizeof(T));
}

template <class T>
inline void surface_write(const T &from, unsigned long long handle, int x, int y, int slice,
                          cudaSurfaceBoundaryMode mode)
{
    unsigned char *to = surface_bytes(handle, sizeof(T), x, y, slice, mode);
    if (to)
        memcpy(to, &from, sizeof(T));
}

} // namespace gr_cuhost
#pragma GCC visibility pop

#define GR_CUHOST_LIST(...) __VA_ARGS__
#define GR_CUHOST_SURF(name, params, args, x, y, slice)                                            \
    template <class T>                                                                             \
    inline std::enable_if_t<gr_cuhost::is_surface_type<T>> name##read(                             \
        T *to, cudaSurfaceObject_t object, GR_CUHOST_LIST params,                                  \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                                       \
    {                                                                                              \
        gr_cuhost::surface_read(to, object, x, y, slice, mode);                                    \
    }                                                                                              \
    template <class T>                                                                             \
    inline T name##read(cudaSurfaceObject_t object, GR_CUHOST_LIST params,                         \
                        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                       \
    {                                                                                              \
        T result;                                                                                  \
        name##read(&result, object, GR_CUHOST_LIST args, mode);                                    \
        return result;                                                                             \
    }                                                                                              \
    template <class T>                                                                             \
    inline std::enable_if_t<gr_cuhost::is_surface_type<T>> name##write(                            \
        T value, cudaSurfaceObject_t object, GR_CUHOST_LIST params,                                \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                                       \
    {                                                                                              \
        gr_cuhost::surface_write(value, object, x, y, slice, mode);                                \
    }

GR_CUHOST_SURF(surf1D, (int x), (x), x, 0, 0)
GR_CUHOST_SURF(surf2D, (int x, int y), (x, y), x, y, 0)
GR_CUHOST_SURF(surf3D, (int x, int y, int z), (x, y, z), x, y, z)
GR_CUHOST_SURF(surf1DLayered, (int x, int layer), (x, layer), x, 0, layer)
GR_CUHOST_SURF(surf2DLayered, (int x, int y, int layer), (x, y, layer), x, y, layer)
GR_CUHOST_SURF(surfCubemap, (int x, int y, int face), (x, y, face), x, y, face)
GR_CUHOST_SURF(surfCubemapLayered, (int x, int y, int layerface), (x, y, layerface), x, y,
               layerface)

#undef GR_CUHOST_SURF
#undef GR_CUHOST_LIST

#endif /* GR_CUHOST_H */
#endif /* GR_CUHOST_SURFACE_H */
