/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Measures the variants of a row in turns, after a warm-up, and takes the median of each. */
#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>

#include "softcuda/bench/softcuda.h"

#define MOST_TIMES 100000u

/*
 * The rest between variants. OpenMP threads spin before they sleep, and would take cores from the
 * next variant.
 */
#define REST_US 5000

/*
 * The time in microseconds. If the bench measures CPU time, waits and other programs do not count.
 */
static double now_us(const struct soft_bench *bench)
{
    struct timespec t;
    if (!bench->processor || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
        return bench_now_us();
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double measure_once(struct soft_bench *bench, const struct soft_way *way, void *row,
                           unsigned times)
{
    usleep(REST_US);
    const double begin = now_us(bench);
    way->run(bench, row, times);
    return (now_us(bench) - begin) / times;
}

/* Finds how many repetitions fill the minimum duration of a sample. */
static unsigned find_times(struct soft_bench *bench, const struct soft_way *way, void *row)
{
    unsigned times = 1;
    measure_once(bench, way, row, 1);
    while (times < MOST_TIMES && measure_once(bench, way, row, times) * times < bench->sample_us)
        times *= 2;
    return times;
}

static void report(struct soft_bench *bench, const char *name, const struct soft_way *ways,
                   unsigned count, const struct soft_time *times, double each)
{
    struct bench_result *result = bench_add_as(bench->row, name, bench->row->part, "");
    char text[32];
    result->wrong = bench->wrong > 0;
    bench->wrong = 0;
    for (unsigned w = 0; w < count; w++) {
        snprintf(text, sizeof(text), "%s us", ways[w].name);
        bench_set(result, text, times[w].us);
        snprintf(text, sizeof(text), w ? "speed of %s" : "ns_each", ways[w].name);
        if (w)
            bench_set(result, text, times[w].speed);
        else
            bench_set_number(result, text, times[w].us.median * 1e3 / each);
    }
}

const struct soft_time *soft_measure(struct soft_bench *bench, const char *name,
                                     const struct soft_way *ways, unsigned count, void *row,
                                     double each)
{
    static struct soft_time times[MOST_WAYS];
    static double us[MOST_WAYS][MOST_SAMPLES], speed[MOST_WAYS][MOST_SAMPLES];
    unsigned repeats[MOST_WAYS];
    for (unsigned w = 0; w < count; w++)
        repeats[w] = find_times(bench, &ways[w], row);
    for (unsigned i = 0; i < bench->samples; i++)
        for (unsigned w = 0; w < count; w++) {
            us[w][i] = measure_once(bench, &ways[w], row, repeats[w]);
            speed[w][i] = us[0][i] / us[w][i];
        }
    for (unsigned w = 0; w < count; w++)
        times[w] = (struct soft_time){bench_spread_of(us[w], bench->samples),
                                      bench_spread_of(speed[w], bench->samples)};
    report(bench, name, ways, count, times, each);
    return times;
}
