/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that two files compiled with -dc share. */
extern __device__ int total;
extern __constant__ int factors[4];
__device__ int rotated(int value);
__global__ void fill(int *out);
