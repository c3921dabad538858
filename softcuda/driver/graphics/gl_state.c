/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Saves, sets and restores pixel store, pixel transfer and the active texture unit (gl_state.h). */
#include "softcuda/driver/graphics/gl_state.h"

#include <stddef.h>

#include <epoxy/gl.h>

/* The pixel store parameters, except those for compressed pixels, which are never transferred. */
static const struct {
    GLenum name;
    GLint plain;
} store[SOFT_GL_STORE_PARAMETERS] = {
    {GL_PACK_ROW_LENGTH, 0},     {GL_PACK_SKIP_ROWS, 0},     {GL_PACK_SKIP_PIXELS, 0},
    {GL_PACK_ALIGNMENT, 1},      {GL_UNPACK_ROW_LENGTH, 0},  {GL_UNPACK_SKIP_ROWS, 0},
    {GL_UNPACK_SKIP_PIXELS, 0},  {GL_UNPACK_SKIP_IMAGES, 0}, {GL_UNPACK_ALIGNMENT, 1},
    {GL_UNPACK_IMAGE_HEIGHT, 0}, /* OpenGL ES does not have the following ones */
    {GL_PACK_SWAP_BYTES, 0},     {GL_PACK_LSB_FIRST, 0},     {GL_PACK_IMAGE_HEIGHT, 0},
    {GL_PACK_SKIP_IMAGES, 0},    {GL_UNPACK_SWAP_BYTES, 0},  {GL_UNPACK_LSB_FIRST, 0},
};
#define ES_PARAMETERS 10

static size_t store_count(const soft_gl_state *state)
{
    return state->es ? ES_PARAMETERS : SOFT_GL_STORE_PARAMETERS;
}

static const struct {
    GLenum name;
    GLfloat plain;
} transfer[SOFT_GL_TRANSFER_PARAMETERS] = {
    {GL_MAP_COLOR, 0}, {GL_MAP_STENCIL, 0}, {GL_INDEX_SHIFT, 0}, {GL_INDEX_OFFSET, 0},
    {GL_RED_SCALE, 1}, {GL_GREEN_SCALE, 1}, {GL_BLUE_SCALE, 1},  {GL_ALPHA_SCALE, 1},
    {GL_RED_BIAS, 0},  {GL_GREEN_BIAS, 0},  {GL_BLUE_BIAS, 0},   {GL_ALPHA_BIAS, 0},
};

static bool is_compatibility(void)
{
    const int version = epoxy_gl_version();
    GLint profile = 0;
    if (version < 32)
        return version < 31 || epoxy_has_gl_extension("GL_ARB_compatibility");
    glGetIntegerv(GL_CONTEXT_PROFILE_MASK, &profile);
    return profile & GL_CONTEXT_COMPATIBILITY_PROFILE_BIT;
}

static void set_transfer(soft_gl_state *before)
{
    before->has_transfer = !before->es && is_compatibility();
    if (!before->has_transfer)
        return;
    for (size_t i = 0; i < SOFT_GL_TRANSFER_PARAMETERS; i++) {
        glGetFloatv(transfer[i].name, &before->transfer[i]);
        if (before->transfer[i] != transfer[i].plain)
            glPixelTransferf(transfer[i].name, transfer[i].plain);
    }
}

/* A buffer that another context has deleted cannot be bound again: returns 0 instead. */
static GLuint unbind(GLenum target, GLenum binding)
{
    GLint before = 0;
    glGetIntegerv(binding, &before);
    glBindBuffer(target, 0);
    return before && glIsBuffer((GLuint)before) ? (GLuint)before : 0;
}

void soft_gl_state_set(soft_gl_state *before)
{
    before->es = !epoxy_is_desktop_gl();
    before->pack_buffer = unbind(GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING);
    before->unpack_buffer = unbind(GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING);
    for (size_t i = 0; i < store_count(before); i++) {
        glGetIntegerv(store[i].name, &before->store[i]);
        glPixelStorei(store[i].name, store[i].plain);
    }
    set_transfer(before);
    before->invert_name = before->es ? GL_PACK_REVERSE_ROW_ORDER_ANGLE : GL_PACK_INVERT_MESA;
    before->has_invert = epoxy_has_gl_extension(before->es ? "GL_ANGLE_pack_reverse_row_order"
                                                           : "GL_MESA_pack_invert");
    if (before->has_invert) {
        glGetIntegerv(before->invert_name, &before->invert);
        glPixelStorei(before->invert_name, GL_FALSE);
    }
    GLint units = 1;
    glGetIntegerv(GL_ACTIVE_TEXTURE, &before->unit);
    glGetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &units);
    before->spare_unit = (unsigned)units - 1;
    glActiveTexture(GL_TEXTURE0 + before->spare_unit);
}

void soft_gl_state_restore(const soft_gl_state *before)
{
    glActiveTexture((GLenum)before->unit);
    if (before->has_invert)
        glPixelStorei(before->invert_name, before->invert);
    for (size_t i = 0; before->has_transfer && i < SOFT_GL_TRANSFER_PARAMETERS; i++)
        if (before->transfer[i] != transfer[i].plain)
            glPixelTransferf(transfer[i].name, before->transfer[i]);
    for (size_t i = 0; i < store_count(before); i++)
        glPixelStorei(store[i].name, before->store[i]);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, before->pack_buffer);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, before->unpack_buffer);
}
