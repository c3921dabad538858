/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The OpenGL state that a dispatch or a blit could change. */
#include "shader_calls.h"

#include <string.h>

static const GLenum values[] = {
    GL_ACTIVE_TEXTURE,
    GL_BLEND,
    GL_BLEND_COLOR,
    GL_BLEND_DST_ALPHA,
    GL_BLEND_DST_RGB,
    GL_BLEND_EQUATION_ALPHA,
    GL_BLEND_EQUATION_RGB,
    GL_BLEND_SRC_ALPHA,
    GL_BLEND_SRC_RGB,
    GL_CLAMP_READ_COLOR,
    GL_COLOR_CLEAR_VALUE,
    GL_COLOR_LOGIC_OP,
    GL_COLOR_WRITEMASK,
    GL_CULL_FACE,
    GL_CULL_FACE_MODE,
    GL_CURRENT_PROGRAM,
    GL_DEPTH_CLEAR_VALUE,
    GL_DEPTH_FUNC,
    GL_DEPTH_RANGE,
    GL_DEPTH_TEST,
    GL_DEPTH_WRITEMASK,
    GL_DISPATCH_INDIRECT_BUFFER_BINDING,
    GL_DITHER,
    GL_DRAW_BUFFER,
    GL_DRAW_FRAMEBUFFER_BINDING,
    GL_DRAW_INDIRECT_BUFFER_BINDING,
    GL_FRAGMENT_SHADER_DERIVATIVE_HINT,
    GL_FRAMEBUFFER_SRGB,
    GL_FRONT_FACE,
    GL_LINE_SMOOTH,
    GL_LINE_SMOOTH_HINT,
    GL_LINE_WIDTH,
    GL_LOGIC_OP_MODE,
    GL_MULTISAMPLE,
    GL_PACK_ALIGNMENT,
    GL_PACK_IMAGE_HEIGHT,
    GL_PACK_LSB_FIRST,
    GL_PACK_ROW_LENGTH,
    GL_PACK_SKIP_IMAGES,
    GL_PACK_SKIP_PIXELS,
    GL_PACK_SKIP_ROWS,
    GL_PACK_SWAP_BYTES,
    GL_PATCH_VERTICES,
    GL_PIXEL_PACK_BUFFER_BINDING,
    GL_PIXEL_UNPACK_BUFFER_BINDING,
    GL_POINT_FADE_THRESHOLD_SIZE,
    GL_POINT_SIZE,
    GL_POINT_SPRITE_COORD_ORIGIN,
    GL_POLYGON_MODE,
    GL_POLYGON_OFFSET_FACTOR,
    GL_POLYGON_OFFSET_FILL,
    GL_POLYGON_OFFSET_LINE,
    GL_POLYGON_OFFSET_POINT,
    GL_POLYGON_OFFSET_UNITS,
    GL_POLYGON_SMOOTH,
    GL_POLYGON_SMOOTH_HINT,
    GL_PRIMITIVE_RESTART,
    GL_PRIMITIVE_RESTART_INDEX,
    GL_PROGRAM_PIPELINE_BINDING,
    GL_PROGRAM_POINT_SIZE,
    GL_PROVOKING_VERTEX,
    GL_RASTERIZER_DISCARD,
    GL_READ_BUFFER,
    GL_READ_FRAMEBUFFER_BINDING,
    GL_RENDERBUFFER_BINDING,
    GL_SAMPLER_BINDING,
    GL_SAMPLE_ALPHA_TO_COVERAGE,
    GL_SAMPLE_ALPHA_TO_ONE,
    GL_SAMPLE_COVERAGE,
    GL_SAMPLE_COVERAGE_INVERT,
    GL_SAMPLE_COVERAGE_VALUE,
    GL_SAMPLE_MASK,
    GL_SAMPLE_SHADING,
    GL_SCISSOR_BOX,
    GL_SCISSOR_TEST,
    GL_SHADER_STORAGE_BUFFER_BINDING,
    GL_STENCIL_BACK_FAIL,
    GL_STENCIL_BACK_FUNC,
    GL_STENCIL_BACK_PASS_DEPTH_FAIL,
    GL_STENCIL_BACK_PASS_DEPTH_PASS,
    GL_STENCIL_BACK_REF,
    GL_STENCIL_BACK_VALUE_MASK,
    GL_STENCIL_BACK_WRITEMASK,
    GL_STENCIL_CLEAR_VALUE,
    GL_STENCIL_FAIL,
    GL_STENCIL_FUNC,
    GL_STENCIL_PASS_DEPTH_FAIL,
    GL_STENCIL_PASS_DEPTH_PASS,
    GL_STENCIL_REF,
    GL_STENCIL_TEST,
    GL_STENCIL_VALUE_MASK,
    GL_STENCIL_WRITEMASK,
    GL_TEXTURE_BINDING_1D,
    GL_TEXTURE_BINDING_1D_ARRAY,
    GL_TEXTURE_BINDING_2D,
    GL_TEXTURE_BINDING_2D_ARRAY,
    GL_TEXTURE_BINDING_2D_MULTISAMPLE,
    GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY,
    GL_TEXTURE_BINDING_3D,
    GL_TEXTURE_BINDING_BUFFER,
    GL_TEXTURE_BINDING_CUBE_MAP,
    GL_TEXTURE_BINDING_CUBE_MAP_ARRAY,
    GL_TEXTURE_BINDING_RECTANGLE,
    GL_TEXTURE_COMPRESSION_HINT,
    GL_TEXTURE_CUBE_MAP_SEAMLESS,
    GL_TRANSFORM_FEEDBACK_BINDING,
    GL_UNIFORM_BUFFER_BINDING,
    GL_UNPACK_ALIGNMENT,
    GL_UNPACK_IMAGE_HEIGHT,
    GL_UNPACK_LSB_FIRST,
    GL_UNPACK_ROW_LENGTH,
    GL_UNPACK_SKIP_IMAGES,
    GL_UNPACK_SKIP_PIXELS,
    GL_UNPACK_SKIP_ROWS,
    GL_UNPACK_SWAP_BYTES,
    GL_VERTEX_ARRAY_BINDING,
    GL_VIEWPORT,
    GL_COPY_READ_BUFFER_BINDING,
    GL_COPY_WRITE_BUFFER_BINDING,
    GL_ARRAY_BUFFER_BINDING,
    GL_ELEMENT_ARRAY_BUFFER_BINDING,
    GL_ATOMIC_COUNTER_BUFFER_BINDING,
    GL_QUERY_BUFFER_BINDING,
    GL_DEPTH_CLAMP,
    GL_PRIMITIVE_RESTART_FIXED_INDEX,
    GL_DEBUG_OUTPUT,
    GL_DEBUG_OUTPUT_SYNCHRONOUS,
    GL_CLIP_ORIGIN,
    GL_CLIP_DEPTH_MODE,
};
enum { VALUES = sizeof(values) / sizeof(*values), INDEXED = 8, UNITS = 96 };
static const GLenum units[] = {GL_SAMPLER_BINDING, GL_TEXTURE_BINDING_2D,
                               GL_TEXTURE_BINDING_2D_ARRAY, GL_TEXTURE_BINDING_3D,
                               GL_TEXTURE_BINDING_CUBE_MAP};
