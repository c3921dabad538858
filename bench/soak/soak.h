/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Declarations that all files of bench_soak share: the transports of frames, and samples of the
 * process.
 */
#ifndef BENCH_SOAK_H
#define BENCH_SOAK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "bench/bench.h"

/* A frame has SOAK_WORDS words, and a reader waits once for a group of SOAK_GROUP frames. */
enum { SOAK_WORDS = 4, SOAK_GROUP = 64, SOAK_SAMPLES = 100000 };
#define SOAK_BYTES (SOAK_WORDS * sizeof(uint32_t))

typedef uint32_t soak_group[SOAK_GROUP][SOAK_WORDS];

/* A way to pass frames from one API to the other. A thread with its own contexts runs it. */
struct soak_transport {
    const char *name;
    const char *(*run)(struct soak_transport *way); /* returns NULL, or the step that failed */
    /* the transport for OpenGL: a bit of gr_transport */
    unsigned transport;
    bool ring, cuda_reads;
    int ordinal; /* the CUDA device number */

    atomic_ullong frames;
    atomic_bool running;
    /* the step that failed; the thread sets it after it has printed the reason */
    const char *failed;
    char skipped[300]; /* why the transport can't run on this machine */
    pthread_t thread;
};

enum { SOAK_WAYS = 10 };
extern struct soak_transport soak_ways[SOAK_WAYS];

/* Whether the time is up. */
extern atomic_bool soak_over;

/*
 * soak_word() gives the word of a frame; soak_check() checks that a group has the frames from
 * `first` on.
 */
uint32_t soak_word(uint64_t frame);
bool soak_check(const struct soak_transport *way, soak_group words, uint64_t first, size_t count);

/* gl_transports.c and vulkan_transport.c */
const char *soak_gl_buffer(struct soak_transport *way);
const char *soak_gl_image(struct soak_transport *way);
const char *soak_vulkan(struct soak_transport *way);

/* The state of the process, sampled once a second. */
struct soak_sample {
    double seconds;
    uint64_t frames;
    /* memory of the process, and GPU memory in use by all processes, in bytes */
    uint64_t resident, device;
    unsigned descriptors;
};

struct soak_log {
    struct soak_sample samples[SOAK_SAMPLES];
    size_t count;
};

/* watch.c */
bool soak_sample_now(const gr_cuda_api *cuda, double seconds, struct soak_sample *sample);
/*
 * Prints the maximum of the second and of the last quarter of the samples. True if the maximum has
 * grown.
 */
bool soak_has_grown(const struct soak_log *log);

/* chart.c: false after an error, which has been printed. */
bool soak_write_csv(const char *path, const struct soak_log *log);
bool soak_write_svg(const char *path, const struct bench_machine *machine,
                    const struct soak_log *log);

#endif
