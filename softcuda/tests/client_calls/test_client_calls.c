/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Entry points of the CUDA driver that grinterop does not use but other programs do: PyCUDA,
 * cuda.core and numba-cuda. Each case runs on the software driver and on a GPU.
 */
#define _GNU_SOURCE
#include "client_calls.h"

int main(int argc, char **argv)
{
    return run_tests(argc, argv, "calls of other programs", NULL);
}
