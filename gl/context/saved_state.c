/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Saves and restores the OpenGL state of the application. */
#include "gl/context/saved_state.h"

#include <stddef.h>

#include <epoxy/gl.h>

#include "lib/base/error.h"

/* A state that has a target or one value. */
struct state {
    GLenum target;    /* the binding point, or the name of the flag */
    GLenum query;     /* the constant for glGetIntegerv() */
    GLenum otherwise; /* the target to use where a deleted buffer is bound; 0: none */
};

/* clang-format off */
#define BOUND(name, otherwise) {GL_##name, GL_##name##_BINDING, otherwise}
/* clang-format on */

static const struct state states[GL_STATES] = {
    [GL_STATE_READ_FRAMEBUFFER] = BOUND(READ_FRAMEBUFFER, 0),
    [GL_STATE_DRAW_FRAMEBUFFER] = BOUND(DRAW_FRAMEBUFFER, 0),
    [GL_STATE_READ_BUFFER] = {0, GL_READ_BUFFER, 0},
    [GL_STATE_CLAMP] = {0, GL_CLAMP_READ_COLOR, 0},
    [GL_STATE_SCISSOR] = {GL_SCISSOR_TEST, 0, 0},
    [GL_STATE_RASTERIZER_DISCARD] = {GL_RASTERIZER_DISCARD, 0, 0},
    [GL_STATE_FRAMEBUFFER_SRGB] = {GL_FRAMEBUFFER_SRGB, 0, 0},
    [GL_STATE_ACTIVE_TEXTURE] = {0, GL_ACTIVE_TEXTURE, 0},
    [GL_STATE_RENDERBUFFER] = BOUND(RENDERBUFFER, 0),
    [GL_STATE_COPY_READ] = BOUND(COPY_READ_BUFFER, GL_ARRAY_BUFFER),
    [GL_STATE_COPY_WRITE] = BOUND(COPY_WRITE_BUFFER, GL_UNIFORM_BUFFER),
    [GL_STATE_ARRAY] = BOUND(ARRAY_BUFFER, 0),
    [GL_STATE_UNIFORM] = BOUND(UNIFORM_BUFFER, 0),
    [GL_STATE_PIXEL_PACK] = BOUND(PIXEL_PACK_BUFFER, 0),
    [GL_STATE_PIXEL_UNPACK] = BOUND(PIXEL_UNPACK_BUFFER, 0),
};

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
    GL_SAVED(before, 0);
    glGenBuffers(1, &name);
    const GLenum target = gl_bind_buffer(&before, GL_COPY_WRITE_BUFFER, name);
    glBufferData(target, PTRDIFF_MAX, NULL, GL_STATIC_DRAW);
    glDeleteBuffers(1, &name);
}

static void use_incomplete_framebuffer(void)
{
    GLuint name;
    GL_SAVED(before, GL_SAVE(READ_FRAMEBUFFER));
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, name);
    glBlitFramebuffer(0, 0, 1, 1, 0, 0, 1, 1, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glDeleteFramebuffers(1, &name);
}

