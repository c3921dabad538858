/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Plans conversions from and to YUV: the matrix, the access to chroma, and its samples. */
#include "lib/publish/publish.h"

/* ---- The matrix ------------------------------------------------------------------------------ */

/* The stored values of black and of no chroma, and the steps to the largest luma and chroma. */
struct yuv_range {
    double y_zero, y_steps, c_zero, c_steps;
};

static struct yuv_range yuv_range_of(const gr_publish_options *o, unsigned bits, unsigned shift)
{
    const double unit = 1u << shift, step = unit * (1u << (bits - 8));
    const double most = unit * ((1u << bits) - 1);
    return o->full_range ? (struct yuv_range){0, most, 128 * step, most}
                         : (struct yuv_range){16 * step, 219 * step, 128 * step, 224 * step};
}

/* The parts of red and blue in luma. */
static const double luma_weights[][2] = {{0.2126, 0.0722}, {0.299, 0.114}, {0.2627, 0.0593}};

/*
 * Computes the matrix that converts stored values to red, green and blue, or with `bgr` to blue,
 * green and red. The matrix includes the scaling by range: of luma to 0 to 1, and of chroma to -0.5
 * to 0.5.
 */
static void fill_matrix(struct gr_job *job, const gr_publish_options *o, struct yuv_range range)
{
    const double red = luma_weights[o->matrix][0], blue = luma_weights[o->matrix][1];
    const double green = 1 - red - blue, y_scale = 1 / range.y_steps, c_scale = 1 / range.c_steps;
    const double colour[3][2] = {{0, 2 * (1 - red)},
                                 {-2 * (1 - blue) * blue / green, -2 * (1 - red) * red / green},
                                 {2 * (1 - blue), 0}};
    for (int i = 0; i < 3; i++) {
        const double *weight = colour[o->bgr ? 2 - i : i];
        const double u = weight[0] * c_scale, v = weight[1] * c_scale;
        job->matrix[4 * i] = (float)y_scale;
        job->matrix[4 * i + 1] = (float)u;
        job->matrix[4 * i + 2] = (float)v;
        job->matrix[4 * i + 3] = (float)(-range.y_zero * y_scale - range.c_zero * (u + v));
    }
}

/* The inverse: u is (blue - luma) / (2 - 2 * its part), and v the same of red. */
static void fill_inverse(struct gr_job *job, const gr_publish_options *o, struct yuv_range range)
{
    const double red = luma_weights[o->matrix][0], blue = luma_weights[o->matrix][1];
    const double parts[3] = {red, 1 - red - blue, blue};
    const double u = range.c_steps / (2 * (1 - blue)), v = range.c_steps / (2 * (1 - red));
    for (int i = 0; i < 3; i++) {
        job->matrix[i] = (float)(parts[i] * range.y_steps);
        job->matrix[4 + i] = (float)(((i == 2) - parts[i]) * u);
        job->matrix[8 + i] = (float)(((i == 0) - parts[i]) * v);
    }
    job->matrix[3] = (float)range.y_zero;
    job->matrix[7] = job->matrix[11] = (float)range.c_zero;
}

/* ---- Chroma ---------------------------------------------------------------------------------- */

/* `channels`: of luma; 2 if luma and chroma alternate. */
static void choose_chroma_access(struct gr_job_chroma *c, unsigned channels, size_t element)
{
    const uint64_t u = c->u.base | (uint64_t)c->u.row, v = c->v.base | (uint64_t)c->v.row;
    const int64_t size = (int64_t)element;
    if (channels == 2)
        c->access = GR_JOB_WOVEN;
    else if (c->x_shift && c->u.pixel == 2 * size && c->v.pixel == 2 * size &&
             c->u.row == c->v.row && c->v.base - c->u.base == element && u % (4 * element) == 0)
        c->access = GR_JOB_PACKED;
    else if (c->u.pixel == size && c->v.pixel == size &&
             (u | v) % (GR_JOB_PIXELS * element >> c->x_shift) == 0)
        c->access = GR_JOB_PLANAR;
}

/*
 * Between two pixels a sample is their mean. At a pixel it has half of it, and of its neighbours.
 * In a picture that is flipped, the upper row of a sample is its second one.
 */
static void fill_weights(struct gr_job *job, gr_chroma_position position, bool flip)
{
    const struct gr_job_chroma *c = &job->chroma;
    struct gr_job_samples *s = &job->samples;
    const bool at_column = position != GR_CHROMA_CENTER, at_row = position == GR_CHROMA_TOP_LEFT;
    const float quarter = 0.25f, half = 0.5f;
    s->column_weights[0] = c->x_shift && at_column ? quarter : 0;
    s->column_weights[1] = c->x_shift ? half : 1;
    s->column_weights[2] = !c->x_shift ? 0 : at_column ? quarter : half;
    s->row_weights[0] = !c->y_shift ? 1 : at_row && flip ? quarter : half;
    s->row_weights[1] = !c->y_shift ? 0 : at_row && !flip ? quarter : half;
    s->row_weights[2] = c->y_shift && at_row ? quarter : 0;
    s->other_row = flip ? 2 : -1;
}

void gr_yuv_plan(struct gr_job *job, const struct gr_picture *yuv, bool to_yuv,
                 const gr_publish_options *o)
{
    const unsigned all = 8 * (unsigned)gr_dtype_size(yuv->dtype);
    const unsigned bits = o->bits ? o->bits : all, shift = o->high_bits ? all - bits : 0;
    struct gr_job_chroma *c = &job->chroma;
    *c = yuv->chroma;
    choose_chroma_access(c, yuv->channels, all / 8);
    if (!to_yuv) {
        fill_matrix(job, o, yuv_range_of(o, bits, shift));
        return;
    }
    fill_inverse(job, o, yuv_range_of(o, bits, 0));
    fill_weights(job, o->chroma_position, o->flip);
    job->samples.low_bits = shift;
    job->samples.most = (float)((1u << bits) - 1);
    job->row_shift = c->y_shift;
}
