/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What --help and --version print. */
#ifndef GR_SOFTCUDA_NVCC_HELP_H
#define GR_SOFTCUDA_NVCC_HELP_H

void help_print(void);

/* CMake parses this text for nvcc's version, and needs both names in it. */
void help_print_version(void);

#endif
