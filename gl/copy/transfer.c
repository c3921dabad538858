/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of buffers, and the state of OpenGL that is put aside while texels are moved. */
#include "gl/copy/transfer.h"

#include <epoxy/gl.h>

#include "gl/buffer_storage.h"

/* ---- Buffers --------------------------------------------------------------------------------- */

/* Binding points that no draw looks at. */
static GLuint bind(GLenum target, GLenum query, GLuint name)
{
    GLint before = 0;
    glGetIntegerv(query, &before);
    glBindBuffer(target, name);
    return (GLuint)before;
}

static GLuint bind_object(GLuint name)
{
    return bind(GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING, name);
}

bool gl_buffer_is_locked(unsigned int name)
{
    GLint mapped = GL_FALSE, access = 0;
    GLuint before = bind_object(name);
    glGetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_MAPPED, &mapped);
    if (mapped)
        glGetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_ACCESS_FLAGS, &access);
    glBindBuffer(GL_COPY_READ_BUFFER, before);
    return mapped && !(access & GL_MAP_PERSISTENT_BIT);
}

void gl_buffer_read(unsigned int name, void *to, size_t size)
{
    GLuint before = bind_object(name);
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0, (GLsizeiptr)size, to);
    glBindBuffer(GL_COPY_READ_BUFFER, before);
}

/* Immutable storage refuses glBufferSubData unless it was made for it. */
static bool takes_data(GLuint name)
{
    GLint flags = 0;
    if (!gl_buffer_is_immutable(name, false))
        return true;
    glGetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_STORAGE_FLAGS, &flags);
    return flags & GL_DYNAMIC_STORAGE_BIT;
}

/* It takes copies from any other buffer. */
static void write_through(GLuint *scratch, const void *from, size_t size)
{
    if (!*scratch)
        glGenBuffers(1, scratch);
    GLuint before = bind(GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING, *scratch);
    glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, from, GL_STREAM_COPY);
    glCopyBufferSubData(GL_COPY_WRITE_BUFFER, GL_COPY_READ_BUFFER, 0, 0, (GLsizeiptr)size);
    glBindBuffer(GL_COPY_WRITE_BUFFER, before);
}

void gl_buffer_write(unsigned int name, const void *from, size_t size, unsigned int *scratch)
{
    GLuint before = bind_object(name);
    if (takes_data(name))
        glBufferSubData(GL_COPY_READ_BUFFER, 0, (GLsizeiptr)size, from);
    else
        write_through(scratch, from, size);
    glBindBuffer(GL_COPY_READ_BUFFER, before);
}

/* ---- The state that moving texels depends on ------------------------------------------------- */

/* Compressed texels, which have settings of their own, are never moved. */
static const struct {
    GLenum name;
    GLint neutral;
} store_parameters[GL_STORE_PARAMETERS] = {
    {GL_PACK_ALIGNMENT, 1},    {GL_UNPACK_ALIGNMENT, 1},   {GL_PACK_ROW_LENGTH, 0},
    {GL_UNPACK_ROW_LENGTH, 0}, {GL_PACK_IMAGE_HEIGHT, 0},  {GL_UNPACK_IMAGE_HEIGHT, 0},
    {GL_PACK_SKIP_PIXELS, 0},  {GL_UNPACK_SKIP_PIXELS, 0}, {GL_PACK_SKIP_ROWS, 0},
    {GL_UNPACK_SKIP_ROWS, 0},  {GL_PACK_SKIP_IMAGES, 0},   {GL_UNPACK_SKIP_IMAGES, 0},
    {GL_PACK_SWAP_BYTES, 0},   {GL_UNPACK_SWAP_BYTES, 0},  {GL_PACK_LSB_FIRST, 0},
    {GL_UNPACK_LSB_FIRST, 0},
};

/* How a compatibility context calculates with texels. */
static const struct {
    GLenum name;
    GLfloat neutral;
} transfer_parameters[GL_TRANSFER_PARAMETERS] = {
    {GL_RED_SCALE, 1}, {GL_GREEN_SCALE, 1}, {GL_BLUE_SCALE, 1},  {GL_ALPHA_SCALE, 1},
    {GL_RED_BIAS, 0},  {GL_GREEN_BIAS, 0},  {GL_BLUE_BIAS, 0},   {GL_ALPHA_BIAS, 0},
    {GL_MAP_COLOR, 0}, {GL_MAP_STENCIL, 0}, {GL_INDEX_SHIFT, 0}, {GL_INDEX_OFFSET, 0},
};

void gl_pixel_state_begin(struct gl_pixel_state *before)
{
    GLint profile = 0;
    before->pack_buffer = (int)bind(GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING, 0);
    before->unpack_buffer = (int)bind(GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING, 0);
    for (size_t i = 0; i < GL_STORE_PARAMETERS; i++) {
        glGetIntegerv(store_parameters[i].name, &before->store[i]);
        if (before->store[i] != store_parameters[i].neutral)
            glPixelStorei(store_parameters[i].name, store_parameters[i].neutral);
    }
    glGetIntegerv(GL_CONTEXT_PROFILE_MASK, &profile);
    before->compatibility = profile & GL_CONTEXT_COMPATIBILITY_PROFILE_BIT;
    for (size_t i = 0; before->compatibility && i < GL_TRANSFER_PARAMETERS; i++) {
        glGetFloatv(transfer_parameters[i].name, &before->transfer[i]);
        if (before->transfer[i] != transfer_parameters[i].neutral)
            glPixelTransferf(transfer_parameters[i].name, transfer_parameters[i].neutral);
    }
}

void gl_pixel_state_end(const struct gl_pixel_state *before)
{
    for (size_t i = 0; before->compatibility && i < GL_TRANSFER_PARAMETERS; i++)
        if (before->transfer[i] != transfer_parameters[i].neutral)
            glPixelTransferf(transfer_parameters[i].name, before->transfer[i]);
    for (size_t i = 0; i < GL_STORE_PARAMETERS; i++)
        if (before->store[i] != store_parameters[i].neutral)
            glPixelStorei(store_parameters[i].name, before->store[i]);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, (GLuint)before->pack_buffer);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, (GLuint)before->unpack_buffer);
}
