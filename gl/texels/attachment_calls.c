/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/texels/texels.h"

#include <epoxy/gl.h>

unsigned int gl_attachment_point(unsigned int mask, unsigned int format)
{
    if (mask == GL_COLOR_BUFFER_BIT)
        return GL_COLOR_ATTACHMENT0;
    if (format == GL_DEPTH24_STENCIL8 || format == GL_DEPTH32F_STENCIL8)
        return GL_DEPTH_STENCIL_ATTACHMENT;
    return mask == GL_DEPTH_BUFFER_BIT ? GL_DEPTH_ATTACHMENT : GL_STENCIL_ATTACHMENT;
}

void gl_attachment_select(const struct gl_attachment *a, struct gl_saved *saved)
{
    gl_save(saved, GL_SAVE(READ_BUFFER));
    if (a->mask == GL_COLOR_BUFFER_BIT && (GLenum)saved->value[GL_STATE_READ_BUFFER] != a->name)
        glReadBuffer(a->name);
}
