/* SPDX-License-Identifier: Apache-2.0 */
/* Every call fails once, see fault_walk.c: with OpenGL, and with tensors. */
#include "fault_walk.h"

START_TEST_UNLESS(walk_missing(), opengl)
{
    walk_list(walk_gl);
    walk_list(walk_compat);
}
END_TEST

START_TEST_UNLESS(walk_missing(), images)
{
    walk_list(walk_gl_images);
}
END_TEST

START_TEST_UNLESS(walk_missing(), older)
{
    walk_list(walk_older);
}
END_TEST

START_TEST_UNLESS(walk_missing(), tensors)
{
    walk_list(walk_memory);
}
END_TEST

START_TEST_UNLESS(walk_missing(), rings)
{
    walk_list(walk_rings);
}
END_TEST

static void build(Suite *suite)
{
    add_tests(add_case(suite, "opengl"), opengl, images, older);
    add_tests(add_case(suite, "tensors"), tensors);
    add_tests(add_case(suite, "rings"), rings);
    add_walk_counts(suite);
}

int main(int argc, char **argv)
{
    walk_start(walk_older_stand_ins);
    return test_main(argc, argv, "test_fault_walk", build, NULL);
}
