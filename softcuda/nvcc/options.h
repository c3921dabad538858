/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, which is nvcc's. */
#ifndef GR_SOFTCUDA_NVCC_OPTIONS_H
#define GR_SOFTCUDA_NVCC_OPTIONS_H

#include <stdbool.h>

#include "softcuda/nvcc/invocation.h"

/* Ends the program after a sentence about what is wrong. */
void options_read(options *o, int count, char **arguments);

/* Whether it is compiled, as its ending or -x says; and whether it is a program of CUDA's. */
bool is_source(const options *o, const char *path);
bool is_cuda(const options *o, const char *path);

#endif
