/* SPDX-License-Identifier: Apache-2.0 */
/* The drivers that EGL's loader (libglvnd) is told of, and what is wrong with them. */
#ifndef GR_GL_EGL_VENDOR_H
#define GR_GL_EGL_VENDOR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes where the loader looks for drivers, whether the files are there and their libraries can be
 * loaded, and what to change: Mesa's driver is wanted, or NVIDIA's.
 */
void egl_vendor_advise(bool mesa, char *text, size_t size);

#endif
