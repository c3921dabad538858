/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loads and stores one or four pixels, in memory or through surfaces. */
#ifndef GR_LIB_PUBLISH_PIXELS_CUH
#define GR_LIB_PUBLISH_PIXELS_CUH

#include <string.h>

#include "lib/publish/job.h"

/* Forces inlining, because the arrays below stay in registers only if everything is inlined. */
#ifdef __CUDACC__
#define INLINE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ROLL   _Pragma("unroll 1")
#else
#define INLINE static inline
#define UNROLL
#define ROLL
#endif

#define PIXELS   ((int)GR_JOB_PIXELS)
#define CHANNELS 4

typedef gr_job_side side;

/*
 * The value of one channel, in the lowest bits. In an array, channel c of pixel p is at [p *
 * CHANNELS + c].
 */
typedef uint32_t bits;

/* The same for an element of S bytes. Only memory has elements of 8 bytes, surfaces have not. */
template <int S> struct element {
    typedef bits type;
};
template <> struct element<8> {
    typedef uint64_t type;
};
#define ELEMENT typename element<S>::type

/* ---- Words of 4 bytes, in the widest possible accesses -----------------------------------------
 */

/* The type of each access to N words. */
template <int N> struct access {
    typedef typename access<N % 4 == 0 ? 4 : N % 2 == 0 ? 2 : 1>::type type;
};
template <> struct access<1> {
    typedef unsigned type;
};
template <> struct access<2> {
    typedef uint2 type;
};
template <> struct access<4> {
    typedef uint4 type;
};

template <int N> INLINE void load_words(const unsigned char *from, uint32_t *words)
{
    typedef typename access<N>::type part;
    UNROLL
    for (unsigned i = 0; i < 4 * N; i += sizeof(part)) {
        const part loaded = *reinterpret_cast<const part *>(from + i);
        memcpy(words + i / 4, &loaded, sizeof(loaded));
    }
}

template <int N> INLINE void store_words(unsigned char *to, const uint32_t *words)
{
    typename access<N>::type part;
    UNROLL
    for (unsigned i = 0; i < 4 * N; i += sizeof(part)) {
        memcpy(&part, words + i / 4, sizeof(part));
        *reinterpret_cast<typename access<N>::type *>(to + i) = part;
    }
}

/* ---- Surfaces: x counts bytes ------------------------------------------------------------------
 */

/* Loads N words of consecutive texels from a surface with one slice. */
template <int N> INLINE void surface_load(const side &s, int x, int y, uint32_t *words)
{
    typedef typename access<N>::type part;
    UNROLL
    for (int i = 0; i < 4 * N; i += sizeof(part)) {
        const part loaded = surf2Dread<part>(s.base, x + i, y);
        memcpy(words + i / 4, &loaded, sizeof(loaded));
    }
}

template <int N> INLINE void surface_store(const side &s, int x, int y, const uint32_t *words)
{
    typename access<N>::type part;
    UNROLL
    for (int i = 0; i < 4 * N; i += sizeof(part)) {
        memcpy(&part, words + i / 4, sizeof(part));
        surf2Dwrite(part, s.base, x + i, y);
    }
}

/* Reads one texel from any surface. */
template <class T> INLINE T texel_read(const side &s, int x, int y, int z)
{
    if (s.place == GR_JOB_SURFACE)
        return surf2Dread<T>(s.base, x, y);
    z += static_cast<int>(s.layer);
    if (s.place == GR_JOB_LAYERED)
        return surf2DLayeredread<T>(s.base, x, y, z);
    return surf3Dread<T>(s.base, x, y, z);
}

template <class T> INLINE void texel_write(const side &s, T value, int x, int y, int z)
{
    if (s.place == GR_JOB_SURFACE)
        surf2Dwrite(value, s.base, x, y);
    else if (s.place == GR_JOB_LAYERED)
        surf2DLayeredwrite(value, s.base, x, y, static_cast<int>(s.layer) + z);
    else
        surf3Dwrite(value, s.base, x, y, static_cast<int>(s.layer) + z);
}

/* ---- Elements in words: S bytes per element ----------------------------------------------------
 */

template <int S> INLINE ELEMENT extract(const uint32_t *words, int i)
{
    if (S == 8)
        return static_cast<ELEMENT>(words[2 * i] | static_cast<uint64_t>(words[2 * i + 1]) << 32);
    if (S == 1)
        return words[i / 4] >> 8 * (i % 4) & 0xffu;
    if (S == 2)
        return words[i / 2] >> 16 * (i % 2) & 0xffffu;
    return words[i];
}

