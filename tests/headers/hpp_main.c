/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * gr.hpp: ownership and exceptions. test_hpp_14, test_hpp_17, test_hpp_20 and test_hpp_23 are this
 * file together with the parts, which are compiled as C++14, C++17, C++20 and C++23.
 */
#include "tests/support/support.h"
#include "tests/support/support_vulkan.h"

#include "hpp.h"

static void run(const struct hpp_part *part, int i)
{
    const char *why = part->run(i);
    ck_assert_msg(!why, "%s: %s", part->name, why);
}

/* The test of a part, by TEST or VULKAN_TEST. */
#define PART(test, name)                                                                           \
    test(name, hpp_##name()->count)                                                                \
    {                                                                                              \
        run(hpp_##name(), _i);                                                                     \
    }

GROUP("errors", add_case)

PART(TEST, errors)

GROUP("mappings", add_case)

PART(TEST, mappings)

static TCase *add_sharing_case(Suite *suite, const char *name)
{
    return with_sharing(add_case(suite, name));
}

GROUP("rings", add_sharing_case)

PART(TEST, rings)

GROUP("tensors", add_sharing_case)

PART(TEST, tensors)

GROUP("vulkan", add_vulkan_case)

PART(VULKAN_TEST, vulkan)

GROUP("edition", add_case)

/* A compiler may accept the option for an edition and still implement an older one. */
TEST(edition)
{
    ck_assert_int_gt(hpp_edition(), HPP_AFTER);
}
