/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A picture in a thin frame, standing on a mirror, in OpenGL 3.3.
 */
#include "easel.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>

#include "shader.h"

#define FRAME "0.020" /* the width of the frame */

static const char vertex[] =
    "#version 330 core\n"
    "uniform mat4 camera;\n"
    "uniform vec2 extent;\n"
    "uniform bool mirrored;\n"
    "out vec2 place;\n"
    "void main() {\n"
    "    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;\n"
    "    place = corner * (extent + " FRAME ");\n"
    "    float floor_at = -extent.y - " FRAME " - 0.012;\n"
    "    float y = mirrored ? 2.0 * floor_at - place.y : place.y;\n"
    "    gl_Position = camera * vec4(place.x, y, 0.0, 1.0);\n"
    "}\n";

/* The colours of the picture are premultiplied by their opacity. */
static const char fragment[] =
    "#version 330 core\n"
    "in vec2 place;\n"
    "uniform sampler2D picture;\n"
    "uniform vec2 extent;\n"
    "uniform bool mirrored;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "    vec4 colour = texture(picture, vec2(0.5, -0.5) * place / extent + 0.5);\n"
    "    vec2 beyond = abs(place) - extent;\n"
    "    float outside = max(beyond.x, beyond.y);\n"
    "    float framed = clamp(outside / fwidth(outside) + 0.5, 0.0, 1.0);\n"
    "    colour = mix(colour, vec4(0.93, 0.92, 0.89, 1.0), framed);\n"
    "    float way = (place.y + extent.y + " FRAME ") / 0.75;\n"
    "    pixel = mirrored ? colour * 0.30 * pow(max(1.0 - way, 0.0), 2.0) : colour;\n"
    "}\n";

/* Multiplies the colours by their opacity, so that transparent pixels have no colour. */
static unsigned char *premultiply(const struct picture *picture)
{
    const size_t size = 4 * (size_t)picture->width * (size_t)picture->height;
    unsigned char *pixels = malloc(size);
    for (size_t i = 0; pixels && i < size; i++) {
        const unsigned opacity = picture->pixels[i | 3];
        pixels[i] =
            (unsigned char)(i % 4 == 3 ? opacity : (picture->pixels[i] * opacity + 127) / 255);
    }
    return pixels;
}

static bool upload(struct easel *easel, const struct picture *picture)
{
    GLint limit = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &limit);
    if (picture->width > limit || picture->height > limit) {
        fprintf(stderr,
                "OpenGL supports pictures of at most %dx%d pixels here, and this one has %dx%d.\n",
                limit, limit, picture->width, picture->height);
        return false;
    }
    unsigned char *pixels = picture->pixels ? premultiply(picture) : NULL;
    if (picture->pixels && !pixels) {
        fprintf(stderr, "Not enough memory for the picture.\n");
        return false;
    }
    glGenTextures(1, &easel->texture);
    glBindTexture(GL_TEXTURE_2D, easel->texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, picture->width, picture->height, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, pixels);
    glGenerateMipmap(GL_TEXTURE_2D);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    free(pixels);
    const GLenum error = glGetError();
    if (error != GL_NO_ERROR)
        fprintf(stderr, "OpenGL cannot load the picture (error 0x%04x).\n", error);
    return error == GL_NO_ERROR;
}

bool easel_init(struct easel *easel, const struct picture *picture)
{
    *easel = (struct easel){.half_width = 1.0f, .half_height = 1.0f};
    const float shape = (float)picture->width / (float)picture->height;
    if (shape > 1.0f)
        easel->half_height = fmaxf(1.0f / shape, 0.02f);
    else
        easel->half_width = fmaxf(shape, 0.02f);

    while (glGetError() != GL_NO_ERROR)
        ;
    easel->program = shader_program(vertex, fragment);
    return easel->program != 0 && upload(easel, picture);
}

/* The camera orbits the picture at a distance from which all of it is visible. */
static struct matrix camera_at(const struct easel *easel, float aspect, float degrees)
{
    const float view = 0.56f, slope = tanf(view / 2.0f);
    const float s = sinf(degrees * 0.01745329f), c = cosf(degrees * 0.01745329f);
    const float w = easel->half_width, h = easel->half_height;
    /* Leaves a margin, also at the near side of the picture, which looks larger. */
    const float away = 1.22f * fmaxf(h / slope, w * c / (slope * aspect)) + 0.9f * w * fabsf(s);
    const float target[3] = {0.28f * w * s, -0.10f * h, 0.0f};
    float eye[3] = {away * s, 0.07f * away, away * c};
    orbit_eye(&easel->orbit, target, eye);
    return camera_matrix(view, aspect, 4.0f * away + 10.0f, eye, target);
}

void easel_draw(const struct easel *easel, const struct screen *screen, float aspect, float degrees)
{
    const GLuint program = easel->program;
    const struct matrix camera = camera_at(easel, aspect, degrees);
    screen_backdrop(screen);
    glUseProgram(program);
    glUniformMatrix4fv(glGetUniformLocation(program, "camera"), 1, GL_FALSE, camera.m);
    glUniform2f(glGetUniformLocation(program, "extent"), easel->half_width, easel->half_height);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, easel->texture);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    for (int mirrored = 1; mirrored >= 0; mirrored--) {
        glUniform1i(glGetUniformLocation(program, "mirrored"), mirrored);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }
    glDisable(GL_BLEND);
}

void easel_free(struct easel *easel)
{
    if (easel->texture != 0)
        glDeleteTextures(1, &easel->texture);
    if (easel->program != 0)
        glDeleteProgram(easel->program);
    *easel = (struct easel){0};
}
