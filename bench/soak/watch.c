/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Samples the memory and descriptors of the process and the memory of the GPU, and checks whether
 * they grow.
 */
#include <unistd.h>

#include "bench/soak/soak.h"
#include "tests/support/descriptors.h"

static uint64_t resident_now(void)
{
    unsigned long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool soak_sample_now(const gr_cuda_api *cuda, double seconds, struct soak_sample *sample)
{
    size_t left = 0, total = 0;
    if (!bench_cuda_ok(cuda->MemGetInfo(&left, &total), "cuMemGetInfo"))
        return false;
    *sample = (struct soak_sample){.seconds = seconds,
                                   .resident = resident_now(),
                                   .device = total - left,
                                   .descriptors = open_descriptors()};
    return true;
}

/* ---- The verdict ----------------------------------------------------------------------------- */

/* The maximum of the samples from `begin` to `end`, which are fractions of the log. */
static struct soak_sample maximum_of(const struct soak_log *log, double begin, double end)
{
    struct soak_sample most = {0};
    for (size_t i = (size_t)(begin * (double)log->count); i < (size_t)(end * (double)log->count);
         i++) {
        const struct soak_sample *s = &log->samples[i];
        if (s->resident > most.resident)
            most.resident = s->resident;
        if (s->device > most.device)
            most.device = s->device;
        if (s->descriptors > most.descriptors)
            most.descriptors = s->descriptors;
    }
    return most;
}

static bool say(const char *what, const char *unit, double before, double after, double slack)
{
    bool grown = after > before + slack;
    printf("  %-26s %10.1f %s, then %.1f%s\n", what, before, unit, after, grown ? "  GROWN" : "");
    return grown;
}

/*
 * Allocators and drivers keep freed memory, so slight growth is not a leak: a leak of one byte per
 * frame shows after about ten million frames.
 */
bool soak_has_grown(const struct soak_log *log)
{
    const double mib = 1 << 20;
    if (log->count < 20) {
        printf("  too short to say whether anything grows: at least 20 s are needed\n");
        return false;
    }
    const struct soak_sample before = maximum_of(log, 0.25, 0.5), after = maximum_of(log, 0.75, 1);
    bool grown =
        say("resident", "MiB", (double)before.resident / mib, (double)after.resident / mib, 4);
    grown = say("GPU memory", "MiB", (double)before.device / mib, (double)after.device / mib, 4) ||
            grown;
    return say("descriptors", "", before.descriptors, after.descriptors, 0) || grown;
}
