/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A compute shader that copies between buffers. OpenGL's own copy is a job of the copy engine,
 * which on an H100 waits for the CUDA work of the frame: with a 1 MiB buffer and 4 frames in flight
 * a frame takes 370 us by glCopyBufferSubData(), and 138 us by the shader.
 */
#include "gl/texels/texels.h"

#include <epoxy/gl.h>

#include "gl/context/saved_state.h"

#define GROUP 256

/* OpenGL 4.5 allows at least so many groups. */
#define MOST_GROUPS 65535

/*
 * `first`: the offset of the bytes in both blocks, and `count`: their number, in words. Blocks of
 * four words are copied together if the offset allows it.
 */
static const char source[] =
    "#version 450\n"
    "layout(local_size_x = 256) in;\n"
    "layout(binding = 7, std430) readonly buffer From { uint from[]; };\n"
    "layout(binding = 6, std430) writeonly buffer To { uint to[]; };\n"
    "layout(binding = 7, std430) readonly buffer From4 { uvec4 from4[]; };\n"
    "layout(binding = 6, std430) writeonly buffer To4 { uvec4 to4[]; };\n"
    "layout(location = 0) uniform uvec2 arguments;\n"
    "void main() {\n"
    "    uint first = arguments.x, count = arguments.y;\n"
    "    uint step = gl_NumWorkGroups.x * 256u;\n"
    "    uint blocks = first % 4u == 0u ? count / 4u : 0u;\n"
    "    for (uint i = gl_GlobalInvocationID.x; i < blocks; i += step)\n"
    "        to4[first / 4u + i] = from4[first / 4u + i];\n"
    "    for (uint i = blocks * 4u + gl_GlobalInvocationID.x; i < count; i += step)\n"
    "        to[first + i] = from[first + i];\n"
    "}\n";

void gl_buffer_shader_prepare(struct gl_shader *s)
{
    const char *text = source;
    GLint linked = GL_FALSE;
    if (s->bytes_tried)
        return;
    s->bytes_tried = true;
    GL_SAVED(before, GL_SAVE(ERRORS));
    s->bytes = glCreateShaderProgramv(GL_COMPUTE_SHADER, 1, &text);
    if (s->bytes)
        glGetProgramiv(s->bytes, GL_LINK_STATUS, &linked);
    if (s->bytes && !linked) {
        glDeleteProgram(s->bytes);
        s->bytes = 0;
    }
}

/* False: a binding of the application could not be restored, and nothing was copied. */
static bool dispatch(const struct gl_shader *s, unsigned int from, unsigned int to,
                     unsigned int own, int program, size_t offset, size_t size)
{
    const size_t before = offset % (size_t)s->alignment,
                 groups = (size / 16 + GROUP - 1) / GROUP; /* blocks of four words */
    const int64_t start = (int64_t)(offset - before), all = (int64_t)(before + size);
    const struct gl_shader_bindings ours = {
        .uses = GL_SHADER_BUFFER,
        .program = (GLint)s->bytes,
        .program_before = program,
        .buffers = {{(GLint)from, start, all}, {(GLint)to, start, all}},
        .own_buffer = (GLint)own};
    GL_SAVED(saved, 0);
    saved.ours = &ours;
    if (all > s->largest || !gl_save(&saved, GL_SAVE(SHADER)))
        return false;
    gl_shader_bindings_set(&ours);
    glProgramUniform2ui(s->bytes, 0, (GLuint)(before / 4), (GLuint)(size / 4));
    glDispatchCompute(groups > MOST_GROUPS ? MOST_GROUPS : groups ? (GLuint)groups : 1, 1, 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    return true;
}

/* False: the bytes have to be copied again. */
static bool copy_by_shader(struct gl_shader *s, unsigned int from, unsigned int to,
                           unsigned int own, size_t offset, size_t size)
{
    if (!s || offset % 4 || size % 4)
        return false;
    gl_buffer_shader_prepare(s);
    if (!s->bytes)
        return false;
    GL_SAVED(before, GL_SAVE(ERRORS));
    int program;
    const bool done = !gl_renders_conditionally(s) && gl_shader_can_run(s, &program) &&
                      dispatch(s, from, to, own, program, offset, size);
    return gl_errors_end(&before) == GL_NO_ERROR && done;
}

void gl_buffer_copy(struct gl_shader *shader, unsigned int from, unsigned int to, unsigned int own,
                    size_t offset, size_t size)
{
    if (!copy_by_shader(shader, from, to, own, offset, size))
        glCopyNamedBufferSubData(from, to, (GLintptr)offset, (GLintptr)offset, (GLsizeiptr)size);
}
