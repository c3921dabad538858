/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Draws particles, in OpenGL 3.3. */
#include "particles_view.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include <epoxy/gl.h>

#include "particles.h"
#include "examples/support/shader.h"

/* The fraction of light that stays in the next frame. */
static const float TRAIL = 0.86f;

/* The smallest mip level that the glow uses. */
enum { LAST_LEVEL = 4 };

static const char points_vertex[] =
    "#version 330 core\n"
    "layout(location = 0) in vec4 place;\n"
    "layout(location = 1) in vec4 colour;\n"
    "uniform mat4 camera;\n"
    "uniform float scale;\n"
    "out vec3 light;\n"
    "void main() {\n"
    "    gl_Position = camera * place;\n"
    "    float size = scale * colour.w / gl_Position.w;\n"
    "    gl_PointSize = clamp(size, 1.0, 12.0);\n"
    "    // What would be smaller than a pixel is fainter instead.\n"
    "    light = colour.rgb * min(size * size, 1.0);\n"
    "}\n";

static const char points_fragment[] = "#version 330 core\n"
                                      "in vec3 light;\n"
                                      "out vec4 pixel;\n"
                                      "void main() {\n"
                                      "    vec2 off = 2.0 * gl_PointCoord - 1.0;\n"
                                      "    pixel = vec4(light * exp(-2.5 * dot(off, off)), 1.0);\n"
                                      "}\n";

static const char fade_fragment[] = "#version 330 core\n"
                                    "out vec4 pixel;\n"
                                    "void main() { pixel = vec4(0.0); }\n";

/* Combines the light and its glow, tone-mapped, on a dark background. */
static const char develop_fragment[] =
    "#version 330 core\n"
    "in vec2 place;\n"
    "uniform sampler2D light;\n"
    "out vec4 pixel;\n"
    "vec3 soft(vec2 at, float level) {\n"
    "    vec2 texel = exp2(level) / vec2(textureSize(light, 0));\n"
    "    vec3 sum = vec3(0.0);\n"
    "    for (int y = -1; y <= 1; y++)\n"
    "        for (int x = -1; x <= 1; x++)\n"
    "            sum += float((2 - abs(x)) * (2 - abs(y))) *\n"
    "                   textureLod(light, at + texel * vec2(x, y), level).rgb;\n"
    "    return sum / 16.0;\n"
    "}\n"
    "void main() {\n"
    "    vec2 at = 0.5 + 0.5 * place;\n"
    "    vec3 seen = texture(light, at).rgb;\n"
    "    seen += 0.25 * soft(at, 2.0) + 0.22 * soft(at, 4.0);\n"
    "    vec3 dark = mix(vec3(0.0045, 0.0055, 0.012), vec3(0.0008, 0.0008, 0.002),\n"
    "                    smoothstep(0.0, 1.5, length(place)));\n"
    "    vec3 film = 1.0 - exp(-0.75 * seen - dark);\n"
    "    float n = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));\n"
    "    pixel = vec4(pow(film, vec3(1.0 / 2.2)) + (n - 0.5) / 255.0, 1.0);\n"
    "}\n";

static bool make_light(struct particles_view *v)
{
    glGenTextures(1, &v->light);
    glBindTexture(GL_TEXTURE_2D, v->light);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA16F, v->width, v->height, 0, GL_RGBA, GL_FLOAT, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, LAST_LEVEL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glGenerateMipmap(GL_TEXTURE_2D);
    glGenFramebuffers(1, &v->light_target);
    glBindFramebuffer(GL_FRAMEBUFFER, v->light_target);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, v->light, 0);
    const GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
    if (status != GL_FRAMEBUFFER_COMPLETE)
        fprintf(stderr, "OpenGL cannot draw to float textures (status 0x%04x).\n", status);
    return status == GL_FRAMEBUFFER_COMPLETE;
}

bool particles_view_init(struct particles_view *v, int width, int height, int count)
{
    *v = (struct particles_view){.width = width, .height = height, .count = count};
    if (!offscreen_init(&v->target, width, height) || !screen_init(&v->screen) || !make_light(v))
        return false;
    v->points = shader_program(points_vertex, points_fragment);
    v->fade = shader_program(screen_vertex, fade_fragment);
    v->develop = shader_program(screen_vertex, develop_fragment);
    glEnable(GL_PROGRAM_POINT_SIZE);
    glBindFramebuffer(GL_FRAMEBUFFER, v->light_target);
    glClearColor(0, 0, 0, 0);
    glClear(GL_COLOR_BUFFER_BIT);
    return v->points != 0 && v->fade != 0 && v->develop != 0;
}

void particles_view_free(struct particles_view *v)
{
    if (v->light != 0) {
        glDeleteProgram(v->points);
        glDeleteProgram(v->fade);
        glDeleteProgram(v->develop);
        glDeleteFramebuffers(1, &v->light_target);
        glDeleteTextures(1, &v->light);
    }
    screen_free(&v->screen);
    offscreen_free(&v->target);
    *v = (struct particles_view){0};
}

unsigned particles_view_array(unsigned buffer)
{
    GLuint array = 0;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    shader_attribute(0, sizeof(struct spark), offsetof(struct spark, place));
    shader_attribute(1, sizeof(struct spark), offsetof(struct spark, colour));
    return array;
}

static void draw_points(const struct particles_view *v, unsigned array, float time)
{
    const float angle = 0.6f + 0.22f * time, target[3] = {0.0f, -0.03f, 0.0f};
    float eye[3] = {3.3f * sinf(angle), 0.8f, 3.3f * cosf(angle)};
    orbit_eye(&v->orbit, target, eye);
    const float aspect = (float)v->width / (float)v->height;
    const struct matrix camera = camera_matrix(0.66f, aspect, 20.0f, eye, target);
    glUseProgram(v->points);
    glUniformMatrix4fv(glGetUniformLocation(v->points, "camera"), 1, GL_FALSE, camera.m);
    glUniform1f(glGetUniformLocation(v->points, "scale"), 0.0078f * (float)v->height);
    glBindVertexArray(array);
    glDrawArrays(GL_POINTS, 0, v->count);
}

void particles_view_draw(const struct particles_view *v, unsigned array, float time)
{
    glBindFramebuffer(GL_FRAMEBUFFER, v->light_target);
    glViewport(0, 0, v->width, v->height);
    glEnable(GL_BLEND);
    glBlendColor(TRAIL, TRAIL, TRAIL, TRAIL);
    glBlendFunc(GL_ZERO, GL_CONSTANT_COLOR);
    screen_cover(&v->screen, v->fade);
    glBlendFunc(GL_ONE, GL_ONE);
    draw_points(v, array, time);
    glDisable(GL_BLEND);

    glBindTexture(GL_TEXTURE_2D, v->light);
    glGenerateMipmap(GL_TEXTURE_2D);
    offscreen_bind(&v->target);
    screen_cover(&v->screen, v->develop);
}
