/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Runs other programs, and manages intermediate files. */
#ifndef GR_SOFTCUDA_NVCC_COMMAND_H
#define GR_SOFTCUDA_NVCC_COMMAND_H

#include "softcuda/nvcc/invocation.h"

/* Runs a command. If its exit status is not 0, exits with the same status. */
void command_run(const options *o, const words *command);

/* Runs a preprocessor. Explains its errors about headers of GPU libraries. */
void command_preprocess(const options *o, const words *command);

/* Returns a path for an intermediate file, which is removed at exit unless --keep is set. */
const char *command_file(const options *o, const char *name);

#endif
