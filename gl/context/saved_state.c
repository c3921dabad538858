/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Saves and restores the OpenGL state of the application. */
#include "gl/context/saved_state.h"

#include <stddef.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"

/* ---- Bindings -------------------------------------------------------------------------------- */

static GLuint bound_to(GLenum query)
{
    GLint name = 0;
    glGetIntegerv(query, &name);
    return (GLuint)name;
}

/* The binding points of buffers, and the one to use where a deleted buffer is bound. */
static const struct {
    GLenum target, query, otherwise;
} buffer_points[] = {
    {GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING, GL_ARRAY_BUFFER},
    {GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING, GL_TEXTURE_BUFFER},
    {GL_ARRAY_BUFFER, GL_ARRAY_BUFFER_BINDING, 0},
    {GL_TEXTURE_BUFFER, GL_TEXTURE_BUFFER_BINDING, 0},
    {GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING, 0},
    {GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING, 0},
};

struct gl_bound gl_bind_buffer(unsigned int target, unsigned int name)
{
    struct gl_bound bound = {.target = target};
    size_t i = 0;
    while (buffer_points[i].target != target)
        i++;
    bound.name = bound_to(buffer_points[i].query);
    if (bound.name && !glIsBuffer(bound.name)) {
        if (buffer_points[i].otherwise)
            return gl_bind_buffer(buffer_points[i].otherwise, name);
        bound.name = 0;
    }
    glBindBuffer(target, name);
    return bound;
}

static bool is_deleted(GLuint texture)
{
    return texture && !glIsTexture(texture);
}

struct gl_bound gl_bind_texture(unsigned int target, unsigned int query, unsigned int name)
{
    struct gl_bound bound = {.target = target, .name = bound_to(query)};
    if (is_deleted(bound.name)) {
        GLuint unit = bound_to(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS);
        bound.unit = bound_to(GL_ACTIVE_TEXTURE);
        while (is_deleted(bound.name) && unit > 0) {
            glActiveTexture(GL_TEXTURE0 + --unit);
            bound.name = bound_to(query);
        }
        if (is_deleted(bound.name))
            bound.name = 0;
    }
    glBindTexture(target, name);
    return bound;
}

void gl_bind_texture_again(const struct gl_bound *bound)
{
    glBindTexture(bound->target, bound->name);
    if (bound->unit)
        glActiveTexture(bound->unit);
}

unsigned int gl_bind_renderbuffer(unsigned int name)
{
    const GLuint before = bound_to(GL_RENDERBUFFER_BINDING);
    glBindRenderbuffer(GL_RENDERBUFFER, name);
    return glIsRenderbuffer(before) ? before : 0;
}

void gl_blit(int x, int y, int width, int height, unsigned int mask)
{
    const GLboolean scissor = glIsEnabled(GL_SCISSOR_TEST);
    const GLboolean discard = glIsEnabled(GL_RASTERIZER_DISCARD);
    glDisable(GL_SCISSOR_TEST);
    glDisable(GL_RASTERIZER_DISCARD);
    glBlitFramebuffer(x, y, x + width, y + height, 0, 0, width, height, mask, GL_NEAREST);
    if (scissor)
        glEnable(GL_SCISSOR_TEST);
    if (discard)
        glEnable(GL_RASTERIZER_DISCARD);
}

/* ---- Pending errors: restored by a call that fails with the same error ----------------------- */

/* The maximum number of errors to read, because a lost context reports errors without end. */
#define MOST_ERRORS 16

unsigned int gl_errors_take(void)
{
    GLenum first = glGetError();
    for (int i = 0; first != GL_NO_ERROR && i < MOST_ERRORS && glGetError() != GL_NO_ERROR; i++)
        continue;
    return first;
}

static void run_out_of_memory(void)
{
    GLuint name;
    glGenBuffers(1, &name);
    const struct gl_bound bound = gl_bind_buffer(GL_COPY_WRITE_BUFFER, name);
    glBufferData(bound.target, PTRDIFF_MAX, NULL, GL_STATIC_DRAW);
    glBindBuffer(bound.target, bound.name);
    glDeleteBuffers(1, &name);
}

/* Calls glUnmapBuffer() without a bound buffer, which OpenGL refuses. */
static void unmap_nothing(void)
{
    const struct gl_bound bound = gl_bind_buffer(GL_COPY_WRITE_BUFFER, 0);
    glUnmapBuffer(bound.target);
    glBindBuffer(bound.target, bound.name);
}

static void use_incomplete_framebuffer(void)
{
    GLint before = 0;
    GLuint name;
    glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &before);
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, name);
    glBlitFramebuffer(0, 0, 1, 1, 0, 0, 1, 1, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)before);
    glDeleteFramebuffers(1, &name);
}

