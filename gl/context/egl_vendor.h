/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Diagnoses which EGL drivers the EGL loader (libglvnd) finds. */
#ifndef GR_GL_CONTEXT_EGL_VENDOR_H
#define GR_GL_CONTEXT_EGL_VENDOR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes where the loader searches for drivers, whether the files exist and their libraries can be
 * loaded, and what to change. The wanted driver is that of Mesa, or that of NVIDIA.
 */
void egl_vendor_advise(bool mesa, char *text, size_t size);

#endif
