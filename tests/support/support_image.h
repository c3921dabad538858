/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL images for the tests: every format and target, and the texels as OpenGL and CUDA see them.
 */
#ifndef GR_TESTS_SUPPORT_IMAGE_H
#define GR_TESTS_SUPPORT_IMAGE_H

#include "support.h"

#include <cuda.h>
#include <grinterop/image.h>

/*
 * Adds a case with the fixture to the suite. Before all cases the program uses every feature of
 * images once.
 */
TCase *add_image_case(Suite *suite, const char *name);

/* ---- Formats and targets --------------------------------------------------------------------- */

enum image_kind {
    IMAGE_REFUSED, /* CUDA refuses it */
    IMAGE_DEPTH,   /* CUDA refuses it, and the copy transport accepts it */
    IMAGE_PACKED,  /* the same; the texels are one channel here */
    /* CUDA accepts the following kinds. */
    IMAGE_NORMALIZED, /* unsigned integers that represent 0 to 1 */
    IMAGE_FLOAT,
    IMAGE_SIGNED,
    IMAGE_UNSIGNED
};

/*
 * An internal format, and the transfer format in which OpenGL moves its texels unchanged. The
 * transfer format is only set for formats that some transport accepts.
 */
struct image_format {
    const char *name; /* the name without GL_ */
    GLenum internal;
    enum image_kind kind;
    unsigned channels, channel_bytes; /* in OpenGL; CUDA has 4 channels where OpenGL has 3 */
    GLenum transfer, type;
    /* Values are multiples of `step`, since OpenGL may store fewer bits; 0: any value. */
    unsigned step;
};

extern const struct image_format image_formats[];
extern const size_t image_format_count;

/* Looks up a format by name. NULL for an unknown name. */
const struct image_format *image_format(const char *name);

/* The number of channels and of bytes of a texel in CUDA. */
unsigned image_channels(const struct image_format *format);
unsigned image_texel_bytes(const struct image_format *format);
CUarray_format image_cuda_format(const struct image_format *format);
bool image_is_srgb(const struct image_format *format);

struct image_target {
    const char *name;    /* as in formats-h200.txt */
    const char *gl_name; /* as in OpenGL */
    GLenum target;
    bool taken;        /* CUDA accepts this target */
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
    unsigned width, height, slices; /* slices of a 3D image; 1 for other targets */
    unsigned layers;                /* layers of an array or faces of a cube; 1 for other targets */
    unsigned levels;
};

/*
 * Creates an image with storage for `levels` levels (1 if the target has no more), 5 slices or 3
 * layers. The name is 0 if OpenGL refuses the image. The image lives until image_delete(), at most
 * as long as the context.
 */
struct image image_make(const char *format, const char *target, unsigned width, unsigned height,
                        unsigned levels);
struct image image_make_of(const struct image_format *format, const struct image_target *target,
                           unsigned width, unsigned height, unsigned slices, unsigned layers,
                           unsigned levels);
void image_delete(const struct image *image);

/*
 * Deletes the image, and creates a filled one of the same target. False if OpenGL gave it another
 * name: Mesa does without force_gl_names_reuse, which run-test sets.
 */
bool image_create_again(struct image *image, const char *format, unsigned width, unsigned height,
                        unsigned levels, unsigned number);

/* Calls note_difference() with the names of the image's format and target, unless `what` is NULL.
 */
void image_note(const struct image *image, const char *what);

/*
 * Creates an image of each format that CUDA accepts and calls `look` with it. For a target that
 * CUDA refuses, does nothing. OpenGL must support at least 30 of the formats; no OpenGL supports
 * all of them.
 */
void image_each_format(const struct image_target *target,
                       struct image (*make)(const struct image_format *format,
                                            const struct image_target *target),
                       void (*look)(const struct image *image));

/* The size of one level, and the number of bytes that one of its layers has in CUDA. */
unsigned image_width(const struct image *image, unsigned level);
unsigned image_height(const struct image *image, unsigned level);
unsigned image_slices(const struct image *image, unsigned level);
size_t image_bytes(const struct image *image, unsigned level);

/* The maximum number of bytes in CUDA of one layer of a test image. */
#define IMAGE_MOST_BYTES 65536

/* ---- Texels ---------------------------------------------------------------------------------- */

/*
 * Fills `texels` with the pattern for this seed as CUDA must see it. If the OpenGL format has three
 * channels, the fourth is 0, or 1 in integer formats, as in the software driver.
 */
void image_pattern(const struct image_format *format, void *texels, size_t bytes, unsigned seed);

/* Writes and reads one level and layer with OpenGL. The texels are in the layout of CUDA. */
void image_upload(const struct image *image, unsigned level, unsigned layer, const void *texels);
void image_download(const struct image *image, unsigned level, unsigned layer, void *texels);

/* Fills every level and layer with the pattern that image_seed() selects for this number. */
void image_fill(const struct image *image, unsigned number);

/* Creates an image with image_make() and fills it. */
struct image image_filled(const char *format, const char *target, unsigned width, unsigned height,
                          unsigned levels, unsigned number);

unsigned image_seed(unsigned number, unsigned level, unsigned layer);

/*
 * The value c / (2^(bits-1) - 1) of a signed normalized texel that OpenGL returned as a float. On
 * NVIDIA's driver glGetTexImage() and glReadPixels() return (2c + 1) / (2^bits - 1), by the rule
 * before OpenGL 4.2. Its shaders have the value.
 */
double image_signed_fraction(double read, int bits);

/*
 * Compares the contents in OpenGL with the pattern of image_fill(), in one level and layer or in
 * all. Returns NULL, or a description of the difference.
 */
const char *image_level_differs(const struct image *image, unsigned level, unsigned layer,
                                unsigned number);
const char *image_differs(const struct image *image, unsigned number);
#define assert_image(image, number) assert_no_difference(image_differs(image, number))

/* ---- Resources ------------------------------------------------------------------------------- */

gr_resource *must_register_image(const struct image *image, unsigned flags);

/* must_map_image() maps on fx.stream. */
gr_buffer *must_map_image(gr_resource *resource);

/* Copies one level and layer between a mapped image and the host, and waits. */
void image_get(gr_buffer *buffer, unsigned level, unsigned layer, void *texels);
void image_put(gr_buffer *buffer, unsigned level, unsigned layer, const void *texels);

/*
 * Compares what CUDA sees in one level and layer with the pattern of image_fill(), and writes that
 * pattern. The fourth channel that CUDA has in three-channel formats may be undefined on a GPU: it
 * is not compared, and is written with bytes that OpenGL must not see.
 */
const char *mapped_level_differs(gr_buffer *buffer, const struct image *image, unsigned level,
                                 unsigned layer, unsigned number);
void mapped_level_write(gr_buffer *buffer, const struct image *image, unsigned level,
                        unsigned layer, unsigned number);
#define assert_mapped_level(...) assert_no_difference(mapped_level_differs(__VA_ARGS__))

/* Likewise for every level and layer. */
const char *mapped_image_differs(gr_buffer *buffer, const struct image *image, unsigned number);
void mapped_image_write(gr_buffer *buffer, const struct image *image, unsigned number);

/*
 * For a mapped image: CUDA reads the fill `number` and writes the next one, which OpenGL reads
 * after the release. image_note() records the differences.
 */
void image_both_ways(gr_buffer *buffer, const struct image *image, unsigned number);

/* Maps the image, writes it like mapped_image_write(), and releases it. */
void write_mapped_image(gr_resource *resource, const struct image *image, unsigned number);

#endif
