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

static const soft_gl_format formats[] = {
    {GL_RGBA8, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
    {GL_RGB8, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, true},
    {GL_RG8, UINT8, 2, GL_RG, GL_UNSIGNED_BYTE, false},
    {GL_R8, UINT8, 1, GL_RED, GL_UNSIGNED_BYTE, false},
    {GL_SRGB8_ALPHA8, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
    {GL_SRGB8, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, true},
    {GL_RGBA16, UINT16, 4, GL_RGBA, GL_UNSIGNED_SHORT, false},
    {GL_RGB16, UINT16, 4, GL_RGBA, GL_UNSIGNED_SHORT, true},
    {GL_RG16, UINT16, 2, GL_RG, GL_UNSIGNED_SHORT, false},
    {GL_R16, UINT16, 1, GL_RED, GL_UNSIGNED_SHORT, false},
    {GL_RGBA16F, HALF, 4, GL_RGBA, GL_HALF_FLOAT, false},
    {GL_RG16F, HALF, 2, GL_RG, GL_HALF_FLOAT, false},
    {GL_R16F, HALF, 1, GL_RED, GL_HALF_FLOAT, false},
    {GL_RGBA32F, FLOAT, 4, GL_RGBA, GL_FLOAT, false},
    {GL_RGB32F, FLOAT, 4, GL_RGBA, GL_FLOAT, true},
    {GL_RG32F, FLOAT, 2, GL_RG, GL_FLOAT, false},
    {GL_R32F, FLOAT, 1, GL_RED, GL_FLOAT, false},

    {GL_RGBA8I, SINT8, 4, GL_RGBA_INTEGER, GL_BYTE, false},
    {GL_RGB8I, SINT8, 4, GL_RGBA_INTEGER, GL_BYTE, false},
    {GL_RG8I, SINT8, 2, GL_RG_INTEGER, GL_BYTE, false},
    {GL_R8I, SINT8, 1, GL_RED_INTEGER, GL_BYTE, false},
    {GL_RGBA8UI, UINT8, 4, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, false},
    {GL_RGB8UI, UINT8, 4, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, false},
    {GL_RG8UI, UINT8, 2, GL_RG_INTEGER, GL_UNSIGNED_BYTE, false},
    {GL_R8UI, UINT8, 1, GL_RED_INTEGER, GL_UNSIGNED_BYTE, false},
    {GL_RGBA16I, SINT16, 4, GL_RGBA_INTEGER, GL_SHORT, false},
    {GL_RGB16I, SINT16, 4, GL_RGBA_INTEGER, GL_SHORT, false},
    {GL_RG16I, SINT16, 2, GL_RG_INTEGER, GL_SHORT, false},
    {GL_R16I, SINT16, 1, GL_RED_INTEGER, GL_SHORT, false},
    {GL_RGBA16UI, UINT16, 4, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, false},
    {GL_RGB16UI, UINT16, 4, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, false},
    {GL_RG16UI, UINT16, 2, GL_RG_INTEGER, GL_UNSIGNED_SHORT, false},
    {GL_R16UI, UINT16, 1, GL_RED_INTEGER, GL_UNSIGNED_SHORT, false},
    {GL_RGBA32I, SINT32, 4, GL_RGBA_INTEGER, GL_INT, false},
    {GL_RGB32I, SINT32, 4, GL_RGBA_INTEGER, GL_INT, false},
    {GL_RG32I, SINT32, 2, GL_RG_INTEGER, GL_INT, false},
    {GL_R32I, SINT32, 1, GL_RED_INTEGER, GL_INT, false},
    {GL_RGBA32UI, UINT32, 4, GL_RGBA_INTEGER, GL_UNSIGNED_INT, false},
    {GL_RGB32UI, UINT32, 4, GL_RGBA_INTEGER, GL_UNSIGNED_INT, false},
    {GL_RG32UI, UINT32, 2, GL_RG_INTEGER, GL_UNSIGNED_INT, false},
    {GL_R32UI, UINT32, 1, GL_RED_INTEGER, GL_UNSIGNED_INT, false},

    {GL_RGBA2, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
    {GL_RGBA4, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
    {GL_RGB12, UINT16, 4, GL_RGBA, GL_UNSIGNED_SHORT, true},
    {GL_RGBA12, UINT16, 4, GL_RGBA, GL_UNSIGNED_SHORT, false},
    {GL_STENCIL_INDEX8, UINT8, 1, GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, false},

    /*
     * Unsized formats. OpenGL chooses the number of bits from the type of the application's data,
     * usually 8.
     */
    {GL_RGBA, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
    {GL_RGB, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, true},
    {GL_RG, UINT8, 2, GL_RG, GL_UNSIGNED_BYTE, false},
    {GL_RED, UINT8, 1, GL_RED, GL_UNSIGNED_BYTE, false},
    {GL_SRGB_ALPHA, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, false},
    {GL_SRGB, UINT8, 4, GL_RGBA, GL_UNSIGNED_BYTE, true},
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