void gl_errors_end(unsigned int before)
{
    gl_errors_take();
    switch (before) {
    case GL_INVALID_ENUM:
        glHint(GL_NONE, GL_NONE);
        break;
    case GL_INVALID_VALUE:
        glDeleteBuffers(-1, NULL);
        break;
    case GL_INVALID_OPERATION:
        unmap_nothing();
        break;
    case GL_INVALID_FRAMEBUFFER_OPERATION:
        use_incomplete_framebuffer();
        break;
    case GL_OUT_OF_MEMORY:
        run_out_of_memory();
        break;
    default: /* a lost context repeats its error by itself */
        break;
    }
}

gr_status gl_errors_check_lost(const char *call)
{
    const GLenum error = gl_errors_take();
    gl_errors_end(error);
    if (error != GL_CONTEXT_LOST)
        return GR_OK;
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_OPENGL, GL_CONTEXT_LOST, "GL_CONTEXT_LOST",
                        "glGetError",
                        "%s: the OpenGL context is lost (glGetGraphicsResetStatus). Create another "
                        "one, and all its objects again.",
                        call);
}

const char *gl_error_name(unsigned int error)
{
    static const char *const names[] = {"GL_INVALID_ENUM",
                                        "GL_INVALID_VALUE",
                                        "GL_INVALID_OPERATION",
                                        "GL_STACK_OVERFLOW",
                                        "GL_STACK_UNDERFLOW",
                                        "GL_OUT_OF_MEMORY",
                                        "GL_INVALID_FRAMEBUFFER_OPERATION",
                                        "GL_CONTEXT_LOST"}; /* consecutive constants */
    if (error - GL_INVALID_ENUM < sizeof(names) / sizeof(names[0]))
        return names[error - GL_INVALID_ENUM];
    return error ? "an unknown OpenGL error" : "GL_NO_ERROR";
}

/* ---- State that affects texel transfers ------------------------------------------------------ */

/*
 * Pixel store parameters that change the transfer of texels. Those for compressed texels are not in
 * the list, because compressed texels are never transferred.
 */
static const struct {
    GLenum name;
    GLint neutral;
} store_parameters[GL_STORE_PARAMETERS] = {
    {GL_PACK_ALIGNMENT, 1},    {GL_UNPACK_ALIGNMENT, 1},   {GL_PACK_ROW_LENGTH, 0},
    {GL_UNPACK_ROW_LENGTH, 0}, {GL_PACK_IMAGE_HEIGHT, 0},  {GL_UNPACK_IMAGE_HEIGHT, 0},
    {GL_PACK_SKIP_PIXELS, 0},  {GL_UNPACK_SKIP_PIXELS, 0}, {GL_PACK_SKIP_ROWS, 0},
    {GL_UNPACK_SKIP_ROWS, 0},  {GL_PACK_SKIP_IMAGES, 0},   {GL_UNPACK_SKIP_IMAGES, 0},
    {GL_PACK_SWAP_BYTES, 0},   {GL_UNPACK_SWAP_BYTES, 0},  {GL_PACK_LSB_FIRST, 0},
    {GL_UNPACK_LSB_FIRST, 0},  {GL_PACK_INVERT_MESA, 0}, /* the last one: gl_context.inverts */
};

/* The pixel transfer parameters of compatibility contexts, which change texels by arithmetic. */
static const struct {
    GLenum name;
    GLfloat neutral;
} transfer_parameters[GL_TRANSFER_PARAMETERS] = {
    {GL_RED_SCALE, 1},   {GL_GREEN_SCALE, 1}, {GL_BLUE_SCALE, 1},  {GL_ALPHA_SCALE, 1},
    {GL_RED_BIAS, 0},    {GL_GREEN_BIAS, 0},  {GL_BLUE_BIAS, 0},   {GL_ALPHA_BIAS, 0},
    {GL_MAP_COLOR, 0},   {GL_MAP_STENCIL, 0}, {GL_INDEX_SHIFT, 0}, {GL_INDEX_OFFSET, 0},
    {GL_DEPTH_SCALE, 1}, {GL_DEPTH_BIAS, 0},
};

void gl_pixel_state_begin(struct gl_pixel_state *before, const struct gl_context *context)
{
    GLint profile = 0;
    before->pack_buffer = gl_bind_buffer(GL_PIXEL_PACK_BUFFER, 0);
    before->unpack_buffer = gl_bind_buffer(GL_PIXEL_UNPACK_BUFFER, 0);
    before->stored = GL_STORE_PARAMETERS - !context->inverts;
    for (size_t i = 0; i < before->stored; i++) {
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
    for (size_t i = 0; i < before->stored; i++)
        if (before->store[i] != store_parameters[i].neutral)
            glPixelStorei(store_parameters[i].name, before->store[i]);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, before->pack_buffer.name);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, before->unpack_buffer.name);
}
