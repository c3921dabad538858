/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gr.hpp: what its objects own and end, and what its exceptions say. test_hpp_17, test_hpp_20 and
 * test_hpp_23 are this, with the parts compiled as C++17, C++20 and C++23.
 */
#include "tests/support/support.h"

#include "hpp.h"

#ifdef HPP_SKIPPED

int main(void)
{
    skip_say("test_hpp", "%s", HPP_SKIPPED);
    return 77;
}

#else

static void run(const struct hpp_part *part, int i)
{
    const char *why = part->run(i);
    ck_assert_msg(!why, "%s: %s", part->name, why);
}

START_TEST(errors)
{
    run(hpp_errors(), _i);
}
END_TEST

START_TEST(mappings)
{
    run(hpp_mappings(), _i);
}
END_TEST

START_TEST(rings)
{
    run(hpp_rings(), _i);
}
END_TEST

/* A compiler that takes the option may mean an older edition all the same. */
START_TEST(edition)
{
    ck_assert_int_gt(hpp_edition(), HPP_AFTER);
}
END_TEST

static void build(Suite *suite)
{
    add_tests(add_case(suite, "edition"), edition);
    add_loop_tests(add_case(suite, "errors"), hpp_errors()->count, errors);
    add_loop_tests(add_case(suite, "mappings"), hpp_mappings()->count, mappings);
    TCase *all_rings = add_case(suite, "rings");
    tcase_add_unchecked_fixture(all_rings, warm_up_sharing, NULL);
    add_loop_tests(all_rings, hpp_rings()->count, rings);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv, "hpp", build, NULL);
}

#endif
