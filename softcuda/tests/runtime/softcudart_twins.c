/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The cases of softcudart_calls.c in a program that is compiled for the per-thread default stream:
 * each name is mapped to a different symbol.
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#define GROUP "twins"
#include "softcudart_calls.c"
