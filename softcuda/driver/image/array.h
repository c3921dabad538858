/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA arrays and mipmapped arrays. An array is rows of elements in linear order in pages: the
 * driver's own (cuArrayCreate and its relatives, array.c; a view of external memory,
 * external_image.c), or somebody else's, over which it is laid (soft_array_wrap, for a graphics
 * resource).
 */
#ifndef GR_SOFTCUDA_DRIVER_ARRAY_H
#define GR_SOFTCUDA_DRIVER_ARRAY_H

#include "softcuda/driver/owned.h"

typedef struct soft_mipmap soft_mipmap;

/* Mipmap levels of the largest array that the device's limits allow. */
#define SOFT_MAX_LEVELS 16

/* Where the elements of an array, or of one level of a mipmapped one, lie. A slice is one plane of
 * a 3D array, one layer, or one face of a cube: +x, -x, +y, -y, +z, -z, then those of the next
 * layer. */
typedef struct {
    unsigned char *base;
    size_t row_pitch;   /* bytes from row to row */
    size_t slice_pitch; /* bytes from slice to slice */
} soft_array_place;

typedef struct soft_array {
    soft_owned owned;                   /* listed if it is the driver's own */
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* as the application sees it: 0 for what it hasn't */
    unsigned element;                   /* bytes */
    size_t width;                       /* elements */
    size_t height;                      /* rows, at least 1 */
    size_t depth;                       /* slices, at least 1 */
    soft_array_place place;
    size_t size;         /* bytes of the pages, if they are the array's own; else 0 */
    soft_mipmap *mipmap; /* whose level it is, or NULL */
    const char *what;    /* for messages, e.g. "OpenGL texture 3" */
    _Atomic bool mapped; /* the elements may be accessed; always true for the driver's own */
    _Atomic bool told;   /* the log has that a GPU has no surface of it */
} soft_array;

struct soft_mipmap {
    soft_owned owned;                   /* listed if it is the driver's own */
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* of level 0 */
    unsigned level_count;
    soft_array *levels[SOFT_MAX_LEVELS];
    unsigned char *pages; /* the driver's own, or NULL */
};

/* Bytes per element; 0 if the format and number of channels are not supported. */
unsigned soft_array_element(CUarray_format format, unsigned channels);

/* The descriptor of a mipmapped array's level: extents are halved and never reach 0, the number of
 * layers stays. */
CUDA_ARRAY3D_DESCRIPTOR soft_array_level_descriptor(const CUDA_ARRAY3D_DESCRIPTOR *base,
                                                    unsigned level);

/*
 * Makes an array over memory that the caller owns. It begins unmapped. place need not be accessible
 * until soft_array_set_mapped says so, and its address must not change. what has to live as long as
 * the array. The descriptor isn't checked against what cuArray3DCreate allows, its format is.
 */
CUresult soft_array_wrap(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                         const soft_array_place *place, const char *what, soft_array **array);

/* The same for a mipmapped array: places has one for each level. Its levels are arrays of their
 * own, made with it. */
CUresult soft_mipmap_wrap(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                          unsigned level_count, const soft_array_place *places, const char *what,
                          soft_mipmap **mipmap);

/* While an array isn't mapped, calls that copy from or to it say so in a line and fail with
 * CUDA_ERROR_NOT_MAPPED; what is queued already, and kernels, do what the pages let them. */
void soft_array_set_mapped(soft_array *array, bool mapped);
void soft_mipmap_set_mapped(soft_mipmap *mipmap, bool mapped);

/* Ends the handle, or handles, of a wrapped one and frees the record, not the memory; NULL is
 * fine. */
void soft_array_unwrap(soft_array *array);
void soft_mipmap_unwrap(soft_mipmap *mipmap);

/* The objects of an application's handles, or NULL. */
soft_array *soft_array_get(CUarray handle);
soft_mipmap *soft_mipmap_get(CUmipmappedArray handle);

/* ---- What arrays and mipmapped arrays have in common when they begin and end ----------------- */

/* What cuArray3DCreate allows. */
CUresult soft_array_check(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/* A record with its handle, not mapped; soft_array_unwrap ends it. NULL if there is no memory. */
soft_array *soft_array_new(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           const soft_array_place *place, const char *what);

/* Computes the pitches; false if the size overflows. */
bool soft_array_lay_out(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, soft_array_place *place,
                        size_t *size);

/* The memory of the driver's own arrays, known as a range that has them as its owner. what names it
 * in the message of a fault: while it lives, and after that. */
CUresult soft_array_pages_new(soft_context *context, void *owner, size_t size, const char *what,
                              unsigned char **pages);
void soft_array_pages_free(unsigned char *pages, const char *what);

/* The number of levels that a call asks for, cut to the chain down to one element; 0 if there can't
 * be as many, or none. */
unsigned soft_mipmap_levels(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned wanted);

/* Makes a wrapped mipmapped array the driver's own: its levels lie in pages, which begin a known
 * range, and cuMipmappedArrayDestroy or the end of the context frees both. */
void soft_mipmap_adopt(soft_mipmap *mipmap, unsigned char *pages);

#endif
