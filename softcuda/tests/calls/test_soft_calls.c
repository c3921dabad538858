/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software CUDA driver's entry points that grinterop itself does not use: programs of their own
 * use them through libcuda.so.1, as the CUDA runtime does.
 */
#define _GNU_SOURCE
#include "soft_calls.h"

int main(int argc, char **argv)
{
    return run_tests(argc, argv, "software driver's calls", NULL);
}
