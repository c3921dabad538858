/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings: which slot is next, what orders the sides, frames that are lost or come twice, several
 * threads, resizing and ends in mid-flight, and a random walk. OpenGL's rings are of the interop
 * transport.
 */
#include "ring_vulkan.h"

static void build(Suite *suite)
{
    build_ring_bookkeeping(suite);
    build_ring_calls(suite);
    build_ring_end(suite);
    build_ring_frames(suite);
    build_ring_order(suite);
    build_ring_walk(suite);
    build_ring_vulkan(suite);
    build_ring_threads(suite);
    add_vulkan_end(suite);
}

int main(int argc, char **argv)
{
    static const struct child children[] = {{"frames_in_a_crowd", frames_in_a_crowd}, {NULL, NULL}};
    return test_main(argc, argv, "ring", build, children);
}
