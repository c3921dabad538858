/* SPDX-License-Identifier: Apache-2.0 */
/* Texture and surface objects: their records, which kernels read (grinterop/cuhost_image.h). */
#ifndef GR_SOFTCUDA_DRIVER_IMAGE_OBJECT_H
#define GR_SOFTCUDA_DRIVER_IMAGE_OBJECT_H

#include "softcuda/driver/image/array.h"

#include <grinterop/cuhost_image.h>

typedef struct {
    gr_cuhost_image image; /* its handle is set last */
    soft_context *context;
    CUDA_RESOURCE_DESC resource; /* as the application gave them */
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    bool has_view;
    bool is_destroyed;  /* tasks up to last_task may still use it */
    uint64_t last_task; /* the newest task when it was destroyed */
} soft_image;

/* What a launch hands to its kernel. */
const gr_cuhost_images *soft_images(void);

/* CUDA_ERROR_PEER_ACCESS_NOT_ENABLED if the context cannot access the array's device. */
CUresult soft_image_check_reach(const soft_context *context, const soft_array *array);

/* Copies the image to a record and makes a handle of the kind for it, which is never 0.
 * CUDA_ERROR_OUT_OF_MEMORY when there is no room for more objects. */
CUresult soft_image_new(const soft_image *image, enum gr_cuhost_kind kind,
                        unsigned long long *handle);

/* For an entry point that asks for something of an object: a copy of its record, if there is room
 * for the answer and the handle is one of this kind. */
CUresult soft_image_query(uint64_t handle, enum gr_cuhost_kind kind, const void *answer,
                          soft_image *image);

/* Destroys the object for the application. It ends after the work that is queued now, which may
 * still use it. False if the handle isn't (or is no longer) one of this kind. */
bool soft_image_drop(uint64_t handle, enum gr_cuhost_kind kind);

/* Frees the destroyed objects that no older task may use, so that a kernel that starts now and uses
 * one is detected. */
void soft_images_end_unused(void);

/* The context of a texture or surface object that kernels can use; NULL if the handle is none. */
soft_context *soft_image_context(uint64_t handle);

/* Fills in format and level 0, or all levels, of an image. False if the format is none. */
bool soft_image_set_format(gr_cuhost_image *image, CUarray_format format, unsigned channels);
bool soft_image_set_array(gr_cuhost_image *image, const soft_array *array);
bool soft_image_set_mipmap(gr_cuhost_image *image, const soft_mipmap *mipmap);

#endif
