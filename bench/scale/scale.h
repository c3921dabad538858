/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that all files of bench_scale share: the kinds of resources and the results. */
#ifndef BENCH_SCALE_H
#define BENCH_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/vk.h>

#include "bench/bench_json.h"

enum { SCALE_KINDS = 5, SCALE_SIZES = 3, SCALE_NUMBERS = 4, SCALE_MOST = 10000 };

extern const char *const scale_kinds[SCALE_KINDS];  /* the names of the kinds, such as "interop" */
extern const size_t scale_sizes[SCALE_SIZES];       /* the sizes of a resource, in bytes */
extern const unsigned scale_numbers[SCALE_NUMBERS]; /* the numbers of resources */
extern const char *const scale_size_text[SCALE_SIZES];

/* The state of the run. `vulkan` is NULL if Vulkan is not available. */
struct scale {
    struct bench_device on;
    const gr_cuda_api *cuda;
    gr_vk_headless *headless;
    gr_vk_device *vulkan;
    VkDevice device;
    PFN_vkDeviceWaitIdle wait_idle;
    double seconds; /* the time limit of a cell */
};

/*
 * The results for a number of resources of one kind and size. A number is NaN if it was not
 * measured.
 */
struct scale_cell {
    /* `wanted` resources were requested; `count` of them were created in time */
    unsigned wanted, count;
    /* the time to create the first resource, and the mean of the others */
    double first_us, create_us;
    double map_us, release_us; /* the time per resource, if one call maps or releases all */
    double free_us;
    double memory; /* the bytes of device memory per resource */
    /* the time of one frame in a ring of all these resources; CUDA and graphics do no work */
    double frame_us;
    char why[200]; /* why the cell or its ring was not measured, or "" */
};

struct scale_table {
    struct scale_cell cells[SCALE_KINDS][SCALE_SIZES][SCALE_NUMBERS];
};

/* objects.c: false after an error, which has been printed. */
bool scale_open(struct scale *scale);
void scale_close(struct scale *scale);
gr_resource *scale_make(const struct scale *scale, unsigned kind, size_t size);
bool scale_drain(const struct scale *scale);

/* measure.c: false after an unexpected failure. */
bool scale_measure(const struct scale *scale, unsigned kind, size_t size, unsigned number,
                   struct scale_cell *cell);

/* report.c */
void scale_print_head(unsigned size);
void scale_print(const char *kind, const struct scale_cell *cell);
void scale_write_json(struct json *json, const struct scale_table *table);

/* scale_chart.c: false after an error, which has been printed. */
bool scale_write_svg(const char *path, const struct bench_machine *machine,
                     const struct scale_table *table);

#endif
