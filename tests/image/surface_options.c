/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Contradictory texture options: the message for each combination names the contradiction. */
#include "surface_tests.h"

static gr_resource *resource;
static gr_buffer *buffer;

static void begin(const char *format)
{
    struct image image = image_make(format, "2D", 8, 8, 2);
    resource = must_register_image(&image, GR_READ_WRITE);
    buffer = must_map_image(resource);
}

static void end(void)
{
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
}

static void refused(gr_texture_options options, const char *text)
{
    gr_clear_error();
    CUtexObject texture = gr_buffer_texture(buffer, &options);
    ck_assert_msg(texture == 0, "an option is accepted although \"%s\" was expected", text);
    assert_error(GR_ERR_INVALID_VALUE, 0, text);
}

static void taken(gr_texture_options options)
{
    ck_assert_msg(gr_buffer_texture(buffer, &options) != 0, "%s", error_text());
}

GROUP("options", add_image_case)

TEST(invalid_values_are_refused)
{
    begin("RGBA8");
    refused(GR_INIT(gr_texture_options, .address = {(gr_address)4}), "address");
    refused(GR_INIT(gr_texture_options, .address = {0, 0, (gr_address)-1}), "address");
    refused(GR_INIT(gr_texture_options, .filter = (gr_filter)2), "filter");
    refused(GR_INIT(gr_texture_options, .whole = true, .mip_filter = (gr_filter)2), "filter");
    refused(GR_INIT(gr_texture_options, .as_float = (gr_choice)3), "as_float");
    refused(GR_INIT(gr_texture_options, .srgb = (gr_choice)3), "srgb");
    refused(GR_INIT(gr_texture_options, .anisotropy = 17), "anisotropy");
    refused(GR_INIT(gr_texture_options, .whole = true, .min_level = -1), "min_level");
    refused(GR_INIT(gr_texture_options, .normalized_coordinates = (gr_choice)3),
            "normalized_coordinates");
    refused(GR_INIT(gr_texture_options, .whole = true, .min_level = 2), "last level");
    refused(GR_INIT(gr_texture_options, .whole = true, .level_count = 3), "has only 2");
    refused(GR_INIT(gr_texture_options, .whole = true, .min_level = 1, .level_count = 2),
            "has only 1");
    refused(GR_INIT(gr_texture_options, .whole = true, .level_count = 0u - 1), "level_count");
    refused(GR_INIT(gr_texture_options, .level = 2), "2 levels");
    refused(GR_INIT(gr_texture_options, .layer = 1), "1 layer");
    end();
}

TEST(contradictory_values_are_refused)
{
    begin("RGBA8");
    refused(GR_INIT(gr_texture_options, .address = {GR_ADDRESS_WRAP}), "normalized_coordinates");
    refused(GR_INIT(gr_texture_options, .address = {0, GR_ADDRESS_MIRROR}),
            "normalized_coordinates");
    refused(GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR, .as_float = GR_CHOICE_NO),
            "GR_FILTER_LINEAR");
    refused(GR_INIT(gr_texture_options, .srgb = GR_CHOICE_YES, .as_float = GR_CHOICE_NO), "srgb");
    refused(GR_INIT(gr_texture_options, .mip_filter = GR_FILTER_LINEAR), "whole");
    refused(GR_INIT(gr_texture_options, .mip_bias = 1), "whole");
    refused(GR_INIT(gr_texture_options, .min_level = 1), "whole");
    refused(GR_INIT(gr_texture_options, .level_count = 1), "whole");
    refused(GR_INIT(gr_texture_options, .whole = true, .normalized_coordinates = GR_CHOICE_NO),
            "GR_CHOICE_NO");
    refused(GR_INIT(gr_texture_options, .address = {GR_ADDRESS_WRAP},
                    .normalized_coordinates = GR_CHOICE_NO),
            "normalized_coordinates");
    end();
}

TEST(values_that_contradict_the_format_are_refused)
{
    begin("RGBA32UI");
    refused(GR_INIT(gr_texture_options, .as_float = GR_CHOICE_YES), "32 bit integers");
    refused(GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR), "GR_FILTER_LINEAR");
    taken(GR_INIT(gr_texture_options, .filter = GR_FILTER_POINT));
    end();
    begin("RGBA8UI");
    refused(GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR), "as_float");
    taken(GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR, .as_float = GR_CHOICE_YES));
    end();
    begin("RGBA16F");
    refused(GR_INIT(gr_texture_options, .srgb = GR_CHOICE_YES), "srgb");
    taken(GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR));
    end();
}

TEST(valid_options_are_accepted)
{
    begin("RGBA8");
    taken(GR_INIT(gr_texture_options, .anisotropy = 16));
    taken(GR_INIT(gr_texture_options,
                  .address = {GR_ADDRESS_WRAP, GR_ADDRESS_MIRROR, GR_ADDRESS_CLAMP},
                  .normalized_coordinates = GR_CHOICE_YES));
    taken(GR_INIT(gr_texture_options, .whole = true, .level = 99, .layer = 99,
                  .address = {GR_ADDRESS_WRAP, GR_ADDRESS_MIRROR, GR_ADDRESS_BORDER},
                  .filter = GR_FILTER_LINEAR, .mip_filter = GR_FILTER_LINEAR, .srgb = GR_CHOICE_YES,
                  .mip_bias = 0.5f, .min_level = 0.5f, .level_count = 2, .anisotropy = 4));
    taken(GR_INIT(gr_texture_options, .srgb = GR_CHOICE_NO, .as_float = GR_CHOICE_YES, .level = 1));
    end();
}

/* gr_buffer_texture() reads the options only during the call. */
TEST(options_may_change_after_the_call)
{
    begin("RGBA8");
    gr_texture_options options = GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR);
    CUtexObject first = gr_buffer_texture(buffer, &options);
    options = GR_INIT(gr_texture_options, .filter = GR_FILTER_POINT);
    CUtexObject second = gr_buffer_texture(buffer, &options);
    ck_assert(first != 0 && second != 0 && first != second);
    end();
}

/* More textures than the library initially allocates room for. */
TEST(a_mapping_can_have_a_hundred_textures)
{
    begin("RGBA8");
    CUtexObject textures[100];
    for (int i = 0; i < 100; i++) {
        textures[i] = gr_buffer_texture(
            buffer, &GR_INIT(gr_texture_options, .border = {(float)(i % 10), (float)(i / 10)}));
        ck_assert_msg(textures[i] != 0, "texture %d: %s", i, error_text());
        for (int k = 0; k < i; k++)
            ck_assert_uint_ne(textures[i], textures[k]);
    }
    end();
}
