/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_death. A life is a set of contexts and objects. All lives begin the
 * same way and end in different orders.
 */
#ifndef GR_TESTS_DEATH_H
#define GR_TESTS_DEATH_H

#include "tests/support/child_check.h"
#include "tests/support/support_vulkan.h"

#define SIZE   4096
#define SLOTS  3
#define DEATHS 4

/* Each letter stands for the destruction of one object or context. */
enum { GRAPHICS = 'G', CUDA = 'C', RESOURCE = 'R', BUFFER = 'B', RING = 'N' };

struct kind {
    const char *name;
    gr_transport transport;
    const char *deaths;
    bool in_thread; /* a thread has created everything and ended before the first destruction */
    /* The CUDA context is the primary one of the device, from gr_cuda_context_create(). */
    bool is_primary;
};
extern const struct kind kinds[];
#define KINDS 19

struct life {
    const struct kind *kind;
    gr_egl *egl;
    gr_vk_headless *headless;
    gr_vk_device *device;
    CUcontext cuda;
    gr_cuda_context *primary; /* set instead of `cuda` if kind->is_primary */
    CUstream stream;
    gr_resource *resources[SLOTS];
    size_t count;
    gr_buffer *buffer;
    gr_ring *ring;
    bool no_graphics, no_cuda; /* this context was destroyed already */
    const char *missing;       /* the reason why this machine cannot run this kind of life */
};

/* The driver, which a child loads with death_driver_load(). */
extern const gr_cuda_api *cu;
void death_driver_load(void);

/* Whether GR_CUDA_DRIVER names another driver than the software driver. */
bool death_is_on_a_gpu(void);

/*
 * Creates all objects of the kind, and maps the resource or begins to write a slot: all bytes have
 * the value 2. The contexts are then current on this thread.
 */
void life_begin(struct life *life);

/*
 * Waits for CUDA first: with the copy transport, CUDA works on memory that OpenGL keeps mapped and
 * that ends with the OpenGL context.
 */
void life_end_graphics(struct life *life);
void life_end_cuda(struct life *life);

/*
 * Pass a number to the child through the environment: the index of the kind, of the order, or of
 * the end of the process.
 */
void number_set(const char *variable, int number);
int number_of(const char *variable);
#define KIND_VARIABLE "DEATH_KIND"

/* The line that a child prints once its life has begun. */
#define ALIVE "alive\n"

#endif
