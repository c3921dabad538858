/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Register flags as text: each name, combinations, and texts that are refused. Also tests that a
 * resource keeps the parsed flags.
 */
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

#define UNTOUCHED 0xABCDu

static unsigned parsed(const char *text)
{
    unsigned flags = UNTOUCHED;
    gr_status status = gr_flags_parse(text, &flags);
    ck_assert_msg(status == GR_OK, "\"%s\": %s", text ? text : "NULL", error_text());
    return flags;
}

static void assert_refused(const char *text, const char *named)
{
    static const char *const valid[] = {
        "read_write", "none", "read_only", "write_discard", "surface_load_store", "texture_gather"};
    unsigned flags = UNTOUCHED;
    gr_status status = gr_flags_parse(text, &flags);
    ck_assert_msg(status == GR_ERR_INVALID_VALUE, "\"%s\" was accepted", text);
    ck_assert_uint_eq(flags, UNTOUCHED);
    for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
        ck_assert_msg(strstr(error_text(), valid[i]), "%s is not in: %s", valid[i], error_text());
    assert_error(GR_ERR_INVALID_VALUE, 0, named);
}

GROUP("text", add_bare_case)

TEST(each_name_is_parsed_as_the_flag_of_the_driver)
{
    ck_assert_uint_eq(parsed("read_write"), CU_GRAPHICS_REGISTER_FLAGS_NONE);
    ck_assert_uint_eq(parsed("none"), CU_GRAPHICS_REGISTER_FLAGS_NONE);
    ck_assert_uint_eq(parsed("read_only"), CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    ck_assert_uint_eq(parsed("write_discard"), CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    ck_assert_uint_eq(parsed("surface_load_store"), CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    ck_assert_uint_eq(parsed("texture_gather"), CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER);
}

TEST(constants_equal_the_flags_of_the_driver)
{
    ck_assert_uint_eq(GR_READ_WRITE, CU_GRAPHICS_REGISTER_FLAGS_NONE);
    ck_assert_uint_eq(GR_READ_ONLY, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    ck_assert_uint_eq(GR_WRITE_DISCARD, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD);
    ck_assert_uint_eq(GR_SURFACE_LOAD_STORE, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST);
    ck_assert_uint_eq(GR_TEXTURE_GATHER, CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER);
}

TEST(names_are_combined_by_comma_or_bar)
{
    ck_assert_uint_eq(parsed("write_discard,surface_load_store"), 0x06);
    ck_assert_uint_eq(parsed("read_only|texture_gather"), 0x09);
    ck_assert_uint_eq(parsed("surface_load_store|texture_gather,write_discard"), 0x0E);
    ck_assert_uint_eq(parsed("none,read_only"), 0x01);
    ck_assert_uint_eq(parsed("read_only,none"), 0x01);
    ck_assert_uint_eq(parsed("read_only,read_only"), 0x01);
}

TEST(blanks_around_names_are_ignored)
{
    ck_assert_uint_eq(parsed("  read_only  "), 0x01);
    ck_assert_uint_eq(parsed("write_discard , surface_load_store"), 0x06);
    ck_assert_uint_eq(parsed("\twrite_discard |  texture_gather "), 0x0A);
}

TEST(null_and_empty_text_mean_none)
{
    ck_assert_uint_eq(parsed(NULL), 0);
    ck_assert_uint_eq(parsed(""), 0);
    ck_assert_uint_eq(parsed("   "), 0);
}

TEST(an_unknown_name_is_refused_and_quoted)
{
    assert_refused("write_only", "write_only");
    assert_refused("read_only,nonsense", "nonsense");
    assert_refused("nonsense|read_only", "nonsense");
    assert_refused("read_onl", "read_onl");
    assert_refused("read_only2", "read_only2");
    assert_refused("READ_ONLY", "READ_ONLY");
    assert_refused("read_only write_discard", "read_only write_discard");
    assert_refused("1", "1");
}

TEST(a_missing_name_is_refused)
{
    assert_refused(",", "");
    assert_refused("read_only,", "");
    assert_refused(",read_only", "");
    assert_refused("read_only,,texture_gather", "");
    assert_refused("read_only | | texture_gather", "");
    assert_refused("read_only, ", "");
}

TEST(a_long_unknown_name_does_not_displace_the_valid_names_in_the_message)
{
    char text[4096];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_refused(text, "xxxx");
}

TEST(success_keeps_the_last_error)
{
    unsigned flags;
    ck_assert_int_eq(gr_flags_parse("nonsense", &flags), GR_ERR_INVALID_VALUE);
    ck_assert_uint_eq(parsed("read_only"), 0x01);
    assert_error(GR_ERR_INVALID_VALUE, 0, "nonsense");
}

GROUP("registered", add_case)

TEST(a_resource_keeps_the_parsed_flags)
{
    static const char *const names[] = {"read_write", "read_only", "write_discard"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        GR_AUTO(gr_resource) *resource =
            must_make(gr_from_gl_buffer(gl_buffer_filled(64, 0), parsed(names[i])));
        char wanted[64];
        snprintf(wanted, sizeof(wanted), "flags %s,", names[i]);
        assert_described(resource, wanted);
    }
}