static const GLenum images[] = {GL_IMAGE_BINDING_NAME,    GL_IMAGE_BINDING_LEVEL,
                                GL_IMAGE_BINDING_LAYERED, GL_IMAGE_BINDING_LAYER,
                                GL_IMAGE_BINDING_ACCESS,  GL_IMAGE_BINDING_FORMAT};
static const GLenum blocks[] = {GL_SHADER_STORAGE_BUFFER_BINDING, GL_SHADER_STORAGE_BUFFER_START,
                                GL_SHADER_STORAGE_BUFFER_SIZE};
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct everything {
    GLfloat values[VALUES][4];
    GLint64 units[UNITS][COUNT(units)], images[INDEXED][COUNT(images)];
    GLint64 blocks[INDEXED][COUNT(blocks)];
};

static void read_indexed(GLuint index, const GLenum names[], size_t count, GLint64 found[])
{
    for (size_t i = 0; i < count; i++)
        glGetInteger64i_v(names[i], index, &found[i]);
}

static void read_everything(struct everything *state)
{
    memset(state, 0, sizeof(*state));
    for (size_t i = 0; i < VALUES; i++)
        glGetFloatv(values[i], state->values[i]);
    for (GLuint i = 0; i < UNITS; i++)
        read_indexed(i, units, COUNT(units), state->units[i]);
    for (GLuint i = 0; i < INDEXED; i++) {
        read_indexed(i, images, COUNT(images), state->images[i]);
        read_indexed(i, blocks, COUNT(blocks), state->blocks[i]);
    }
    assert_gl_clean();
}

/* Binds something to each unit. */
void fill_units(void)
{
    GLuint flat, cube, sampler;
    glCreateTextures(GL_TEXTURE_2D, 1, &flat);
    glTextureStorage2D(flat, 2, GL_RGBA8, 8, 8);
    glCreateTextures(GL_TEXTURE_CUBE_MAP, 1, &cube);
    glTextureStorage2D(cube, 1, GL_RGBA8, 8, 8);
    glCreateSamplers(1, &sampler);
    for (GLuint i = 0; i < UNITS; i++) {
        glBindTextureUnit(i, flat);
        glBindTextureUnit(i, cube);
        glBindSampler(i, sampler);
    }
    for (GLuint i = 0; i < INDEXED; i++) {
        glBindImageTexture(i, i % 2 ? cube : flat, i % 2 ? 0 : 1, i % 2, 0, GL_WRITE_ONLY,
                           GL_RGBA8);
        glBindBufferRange(GL_SHADER_STORAGE_BUFFER, i, gl_buffer_filled(512, 0), 256, 128);
    }
}

void disturb_everything(void)
{
    static const GLenum enabled[] = {GL_BLEND,
                                     GL_CULL_FACE,
                                     GL_DEPTH_TEST,
                                     GL_FRAMEBUFFER_SRGB,
                                     GL_PRIMITIVE_RESTART,
                                     GL_RASTERIZER_DISCARD,
                                     GL_SAMPLE_COVERAGE,
                                     GL_SCISSOR_TEST,
                                     GL_STENCIL_TEST};
    for (size_t i = 0; i < sizeof(enabled) / sizeof(*enabled); i++)
        glEnable(enabled[i]);
    glScissor(1, 1, 2, 2);
    glColorMask(GL_TRUE, GL_FALSE, GL_TRUE, GL_FALSE);
    glDepthMask(GL_FALSE);
}

static struct everything before;

void remember_everything(void)
{
    read_everything(&before);
}

void assert_everything(void)
{
    struct everything after;
    read_everything(&after);
    for (size_t k = 0; k < VALUES; k++)
        ck_assert_msg(memcmp(after.values[k], before.values[k], sizeof(*after.values)) == 0,
                      "the value of 0x%x changed", values[k]);
    ck_assert_mem_eq(after.units, before.units, sizeof(after.units));
    ck_assert_mem_eq(after.images, before.images, sizeof(after.images));
    ck_assert_mem_eq(after.blocks, before.blocks, sizeof(after.blocks));
}
