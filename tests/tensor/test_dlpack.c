/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * DLPack in both directions: what an export contains, what an import accepts and refuses, and
 * lifetimes. These consumers and producers are C code. Consumers and producers in Python are tested
 * in python/.
 */
#include <grinterop/tensor.h>

#include "tests/support/support.h"

#ifdef GR_WITHOUT_DLPACK

GROUP("without DLPack", add_case)

TEST(a_build_without_dlpack_names_the_configure_option)
{
    int something = 0;
    void *any = &something;
    assert_null(gr_tensor_to_dlpack(any, GR_DLPACK_VERSIONED, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "--with-dlpack=DIR");
    assert_null(gr_tensor_to_dlpack(any, GR_DLPACK_LEGACY, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "--with-dlpack");
    assert_null(gr_tensor_from_dlpack(any, GR_DLPACK_VERSIONED, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "--with-dlpack");
    assert_null(gr_tensor_from_dlpack(any, GR_DLPACK_LEGACY, fx.stream), GR_ERR_UNSUPPORTED, 0,
                "bootstrap");
}

#else
#include "dlpack.h"
#endif

START(resource_case_buffer(4096, 1))
