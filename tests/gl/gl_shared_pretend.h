/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Simulates semaphores between OpenGL and CUDA without a GPU. llvmpipe has none, so the program
 * implements GL_EXT_semaphore_fd, GL_NV_timeline_semaphore and the Vulkan export with semaphores of
 * the software CUDA driver.
 */
#ifndef GR_TESTS_GL_SHARED_PRETEND_H
#define GR_TESTS_GL_SHARED_PRETEND_H

#include <stdbool.h>

/* Call before using OpenGL. False, without any effect, with other drivers. */
bool pretend_start(void);

/* Turns such semaphores on or off; without effect with other drivers. */
void pretend_semaphores(bool on);

/* Whether an extension is simulated. */
bool pretend_has(const char *extension);

/* OpenGL accepts the next `taken` imports and then refuses `refused`. False: not simulated. */
bool pretend_refusals(unsigned taken, unsigned refused);

/* The number of signals and waits issued to OpenGL, and of its semaphores. */
struct pretend_counts {
    unsigned long signals, waits;
    unsigned long buffers, textures; /* in their barriers */
    unsigned long alive;
};
extern struct pretend_counts pretend_counts;

#endif
