/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Texture and surface objects: their records, which kernels read (grinterop/cuhost_image.h). */
#ifndef GR_SOFTCUDA_DRIVER_IMAGE_OBJECT_H
#define GR_SOFTCUDA_DRIVER_IMAGE_OBJECT_H

#include "softcuda/driver/image/array.h"

#include <grinterop/cuhost_image.h>

typedef struct {
    gr_cuhost_image image; /* its handle is set last */
    soft_context *context;
    CUDA_RESOURCE_DESC resource; /* the descriptors as the application passed them */
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    bool has_view;
    bool is_destroyed;  /* destroyed, but tasks up to last_task may still use it */
    uint64_t last_task; /* the number of the newest task when the object was destroyed */
} soft_image;

/* The table that a launch passes to its kernel. */
const gr_cuhost_images *soft_images(void);

/* CUDA_ERROR_PEER_ACCESS_NOT_ENABLED if the context cannot access the device of the array. */
CUresult soft_image_check_reach(const soft_context *context, const soft_array *array);

/*
 * Copies the image to a record and creates a handle of this kind, which is never 0.
 * CUDA_ERROR_OUT_OF_MEMORY if the table is full.
 */
CUresult soft_image_new(const soft_image *image, enum gr_cuhost_kind kind,
                        unsigned long long *handle);

/*
 * For entry points that query an object: copies its record to *image. Fails if `answer` is NULL or
 * the handle is not of this kind.
 */
CUresult soft_image_query(uint64_t handle, enum gr_cuhost_kind kind, const void *answer,
                          soft_image *image);

/* Gets the resource of an object, for the entry points of textures and of surfaces. */
CUresult soft_image_resource(uint64_t handle, enum gr_cuhost_kind kind,
                             CUDA_RESOURCE_DESC *resource);

/*
 * Destroys the object for the application. Work queued before may still use the object, so the
 * object exists until that work has finished. Accepts any number as a handle, like a GPU driver,
 * but logs a number that is not a handle of this kind; `what` is the name of the kind.
 */
CUresult soft_image_destroy(uint64_t handle, enum gr_cuhost_kind kind, const char *call,
                            const char *what);

/*
 * Frees the destroyed objects that no running or queued task can still use. A later kernel that
 * uses a freed object ends the program with a message.
 */
void soft_images_end_unused(void);

/*
 * Gets the context of a texture or surface object that kernels can use; NULL for an invalid handle.
 */
soft_context *soft_image_context(uint64_t handle);

/* Fill in the format, level 0, or all levels of an image. False if the format is unsupported. */
bool soft_image_set_format(gr_cuhost_image *image, CUarray_format format, unsigned channels);
bool soft_image_set_array(gr_cuhost_image *image, const soft_array *array);
bool soft_image_set_mipmap(gr_cuhost_image *image, const soft_mipmap *mipmap);

#endif
