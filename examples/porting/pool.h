/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The scene of the OpenGL steps. */
#pragma once

#include <epoxy/gl.h>

#include "wave.cuh"

static GLuint vbo, pbo, tiles, image;

static const char *vertexShader = R"(#version 330 core
layout(location = 0) in vec4 position;
out vec2 place;
out float slope;
const mat4 view = mat4(2.414, 0.0, 0.0, 0.0,
                       0.0, 1.654, 0.874, 0.729,
                       0.0, 1.759, -0.822, -0.685,
                       -1.207, -0.695, 0.960, 1.300);
void main()
{
    place = position.xy;
    slope = position.w;
    gl_Position = view * vec4(position.xyz, 1.0);
}
)";

static const char *fragmentShader = R"(#version 330 core
in vec2 place;
in float slope;
out vec4 colour;
uniform sampler2D image;
void main()
{
    vec3 bottom = texture(image, place - 0.03 * slope * vec2(0.6, 0.8)).rgb;
    float glint = smoothstep(0.2, 0.7, slope);
    colour = vec4(bottom * (0.8 + 0.6 * slope) + 0.4 * glint, 1.0);
}
)";

static GLuint compile(GLenum kind, const char *source)
{
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    GLint good;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (!good) {
        char log[1024];
        glGetShaderInfoLog(shader, sizeof(log), NULL, log);
        fprintf(stderr, "%s\n", log);
        exit(1);
    }
    return shader;
}

static GLuint createProgram()
{
    GLuint program = glCreateProgram();
    glAttachShader(program, compile(GL_VERTEX_SHADER, vertexShader));
    glAttachShader(program, compile(GL_FRAGMENT_SHADER, fragmentShader));
    glLinkProgram(program);
    glUseProgram(program);
    return program;
}

static GLuint createTexture(const unsigned char *texels)
{
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, IMAGE, IMAGE, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
    return name;
}

static GLuint createBuffer(GLenum target, GLsizeiptr size, const void *data)
{
    GLuint name;
    glGenBuffers(1, &name);
    glBindBuffer(target, name);
    glBufferData(target, size, data, GL_DYNAMIC_DRAW);
    return name;
}

static GLuint createIndices()
{
    static unsigned short indices[INDICES];
    fillIndices(indices);
    return createBuffer(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices);
}

static void createScene()
{
    static unsigned char texels[4 * IMAGE * IMAGE];
    fillTiles(texels);
    tiles = createTexture(texels);
    image = createTexture(NULL);
    createProgram();

    GLuint vertices;
    glGenVertexArrays(1, &vertices);
    glBindVertexArray(vertices);
    createIndices();
    vbo = createBuffer(GL_ARRAY_BUFFER, MESH * MESH * sizeof(float4), NULL);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    pbo = createBuffer(GL_PIXEL_UNPACK_BUFFER, IMAGE * IMAGE * sizeof(uchar4), NULL);
}

static void draw()
{
    glBindTexture(GL_TEXTURE_2D, image);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, IMAGE, IMAGE, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glViewport(0, 0, WINDOW, WINDOW);
    glClearColor(0.07f, 0.08f, 0.1f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawElements(GL_TRIANGLES, INDICES, GL_UNSIGNED_SHORT, NULL);
}

static void writePicture(const char *path)
{
    static unsigned char rows[WINDOW][3 * WINDOW];
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, WINDOW, WINDOW, GL_RGB, GL_UNSIGNED_BYTE, rows);
    /* the first row in OpenGL is the lowest */
    writeRows(path, rows[WINDOW - 1], -(long)sizeof(rows[0]), 3);
}
