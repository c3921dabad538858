/* SPDX-License-Identifier: Apache-2.0 */
/* What array.c does for mipmapped_array.c: arrays and mipmapped arrays begin and end alike. */
#ifndef GR_SOFTCUDA_ARRAY_LIFE_H
#define GR_SOFTCUDA_ARRAY_LIFE_H

#include "softcuda/array.h"

/* What cuArray3DCreate allows. */
CUresult soft_array_check(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/* A record with its handle, not mapped; soft_array_unwrap ends it. NULL if there is no memory. */
soft_array *soft_array_new(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           const soft_array_place *place, const char *what);

/* Chooses the pitches; false if that many bytes can't be. */
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
