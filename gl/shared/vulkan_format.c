/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The formats that OpenGL, Vulkan and CUDA all support: 1, 2 or 4 channels of whole bytes. */
#include "gl/shared/vulkan_format.h"

#include <stddef.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"
#include "gl/object/format.h"

#define ROW(gl, vk)                                                                                \
    {                                                                                              \
        GL_##gl, VK_FORMAT_##vk                                                                    \
    }
/* Rows for 1, 2 and 4 channels of one type. */
#define ROWS(bits, gl, vk)                                                                         \
    ROW(R##bits##gl, R##bits##_##vk), ROW(RG##bits##gl, R##bits##G##bits##_##vk),                  \
        ROW(RGBA##bits##gl, R##bits##G##bits##B##bits##A##bits##_##vk)

static const struct gl_vulkan_format formats[] = {
    ROWS(8, , UNORM),
    ROWS(16, , UNORM),
    ROWS(8, _SNORM, SNORM),
    ROWS(16, _SNORM, SNORM),
    ROW(SRGB8_ALPHA8, R8G8B8A8_SRGB),
    ROWS(16, F, SFLOAT),
    ROWS(32, F, SFLOAT),
    ROWS(8, I, SINT),
    ROWS(8, UI, UINT),
    ROWS(16, I, SINT),
    ROWS(16, UI, UINT),
    ROWS(32, I, SINT),
    ROWS(32, UI, UINT),
};

const struct gl_vulkan_format *gl_vulkan_format_of(unsigned int internal, const char *call)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].internal == internal)
            return &formats[i];
    const struct gl_format *known = gl_format_of(internal);
    if (known && known->refused)
        gr_fail(GR_ERR_UNSUPPORTED, call, "%s cannot be shared: %s. Use %s.", known->name,
                known->refused, known->instead);
    else if (known)
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "%s cannot be shared: it is unsized, has 3 channels, or has channels smaller than "
                "a byte. Use a sized format of 1, 2 or 4 channels, for example GL_RGBA8; or "
                "GR_TRANSPORT_INTEROP.",
                known->name);
    else
        gr_fail(GR_ERR_UNSUPPORTED, call,
                "0x%x is not a format that CUDA accepts from OpenGL. Use a sized one, for example "
                "GL_RGBA8.",
                internal);
    return NULL;
}
