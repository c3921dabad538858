/* SPDX-License-Identifier: Apache-2.0 */
/* What two files that are compiled with -dc see of each other. */
extern __device__ int total;
extern __constant__ int factors[4];
__device__ int rotated(int value);
__global__ void fill(int *out);
