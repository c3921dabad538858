/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The table of OpenGL internal formats (gl_format.h). It contains the formats that the NVIDIA
 * driver registers. The NVIDIA driver refuses all signed normalised, packed, depth and compressed
 * formats and, of the common formats, RGB16F.
 *
 * OpenGL converts between its storage and the elements in this table. The elements of RGBA2, RGBA4,
 * RGB12 and RGBA12 have more bits than the format. The NVIDIA driver stores all of them; an OpenGL
 * implementation that stores only the bits of the format drops the others when CUDA writes. The
 * bytes of sRGB formats are exchanged unchanged. Where OpenGL has three channels, the fourth has
 * the same value as with the NVIDIA driver: 1 in integer formats, 0 in the others.
 */
#include "softcuda/driver/graphics/gl_format.h"

#include <epoxy/gl.h>

#define UINT8  CU_AD_FORMAT_UNSIGNED_INT8
#define UINT16 CU_AD_FORMAT_UNSIGNED_INT16
#define UINT32 CU_AD_FORMAT_UNSIGNED_INT32
#define SINT8  CU_AD_FORMAT_SIGNED_INT8
#define SINT16 CU_AD_FORMAT_SIGNED_INT16
#define SINT32 CU_AD_FORMAT_SIGNED_INT32
#define HALF   CU_AD_FORMAT_HALF
#define FLOAT  CU_AD_FORMAT_FLOAT

/* Rows for 1, 2, 3 and 4 channels of these bits. */
#define COLOURS(bits, format, type)                                                                \
    {GL_R##bits, format, 1, GL_RED, type, false}, {GL_RG##bits, format, 2, GL_RG, type, false},    \
        {GL_RGB##bits, format, 4, GL_RGBA, type, true},                                            \
    {                                                                                              \
        GL_RGBA##bits, format, 4, GL_RGBA, type, false                                             \
    }
#define INTEGERS(bits, format, type)                                                               \
    {GL_R##bits, format, 1, GL_RED_INTEGER, type, false},                                          \
        {GL_RG##bits, format, 2, GL_RG_INTEGER, type, false},                                      \
        {GL_RGB##bits, format, 4, GL_RGBA_INTEGER, type, false},                                   \
    {                                                                                              \
        GL_RGBA##bits, format, 4, GL_RGBA_INTEGER, type, false                                     \
    }

static const soft_gl_format formats[] = {
    COLOURS(8, UINT8, GL_UNSIGNED_BYTE),
    COLOURS(16, UINT16, GL_UNSIGNED_SHORT),
    COLOURS(32F, FLOAT, GL_FLOAT),
    {GL_R16F, HALF, 1, GL_RED, GL_HALF_FLOAT, false},
    {GL_RG16F, HALF, 2, GL_RG, GL_HALF_FLOAT, false},
    {GL_RGBA16F, HALF, 4, GL_RGBA, GL_HALF_FLOAT, false},
    {GL_SRGB8, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, true},
    {GL_SRGB8_ALPHA8, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
    INTEGERS(8I, SINT8, GL_BYTE),
    INTEGERS(8UI, UINT8, GL_UNSIGNED_BYTE),
    INTEGERS(16I, SINT16, GL_SHORT),
    INTEGERS(16UI, UINT16, GL_UNSIGNED_SHORT),
    INTEGERS(32I, SINT32, GL_INT),
    INTEGERS(32UI, UINT32, GL_UNSIGNED_INT),
    {GL_RGBA2, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
    {GL_RGBA4, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
    {GL_RGB12, UINT16, 4, GL_RGBA, GL_UNSIGNED_SHORT, true},
    {GL_RGBA12, UINT16, 4, GL_RGBA, GL_UNSIGNED_SHORT, false},
    {GL_STENCIL_INDEX8, UINT8, 1, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, false},

    /* Unsized formats. OpenGL chooses the bits by the type of the application's data, usually 8. */
    {GL_RED, UINT8, 1, GL_RED, GL_UNSIGNED_BYTE, false},
    {GL_RG, UINT8, 2, GL_RG, GL_UNSIGNED_BYTE, false},
    {GL_RGB, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, true},
    {GL_RGBA, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
    {GL_SRGB, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, true},
    {GL_SRGB_ALPHA, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
};

const soft_gl_format *soft_gl_format_of(unsigned internal)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i].internal == internal)
            return &formats[i];
    return NULL;
}

bool soft_gl_target_registers(unsigned target)
{
    switch (target) {
    case GL_TEXTURE_2D:
    case GL_TEXTURE_3D:
    case GL_TEXTURE_RECTANGLE:
    case GL_TEXTURE_CUBE_MAP:
    case GL_TEXTURE_2D_ARRAY:
    case GL_RENDERBUFFER:
        return true;
    default:
        return false;
    }
}
