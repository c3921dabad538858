/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Operations with OpenGL, tensors and rings, in which every call fails once (see fault_walk.c). */
#include "fault_walk.h"

GROUP("opengl", add_case)

TEST_UNLESS(walk_missing(), opengl_operations_survive_each_fault)
{
    walk_list(walk_gl);
    walk_list(walk_compat);
}

TEST_UNLESS(walk_missing(), image_operations_survive_each_fault)
{
    walk_list(walk_gl_images);
}

TEST_UNLESS(walk_missing(), operations_with_an_older_opengl_survive_each_fault)
{
    walk_list(walk_older);
}

GROUP("tensors", add_case)

TEST_UNLESS(walk_missing(), tensor_operations_survive_each_fault)
{
    walk_list(walk_memory);
}

GROUP("rings", add_case)

TEST_UNLESS(walk_missing(), ring_operations_survive_each_fault)
{
    walk_list(walk_rings);
}

START(walk_start(walk_older_stand_ins))
