/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Computes the offset of each clock: by how much the clock is ahead of CLOCK_MONOTONIC. A reading
 * between two CLOCK_MONOTONIC times gives an interval for the offset. The result is the
 * intersection of the intervals of all readings.
 */
#define _GNU_SOURCE
#include <time.h>

#include "bench/latency/latency.h"

int64_t latency_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct latency_offset latency_offset_of(const struct latency_reading *r, size_t count)
{
    int64_t least = r[0].value - r[0].high, most = r[0].value - r[0].low;
    for (size_t i = 1; i < count; i++) {
        if (r[i].value - r[i].high > least)
            least = r[i].value - r[i].high;
        if (r[i].value - r[i].low < most)
            most = r[i].value - r[i].low;
    }
    /*
     * If a clock has coarse steps, the intersection may be empty. The gap between the intervals is
     * then the uncertainty.
     */
    const int64_t width = most > least ? most - least : least - most;
    return (struct latency_offset){
        .at = r[count - 1].value, .ahead = least + (most - least) / 2, .uncertain = width / 2 + 1};
}

/* The step of the clock: the greatest common divisor of the differences between readings. */
int64_t latency_step_of(const struct latency_reading *r, size_t count)
{
    int64_t step = 0;
    for (size_t i = 1; i < count; i++) {
        int64_t rest = r[i].value - r[i - 1].value;
        if (rest < 0)
            rest = -rest;
        while (rest != 0) {
            const int64_t next = step % rest;
            step = rest;
            rest = next;
        }
    }
    return step;
}

/*
 * Converts to CLOCK_MONOTONIC. The offset is interpolated linearly between the two known offsets.
 */
int64_t latency_to_monotonic(const struct latency_clock *c, int64_t value)
{
    const double whole = (double)(c->after.at - c->before.at);
    const double part = whole > 0 ? (double)(value - c->before.at) / whole : 0;
    return value - c->before.ahead - (int64_t)(part * (double)(c->after.ahead - c->before.ahead));
}

int64_t latency_uncertain(const struct latency_clock *c)
{
    return c->before.uncertain > c->after.uncertain ? c->before.uncertain : c->after.uncertain;
}
