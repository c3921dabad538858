/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Explanations of CUDA driver codes, with remedies. */
#ifndef GR_LIB_BASE_CUDA_ERROR_TEXT_H
#define GR_LIB_BASE_CUDA_ERROR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/cuda_abi.h"

/* Explains an error code of cuInit() on this machine, with the remedy. */
void gr_init_advise(CUresult code, char *text, size_t size);

/* Whether a CUDA context that returned this code returns it from every later call, too. */
bool gr_cuda_is_sticky(CUresult code);

/*
 * Returns a sentence, with a leading blank, to append to the message of any call if the code alone
 * implies a remedy: out of memory, a context broken by an earlier kernel, or a destroyed context.
 * "" for other codes.
 */
const char *gr_cuda_advice(CUresult code);

#endif
