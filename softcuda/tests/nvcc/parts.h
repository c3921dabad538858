/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations shared by two files compiled with -dc. */
extern __device__ int total;
extern __constant__ int factors[4];
__device__ int rotated(int value);
__global__ void fill(int *out);
