/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Entry points of the software CUDA driver that grinterop does not use. Other programs call them
 * through libcuda.so.1, as the CUDA runtime does.
 */
#define _GNU_SOURCE
#include "soft_calls.h"

int main(int argc, char **argv)
{
    return run_tests(argc, argv, "calls of the software driver", NULL);
}