/* Inserts element i into words that are 0 there. */
template <int S> INLINE void insert(uint32_t *words, int i, ELEMENT value)
{
    const bits low = static_cast<bits>(value);
    if (S == 1) {
        words[i / 4] |= low << 8 * (i % 4);
    } else if (S == 2) {
        words[i / 2] |= low << 16 * (i % 2);
    } else if (S == 4) {
        words[i] = low;
    } else {
        words[2 * i] = low;
        words[2 * i + 1] = static_cast<bits>(static_cast<uint64_t>(value) >> 32);
    }
}

template <int S> INLINE ELEMENT load_element(const unsigned char *from)
{
    if (S == 1)
        return *from;
    if (S == 2)
        return *reinterpret_cast<const uint16_t *>(from);
    return *reinterpret_cast<const ELEMENT *>(from);
}

template <int S> INLINE void store_element(unsigned char *to, ELEMENT value)
{
    if (S == 1)
        *to = static_cast<unsigned char>(value);
    else if (S == 2)
        *reinterpret_cast<uint16_t *>(to) = static_cast<uint16_t>(value);
    else
        *reinterpret_cast<ELEMENT *>(to) = value;
}

INLINE unsigned char *address(const side &s, int x, int y, int z)
{
    return reinterpret_cast<unsigned char *>(s.base) + x * s.pixel + y * s.row + z * s.slice;
}

/* ---- Loads ------------------------------------------------------------------------------------
 */

/* Loads four adjacent pixels of C channels, from memory or a surface. */
template <int S, int C> INLINE void load_close(const side &s, int x, int y, int z, ELEMENT *to)
{
    uint32_t words[S * C];
    if (s.place == GR_JOB_MEMORY || C == 3 || S == 8)
        load_words<S * C>(address(s, x, y, z), words);
    else
        surface_load<C == 3 || S == 8 ? 1 : S * C>(s, s.left + x * S * C, s.top + y, words);
    UNROLL
    for (int p = 0; p < PIXELS; p++)
        UNROLL
    for (int c = 0; c < C; c++)
        to[p * CHANNELS + c] = extract<S>(words, p * C + c);
}

template <int S> INLINE void load_planar(const side &s, int x, int y, int z, ELEMENT *to)
{
    const unsigned char *from = address(s, x, y, z);
    UNROLL
    for (int c = 0; c < CHANNELS; c++) {
        if (c >= static_cast<int>(s.channels))
            break;
        uint32_t words[S];
        load_words<S>(from + c * s.channel, words);
        UNROLL
        for (int p = 0; p < PIXELS; p++)
            to[p * CHANNELS + c] = extract<S>(words, p);
    }
}

/* Loads one pixel of a surface. */
template <int S> INLINE void load_texel(const side &s, int x, int y, int z, ELEMENT *to)
{
    const int C = static_cast<int>(s.channels), at = s.left + x * S * C, row = s.top + y;
    uint32_t words[S < 8 ? 4 : 8] = {};
    switch (S * C) {
    case 1:
        words[0] = texel_read<unsigned char>(s, at, row, z);
        break;
    case 2:
        words[0] = texel_read<unsigned short>(s, at, row, z);
        break;
    case 4:
        words[0] = texel_read<unsigned>(s, at, row, z);
        break;
    case 8: {
        const uint2 two = texel_read<uint2>(s, at, row, z);
        words[0] = two.x;
        words[1] = two.y;
        break;
    }
    default: {
        const uint4 four = texel_read<uint4>(s, at, row, z);
        words[0] = four.x;
        words[1] = four.y;
        words[2] = four.z;
        words[3] = four.w;
    }
    }
    UNROLL
    for (int c = 0; c < CHANNELS; c++)
        to[c] = extract<S>(words, c);
}

template <int S> INLINE void load_pixel(const side &s, int x, int y, int z, ELEMENT *to)
{
    if (S < 8 && s.place != GR_JOB_MEMORY) {
        load_texel<S>(s, x, y, z, to);
        return;
    }
    const unsigned char *from = address(s, x, y, z);
    UNROLL
    for (int c = 0; c < CHANNELS; c++)
        if (c < static_cast<int>(s.channels))
            to[c] = load_element<S>(from + c * s.channel);
}

template <int S> INLINE void load_four(const side &s, int x, int y, int z, ELEMENT *to)
{
    if (s.access == GR_JOB_PLANAR) {
        load_planar<S>(s, x, y, z, to);
        return;
    }
    switch (s.channels) {
    case 1:
        load_close<S, 1>(s, x, y, z, to);
        break;
    case 2:
        load_close<S, 2>(s, x, y, z, to);
        break;
    case 3:
        load_close<S, 3>(s, x, y, z, to);
        break;
    default:
        load_close<S, 4>(s, x, y, z, to);
    }
}

/* ---- Stores -----------------------------------------------------------------------------------
 */

