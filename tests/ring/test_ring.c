/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings: which slot is next, what orders the sides, frames that are lost or come twice, several
 * threads, resizing and ends in mid-flight, and a random walk. OpenGL's rings are of the interop
 * transport.
 */
#include "ring_vulkan.h"

int main(int argc, char **argv)
{
    static const struct child children[] = {{"frames_in_a_crowd", frames_in_a_crowd}, {NULL, NULL}};
    return run_tests(argc, argv, "ring", children);
}
