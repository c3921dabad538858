/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ripples: a pool in a picture. CUDA moves the water, a mesh in a vertex buffer, and looks at the
 * tiles on the floor through it, from a texture into a pixel buffer. OpenGL draws the mesh with
 * these pixels.
 *
 *     ripples [--frames N] [--picture FILE.ppm]
 *
 * --frames   draws N frames, frame i as it is after i/60 s; without it one
 * --picture  writes the last frame
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include <cuda_runtime.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/gr.hpp>
#include <grinterop/image.h>

#define WINDOW  512 /* pixels a side */
#define MESH    128 /* vertices a side */
#define IMAGE   256 /* pixels a side */
#define INDICES (6 * (MESH - 1) * (MESH - 1))

#define checkCudaErrors(call) checkResult(call, #call, __LINE__)

static void checkResult(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "ripples.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
    exit(1);
}

/* ---- What CUDA computes ---- */

/* Around a drop that fell (dx, dy) from here: the water's height, and its slope to the light. */
__device__ float2 rings(float dx, float dy, float time)
{
    const float distance = sqrtf(dx * dx + dy * dy + 0.0002f);
    const float fade = 0.011f * expf(-2.0f * distance);
    const float phase = 55.0f * distance - 7.0f * time;
    const float rise = fade * (55.0f * cosf(phase) - 2.0f * sinf(phase));
    return make_float2(fade * sinf(phase), rise * (0.6f * dx + 0.8f * dy) / distance);
}

/* The place of each vertex, with the slope as its last number. */
__global__ void ripple(float4 *positions, int side, float time)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side)
        return;
    const float u = x / (side - 1.0f), v = y / (side - 1.0f);
    const float2 one = rings(u - 0.3f, v - 0.35f, time);
    const float2 other = rings(u - 0.65f - 0.1f * cosf(time), v - 0.6f, time + 0.4f);
    positions[y * side + x] = make_float4(u, v, one.x + other.x, one.y + other.y);
}

/* The tiles: sharp and warm around a spot that moves, blurred and cool elsewhere. */
__global__ void tint(uchar4 *pixels, cudaTextureObject_t tiles, int side, float time)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side)
        return;
    const float u = (x + 0.5f) / side, v = (y + 0.5f) / side;
    const float dx = u - 0.5f - 0.25f * cosf(0.7f * time), dy = v - 0.5f - 0.25f * sinf(time);
    const float away = fminf(2.0f * sqrtf(dx * dx + dy * dy), 1.0f);
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            const float reach = 0.02f * away;
            const float4 tile = tex2D<float4>(tiles, u + i * reach, v + j * reach);
            sum = make_float3(sum.x + tile.x, sum.y + tile.y, sum.z + tile.z);
        }
    const float scale = 255.0f / 9.0f;
    pixels[y * side + x] =
        make_uchar4((1.0f - 0.5f * away) * scale * sum.x + 0.5f,
                    (1.0f - 0.25f * away) * scale * sum.y + 0.5f, scale * sum.z + 0.5f, 255);
}

/* ---- What OpenGL draws ---- */

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

/* Tiles of four colours, with pale joints. */
static void fillTiles(unsigned char *texels)
{
    static const unsigned char colours[4][3] = {
        {38, 130, 160}, {60, 170, 185}, {24, 96, 140}, {226, 160, 84}};
    for (int y = 0; y < IMAGE; y++)
        for (int x = 0; x < IMAGE; x++, texels += 4) {
            const int column = x / 16, row = y / 16;
            const bool joint = x % 16 == 0 || y % 16 == 0;
            const int kind = (column * column * 3 + row * row * 5 + column * row) % 13 % 4;
            for (int i = 0; i < 3; i++)
                texels[i] = joint ? 215 : colours[kind][i];
            texels[3] = 255;
        }
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

/* Two triangles for each square of four vertices. */
static GLuint createIndices()
{
    static unsigned short indices[INDICES];
    unsigned short *next = indices;
    for (int y = 0; y < MESH - 1; y++)
        for (int x = 0; x < MESH - 1; x++) {
            const unsigned short corner = y * MESH + x;
            const unsigned short square[6] = {0, 1, MESH, MESH, 1, MESH + 1};
            for (int i = 0; i < 6; i++)
                *next++ = corner + square[i];
        }
    return createBuffer(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices);
}

/* ---- Both ---- */

static GLuint vbo, pbo, tiles, image;

static grinterop::egl initGL()
{
    gr_egl_options options = GR_INIT(gr_egl_options);
    options.major = 3;
    options.minor = 3;
    grinterop::egl egl(gr_egl_create(&options));

    GLuint framebuffer, colours;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glGenRenderbuffers(1, &colours);
    glBindRenderbuffer(GL_RENDERBUFFER, colours);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, WINDOW, WINDOW);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colours);
    return egl;
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

/* What CUDA and OpenGL share, until its end. */
struct Shared {
    grinterop::resource vbo, pbo, tiles;
};

static Shared registerWithCuda()
{
    return {grinterop::resource(gr_from_gl_buffer(vbo, GR_WRITE_DISCARD)),
            grinterop::resource(gr_from_gl_buffer(pbo, GR_WRITE_DISCARD)),
            grinterop::resource(gr_from_gl_image(tiles, GL_TEXTURE_2D, GR_READ_ONLY))};
}

static cudaTextureObject_t createTextureObject(const grinterop::mapping &image)
{
    gr_texture_options how = GR_INIT(gr_texture_options);
    how.filter = GR_FILTER_LINEAR;
    how.normalized_coordinates = GR_YES;
    return grinterop::must(gr_buffer_texture(image.get(), &how));
}

static void runCuda(const Shared &shared, cudaStream_t stream, float time)
{
    std::vector<grinterop::mapping> mapped =
        grinterop::map_many({shared.vbo, shared.pbo, shared.tiles}, stream);

    float4 *vertices = mapped[0].span<float4>().data();
    uchar4 *pixels = mapped[1].span<uchar4>().data();
    cudaTextureObject_t texture = createTextureObject(mapped[2]);

    const dim3 block(16, 16);
    ripple<<<dim3(MESH / 16, MESH / 16), block, 0, stream>>>(vertices, MESH, time);
    tint<<<dim3(IMAGE / 16, IMAGE / 16), block, 0, stream>>>(pixels, texture, IMAGE, time);
    checkCudaErrors(cudaGetLastError());

    grinterop::release_many(mapped);
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
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "P6 %d %d 255\n", WINDOW, WINDOW);
    for (int y = WINDOW - 1; y >= 0; y--) /* OpenGL's first row is the lowest */
        fwrite(rows[y], 1, sizeof(rows[y]), file);
    fclose(file);
}

static void run(int frames, const char *picture)
{
    const Shared shared = registerWithCuda();
    const cudaStream_t stream = cudaStreamPerThread;
    for (int i = 0; i < frames; i++) {
        runCuda(shared, stream, i / 60.0f);
        draw();
        if (picture && i + 1 == frames)
            writePicture(picture);
    }
}

int main(int argc, char **argv)
try {
    int frames = 1;
    const char *picture = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--frames"))
            frames = atoi(argv[i + 1]);
        if (!strcmp(argv[i], "--picture"))
            picture = argv[i + 1];
    }

    const grinterop::egl egl = initGL();
    createScene();
    run(frames, picture);
    return 0;
} catch (const std::exception &error) {
    fprintf(stderr, "ripples: %s\n", error.what());
    return 1;
}
