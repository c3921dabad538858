/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/help.h"

#include <stdio.h>

#include "softcuda/nvcc/option_table.h"
#include "softcuda/nvcc/paths.h"

static void print_option(const option *o)
{
    printf("  %s, %s\n        %s\n", o->name, o->long_name, o->help);
}

void help_print(void)
{
    puts("usage: grinterop-nvcc [OPTION]... FILE...\n\n"
         "Compiles CUDA runtime API programs for the CPU, where nvcc compiles them for a GPU.\n"
         "They run on grinterop's software CUDA driver.\n");
    for (const option *o = option_table; o->name; o++)
        if (o->help)
            print_option(o);
    puts("\nThese nvcc options for GPU code are accepted and have no effect:");
    for (const option *o = option_table; o->name; o++)
        if (!o->help)
            printf("  %s (%s)\n", o->long_name, o->name);
    puts("\nA @FILE also holds options. The environment variables NVCC_PREPEND_FLAGS and\n"
         "NVCC_APPEND_FLAGS hold options to read before and after all others.\n"
         "__GRINTEROP_NVCC__ is defined, and __CUDA_ARCH__ is not.");
}

void help_print_version(void)
{
    int version = paths_cuda_version();
    printf("grinterop-nvcc %s, in the place of nvcc: NVIDIA (R) Cuda compiler driver\n"
           "Headers of Cuda compilation tools, release %d.%d, V%d.%d.0\n",
           GR_NVCC_VERSION, version / 1000, version % 1000 / 10, version / 1000,
           version % 1000 / 10);
}
