/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A lit surface in front of a background, in OpenGL 3.3. */
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>

#include "camera.h"
#include "screen.h"
#include "shader.h"
#include "vertex.h"

/* Noise of half a step of 8 bit colour, to prevent banding in soft gradients. */
#define DITHER                                                                                     \
    "float dither() {\n"                                                                           \
    "    float n = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));" \
    "    return (n - 0.5) / 255.0;\n"                                                              \
    "}\n"

static const char background_fragment[] =
    "#version 330 core\n"
    "in vec2 place;\n"
    "out vec4 pixel;\n" DITHER "void main() {\n"
    "    vec3 low = vec3(0.035, 0.045, 0.085), high = vec3(0.16, 0.21, 0.31);\n"
    "    vec3 colour = mix(low, high, smoothstep(-1.1, 1.2, place.y));\n"
    "    colour += vec3(0.10, 0.075, 0.07) * exp(-2.2 * dot(place, place));\n"
    "    pixel = vec4(colour + dither(), 1.0);\n"
    "}\n";

static const char surface_vertex[] = "#version 330 core\n"
                                     "layout(location = 0) in vec4 position;\n"
                                     "layout(location = 1) in vec4 normal;\n"
                                     "layout(location = 2) in vec4 colour;\n"
                                     "uniform mat4 camera;\n"
                                     "out vec3 place;\n"
                                     "out vec4 upwards;\n"
                                     "out vec4 material;\n"
                                     "void main() {\n"
                                     "    place = position.xyz;\n"
                                     "    upwards = vec4(normalize(normal.xyz), normal.w);\n"
                                     "    material = colour;\n"
                                     "    gl_Position = camera * position;\n"
                                     "}\n";

/*
 * The light: a warm sun, a cool sky, reflected light from below, a highlight, and a rim light
 * against the sky.
 */
static const char surface_fragment[] =
    "#version 330 core\n"
    "in vec3 place;\n"
    "in vec4 upwards;\n"
    "in vec4 material;\n"
    "uniform vec3 eye;\n"
    "uniform vec3 light;\n"
    "out vec4 pixel;\n" DITHER "void main() {\n"
    "    vec3 n = normalize(gl_FrontFacing ? upwards.xyz : -upwards.xyz);\n"
    "    vec3 to_eye = normalize(eye - place);\n"
    "    float sun = max(dot(n, light), 0.0) * upwards.w;\n"
    "    vec3 arriving = sun * vec3(2.5, 2.25, 1.9);\n"
    "    arriving += mix(vec3(0.16, 0.12, 0.10), vec3(0.34, 0.42, 0.58), 0.5 + 0.5 * n.y);\n"
    "    vec3 colour = material.rgb * arriving;\n"
    "    float highlight = pow(max(dot(n, normalize(light + to_eye)), 0.0), 90.0);\n"
    "    float rim = pow(1.0 - max(dot(n, to_eye), 0.0), 4.0);\n"
    "    colour += material.a * (highlight * sun * vec3(1.1, 1.0, 0.85) + rim * vec3(0.22, 0.3, "
    "0.42));\n"
    "    colour = colour / (1.0 + 0.35 * colour);\n"
    "    pixel = vec4(pow(colour, vec3(1.0 / 2.2)) + dither(), 1.0);\n"
    "}\n";

const struct view scene_view = {
    .eye = {1.35f, 1.45f, 2.6f},
    .target = {0.04f, -0.14f, 0.08f},
    .light = {-0.75f, 0.65f, -0.35f},
    .angle = 36.0f,
};

static size_t index_count(const struct scene *scene)
{
    return 6 * (size_t)(scene->columns - 1) * (size_t)(scene->rows - 1);
}

/* Two triangles per square of the grid, counterclockwise seen from above, row by row. */
static bool fill_index_buffer(const struct scene *scene)
{
    const size_t count = index_count(scene);
    const unsigned columns = (unsigned)scene->columns;
    unsigned *indices = malloc(count * sizeof(*indices));
    if (!indices) {
        fprintf(stderr, "Not enough memory for the mesh: choose a smaller --mesh.\n");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        static const unsigned right[] = {0, 0, 1, 0, 1, 1}, nearer[] = {0, 1, 0, 1, 1, 0};
        const unsigned square = (unsigned)(i / 6), row = square / (columns - 1);
        indices[i] = square + row + right[i % 6] + columns * nearer[i % 6];
    }
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(count * sizeof(*indices)), indices,
                 GL_STATIC_DRAW);
    free(indices);
    return true;
}

