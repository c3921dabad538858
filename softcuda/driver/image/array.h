/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * CUDA arrays and mipmapped arrays. An array consists of linear rows of elements. They are in the
 * driver's own pages (cuArrayCreate and related calls in array.c; views of external memory in
 * external_image.c), or in another object's memory (soft_array_wrap(), for graphics resources).
 */
#ifndef GR_SOFTCUDA_DRIVER_ARRAY_H
#define GR_SOFTCUDA_DRIVER_ARRAY_H

#include "softcuda/driver/owned.h"

typedef struct soft_mipmap soft_mipmap;

/* The number of mipmap levels of the largest possible array. */
#define SOFT_MAX_LEVELS 16

/*
 * The location of the elements of an array, or of one level of a mipmapped array. A slice is a
 * plane of a 3D array, a layer, or a cube face. The faces are +x, -x, +y, -y, +z and -z of the
 * first layer, then those of the next layer.
 */
typedef struct {
    unsigned char *base;
    size_t row_pitch;   /* bytes between rows */
    size_t slice_pitch; /* bytes between slices */
} soft_array_place;

typedef struct soft_array {
    soft_owned owned; /* in a list (owned.h) if the array owns its memory */
    /* The descriptor as the application sees it: extents of missing dimensions are 0. */
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    unsigned element; /* bytes */
    size_t width;     /* elements */
    size_t height;    /* rows of elements, at least 1 */
    size_t depth;     /* slices, at least 1 */
    soft_array_place place;
    size_t size;         /* the size of the array's own pages in bytes, or 0 */
    soft_mipmap *mipmap; /* the mipmapped array of which this array is a level, or NULL */
    const char *what;    /* for messages, such as "OpenGL texture 3" */
    _Atomic bool mapped; /* the elements are accessible; only false for wrapped arrays */
    _Atomic bool told;   /* it was logged that a GPU allows no surface of this array */
} soft_array;

struct soft_mipmap {
    soft_owned owned;                   /* in a list (owned.h) if the array owns its memory */
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* of level 0 */
    unsigned level_count;
    soft_array *levels[SOFT_MAX_LEVELS];
    unsigned char *pages; /* the array's own pages, or NULL */
};

/*
 * Texels with 10 bits each of red, green and blue, and 2 bits of alpha: a format of CUDA 12.8,
 * which older headers lack.
 */
#define SOFT_UNORM_INT_101010_2 ((CUarray_format)0x50)

/*
 * The number of bytes per element, which is a texel or a compressed block; 0 if the format and
 * number of channels are not supported.
 */
unsigned soft_array_element(CUarray_format format, unsigned channels);

/* The width and height of an element in texels: 4 for a compressed block, otherwise 1. */
unsigned soft_array_side(CUarray_format format);

/* Returns how many elements cover this many texels. */
static inline size_t soft_array_elements(CUarray_format format, size_t texels)
{
    const unsigned side = soft_array_side(format);
    return texels / side + (texels % side != 0);
}

/*
 * The descriptor of one level of a mipmapped array: each extent is halved, down to 1, and the
 * number of layers stays.
 */
CUDA_ARRAY3D_DESCRIPTOR soft_array_level_descriptor(const CUDA_ARRAY3D_DESCRIPTOR *base,
                                                    unsigned level);

/*
 * Creates an array over memory of the caller. The array starts unmapped. `place` may be
 * inaccessible until soft_array_set_mapped(), and its address must not change. `what` must live as
 * long as the array. Of the descriptor, only the format is checked.
 */
CUresult soft_array_wrap(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                         const soft_array_place *place, const char *what, soft_array **array);

/*
 * Like soft_array_wrap() for a mipmapped array, with one place per level. The levels are arrays,
 * which this call also creates.
 */
CUresult soft_mipmap_wrap(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                          unsigned level_count, const soft_array_place *places, const char *what,
                          soft_mipmap **mipmap);

/*
 * While an array is not mapped, copies log a message and fail with CUDA_ERROR_NOT_MAPPED. Kernels
 * and work that is already queued fault instead, because the pages are inaccessible.
 */
void soft_array_set_mapped(soft_array *array, bool mapped);
void soft_mipmap_set_mapped(soft_mipmap *mipmap, bool mapped);

/* Drop the handles of a wrapped array and free the struct, but not the memory. NULL is allowed. */
void soft_array_unwrap(soft_array *array);
void soft_mipmap_unwrap(soft_mipmap *mipmap);

/* The object of an application's handle, or NULL. */
soft_array *soft_array_get(CUarray handle);
soft_mipmap *soft_mipmap_get(CUmipmappedArray handle);

/* ---- Shared by arrays and mipmapped arrays --------------------------------------------------- */

/* Checks whether cuArray3DCreate accepts the descriptor. */
CUresult soft_array_check(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/*
 * Creates an unmapped array with its handle, which soft_array_unwrap() frees. NULL if out of
 * memory.
 */
soft_array *soft_array_new(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           const soft_array_place *place, const char *what);

/* Computes the pitches; false if the size overflows. */
bool soft_array_lay_out(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, soft_array_place *place,
                        size_t *size);

/*
 * Allocate and free the memory that an array owns: a range whose owner is the array. `what` is for
 * fault messages. That of the first function describes the memory while it exists, that of the
 * second function describes it after it was freed.
 */
CUresult soft_array_pages_new(soft_context *context, void *owner, size_t size, const char *what,
                              unsigned char **pages);
void soft_array_pages_free(unsigned char *pages, const char *what);

/*
 * The number of levels that a call creates: `wanted`, but at most the whole chain down to one
 * element. 0 if that is more than SOFT_MAX_LEVELS.
 */
unsigned soft_mipmap_levels(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned wanted);

/*
 * Turns a wrapped mipmapped array into one that owns its memory, and returns its handle. The levels
 * are at `offsets` in `pages`, where a known range starts. cuMipmappedArrayDestroy or the end of
 * the context frees the array and the memory.
 */
CUmipmappedArray soft_mipmap_adopt(soft_mipmap *mipmap, unsigned char *pages,
                                   const size_t *offsets);

#endif
