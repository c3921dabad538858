/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Diagnoses which drivers are configured for the EGL loader (libglvnd). */
#ifndef GR_GL_EGL_VENDOR_H
#define GR_GL_EGL_VENDOR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes where the loader searches for drivers, whether the files exist and their libraries load,
 * and what to change. The wanted driver is Mesa's or NVIDIA's.
 */
void egl_vendor_advise(bool mesa, char *text, size_t size);

#endif
