/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The output of --help and --version. */
#ifndef GR_SOFTCUDA_NVCC_HELP_H
#define GR_SOFTCUDA_NVCC_HELP_H

void help_print(void);

/*
 * CMake recognises nvcc and its version by this text. It searches for "nvcc: NVIDIA (R) Cuda
 * compiler driver" and "Cuda compilation tools, release".
 */
void help_print_version(void);

#endif
