/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the source files of test_framebuffer: framebuffers and tensors. */
#ifndef GR_TESTS_FRAMEBUFFER_SUPPORT_H
#define GR_TESTS_FRAMEBUFFER_SUPPORT_H

#include "publish_support.h"

#include <grinterop/framebuffer.h>

#include "tests/support/shader_calls.h"

/* The size of all framebuffers. */
#define WIDTH  19
#define HEIGHT 7

/* ---- Attachments ----------------------------------------------------------------------------- */

/* The format of a renderbuffer, and how its pixels are read. */
struct attachment_format {
    GLenum internal, attachment, transfer, type;
    gr_dtype dtype;
    unsigned channels;
};

enum { ATTACHMENT_FORMATS = 30 };
extern const struct attachment_format attachment_formats[ATTACHMENT_FORMATS];
extern const struct attachment_format *const attachment_rgba8, *const attachment_depth24;

bool is_signed_normalized(const struct attachment_format *f);

/*
 * Creates a framebuffer with one renderbuffer and binds it. The objects live as long as the
 * context.
 */
GLuint make_framebuffer(const struct attachment_format *f, int samples);
GLuint make_framebuffer_of(const struct attachment_format *f, int samples, GLsizei width,
                           GLsizei height);
void clear_framebuffer(const struct attachment_format *f, unsigned value);

/* Gives each pixel a different value. */
void draw_pattern(const struct attachment_format *f);

/* Reads the bound framebuffer by glReadPixels(). */
void read_reference(const struct attachment_format *f, void *pixels);

/* ---- Tensors --------------------------------------------------------------------------------- */

#define MOST_BYTES (WIDTH * HEIGHT * 16)
extern unsigned char expected[MOST_BYTES], fetched[MOST_BYTES];

/* Compares `fetched` with `expected`. */
void assert_pixels(const struct attachment_format *f, size_t size);

/* Creates a tensor in which every byte is 0xEE. */
gr_tensor *new_tensor(gr_dtype dtype, int64_t height, int64_t width, unsigned channels);

/* Copies the elements to `fetched`. */
void download_tensor(gr_tensor *from);

/* Fetches and downloads. */
void must_fetch(GLuint framebuffer, gr_tensor *to, const gr_framebuffer_options *options);
gr_framebuffer_options options_for(const struct attachment_format *f);

/* ---- Paths ----------------------------------------------------------------------------------- */

/*
 * Cases whose framebuffers a shader reads, and cases in which OpenGL does not compile the shader,
 * so that glReadPixels() reads them.
 */
TCase *add_fetch_case(Suite *suite, const char *name);
TCase *add_read_pixels_case(Suite *suite, const char *name);

#endif
