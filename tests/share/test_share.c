/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Resources and rings sent to another process: the bytes in both directions, messages from a
 * hostile peer, rings in both directions, and peers that die.
 */
#include "share.h"

static const struct child children[] = {
    {"serves", child_serves},
    {"dies_before", child_dies_before},
    {"has_no_vulkan", child_has_no_vulkan},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_tests(argc, argv, "share", children);
}
