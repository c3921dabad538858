/* SPDX-License-Identifier: Apache-2.0 */
/* Runs other programs, and has the files between them. */
#ifndef GR_SOFTCUDA_NVCC_COMMAND_H
#define GR_SOFTCUDA_NVCC_COMMAND_H

#include "softcuda/nvcc/invocation.h"

/* Runs it; ends this program with its status if that is not 0. */
void command_run(const options *o, const words *command);

/* The same for a preprocessor, whose errors about headers are explained. */
void command_preprocess(const options *o, const words *command);

/* A path for a file between two steps, which is removed at exit unless --keep says otherwise. */
const char *command_file(const options *o, const char *name);

#endif
