/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * gr.hpp: ownership and exceptions. test_hpp_14, test_hpp_17, test_hpp_20 and test_hpp_23 are this
 * file together with the parts, which are compiled as C++14, C++17, C++20 and C++23.
 */
#include "tests/support/support.h"
#include "tests/support/support_vulkan.h"

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

GROUP("errors", add_case)

TEST(errors, hpp_errors()->count)
{
    run(hpp_errors(), _i);
}

GROUP("mappings", add_case)

TEST(mappings, hpp_mappings()->count)
{
    run(hpp_mappings(), _i);
}

static TCase *add_all_rings_case(Suite *suite, const char *name)
{
    return with_first_use(add_case(suite, name), use_sharing);
}

GROUP("rings", add_all_rings_case)

TEST(rings, hpp_rings()->count)
{
    run(hpp_rings(), _i);
}

GROUP("tensors", add_case)

TEST(tensors, hpp_tensors()->count)
{
    run(hpp_tensors(), _i);
}

GROUP("vulkan", add_vulkan_case)

VULKAN_TEST(vulkan, hpp_vulkan()->count)
{
    run(hpp_vulkan(), _i);
}

GROUP("edition", add_case)

/* A compiler may accept the option for an edition and still implement an older one. */
TEST(edition)
{
    ck_assert_int_gt(hpp_edition(), HPP_AFTER);
}

#endif
