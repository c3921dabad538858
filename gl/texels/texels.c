/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Moves texels by the shader, or else by calls of OpenGL. */
#include "gl/texels/texels.h"

#include <epoxy/gl.h>

/* The maximum number of layers or slices of a level, each of which takes a dispatch. */
#define MOST_DISPATCHES 8

/* ---- Transfers ------------------------------------------------------------------------------- */

bool gl_transfer_supported(const struct gl_target *target)
{
    return target->target != GL_RENDERBUFFER ||
           epoxy_gl_version() >= (epoxy_is_desktop_gl() ? 43 : 32) ||
           epoxy_has_gl_extension("GL_ARB_copy_image");
}

bool gl_texels_regions_supported(void)
{
    return !epoxy_is_desktop_gl() || epoxy_gl_version() >= 45 ||
           epoxy_has_gl_extension("GL_ARB_get_texture_sub_image");
}

/* ---- Whether the shader can move them -------------------------------------------------------- */

bool gl_texels_suit_shader(const struct gl_texel_source sources[], size_t n)
{
    bool suit = true;
    for (size_t i = 0; i < n && suit; i++) {
        const struct gl_texel_source *s = &sources[i];
        suit = s->target->target != GL_RENDERBUFFER && s->target->target != GL_TEXTURE_RECTANGLE &&
               gl_format_has_image_units(s->format) && s->layers <= MOST_DISPATCHES;
        /* each layer must start at a whole word of the buffer */
        suit = suit && (s->layers == 1 || gl_texels_layer(s) % 4 == 0);
    }
    return suit;
}

int gl_texels_parameter(unsigned int texture, unsigned int name)
{
    GLint value = 0;
    glGetTextureParameteriv(texture, name, &value);
    return value;
}

bool gl_texels_accessible(unsigned int texture, int level)
{
    const GLint base = gl_texels_parameter(texture, GL_TEXTURE_BASE_LEVEL);
    if (level < base || level > gl_texels_parameter(texture, GL_TEXTURE_MAX_LEVEL))
        return false;
    if (gl_texels_parameter(texture, GL_TEXTURE_IMMUTABLE_FORMAT))
        return true;
    const GLint filter = gl_texels_parameter(texture, GL_TEXTURE_MIN_FILTER);
    return level == base && (filter == GL_NEAREST || filter == GL_LINEAR);
}

/* ---- By the shader --------------------------------------------------------------------------- */

/* Copies the layers. */
static bool copy_layers(const struct gl_texel_move *m, const struct gl_texel_source *s, int program)
{
    struct gl_texel_copy copy = {.program = program,
                                 .to_image = m->to_image,
                                 .texture = s->name,
                                 .level = s->level,
                                 .layer = s->layer,
                                 .x = s->x,
                                 .y = s->y,
                                 .width = s->width,
                                 .height = s->height,
                                 .pixel = s->pixel,
                                 .buffer = m->buffer,
                                 .offset = m->at + s->offset};
    for (int rest = s->layers; rest > 0; rest--) {
        if (!gl_shader_copy(m->shader, &copy))
            return false;
        copy.offset += gl_texels_layer(s);
        copy.layer++;
    }
    return true;
}

/*
 * False: the texels that were moved, if any, have to be moved again, after an error of OpenGL or
 * where the state does not allow the shader.
 */
static bool move_by_shader(const struct gl_texel_move *m, const struct gl_texel_source s[],
                           size_t n)
{
    if (!m->shader || !m->buffer || !gl_texels_suit_shader(s, n))
        return false;
    GL_SAVED(before, GL_SAVE(ERRORS)); /* those of earlier moves */
    int program;
    bool done = !gl_renders_conditionally(m->shader) && gl_shader_can_run(m->shader, &program);
    for (size_t i = 0; i < n && done; i++)
        done = gl_texels_accessible(s[i].name, s[i].level) && copy_layers(m, &s[i], program);
    return gl_errors_end(&before) == GL_NO_ERROR && done;
}

void gl_texels_move(const struct gl_texel_move *move, const struct gl_texel_source sources[],
                    size_t n)
{
    if (!move_by_shader(move, sources, n))
        gl_image_calls(move, sources, n);
}
