/* SPDX-License-Identifier: Apache-2.0 */
/* What array.c does for mipmap.c: arrays and mipmapped arrays begin and end alike. */
#ifndef SOFT_ARRAYLIFE_H
#define SOFT_ARRAYLIFE_H

#include "array.h"

/* What cuArray3DCreate allows. */
CUresult soft_array_check(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/* A record with its handle, not mapped; soft_array_unwrap ends it. NULL if there is no memory. */
soft_array *soft_array_new(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           const soft_array_place *place, const char *what);

/* Chooses the pitches; false if that many bytes can't be. */
bool soft_array_lay_out(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, soft_array_place *place,
                        size_t *size);

/* The driver's own memory for arrays. what names it in the message of a late access. */
CUresult soft_array_pages_new(soft_context *context, void *owner, size_t size,
                              unsigned char **pages);
void soft_array_pages_free(unsigned char *pages, const char *what);

#endif
