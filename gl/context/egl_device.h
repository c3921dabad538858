/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the EGL display to draw on: the display of a CUDA device, or the display of Mesa without a
 * window system. Diagnoses which EGL drivers there are.
 */
#ifndef GR_GL_CONTEXT_EGL_DEVICE_H
#define GR_GL_CONTEXT_EGL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include <epoxy/egl.h>

/* A display to try, and its origin for messages. */
struct egl_candidate {
    EGLDisplay display;
    char origin[120]; /* such as "EGL device 1 (CUDA device 0)" */
};

#define EGL_CANDIDATES_MAX 34

/*
 * Fills in the displays to try for a CUDA device, best first, and returns their number. `found`
 * receives a list of all EGL devices, for the message if no display works.
 *
 * If Mesa draws for the CUDA driver, the surfaceless platform of Mesa comes first, then every EGL
 * device. Otherwise the EGL device that EGL_NV_device_cuda reports as this CUDA device comes first,
 * then those of the other CUDA devices. The extension may ignore CUDA_VISIBLE_DEVICES, so the
 * caller checks the created context by cuGLGetDevices.
 */
size_t egl_find_candidates(int cuda_device, struct egl_candidate candidates[EGL_CANDIDATES_MAX],
                           char *found, size_t found_size);

/*
 * Writes where the EGL loader (libglvnd) searches for drivers, whether the files exist and their
 * libraries can be loaded, and what to change. The wanted driver is that of Mesa, or of NVIDIA.
 */
void egl_vendor_advise(bool mesa, char *text, size_t size);

/* Returns the name of an EGL error code, such as "EGL_BAD_MATCH". */
const char *egl_error_name(EGLint code);

#endif
