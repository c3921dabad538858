/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings: which slot is next, order between the sides, lost or repeated frames, several threads,
 * resizing and ending during use, and a random walk. OpenGL rings use the interop transport.
 */
#include "ring_vulkan.h"

int main(int argc, char **argv)
{
    static const struct child children[] = {{"frames_in_a_crowd", frames_in_a_crowd}, {NULL, NULL}};
    return run_tests(argc, argv, "ring", children);
}
