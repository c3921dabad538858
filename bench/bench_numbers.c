/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Clocks and order statistics. Medians and quartiles are used instead of means, so that one block
 * disturbed by another process does not shift the result.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"

static double clock_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

double bench_now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

double bench_thread_cpu_us(void)
{
    return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A quantile of sorted samples, interpolated between neighbouring samples. */
static double quantile(const double *sorted, size_t count, double fraction)
{
    double at = fraction * (double)(count - 1);
    size_t low = (size_t)at;
    size_t high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

struct bench_spread bench_spread_of(double *values, size_t count)
{
    if (count == 0)
        return (struct bench_spread){NAN, NAN, NAN};
    qsort(values, count, sizeof(*values), compare);
    return (struct bench_spread){quantile(values, count, 0.25), quantile(values, count, 0.5),
                                 quantile(values, count, 0.75)};
}
