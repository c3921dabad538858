/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DLPack both ways: what an export says, what an import takes and refuses, and who lives how long.
 * The consumers and producers here are a program's own; Python's are in python/.
 */
#include <grinterop/tensor.h>

#include "tests/support/support.h"

#ifdef GR_WITHOUT_DLPACK

static const struct child dlpack_children[] = {{0}};

START_TEST(without_dlpack_each_call_says_how_to_get_it)
{
    int something = 0;
    void *any = &something;
    assert_null(gr_tensor_dlpack(any, fx.stream), GR_ERR_UNSUPPORTED, 0, "--with-dlpack=DIR");
    assert_null(gr_tensor_dlpack_legacy(any, fx.stream), GR_ERR_UNSUPPORTED, 0, "--with-dlpack");
    assert_null(gr_tensor_from_dlpack(any, fx.stream), GR_ERR_UNSUPPORTED, 0, "--with-dlpack");
    assert_null(gr_tensor_from_dlpack_legacy(any, fx.stream), GR_ERR_UNSUPPORTED, 0, "bootstrap");
}
END_TEST

static void build(Suite *suite)
{
    add_tests(add_case(suite, "without DLPack"), without_dlpack_each_call_says_how_to_get_it);
}

#else
#include "dlpack.h"

static void build(Suite *suite)
{
    dlpack_fields(suite);
    dlpack_import(suite);
    dlpack_life(suite);
    dlpack_walk(suite);
}

#endif

int main(int argc, char **argv)
{
    return test_main(argc, argv, "dlpack", build, dlpack_children);
}
