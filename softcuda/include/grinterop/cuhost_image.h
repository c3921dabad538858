/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The records of texture and surface objects, through which kernels that were built with
 * grinterop/cuhost.h access arrays. The software CUDA driver, which is written in C, fills in the
 * records. The functions of the module (grinterop/cuhost_texture.h, grinterop/cuhost_surface.h)
 * read them. Kernel files only include grinterop/cuhost.h. The version of the records is
 * GR_CUHOST_ABI.
 */
#ifndef GR_CUHOST_IMAGE_H
#define GR_CUHOST_IMAGE_H

#include <stdint.h>

/*
 * The handle of an object, from the lowest bit: the slot of its record, the slot's generation, and
 * the kind of object.
 */
#define GR_CUHOST_SLOT_BITS       20
#define GR_CUHOST_SLOTS           (1u << GR_CUHOST_SLOT_BITS)
#define GR_CUHOST_GENERATION_BITS 32
#define GR_CUHOST_KIND_SHIFT      (GR_CUHOST_SLOT_BITS + GR_CUHOST_GENERATION_BITS)

enum gr_cuhost_kind {
    GR_CUHOST_TEXTURE = 1,
    GR_CUHOST_SURFACE = 2,
};

/*
 * The type of the components of an element. Integers of 8 and 16 bits are read as integers, or as
 * numbers between 0 (or -1) and 1.
 */
enum gr_cuhost_component {
    GR_CUHOST_UINT8 = 1,
    GR_CUHOST_UINT16,
    GR_CUHOST_UINT32,
    GR_CUHOST_SINT8,
    GR_CUHOST_SINT16,
    GR_CUHOST_SINT32,
    GR_CUHOST_HALF,
    GR_CUHOST_FLOAT,
    GR_CUHOST_UNORM10, /* packed texels of 10, 10, 10 and 2 bits */
};

/* Address modes, with the values of CUaddress_mode. */
enum gr_cuhost_address {
    GR_CUHOST_WRAP,
    GR_CUHOST_CLAMP,
    GR_CUHOST_MIRROR,
    GR_CUHOST_BORDER,
};

/* The flags of gr_cuhost_image. */
#define GR_CUHOST_NORMALISED_READ 1u   /* integers are read as numbers from 0 or -1 to 1 */
#define GR_CUHOST_SRGB            2u   /* with NORMALISED_READ: colours are decoded from sRGB */
#define GR_CUHOST_NORMALISED_AT   4u   /* coordinates are between 0 and 1 */
#define GR_CUHOST_LINEAR          8u   /* reads interpolate between elements */
#define GR_CUHOST_LINEAR_LEVELS   16u  /* reads interpolate between mipmap levels */
#define GR_CUHOST_SEAMLESS        32u  /* reads interpolate between the faces of a cube */
#define GR_CUHOST_CUBE            64u  /* the slices are faces of cubes */
#define GR_CUHOST_LAYERS          128u /* the slices are layers, or faces of several cubes */

#define GR_CUHOST_LEVELS 16

/* A mipmap level. Slices are the planes of a 3D array, layers, or faces. */
typedef struct gr_cuhost_level {
    unsigned char *base;
    uint64_t row_pitch;   /* bytes */
    uint64_t slice_pitch; /* bytes */
    uint32_t width;       /* elements; width, height and depth are at least 1 */
    uint32_t height;
    uint32_t depth;
    uint32_t reserved;
} gr_cuhost_level;

typedef struct gr_cuhost_image {
    uint64_t handle; /* 0 if there is no object */
    uint32_t flags;
    uint32_t component; /* enum gr_cuhost_component */
    uint32_t channels;
    uint32_t element;    /* bytes */
    uint32_t address[3]; /* enum gr_cuhost_address */
    uint32_t level_count;
    float level_bias;
    float level_min;
    float level_max;
    uint32_t border[4]; /* the border colour as reads return it: the bits of floats, or integers */
    const char *what;   /* for messages, such as "a CUDA array" */
    gr_cuhost_level levels[GR_CUHOST_LEVELS];
} gr_cuhost_image;

/* The table of all objects. The record of a slot never moves. */
typedef struct gr_cuhost_images {
    const gr_cuhost_image *slots[GR_CUHOST_SLOTS];
} gr_cuhost_images;

#endif
