/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Counts the calls of OpenGL that grinterop's shader makes, and prevents dispatches. */
#include "shader_calls.h"

#include <epoxy/egl.h>

/* ---- Counts ---------------------------------------------------------------------------------- */

unsigned dispatches, blits, textures;
size_t most_texels;
int programs;
bool has_shader;

/* The functions of epoxy are pointers, which may refer to a resolver until the first call. */
#define WATCHED(x)                                                                                 \
    x(glGetString) x(glDispatchCompute) x(glBlitFramebuffer) x(glCreateShaderProgramv)             \
        x(glDeleteProgram) x(glTextureStorage2D)
#define MEMBER(name) __typeof__(epoxy_##name) name;
static struct {
    WATCHED(MEMBER)
} pointers, own;

/* The library runs its shader only with the NVIDIA driver. */
static const GLubyte *pretend_vendor(GLenum name)
{
    return name == GL_VENDOR ? (const GLubyte *)"NVIDIA Corporation" : own.glGetString(name);
}

static void count_dispatch(GLuint x, GLuint y, GLuint z)
{
    dispatches++;
    own.glDispatchCompute(x, y, z);
}

static void count_blit(GLint x0, GLint y0, GLint x1, GLint y1, GLint to_x0, GLint to_y0,
                       GLint to_x1, GLint to_y1, GLbitfield mask, GLenum filter)
{
    blits++;
    own.glBlitFramebuffer(x0, y0, x1, y1, to_x0, to_y0, to_x1, to_y1, mask, filter);
}

static void count_texture(GLuint texture, GLsizei levels, GLenum format, GLsizei width,
                          GLsizei height)
{
    const size_t texels = (size_t)width * (size_t)height;
    textures++;
    if (texels > most_texels)
        most_texels = texels;
    own.glTextureStorage2D(texture, levels, format, width, height);
}

static GLuint count_creation(GLenum type, GLsizei count, const GLchar *const *strings)
{
    programs++;
    return own.glCreateShaderProgramv(type, count, strings);
}

static GLuint refuse_creation(GLenum type, GLsizei count, const GLchar *const *strings)
{
    (void)type;
    (void)count;
    (void)strings;
    return 0;
}

static void count_end(GLuint program)
{
    programs--;
    own.glDeleteProgram(program);
}

#define REMEMBER(name)                                                                             \
    pointers.name = epoxy_##name;                                                                  \
    own.name = (__typeof__(own.name))eglGetProcAddress(#name);
#define PUT_BACK(name) epoxy_##name = pointers.name;

void watch_gl(void)
{
    WATCHED(REMEMBER)
    epoxy_glGetString = pretend_vendor;
    epoxy_glDispatchCompute = count_dispatch;
    epoxy_glBlitFramebuffer = count_blit;
    epoxy_glCreateShaderProgramv = count_creation;
    epoxy_glDeleteProgram = count_end;
    epoxy_glTextureStorage2D = count_texture;
    dispatches = blits = textures = 0;
    most_texels = 0;
    programs = 0;
    has_shader = epoxy_gl_version() >= 45 || epoxy_has_gl_extension("GL_ARB_compute_shader");
}

void watch_gl_without_shaders(void)
{
    watch_gl();
    epoxy_glCreateShaderProgramv = refuse_creation;
    has_shader = false;
}

void unwatch_gl(void){WATCHED(PUT_BACK)}

/* ---- States that prevent dispatches ---------------------------------------------------------- */

GLuint begin_condition(void)
{
    GLuint query;
    glGenQueries(1, &query);
    glBeginQuery(GL_SAMPLES_PASSED, query);
    glEndQuery(GL_SAMPLES_PASSED);
    glBeginConditionalRender(query, GL_QUERY_WAIT);
    return query;
}

GLuint begin_feedback(void)
{
    static const char *const text = "#version 330\n"
                                    "out float sent;\n"
                                    "void main() { gl_Position = vec4(0); sent = 1; }\n";
    static const char *const sent = "sent";
    const GLuint program = glCreateProgram(), shader = glCreateShader(GL_VERTEX_SHADER);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glTransformFeedbackVaryings(program, 1, &sent, GL_INTERLEAVED_ATTRIBS);
    glLinkProgram(program);
    glUseProgram(program);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, gl_buffer_filled(64, 0));
    glBeginTransformFeedback(GL_POINTS);
    return program;
}

void link_in_vain(GLuint program)
{
    static const char *const text = "#version 330\nvoid missing();\nvoid main() { missing(); }\n";
    const GLuint shader = glCreateShader(GL_FRAGMENT_SHADER);
    GLint linked = GL_TRUE;
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    ck_assert(!linked);
    glDeleteShader(shader);
}

GLuint make_subroutines(void)
{
    static const char *const text = "#version 400\n"
                                    "subroutine float choice();\n"
                                    "subroutine(choice) float one() { return 1.0; }\n"
                                    "subroutine(choice) float two() { return 2.0; }\n"
                                    "subroutine uniform choice chosen;\n"
                                    "void main() { gl_Position = vec4(chosen()); }\n";
    return glCreateShaderProgramv(GL_VERTEX_SHADER, 1, &text);
}
