/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Parses the command line, which has the options of nvcc. */
#ifndef GR_SOFTCUDA_NVCC_OPTIONS_H
#define GR_SOFTCUDA_NVCC_OPTIONS_H

#include <stdbool.h>

#include "softcuda/nvcc/invocation.h"

/* Exits with a message if the command line is invalid. */
void options_read(options *o, int count, char **arguments);

/* Whether a file is compiled, and whether it is a CUDA program, by its extension or -x. */
bool is_source(const options *o, const char *path);
bool is_cuda(const options *o, const char *path);

#endif
