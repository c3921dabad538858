/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Recognises libraries that run only on GPUs. */
#ifndef GR_SOFTCUDA_NVCC_LIBRARIES_H
#define GR_SOFTCUDA_NVCC_LIBRARIES_H

/*
 * A sentence about how to replace the library of this name; NULL if it is not a library for GPUs.
 */
const char *library_refusal(const char *library);

/*
 * Like library_refusal(), for the path of a header, as the program included it or as it was found.
 */
const char *header_refusal(const char *path);

/*
 * Prints the sentence of header_refusal() if the compiler's errors report that a header of a GPU
 * library was not found.
 */
void print_header_refusals(const char *errors);

#endif
