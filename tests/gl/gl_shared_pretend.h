/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Simulates semaphores between OpenGL and CUDA without a GPU. llvmpipe has none, so the program
 * implements GL_EXT_semaphore_fd, GL_NV_timeline_semaphore and the Vulkan export with semaphores of
 * the software CUDA driver.
 */
#ifndef GR_TESTS_GL_SHARED_PRETEND_H
#define GR_TESTS_GL_SHARED_PRETEND_H

#include <stdbool.h>

/* Call this before using OpenGL. With other drivers it returns false and has no effect. */
bool pretend_start(void);

/* Turns the simulated semaphores on or off. With other drivers it has no effect. */
void pretend_semaphores(bool on);

/* Returns whether an extension is simulated. */
bool pretend_has(const char *extension);

/*
 * Makes OpenGL accept the next `taken` imports and then refuse `refused` imports. Returns false if
 * semaphores are not simulated.
 */
bool pretend_refusals(unsigned taken, unsigned refused);

/* Makes OpenGL refuse the next signal or wait. False if semaphores are not simulated. */
bool pretend_refused_use(void);

/*
 * The numbers of signals and waits issued to OpenGL, of the objects in their barriers, and of
 * existing semaphores.
 */
struct pretend_counts {
    unsigned long signals, waits;
    unsigned long buffers, textures; /* in the barriers of the signals and waits */
    unsigned long alive;
};
extern struct pretend_counts pretend_counts;

#endif