/* Clears the errors of grinterop, and raises the error of the application again. */
static void raise_error(GLenum error)
{
    GL_SAVED(before, 0);
    gl_errors_take();
    switch (error) {
    case GL_INVALID_ENUM:
        glHint(GL_NONE, GL_NONE);
        break;
    case GL_INVALID_VALUE:
        glDeleteBuffers(-1, NULL);
        break;
    case GL_INVALID_OPERATION:
        glUnmapBuffer(gl_bind_buffer(&before, GL_COPY_WRITE_BUFFER, 0)); /* without a buffer */
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

unsigned int gl_errors_end(struct gl_saved *saved)
{
    const GLenum error = gl_errors_take(), before = (GLenum)saved->value[GL_STATE_ERRORS];
    saved->states &= ~GL_SAVE(ERRORS);
    if (before != GL_NO_ERROR)
        raise_error(before);
    return error;
}

gr_status gl_errors_check_lost(void)
{
    const GLenum error = gl_errors_take();
    raise_error(error);
    if (error != GL_CONTEXT_LOST)
        return GR_OK;
    return gr_fail_code(GR_ERR_GL, GR_DOMAIN_OPENGL, GL_CONTEXT_LOST, "GL_CONTEXT_LOST",
                        "glGetError",
                        "%s: the OpenGL context is lost (glGetGraphicsResetStatus). Create another "
                        "one, and all its objects again.",
                        gr_call);
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
    enum { EVERY, DESKTOP, DESKTOP_INVERTS, ES_INVERTS } has; /* the contexts that have it */
} store_parameters[GL_STORE_PARAMETERS] = {
    {GL_PACK_ALIGNMENT, 1, EVERY},
    {GL_UNPACK_ALIGNMENT, 1, EVERY},
    {GL_PACK_ROW_LENGTH, 0, EVERY},
    {GL_UNPACK_ROW_LENGTH, 0, EVERY},
    {GL_PACK_IMAGE_HEIGHT, 0, DESKTOP},
    {GL_UNPACK_IMAGE_HEIGHT, 0, EVERY},
    {GL_PACK_SKIP_PIXELS, 0, EVERY},
    {GL_UNPACK_SKIP_PIXELS, 0, EVERY},
    {GL_PACK_SKIP_ROWS, 0, EVERY},
    {GL_UNPACK_SKIP_ROWS, 0, EVERY},
    {GL_PACK_SKIP_IMAGES, 0, DESKTOP},
    {GL_UNPACK_SKIP_IMAGES, 0, EVERY},
    {GL_PACK_SWAP_BYTES, 0, DESKTOP},
    {GL_UNPACK_SWAP_BYTES, 0, DESKTOP},
    {GL_PACK_LSB_FIRST, 0, DESKTOP},
    {GL_UNPACK_LSB_FIRST, 0, DESKTOP},
    {GL_PACK_INVERT_MESA, 0, DESKTOP_INVERTS},
    {GL_PACK_REVERSE_ROW_ORDER_ANGLE, 0, ES_INVERTS},
};

static bool has_store(const struct gl_saved *saved, size_t j)
{
    switch (store_parameters[j].has) {
    case DESKTOP:
        return !saved->es;
    case DESKTOP_INVERTS:
        return saved->inverts && !saved->es;
    case ES_INVERTS:
        return saved->inverts && saved->es;
    default:
        return true;
    }
}

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

static void get_pixels(struct gl_saved *saved)
{
    gl_bind_buffer(saved, GL_PIXEL_PACK_BUFFER, 0);
    gl_bind_buffer(saved, GL_PIXEL_UNPACK_BUFFER, 0);
    for (size_t j = 0; j < GL_STORE_PARAMETERS; j++) {
        saved->store[j] = store_parameters[j].neutral;
        if (has_store(saved, j))
            glGetIntegerv(store_parameters[j].name, &saved->store[j]);
        if (saved->store[j] != store_parameters[j].neutral)
            glPixelStorei(store_parameters[j].name, store_parameters[j].neutral);
    }
    for (size_t j = 0; saved->compatibility && j < GL_TRANSFER_PARAMETERS; j++) {
        glGetFloatv(transfer_parameters[j].name, &saved->transfer[j]);
        if (saved->transfer[j] != transfer_parameters[j].neutral)
            glPixelTransferf(transfer_parameters[j].name, transfer_parameters[j].neutral);
    }
}

static void set_pixels(const struct gl_saved *saved)
{
    for (size_t j = 0; saved->compatibility && j < GL_TRANSFER_PARAMETERS; j++)
        if (saved->transfer[j] != transfer_parameters[j].neutral)
            glPixelTransferf(transfer_parameters[j].name, saved->transfer[j]);
    for (size_t j = 0; j < GL_STORE_PARAMETERS; j++)
        if (saved->store[j] != store_parameters[j].neutral)
            glPixelStorei(store_parameters[j].name, saved->store[j]);
}

/* ---- All state ------------------------------------------------------------------------------- */

static inline void get_value(struct gl_saved *saved, enum gl_state i)
{
    saved->value[i] = 0;
    glGetIntegerv(states[i].query, &saved->value[i]);
}

/* Saves a state, and sets it as enum gl_state says. */
static void get(struct gl_saved *saved, enum gl_state i)
{
    switch (i) {
    case GL_STATE_ERRORS:
        saved->value[i] = (GLint)gl_errors_take();
        break;
    case GL_STATE_PIXELS:
        get_pixels(saved);
        break;
    case GL_STATE_SCISSOR:
    case GL_STATE_RASTERIZER_DISCARD:
    case GL_STATE_FRAMEBUFFER_SRGB:
        saved->value[i] = glIsEnabled(states[i].target);
        if (saved->value[i])
            glDisable(states[i].target);
        break;
    case GL_STATE_CLAMP:
        get_value(saved, i);
        glClampColor(GL_CLAMP_READ_COLOR, GL_FALSE);
        break;
    case GL_STATE_SHADER:
        if (!gl_shader_bindings_get(&saved->shader, saved->ours))
            saved->states &= ~GL_SAVE(SHADER);
        break;
    default:
        get_value(saved, i);
        break;
    }
}

bool gl_save(struct gl_saved *saved, unsigned these)
{
    saved->states |= these;
    for (enum gl_state i = 0; i < GL_STATES && these >> i; i++)
        if (these >> i & 1)
            get(saved, i);
    return (saved->states & these) == these;
}

void gl_restore(struct gl_saved *saved)
{
    const unsigned framebuffers = GL_SAVE(READ_FRAMEBUFFER) | GL_SAVE(DRAW_FRAMEBUFFER);
    const bool one =
        (saved->states & framebuffers) == framebuffers &&
        saved->value[GL_STATE_READ_FRAMEBUFFER] == saved->value[GL_STATE_DRAW_FRAMEBUFFER];
    for (enum gl_state i = GL_STATES; saved->states && i-- > 0;) {
        if (!(saved->states >> i & 1))
            continue;
        const GLenum target = states[i].target;
        const GLuint value = (GLuint)saved->value[i];
        switch (i) {
        case GL_STATE_ERRORS:
            raise_error(value);
            break;
        case GL_STATE_PIXELS:
            set_pixels(saved);
            break;
        case GL_STATE_READ_FRAMEBUFFER:
        case GL_STATE_DRAW_FRAMEBUFFER: /* the first one */
            glBindFramebuffer(one ? GL_FRAMEBUFFER : target, value);
            if (one)
                saved->states &= ~GL_SAVE(READ_FRAMEBUFFER);
            break;
        case GL_STATE_READ_BUFFER:
            glReadBuffer(value);
            break;
        case GL_STATE_CLAMP:
            glClampColor(GL_CLAMP_READ_COLOR, value);
            break;
        case GL_STATE_SCISSOR:
        case GL_STATE_RASTERIZER_DISCARD:
        case GL_STATE_FRAMEBUFFER_SRGB:
            if (value)
                glEnable(target);
            break;
        case GL_STATE_ACTIVE_TEXTURE:
            glActiveTexture(value);
            break;
        case GL_STATE_TEXTURE:
            glBindTexture(saved->target, value);
            break;
        case GL_STATE_RENDERBUFFER:
            glBindRenderbuffer(target, value);
            break;
        case GL_STATE_SHADER:
            gl_shader_bindings_set(&saved->shader);
            break;
        default:
            glBindBuffer(target, value);
            break;
        }
    }
}

void gl_save_pixels(struct gl_saved *saved, const struct gl_context *context, unsigned also)
{
    saved->es = context->es;
    saved->inverts = context->inverts;
    saved->compatibility = context->compatibility;
    gl_save(saved, GL_SAVE(PIXELS) | also);
}

/* ---- Bindings -------------------------------------------------------------------------------- */

unsigned int gl_bind_buffer(struct gl_saved *saved, unsigned int target, unsigned int name)
{
    enum gl_state i = GL_STATE_COPY_READ;
    while (states[i].target != target)
        i++;
    get_value(saved, i);
    const bool deleted = saved->value[i] && !glIsBuffer((GLuint)saved->value[i]);
    if (deleted && states[i].otherwise)
        return gl_bind_buffer(saved, states[i].otherwise, name);
    if (deleted)
        saved->value[i] = 0;
    saved->states |= 1u << i;
    glBindBuffer(target, name);
    return target;
}

/* Whether a deleted texture is bound. Queries the binding. */
static bool is_deleted(GLenum query, GLint *bound)
{
    *bound = 0;
    glGetIntegerv(query, bound);
    return *bound && !glIsTexture((GLuint)*bound);
}

void gl_bind_texture(struct gl_saved *saved, unsigned int target, unsigned int query,
                     unsigned int name)
{
    GLint *before = &saved->value[GL_STATE_TEXTURE], unit = 0;
    bool deleted = is_deleted(query, before);
    if (deleted) {
        gl_save(saved, GL_SAVE(ACTIVE_TEXTURE));
        glGetIntegerv(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, &unit);
    }
    while (deleted && unit > 0) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)--unit);
        deleted = is_deleted(query, before);
    }
    if (deleted)
        *before = 0;
    saved->target = target;
    saved->states |= GL_SAVE(TEXTURE);
    glBindTexture(target, name);
}

void gl_bind_renderbuffer(struct gl_saved *saved, unsigned int name)
{
    GLint *before = &saved->value[GL_STATE_RENDERBUFFER];
    gl_save(saved, GL_SAVE(RENDERBUFFER));
    glBindRenderbuffer(GL_RENDERBUFFER, name);
    if (!glIsRenderbuffer((GLuint)*before))
        *before = 0;
}
