/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter of CUDA's between two of OpenGL's textures: what was drawn goes into one, the other has
 * the result, and both are shown side by side.
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
    unsigned composite;   /* the program that puts both together */
    CUmodule module;
    CUfunction blur_rows, blur_columns, sobel;
    CUdeviceptr rows;                   /* plain CUDA memory: the blur after its first half */
    gr_resource *shared[FILTER_SHARED]; /* the textures, as CUDA knows them */
};

/*
 * For pictures of that size. The blur reaches over `radius` pixels each way; `options` say how the
 * textures may be shared, NULL: in the driver's own way. False after an error, which has been
 * printed; either way filter_close() cleans up, and zeros are fine.
 */
bool filter_open(struct filter *filter, const struct session *session, int width, int height,
                 int radius, const gr_gl_options *options);
void filter_close(struct filter *filter);

/* Takes what was drawn, with several samples a pixel, of which the texture gets the mean. */
void filter_take(const struct filter *filter, const struct offscreen *drawn);

/* CUDA's work. False after an error. */
bool filter_run(struct filter *filter, enum filter_kind kind);

/* Draws both; the result begins right of `split` percent of the width. */
void filter_show(const struct filter *filter, const struct screen *screen,
                 const struct offscreen *target, float split);

#endif
