/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of test_death share: lives, which begin the same way whatever ends them. */
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
    bool in_thread;  /* all is made by a thread that has ended when the deaths begin */
    bool is_primary; /* the CUDA context is the device's primary one, by gr_cuda_context_create() */
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
    bool no_graphics, no_cuda; /* they have died */
    const char *missing;       /* why there is no such life here */
};

/* The driver, which a child asks for by death_driver_load(). */
extern const gr_cuda_api *cu;
void death_driver_load(void);

/*
 * Makes what the life's kind has, and begins what is mapped or a slot that is written: 2 in all its
 * bytes. The contexts are current on this thread.
 */
void life_begin(struct life *life);

/* By copy CUDA's work is with memory that OpenGL keeps mapped, which ends with the context. */
void life_end_graphics(struct life *life);
void life_end_cuda(struct life *life);

/* The parent says by its environment which life it is about, and what of it. */
void number_set(const char *variable, int number);
int number_of(const char *variable);
#define KIND_VARIABLE "DEATH_KIND"

/* A child, the parts of the parent, and what a life says when it has begun. */
#define ALIVE "alive\n"
int live_and_end(void);

#endif
