/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the parts of test_death: lives (sets of contexts and objects), which all begin the same
 * way, whichever order they end in.
 */
#ifndef GR_TESTS_DEATH_H
#define GR_TESTS_DEATH_H

#include "tests/support/child_check.h"
#include "tests/support/support_vulkan.h"

#define SIZE   4096
#define SLOTS  3
#define DEATHS 4

/* What ends: each letter is a death. */
enum { GRAPHICS = 'G', CUDA = 'C', RESOURCE = 'R', BUFFER = 'B', RING = 'N' };

struct kind {
    const char *name;
    gr_transport transport;
    const char *deaths;
    bool in_thread;  /* a thread that has ended before the deaths created everything */
    bool is_primary; /* the CUDA context is the device's primary one, from gr_cuda_context_create()
                      */
};
extern const struct kind kinds[];
#define KINDS 16

struct life {
    const struct kind *kind;
    gr_egl *egl;
    gr_vk_headless *headless;
    gr_vk_device *device;
    CUcontext cuda;
    gr_cuda_context *primary; /* or this one */
    CUstream stream;
    gr_resource *resources[SLOTS];
    size_t count;
    gr_buffer *buffer;
    gr_ring *ring;
    bool no_graphics, no_cuda; /* already destroyed */
    const char *missing;       /* why this kind of life is not possible here */
};

/* The driver, which a child loads with death_driver_load(). */
extern const gr_cuda_api *cu;
void death_driver_load(void);

/*
 * Creates everything for the life's kind, and maps it or begins to write a slot: value 2 in all
 * bytes. The contexts are current on this thread.
 */
void life_begin(struct life *life);

/*
 * With the copy transport CUDA works on memory that OpenGL keeps mapped and that ends with the
 * context, so this waits for CUDA first.
 */
void life_end_graphics(struct life *life);
void life_end_cuda(struct life *life);

/* Pass numbers to the child through the environment: which kind of life, and which order or end. */
void number_set(const char *variable, int number);
int number_of(const char *variable);
#define KIND_VARIABLE "DEATH_KIND"

/* The line that a child prints once its life has begun. */
#define ALIVE "alive\n"

#endif
