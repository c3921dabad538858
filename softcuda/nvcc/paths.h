/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the folders of headers and libraries. */
#ifndef GR_SOFTCUDA_NVCC_PATHS_H
#define GR_SOFTCUDA_NVCC_PATHS_H

#include "softcuda/nvcc/invocation.h"

/* Add the folders of headers for the preprocessor, and the libraries for the linker. */
void paths_add_headers(const options *o, words *command);
void paths_add_libraries(words *command);

/* Exits with a message if none of the library folders contains the runtime. */
void paths_check_libraries(void);

/*
 * For -v: prints the lines of nvcc's output that CMake parses to find the libraries of a program.
 */
void paths_print(const options *o);

/* The CUDART_VERSION that the CUDA headers define. */
int paths_cuda_version(void);

#endif
