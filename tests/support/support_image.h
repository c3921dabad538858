/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* OpenGL images for the tests: every format and target, and their texels in OpenGL and in CUDA. */
#ifndef GR_TESTS_SUPPORT_IMAGE_H
#define GR_TESTS_SUPPORT_IMAGE_H

#include "support.h"

#include <cuda.h>
#include <grinterop/image.h>

/* Adds a case with the fixture to the suite, after first using every feature of images once. */
TCase *add_image_case(Suite *suite, const char *name);

/* ---- Formats and targets --------------------------------------------------------------------- */

enum image_kind {
    IMAGE_REFUSED,    /* CUDA refuses it */
    IMAGE_NORMALIZED, /* unsigned integers that represent 0 to 1 */
    IMAGE_FLOAT,
    IMAGE_SIGNED,
    IMAGE_UNSIGNED
};

/*
 * An internal format, and the transfer format in which OpenGL moves its texels unchanged; only for
 * formats that CUDA accepts.
 */
struct image_format {
    const char *name; /* without GL_ */
    GLenum internal;
    enum image_kind kind;
    unsigned channels, channel_bytes; /* in OpenGL; CUDA has 4 channels where OpenGL has 3 */
    GLenum transfer, type;
    unsigned step; /* values are multiples of it, for formats that OpenGL may store in fewer bits;
                      0: any */
};

extern const struct image_format image_formats[];
extern const size_t image_format_count;

/* NULL for an unknown name. */
const struct image_format *image_format(const char *name);

/* Channels and bytes of a texel in CUDA. */
unsigned image_channels(const struct image_format *format);
unsigned image_texel_bytes(const struct image_format *format);
CUarray_format image_cuda_format(const struct image_format *format);
bool image_is_srgb(const struct image_format *format);

struct image_target {
    const char *name;    /* as in the table of results */
    const char *gl_name; /* as in OpenGL */
    GLenum target;
    bool taken;        /* CUDA accepts it */
    bool mipmaps;      /* it can have mipmaps */
    bool multisampled; /* it has 4 samples */
};

extern const struct image_target image_targets[];
extern const size_t image_target_count;

const struct image_target *image_target(const char *name);

/* ---- Images ---------------------------------------------------------------------------------- */

struct image {
    GLuint name;
    const struct image_format *format;
    const struct image_target *target;
    unsigned width, height, slices; /* of a 3D image, else 1 */
    unsigned layers;                /* of an array or a cube, else 1 */
    unsigned levels;
};

/*
 * An image with storage for `levels` levels (1 if the target has no more), 5 slices or 3 layers.
 * The name is 0 if OpenGL refuses it. It lives until image_delete() or as long as the context.
 */
struct image image_make(const char *format, const char *target, unsigned width, unsigned height,
                        unsigned levels);
struct image image_make_of(const struct image_format *format, const struct image_target *target,
                           unsigned width, unsigned height, unsigned slices, unsigned layers,
                           unsigned levels);
void image_delete(const struct image *image);

/* note_difference() with the names of its format and target. */
void image_note(const struct image *image, const char *what);

/*
 * Makes an image of each format that CUDA accepts and calls `look` for it; returns at once for a
 * target that CUDA refuses. At least 30 formats must work; no OpenGL has all.
 */
void image_each_format(const struct image_target *target,
                       struct image (*make)(const struct image_format *format,
                                            const struct image_target *target),
                       void (*look)(const struct image *image));

/* The size of one level, and the CUDA bytes of one of its layers. */
unsigned image_width(const struct image *image, unsigned level);
unsigned image_height(const struct image *image, unsigned level);
unsigned image_slices(const struct image *image, unsigned level);
size_t image_bytes(const struct image *image, unsigned level);

/* No layer of a test image is larger in CUDA. */
#define IMAGE_MOST_BYTES 65536

/* ---- Texels ---------------------------------------------------------------------------------- */

/*
 * Fills `texels` with what CUDA must see of the OpenGL pattern for this seed. With three channels
 * the fourth is 0; in integer formats it is 1, as in the software driver.
 */
void image_pattern(const struct image_format *format, void *texels, size_t bytes, unsigned seed);

/* Writes and reads one level and layer through OpenGL; the texels are in CUDA's layout. */
void image_upload(const struct image *image, unsigned level, unsigned layer, const void *texels);
void image_download(const struct image *image, unsigned level, unsigned layer, void *texels);

/* Fills every level and layer with the pattern that image_seed() selects for this number. */
void image_fill(const struct image *image, unsigned number);

/* Creates an image with image_make() and fills it. */
struct image image_filled(const char *format, const char *target, unsigned width, unsigned height,
                          unsigned levels, unsigned number);

unsigned image_seed(unsigned number, unsigned level, unsigned layer);

/*
 * NULL, or how the contents in OpenGL differ from image_fill()'s pattern, in one level and layer or
 * in all.
 */
const char *image_level_differs(const struct image *image, unsigned level, unsigned layer,
                                unsigned number);
const char *image_differs(const struct image *image, unsigned number);
#define assert_image(image, number) assert_no_difference(image_differs(image, number))

/* ---- Resources ------------------------------------------------------------------------------- */

gr_resource *must_register_image(const struct image *image, unsigned flags);

/* Maps on fx.stream. */
gr_buffer *must_map_image(gr_resource *resource);

/* Copies one level and layer between a mapped image and the host, and waits. */
void image_get(gr_buffer *buffer, unsigned level, unsigned layer, void *texels);
void image_put(gr_buffer *buffer, unsigned level, unsigned layer, const void *texels);

#endif
