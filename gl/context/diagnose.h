/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Explains failures between OpenGL and CUDA, because their error codes never name the cause. */
#ifndef GR_GL_CONTEXT_DIAGNOSE_H
#define GR_GL_CONTEXT_DIAGNOSE_H

#include <cuda.h>
#include <stddef.h>

/*
 * Writes which GPU draws, which GPU computes, and how to make both the same device. An OpenGL
 * context must be current.
 */
void gl_diagnose(CUresult code, char *text, size_t size);

/* Writes a short form without advice: "OpenGL draws on ..., CUDA computes on ...". */
void gl_diagnose_devices(char *text, size_t size);

#endif
