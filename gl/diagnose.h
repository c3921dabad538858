/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for failures between OpenGL and CUDA, whose codes never name the cause. */
#ifndef GR_GL_DIAGNOSE_H
#define GR_GL_DIAGNOSE_H

#include <cuda.h>
#include <stddef.h>

/*
 * Says who draws, who computes, and what to change so that both are one device. An OpenGL context
 * is current.
 */
void gl_diagnose(CUresult code, char *text, size_t size);

/* The same in short, without advice: "OpenGL draws on ..., CUDA computes on ...". */
void gl_diagnose_who(char *text, size_t size);

#endif
