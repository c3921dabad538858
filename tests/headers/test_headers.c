/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The public headers in C, included in the reverse order of the C++ test. Both languages must see
 * the same functions. check-headers tests that each header compiles on its own.
 */
#include <grinterop/framebuffer.h>
#include <grinterop/publish.h>
#include <grinterop/tensor.h>
#include <grinterop/share.h>
#include <grinterop/external.h>
#include <grinterop/vk.h>
#include <grinterop/image.h>
#include <grinterop/compat.h>
#include <grinterop/cuda.h>
#include <grinterop/gl.h>
#include <grinterop/egl.h>

#include <stdio.h>
#include <string.h>

#include <check.h>

#include "headers.h"

#if defined(EPOXY_GL_H) || defined(__gl_h_) || defined(__egl_h_) || defined(GL_VERSION_1_1)
#error "a public grinterop header includes one of OpenGL or EGL"
#endif

START_TEST(c_and_cxx_see_the_same_functions)
{
    anything cxx[FUNCTION_COUNT] = {NULL};
    size_t i = 0;
    cxx_functions(cxx);
#define FUNCTION(name, ...) ck_assert_msg(cxx[i++] == (anything)name, "%s", #name);
#include "tests/api/functions.def"
    ck_assert_uint_eq(i, FUNCTION_COUNT);
    ck_assert_int_eq(cxx_scope(), 1);
}
END_TEST

START_TEST(inline_functions_are_symbols)
{
    char text[512] = "", same[512] = "";
    ck_assert_int_eq(gr_log_add((gr_log_level)-1, NULL, NULL), GR_ERR_INVALID_VALUE);
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    check_inline_symbols(file);
    rewind(file);
    ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, file), 0);
    fclose(file);
    snprintf(same, sizeof(same), "elsewhere: %s (gr_log_add)\n", gr_last_error()->message);
    ck_assert_str_eq(text, same);
    gr_clear_error();

    gr_map_options made, usual = GR_INIT(gr_map_options);
    memset(&made, 7, sizeof(made));
    gr_init_struct(&made, sizeof(made));
    ck_assert_mem_eq(&made, &usual, sizeof(made));
}
END_TEST

/* The flags have the values of the driver's flags, so that a program may use either name. */
START_TEST(flags_equal_those_of_the_cuda_driver)
{
    ck_assert_int_eq(GR_READ_WRITE, CU_GRAPHICS_REGISTER_FLAGS_NONE);
    ck_assert_int_eq(GR_READ_ONLY, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    ck_assert_int_eq(GR_WRITE_DISCARD, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    ck_assert_int_eq(GR_SURFACE_LOAD_STORE, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    ck_assert_int_eq(GR_TEXTURE_GATHER, CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER);
    ck_assert_ptr_eq(GR_STREAM(0), GR_STREAM_LEGACY);
    ck_assert_ptr_eq(GR_STREAM(CU_STREAM_PER_THREAD), GR_STREAM_PER_THREAD);
    ck_assert_ptr_ne(GR_STREAM_OF_MAP, NULL);
    ck_assert_ptr_ne(GR_STREAM_OF_MAP, CU_STREAM_LEGACY);
    ck_assert_ptr_ne(GR_STREAM_OF_MAP, CU_STREAM_PER_THREAD);
}
END_TEST

START_TEST(each_status_has_its_name)
{
#define CHECK_STATUS(name, value, text)                                                            \
    ck_assert_int_eq(name, value);                                                                 \
    ck_assert_str_eq(gr_status_name(name), #name);
    GR_STATUS_MAP(CHECK_STATUS)
#undef CHECK_STATUS
    ck_assert_int_eq(GR_OK, 0);
}
END_TEST

START_TEST(the_library_version_has_three_numbers)
{
    unsigned major, minor, patch;
    char rest;
    ck_assert_int_eq(sscanf(gr_library_version(), "%u.%u.%u%c", &major, &minor, &patch, &rest), 3);
}
END_TEST

START_TEST(the_header_version_equals_the_library_version)
{
    char text[32];
    snprintf(text, sizeof(text), "%d.%d.%d", GR_VERSION_MAJOR, GR_VERSION_MINOR, GR_VERSION_PATCH);
    ck_assert_str_eq(text, gr_library_version());
    ck_assert_int_eq(GR_VERSION,
                     GR_VERSION_NUMBER(GR_VERSION_MAJOR, GR_VERSION_MINOR, GR_VERSION_PATCH));
#if GR_VERSION < GR_VERSION_NUMBER(0, 1, 0) || GR_VERSION >= GR_VERSION_NUMBER(1, 0, 0)
    ck_abort_msg("the preprocessor compares versions differently");
#endif
    ck_assert_int_lt(GR_VERSION_NUMBER(0, 1, 99), GR_VERSION_NUMBER(0, 2, 0));
    ck_assert_int_lt(GR_VERSION_NUMBER(0, 99, 99), GR_VERSION_NUMBER(1, 0, 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("headers");
    TCase *all = tcase_create("headers");
    tcase_add_test(all, c_and_cxx_see_the_same_functions);
    tcase_add_test(all, inline_functions_are_symbols);
    tcase_add_test(all, flags_equal_those_of_the_cuda_driver);
    tcase_add_test(all, each_status_has_its_name);
    tcase_add_test(all, the_library_version_has_three_numbers);
    tcase_add_test(all, the_header_version_equals_the_library_version);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
