/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the EGL display to draw on: the one of a CUDA device, or Mesa's without a window system.
 */
#ifndef GR_GL_EGL_DEVICE_H
#define GR_GL_EGL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include <epoxy/egl.h>

/* A display that may be tried, and how it was come by, for messages. */
struct egl_candidate {
    EGLDisplay display;
    char origin[120]; /* "EGL device 1 (CUDA device 0)" */
};

#define EGL_CANDIDATES_MAX 34

/*
 * Fills in the displays to try for a CUDA device, best first, and returns their number. `found`
 * gets a text that lists every EGL device seen, for the message when none of them works.
 *
 * If Mesa draws for the CUDA driver, that is Mesa's surfaceless platform and then every EGL device;
 * else the EGL device that names this CUDA device by EGL_NV_device_cuda, and then the others that
 * belong to CUDA at all: the extension may count as the driver does without CUDA_VISIBLE_DEVICES,
 * so the caller asks cuGLGetDevices of the finished context.
 */
size_t egl_find_candidates(int cuda_device, struct egl_candidate candidates[EGL_CANDIDATES_MAX],
                           char *found, size_t found_size);

/* The name of an EGL error code, "EGL_BAD_MATCH". */
const char *egl_error_name(EGLint code);

#endif
