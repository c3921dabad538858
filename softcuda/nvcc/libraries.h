/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Libraries that run only on GPUs. */
#ifndef GR_SOFTCUDA_NVCC_LIBRARIES_H
#define GR_SOFTCUDA_NVCC_LIBRARIES_H

/* What to do about a library of this name, as a sentence; NULL if it is not one of them. */
const char *library_refusal(const char *library);

/* The same for a header's path, as it was included or as it was found. */
const char *header_refusal(const char *path);

/* Prints it where the compiler's errors report that such a header was not found. */
void print_header_refusals(const char *errors);

#endif
