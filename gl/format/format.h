/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Maps OpenGL internal formats and targets to CUDA: the format that CUDA sees, the formats that
 * CUDA refuses, and what to use instead. The table was measured on an H200 and is also in
 * docs/formats.md; tests/image/test_image_table compares the table with both drivers.
 */
#ifndef GR_GL_FORMAT_FORMAT_H
#define GR_GL_FORMAT_FORMAT_H

#include <stdbool.h>

#include <grinterop/base.h>

#include "lib/cuda/array_format.h"
#include "gl/context/context.h"

struct gl_format {
    unsigned int internal;  /* the format that OpenGL reports */
    const char *name;       /* such as "GL_RGBA8" */
    const char *refused;    /* why CUDA refuses the format, or NULL */
    const char *instead;    /* what to use instead */
    const char *instead_es; /* the same in OpenGL ES, or NULL if that works there, too */
    unsigned format;        /* the format of one channel in CUDA, or GR_FORMAT_... if `packed` */
    unsigned char channels; /* the number of channels in CUDA: 4 if OpenGL has 3 */
    bool normalized;        /* integers represent fractions */
    bool srgb;
    bool depth, packed;     /* `refused`, but copies accept it */
    unsigned char integers; /* for depth: the size of the integers that OpenGL stores, or 0 */
    /* the format and type with which OpenGL transfers texels in the layout of CUDA */
    unsigned int transfer_format, transfer_type;
};

/* Whether the values are integers, not fractions. */
static inline bool gl_format_is_integer(const struct gl_format *f)
{
    return gr_format_is_integer(f->format, f->normalized);
}

/* Returns the row of a format; NULL if the table does not list the format. */
const struct gl_format *gl_format_of(unsigned int internal);

/* Refuses image `name` because of its format, and says what to use instead. */
gr_status gl_format_refuse(const struct gl_format *format, unsigned int name,
                           const struct gl_context *context);

/* What OpenGL stores for a format that does not say so: one without a size or without a row. */
struct gl_stored {
    int bits[4];            /* of red, luminance, intensity or depth; of green, blue and alpha */
    unsigned int component; /* GL_UNSIGNED_NORMALIZED and so on; 0 if OpenGL does not report it */
    bool depth, compressed;
};

/* Whether the name of the format has the number of bits. False for NULL. */
bool gl_format_has_size(const struct gl_format *format);

/* Writes a text such as "5+6+5 bits", or "" if no bits are known, and returns it. */
#define GL_STORED_TEXT 48
const char *gl_stored_text(const struct gl_stored *stored, char text[GL_STORED_TEXT]);

/*
 * Whether the elements of the format hold what OpenGL stores; `exactly`: they have the same bits.
 * False for NULL.
 */
bool gl_format_holds(const struct gl_format *format, const struct gl_stored *stored, bool exactly);

/* Refuses image `name`, whose format has no row, or no size and bits that CUDA refuses. */
gr_status gl_format_refuse_stored(unsigned int internal, const struct gl_stored *stored,
                                  unsigned int name, const struct gl_context *context);

/*
 * Returns the name of a format for the same components whose texels OpenGL ES reads and writes;
 * NULL if there is no other.
 */
const char *gl_format_for_es(const struct gl_format *format, const struct gl_stored *stored);

/*
 * Refuses image `name`, whose texels the software driver cannot transfer in OpenGL ES. There must
 * be another format.
 */
gr_status gl_format_refuse_es(const struct gl_format *format, const struct gl_stored *stored,
                              unsigned int name, const struct gl_context *context);

/*
 * Returns the format with the fewest bits, and at least `channels`, that holds colours of a
 * component type (GL_UNSIGNED_NORMALIZED and so on) with *bits per component, and sets *bits to
 * those that it has. NULL if there is none.
 */
const struct gl_format *gl_colour_format_of(unsigned int component, int channels, int *bits);

/* Whether image units accept the format. */
bool gl_format_has_image_units(const struct gl_format *format);

struct gl_target {
    unsigned int target;
    const char *name;     /* such as "GL_TEXTURE_2D" */
    unsigned int binding; /* the constant for glGetIntegerv() that returns the binding, or 0 */
    const char *instead;  /* what to use if CUDA refuses the target; otherwise NULL */
};

/*
 * Returns the row of a target; NULL if the value is not the target of a whole texture or
 * renderbuffer.
 */
const struct gl_target *gl_target_of(unsigned int target);

/*
 * Returns the target of a texture, which exists; 0 if OpenGL reports it only by binding the
 * texture.
 */
unsigned int gl_direct_target(unsigned int name, const struct gl_context *context);

/* Returns the target of a texture, which exists. Needs direct state access (gl_context.direct). */
const struct gl_target *gl_texture_target(unsigned int name, const struct gl_context *context);

#endif
