/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software CUDA driver's entry points that grinterop itself does not use: programs of their own
 * use them through libcuda.so.1, as the CUDA runtime does.
 */
#define _GNU_SOURCE
#include "soft_calls.h"

static const struct child children[] = {
    {"exchange_with_opengl_2", exchange_with_opengl_2},
    {"exchange_with_opengl_3", exchange_with_opengl_3},
    {"module_of_a_text", module_of_a_text},
    {"primary_context_is_reset", primary_context_is_reset},
    {"rows_before_init", rows_before_init},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_tests(argc, argv, "software driver's calls", children);
}