template <int S, int C>
INLINE void store_close(const side &s, int x, int y, int z, const ELEMENT *from)
{
    uint32_t words[S * C] = {};
    UNROLL
    for (int p = 0; p < PIXELS; p++)
        UNROLL
    for (int c = 0; c < C; c++)
        insert<S>(words, p * C + c, from[p * CHANNELS + c]);
    if (s.place == GR_JOB_MEMORY || C == 3 || S == 8)
        store_words<S * C>(address(s, x, y, z), words);
    else
        surface_store<C == 3 || S == 8 ? 1 : S * C>(s, s.left + x * S * C, s.top + y, words);
}

template <int S> INLINE void store_planar(const side &s, int x, int y, int z, const ELEMENT *from)
{
    unsigned char *to = address(s, x, y, z);
    UNROLL
    for (int c = 0; c < CHANNELS; c++) {
        if (c >= static_cast<int>(s.channels))
            break;
        uint32_t words[S] = {};
        UNROLL
        for (int p = 0; p < PIXELS; p++)
            insert<S>(words, p, from[p * CHANNELS + c]);
        store_words<S>(to + c * s.channel, words);
    }
}

template <int S> INLINE void store_texel(const side &s, int x, int y, int z, const ELEMENT *from)
{
    const int C = static_cast<int>(s.channels), at = s.left + x * S * C, row = s.top + y;
    uint32_t words[S < 8 ? 4 : 8] = {};
    UNROLL
    for (int c = 0; c < CHANNELS; c++)
        insert<S>(words, c, from[c]);
    switch (S * C) {
    case 1:
        texel_write(s, static_cast<unsigned char>(words[0]), at, row, z);
        break;
    case 2:
        texel_write(s, static_cast<unsigned short>(words[0]), at, row, z);
        break;
    case 4:
        texel_write(s, words[0], at, row, z);
        break;
    case 8:
        texel_write(s, make_uint2(words[0], words[1]), at, row, z);
        break;
    default:
        texel_write(s, make_uint4(words[0], words[1], words[2], words[3]), at, row, z);
    }
}

template <int S> INLINE void store_pixel(const side &s, int x, int y, int z, const ELEMENT *from)
{
    if (S < 8 && s.place != GR_JOB_MEMORY) {
        store_texel<S>(s, x, y, z, from);
        return;
    }
    unsigned char *to = address(s, x, y, z);
    UNROLL
    for (int c = 0; c < CHANNELS; c++)
        if (c < static_cast<int>(s.channels))
            store_element<S>(to + c * s.channel, from[c]);
}

template <int S> INLINE void store_four(const side &s, int x, int y, int z, const ELEMENT *from)
{
    if (s.access == GR_JOB_PLANAR) {
        store_planar<S>(s, x, y, z, from);
        return;
    }
    switch (s.channels) {
    case 1:
        store_close<S, 1>(s, x, y, z, from);
        break;
    case 2:
        store_close<S, 2>(s, x, y, z, from);
        break;
    case 3:
        store_close<S, 3>(s, x, y, z, from);
        break;
    default:
        store_close<S, 4>(s, x, y, z, from);
    }
}

/* Loads four adjacent pixels of four channels from each of two rows, before it uses one of them. */
template <int S> INLINE void load_two_rows(const side &s, int x, int y, int next, uint32_t *words)
{
    if (s.place == GR_JOB_MEMORY) {
        load_words<4 * S>(address(s, x, y, 0), words);
        load_words<4 * S>(address(s, x, next, 0), words + 4 * S);
    } else {
        surface_load<4 * S>(s, s.left + x * S * 4, s.top + y, words);
        surface_load<4 * S>(s, s.left + x * S * 4, s.top + next, words + 4 * S);
    }
}

/* Replaces the coordinates in a tile by those in its picture. */
INLINE void leave_tile(const side &s, int *x, int *y, int *z)
{
    if (s.columns == 0)
        return;
    const unsigned tile = static_cast<unsigned>(*z), row = tile / s.columns;
    *x += static_cast<int>(tile - row * s.columns) * s.across;
    *y += static_cast<int>(row) * s.down + s.first;
    *z = 0;
}

/* Loads N pixels, which is 4 or 1. */
template <int S, int N> INLINE void load_pixels(const side &s, int x, int y, int z, ELEMENT *to)
{
    leave_tile(s, &x, &y, &z);
    if (N == PIXELS)
        load_four<S>(s, x, y, z, to);
    else
        load_pixel<S>(s, x, y, z, to);
}

template <int S, int N>
INLINE void store_pixels(const side &s, int x, int y, int z, const ELEMENT *from)
{
    leave_tile(s, &x, &y, &z);
    if (N == PIXELS)
        store_four<S>(s, x, y, z, from);
    else
        store_pixel<S>(s, x, y, z, from);
}

#endif
