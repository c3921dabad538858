/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A CUDA filter between two OpenGL textures. One texture receives the drawing, the other the
 * result, and OpenGL shows both side by side.
 */
#ifndef POSTPROCESS_FILTER_H
#define POSTPROCESS_FILTER_H

#include <grinterop/gl.h>

#include "examples/support/offscreen.h"
#include "postprocess.h"
#include "examples/support/screen.h"
#include "examples/support/session.h"

enum filter_kind { FILTER_BLUR, FILTER_SOBEL };

/* The two textures that OpenGL and CUDA share. */
enum { FILTER_DRAWN, FILTER_RESULT, FILTER_SHARED };

struct filter {
    const struct session *session;
    int width, height;
    struct gaussian gaussian;
    unsigned textures[FILTER_SHARED];
    unsigned framebuffer; /* draws into textures[FILTER_DRAWN] */
    unsigned composite;   /* the OpenGL program that shows both textures */
    CUfunction blur_rows, blur_columns, sobel;
    CUdeviceptr rows;                   /* CUDA memory: the blur after its first pass */
    gr_resource *shared[FILTER_SHARED]; /* the textures, registered with CUDA */
};

/*
 * Opens the filter for pictures of that size. `radius` is that of the blur, in pixels. `options`
 * say how the textures may be shared; NULL allows only interop. False after an error, which has
 * been printed. filter_close() cleans up in any case and accepts a zeroed struct.
 */
bool filter_open(struct filter *filter, struct session *session, int width, int height, int radius,
                 const gr_gl_options *options);
void filter_close(struct filter *filter);

/* Resolves the multisampled drawing into the texture. */
void filter_resolve(const struct filter *filter, const struct offscreen *drawn);

/* Runs the filter with CUDA. False after an error. */
bool filter_run(struct filter *filter, enum filter_kind kind);

/* Draws the two textures side by side: the result begins at `split` percent of the width. */
void filter_show(const struct filter *filter, const struct screen *screen,
                 const struct offscreen *target, float split);

#endif
