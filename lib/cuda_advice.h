/* SPDX-License-Identifier: Apache-2.0 */
/* What codes of the CUDA driver mean, and what to do about them. */
#ifndef GR_LIB_CUDA_ADVICE_H
#define GR_LIB_CUDA_ADVICE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

/* Writes sentences: what cuInit's code means on this machine, and what to change. */
void gr_init_advise(CUresult code, char *text, size_t size);

/* The codes after which a CUDA context answers every call with the same code. */
bool gr_cuda_is_sticky(CUresult code);

/*
 * The sentence, after a blank, that any call's message ends with where the code alone says what to
 * do: memory ran out, an earlier kernel has broken the context, or it was destroyed. "" for others.
 */
const char *gr_cuda_advice(CUresult code);

#endif
