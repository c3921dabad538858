/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores between OpenGL and CUDA where there is no GPU: llvmpipe has none, so the program
 * itself plays GL_EXT_semaphore_fd, GL_NV_timeline_semaphore and Vulkan's export, on the software
 * CUDA driver's own semaphores.
 */
#ifndef GR_TESTS_GL_SHARED_PRETEND_H
#define GR_TESTS_GL_SHARED_PRETEND_H

#include <stdbool.h>

/* Before OpenGL is used; false, and nothing is played, with another driver. */
bool pretend_start(void);

/* From here on, or no longer, there are such semaphores; never with another driver. */
void pretend_semaphores(bool on);

/* Whether an extension is one that is being played. */
bool pretend_has(const char *extension);

/*
 * Of the imports to come OpenGL takes `taken`, and then refuses so many. False: nothing is played.
 */
bool pretend_refusals(unsigned taken, unsigned refused);

/* How many signals and waits OpenGL has been given, and how many semaphores it has. */
struct pretend_counts {
    unsigned long signals, waits;
    unsigned long buffers, textures; /* in their barriers */
    unsigned long alive;
};
extern struct pretend_counts pretend_counts;

#endif
