/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that run on GPUs alone. */
#ifndef GR_SOFTCUDA_NVCC_LIBRARIES_H
#define GR_SOFTCUDA_NVCC_LIBRARIES_H

/* What to do about one that is called so, as a sentence; NULL if it is none of them. */
const char *library_refusal(const char *library);

/* The same for the path of a header, as it is included or as it was found. */
const char *header_refusal(const char *path);

/* Prints it where the compiler's errors say that such a header was not found. */
void print_header_refusals(const char *errors);

#endif
