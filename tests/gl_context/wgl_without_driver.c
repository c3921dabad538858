/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Each call without a CUDA driver: the error must name the missing file and the remedy. */
#include "wgl.h"

#include <string.h>

static const char *driver_is_missing(bool failed)
{
    if (!failed)
        FAIL("it succeeded without a driver");
    PASS_ON(wgl_refused(GR_ERR_NO_DRIVER, "nvcuda.dll could not be loaded: "));
    return NULL;
}

static const char *from_buffer(void)
{
    return driver_is_missing(!gr_from_gl_buffer(wgl_buffer("1234", 4), GR_READ_WRITE));
}

static const char *from_buffer_with(void)
{
    const gr_gl_options any = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY);
    return driver_is_missing(!gr_from_gl_buffer_with(wgl_buffer("1234", 4), GR_READ_WRITE, &any));
}

static const char *from_image(void)
{
    return driver_is_missing(!gr_from_gl_image(wgl_texture(4), GL_TEXTURE_2D, GR_READ_WRITE));
}

static const char *from_image_with(void)
{
    const gr_gl_options any = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_ANY);
    return driver_is_missing(
        !gr_from_gl_image_with(wgl_texture(4), GL_TEXTURE_2D, GR_READ_WRITE, &any));
}

static const char *map_buffer(void)
{
    return driver_is_missing(!gr_map_gl_buffer(wgl_buffer("1234", 4), GR_READ_WRITE, STREAM));
}

static const char *create_buffer(void)
{
    return driver_is_missing(!gr_create_gl_buffer(64, GR_READ_WRITE, NULL));
}

static const char *create_image(void)
{
    const gr_gl_image_desc desc = GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D,
                                          .internal_format = GL_RGBA8, .width = 4, .height = 4);
    return driver_is_missing(!gr_create_gl_image(&desc, GR_READ_WRITE, NULL));
}

static const char *probe(void)
{
    static const gr_transport transports[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_SHARED,
                                              GR_TRANSPORT_COPY, GR_TRANSPORT_PEER};
    for (size_t i = 0; i < COUNT(transports); i++)
        PASS_ON(driver_is_missing(!gr_gl_probe(transports[i])));
    return NULL;
}

static const char *ask_device(void)
{
    int device = 7;
    PASS_ON(driver_is_missing(gr_gl_cuda_device(&device) == GR_ERR_NO_DRIVER));
    REQUIRE(device == 7);
    return NULL;
}

/* The message must not suggest anything that this library does not have. */
static const char *advice_names_only_what_the_library_has(void)
{
    REQUIRE(!gr_from_gl_buffer(wgl_buffer("1234", 4), GR_READ_WRITE));
    const gr_error *error = gr_last_error();
    REQUIRE(strstr(error->message, "Install NVIDIA's current driver"));
    REQUIRE(strstr(error->message, "GR_CUDA_DRIVER"));
    REQUIRE(!strstr(error->message, "software"));
    REQUIRE(strcmp(error->call, "LoadLibraryExW") == 0);
    return NULL;
}

static const struct {
    const char *name;
    const char *(*run)(void);
} cases[] = {
    {"gr_from_gl_buffer", from_buffer},
    {"gr_from_gl_buffer_with", from_buffer_with},
    {"gr_from_gl_image", from_image},
    {"gr_from_gl_image_with", from_image_with},
    {"gr_map_gl_buffer", map_buffer},
    {"gr_create_gl_buffer", create_buffer},
    {"gr_create_gl_image", create_image},
    {"gr_gl_probe", probe},
    {"gr_gl_cuda_device", ask_device},
    {"advice_names_only_what_the_library_has", advice_names_only_what_the_library_has},
};

void wgl_without_driver(void)
{
    static const char group[] = "without_driver";
    bool is_there = gr_cuda_load(false) == GR_OK;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (is_there)
            plain_skip(group, cases[i].name, "this machine has nvcuda.dll");
        else
            wgl_case(group, cases[i].name, cases[i].run);
}
