/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Every call fails once (see fault_walk.c): with OpenGL, and with tensors. */
#include "fault_walk.h"

GROUP("opengl", add_case)

TEST_UNLESS(walk_missing(), opengl)
{
    walk_list(walk_gl);
    walk_list(walk_compat);
}

TEST_UNLESS(walk_missing(), images)
{
    walk_list(walk_gl_images);
}

TEST_UNLESS(walk_missing(), older)
{
    walk_list(walk_older);
}

GROUP("tensors", add_case)

TEST_UNLESS(walk_missing(), tensors)
{
    walk_list(walk_memory);
}

GROUP("rings", add_case)

TEST_UNLESS(walk_missing(), rings)
{
    walk_list(walk_rings);
}

START(walk_start(walk_older_stand_ins))