unsigned scene_array(const struct scene *scene, unsigned vertex_buffer)
{
    GLuint array = 0;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glBindBuffer(GL_ARRAY_BUFFER, vertex_buffer);
    shader_attribute(0, sizeof(struct vertex), offsetof(struct vertex, position));
    shader_attribute(1, sizeof(struct vertex), offsetof(struct vertex, normal));
    shader_attribute(2, sizeof(struct vertex), offsetof(struct vertex, colour));
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, scene->index_buffer);
    return array;
}

static bool make_surface(struct scene *scene)
{
    /* The shared buffer: OpenGL allocates it, and CUDA writes its contents. */
    const size_t size = (size_t)scene->columns * (size_t)scene->rows * sizeof(struct vertex);
    glGenBuffers(1, &scene->vertex_buffer);
    glBindBuffer(GL_ARRAY_BUFFER, scene->vertex_buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)size, NULL, GL_DYNAMIC_DRAW);

    glGenBuffers(1, &scene->index_buffer);
    scene->surface_array = scene_array(scene, scene->vertex_buffer);
    return fill_index_buffer(scene);
}

bool scene_init(struct scene *scene, int columns, int rows)
{
    *scene = (struct scene){.columns = columns, .rows = rows};
    while (glGetError() != GL_NO_ERROR)
        ;
    scene->surface_program = shader_program(surface_vertex, surface_fragment);
    scene->background_program = shader_program(screen_vertex, background_fragment);
    if (scene->surface_program == 0 || scene->background_program == 0)
        return false;
    glGenVertexArrays(1, &scene->empty_array);
    if (!make_surface(scene))
        return false;

    const GLenum error = glGetError();
    if (error == GL_OUT_OF_MEMORY)
        fprintf(stderr, "OpenGL has not enough memory for the mesh: choose a smaller --mesh.\n");
    else if (error != GL_NO_ERROR)
        fprintf(stderr, "OpenGL cannot create the mesh (error 0x%04x).\n", error);
    return error == GL_NO_ERROR;
}

static void draw_background(const struct scene *scene)
{
    glDisable(GL_DEPTH_TEST);
    glUseProgram(scene->background_program);
    glBindVertexArray(scene->empty_array);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void draw_surface(const struct scene *scene, unsigned array, const struct view *view,
                         float aspect)
{
    const float *l = view->light;
    const float length = sqrtf(l[0] * l[0] + l[1] * l[1] + l[2] * l[2]);
    const struct matrix camera =
        camera_matrix(view->angle * 0.01745329f, aspect, 20.0f, view->eye, view->target);

    const GLuint program = scene->surface_program;
    glEnable(GL_DEPTH_TEST);
    glUseProgram(program);
    glUniformMatrix4fv(glGetUniformLocation(program, "camera"), 1, GL_FALSE, camera.m);
    glUniform3fv(glGetUniformLocation(program, "eye"), 1, view->eye);
    glUniform3f(glGetUniformLocation(program, "light"), l[0] / length, l[1] / length,
                l[2] / length);
    glBindVertexArray(array);
    glDrawElements(GL_TRIANGLES, (GLsizei)index_count(scene), GL_UNSIGNED_INT, NULL);
}

void scene_draw(const struct scene *scene, unsigned array, const struct view *view, float aspect)
{
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    draw_background(scene);
    draw_surface(scene, array, view, aspect);
}

void scene_free(struct scene *scene)
{
    if (scene->surface_program == 0)
        return;
    glDeleteBuffers(1, &scene->vertex_buffer);
    glDeleteBuffers(1, &scene->index_buffer);
    glDeleteVertexArrays(1, &scene->surface_array);
    glDeleteVertexArrays(1, &scene->empty_array);
    glDeleteProgram(scene->surface_program);
    glDeleteProgram(scene->background_program);
    *scene = (struct scene){0};
}
