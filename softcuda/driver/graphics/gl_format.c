/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The table of the OpenGL internal formats that the NVIDIA driver registers (gl_format.h).
 *
 * OpenGL converts between its storage and the elements in this table. The bytes of sRGB formats are
 * exchanged unchanged. Where OpenGL has three channels, the fourth has the same value as with the
 * NVIDIA driver: 1 in integer formats, 0 in the others.
 */
#include "softcuda/driver/graphics/gl_format.h"

#include <epoxy/gl.h>

enum kind { NORMALIZED, SRGB_COLOR, FLOATS, INTEGER };

#define FORMAT(gl, element, of_gl, kind, transfer, type)                                           \
    {GL_##gl,   CU_AD_FORMAT_##element,           (of_gl) == 3 ? 4 : (of_gl), GL_##transfer,       \
     GL_##type, (of_gl) == 3 && (kind) != INTEGER},
#define DEPTH(gl, size)
#define PACKED(gl, element, transfer, type, wide)
#define STENCIL(gl, other)
#define REFUSED(gl, why, use)
static const soft_gl_format formats[] = {
#include "gl/format/formats.def"
};

const soft_gl_format *soft_gl_format_of(unsigned internal)
{
    static const unsigned components[] = FORMATS_BY_COMPONENTS;
    if (internal - 1 < 4)
        internal = components[internal - 1];
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
