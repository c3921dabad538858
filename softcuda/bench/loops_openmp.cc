/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The kernels of loops.cu as OpenMP loops. */
#include "softcuda/bench/launches.h"

static void saxpy(float *y, const float *x, unsigned n)
{
#pragma omp parallel for schedule(static)
    for (unsigned i = 0; i < n; i++)
        y[i] = 0.5f * x[i] + y[i];
}

static void polynomial(float *y, const float *x, unsigned n)
{
#pragma omp parallel for schedule(static)
    for (unsigned i = 0; i < n; i++) {
        const float v = x[i];
        float sum = 0.5f;
        for (int k = 0; k < 8; k++)
            sum = sum * v + 0.25f;
        y[i] = sum / (1.0f + v * v);
    }
}

static void stencil(float *to, const float *from, int width, int height)
{
#pragma omp parallel for schedule(static)
    for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
            const int i = y * width + x;
            to[i] = 0.5f * from[i] +
                    0.125f * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
        }
}

static void nothing(void)
{
#pragma omp parallel
    __asm__ volatile("");
}

void openmp_loop(enum loop_kind kind, const struct loops *l)
{
    if (kind == LOOP_SAXPY)
        saxpy(l->to, l->from, l->width * l->height);
    else if (kind == LOOP_POLYNOMIAL)
        polynomial(l->to, l->from, l->width * l->height);
    else if (kind == LOOP_STENCIL)
        stencil(l->to, l->from, static_cast<int>(l->width), static_cast<int>(l->height));
    else
        nothing();
}

void sequential_sums(unsigned *sums, const unsigned *from, unsigned rows, unsigned width)
{
    for (unsigned row = 0; row < rows; row++) {
        unsigned sum = 0;
        for (unsigned i = 0; i < width; i++)
            sum += from[row * width + i];
        sums[row] = sum;
    }
}
