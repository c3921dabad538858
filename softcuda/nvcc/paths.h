/* SPDX-License-Identifier: Apache-2.0 */
/* Where headers and libraries are. */
#ifndef GR_SOFTCUDA_NVCC_PATHS_H
#define GR_SOFTCUDA_NVCC_PATHS_H

#include "softcuda/nvcc/invocation.h"

/* The options that name the headers, for the preprocessor; and the libraries, for the linker. */
void paths_add_headers(const options *o, words *command);
void paths_add_libraries(words *command);

/* Ends the program where the runtime is in none of the libraries' folders. */
void paths_check_libraries(void);

/* For -v: what CMake reads of nvcc's words about itself, where it asks which libraries a program is
 * linked with. */
void paths_print(const options *o);

/* CUDART_VERSION of CUDA's headers. */
int paths_cuda_version(void);

#endif
