/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The folders of headers and libraries. */
#ifndef GR_SOFTCUDA_NVCC_PATHS_H
#define GR_SOFTCUDA_NVCC_PATHS_H

#include "softcuda/nvcc/invocation.h"

/* Add the header folders for the preprocessor, and the libraries for the linker. */
void paths_add_headers(const options *o, words *command);
void paths_add_libraries(words *command);

/* Exits if none of the library folders contains the runtime. */
void paths_check_libraries(void);

/* For -v: prints what CMake parses of nvcc's output to find the libraries of a program. */
void paths_print(const options *o);

/* CUDART_VERSION in CUDA's headers. */
int paths_cuda_version(void);

#endif
