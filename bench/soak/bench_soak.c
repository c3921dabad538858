/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_soak: passes frames through all transports at once, each on its own thread, until the time
 * is up. The bytes of each frame are checked against the number of the frame. Once a second the
 * program samples process memory, descriptors and GPU memory, none of which may grow.
 */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include <grinterop/gl.h>

#include "bench/soak/soak.h"
#include "tools/options.h"

const char bench_program[] = "bench_soak";

#define GL(name_, transport_, ring_, cuda_reads_)                                                  \
    {                                                                                              \
        .name = name_, .run = soak_gl_buffer, .transport = GR_TRANSPORT_##transport_,              \
        .ring = ring_, .cuda_reads = cuda_reads_                                                   \
    }
struct soak_transport soak_ways[SOAK_WAYS] = {
    GL("interop", INTEROP, false, false),
    GL("interop, CUDA reads", INTEROP, false, true),
    GL("interop ring", INTEROP, true, false),
    GL("shared", SHARED, false, false),
    GL("shared ring", SHARED, true, false),
    GL("shared ring, CUDA reads", SHARED, true, true),
    GL("copy", COPY, false, false),
    GL("copy ring", COPY, true, false),
    {.name = "interop image", .run = soak_gl_image, .transport = GR_TRANSPORT_INTEROP},
    {.name = "vulkan", .run = soak_vulkan},
};

atomic_bool soak_over;

static struct options {
    struct bench_device on;
    double seconds;
    const char *csv;
    struct soak_log log;
    bool good; /* whether no transport failed and nothing grew */
} o = {.seconds = 60};

static const struct option_row rows[] = {
    BENCH_OPTION_DEVICE(&o.on.ordinal),
    {"seconds", 0, "S", "how long", .real = {&o.seconds, 0.1, SOAK_SAMPLES}},
    {"csv", 0, "FILE", "also write the samples of each second", .text = &o.csv},
    BENCH_OPTION_SVG,
    {0},
};

uint32_t soak_word(uint64_t frame)
{
    return (uint32_t)frame * 2654435761u + 12345u;
}

bool soak_check(const struct soak_transport *way, soak_group words, uint64_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int word = 0; word < SOAK_WORDS; word++)
            if (words[i][word] != soak_word(first + i)) {
                fprintf(stderr,
                        "bench_soak: %s: frame %llu has the word 0x%08x instead of 0x%08x\n",
                        way->name, (unsigned long long)(first + i), words[i][word],
                        soak_word(first + i));
                return false;
            }
    return true;
}

static void *run_way(void *of_way)
{
    struct soak_transport *way = of_way;
    way->failed = way->run(way);
    if (way->failed) {
        fprintf(stderr, "bench_soak: %s: %s: ", way->name, way->failed);
        gr_error_print(stderr, NULL);
    }
    atomic_store(&way->running, false);
    return NULL;
}

static bool start(int ordinal)
{
    for (int i = 0; i < SOAK_WAYS; i++) {
        struct soak_transport *way = &soak_ways[i];
        way->ordinal = ordinal;
        atomic_store(&way->running, true);
        if (pthread_create(&way->thread, NULL, run_way, way) != 0) {
            fprintf(stderr, "bench_soak: cannot start a thread for %s\n", way->name);
            return false;
        }
    }
    return true;
}

static bool one_runs(void)
{
    for (int i = 0; i < SOAK_WAYS; i++)
        if (atomic_load(&soak_ways[i].running))
            return true;
    return false;
}

static uint64_t all_frames(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < SOAK_WAYS; i++)
        sum += atomic_load(&soak_ways[i].frames);
    return sum;
}

static void pause_for(double seconds)
{
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* Takes samples until the time is up or all threads have ended. */
static void watch(const gr_cuda_api *cuda, double seconds, struct soak_log *log)
{
    const double begun = bench_now_us();
    double now = 0;
    while (now < seconds && one_runs() && log->count < SOAK_SAMPLES) {
        pause_for(seconds - now < 1 ? seconds - now : 1);
        now = (bench_now_us() - begun) * 1e-6;
        struct soak_sample *sample = &log->samples[log->count];
        if (!soak_sample_now(cuda, now, sample))
            break;
        sample->frames = all_frames();
        log->count++;
        if (log->count % 10 == 0)
            printf("  %4.0f s: %llu frames\n", now, (unsigned long long)sample->frames);
        fflush(stdout);
    }
    atomic_store(&soak_over, true);
}

/* Ends all threads. False if a transport failed. */
static bool end(void)
{
    bool good = true;
    printf("\n  %-26s %12s\n", "way", "frames");
    for (int i = 0; i < SOAK_WAYS; i++) {
        struct soak_transport *way = &soak_ways[i];
        pthread_join(way->thread, NULL);
        if (way->skipped[0])
            printf("  %-26s skipped: %s\n", way->name, way->skipped);
        else
            printf("  %-26s %12llu%s\n", way->name, (unsigned long long)atomic_load(&way->frames),
                   way->failed ? "  FAILED" : "");
        good = good && !way->failed;
    }
    printf("  %-26s %12llu\n", "all, each compared", (unsigned long long)all_frames());
    return good;
}

/* ---- The steps ------------------------------------------------------------------------------- */

static bool open(void)
{
    return bench_device_open(&o.on);
}

static bool run(void)
{
    if (!start(o.on.ordinal)) {
        atomic_store(&soak_over, true);
        return false;
    }
    watch(gr_cuda(), o.seconds, &o.log);
    bool good = end() && bench_cuda_ok(gr_cuda()->CtxSynchronize(), "cuCtxSynchronize");
    return !soak_has_grown(&o.log) && good;
}

/* Runs the transports. Writes the samples even after a failure. */
static bool measure(void)
{
    o.good = run();
    return o.log.count > 0 && (!o.csv || soak_write_csv(o.csv, &o.log));
}

static bool draw(const char *path, const struct bench_machine *machine)
{
    return soak_write_svg(path, machine, &o.log);
}

static bool check(void)
{
    return o.good;
}

static void close(void)
{
    bench_device_close(&o.on);
}

const struct bench_setup bench_setup = {
    .about = "Passes frames through all transports at once, verifies the bytes of "
             "each, and checks whether memory, descriptors or GPU memory grow.",
    .options = rows,
    .steps = {open, NULL, NULL, measure, NULL, draw, check, close}};
