/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry points of the CUDA driver that grinterop does not use and programs of others do: PyCUDA,
 * cuda.core, numba-cuda. Each case runs with the software driver and on a GPU.
 */
#define _GNU_SOURCE
#include "client_calls.h"

static const struct child children[] = {
    {"calls_before_init", child_calls_before_init},
    {"opens_memory", child_opens_memory},
    {"opens_in_two_contexts", child_opens_in_two_contexts},
    {"opens_nothing", child_opens_nothing},
    {"opens_changed_handles", child_opens_changed_handles},
    {"takes_turn", child_takes_turn},
    {"opens_changed_events", child_opens_changed_events},
    {"dies_before_the_record", child_dies_before_the_record},
    {"goes_on_without_its_first_thread", child_goes_on_without_its_first_thread},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_tests(argc, argv, "calls of other programs", children);
}
