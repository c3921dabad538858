/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * splat WIDTH HEIGHT GAUSSIANS FRAMES PICTURE: a viewer for Gaussian splats, without a window. CUDA
 * rasterises each frame into an OpenGL buffer, which OpenGL draws.
 *
 * Runs each way to hand the buffer over in turn. Prints the frames per second, and the latency from
 * the start of the first kernel of a frame to the end of its draw, in microseconds: the median and
 * the 99th percentile. Fails if one of CHECKED frames differs between the ways. PICTURE is the PPM
 * file of the last frame.
 */
#include <epoxy/gl.h>

#include <cuda_gl_interop.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/gr.hpp>

#include <algorithm>
#include <bitset>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "rasterise.cuh"

enum { CHECKED = 24 };

/* 1 and more: a ring with so many buffers between the one that CUDA writes and the one drawn. */
enum { ALONE = -1, INTEROP = 0 };

static struct {
    rasteriser r;
    size_t tiles, size; /* size: the bytes of a frame, which has three planes of floats */
    cudaStream_t stream;
    int frames, warm;            /* of a run; the clock starts after `warm` of them */
    unsigned long long *started; /* the device times at which the frames start */
    std::vector<GLuint> drawn;   /* timer queries at the ends of the draws */
    double begin, end;           /* the seconds when the clock started and stopped */
    bool checked;                /* whether draw() copies each frame into a pixel buffer */
    std::string pixels;          /* of the frames in the pixel buffer */
} v;

static void check(cudaError_t result, const char *call)
{
    if (result != cudaSuccess)
        throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
}
#define CHECK(call) check(call, #call)

/* ---- OpenGL ---------------------------------------------------------------------------------- */

static const char *const shaders[] = {
    R"(#version 430
    void main() {
        gl_Position = vec4(4 * (gl_VertexID & 1) - 1, 2 * (gl_VertexID & 2) - 1, 0, 1);
    })",
    R"(#version 430
    layout(std430, binding = 0) readonly buffer Planes { float plane[]; };
    layout(location = 0) uniform ivec2 size;
    out vec4 colour;
    void main() {
        int i = int(gl_FragCoord.y) * size.x + int(gl_FragCoord.x), n = size.x * size.y;
        colour = vec4(plane[i], plane[i + n], plane[i + 2 * n], 1);
    })"};

static void prepare_drawing()
{
    const GLuint program = glCreateProgram();
    GLuint name;
    glGenFramebuffers(1, &name);
    glBindFramebuffer(GL_FRAMEBUFFER, name);
    glGenRenderbuffers(1, &name);
    glBindRenderbuffer(GL_RENDERBUFFER, name);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, v.r.width, v.r.height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, name);
    glViewport(0, 0, v.r.width, v.r.height);
    glGenBuffers(1, &name);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, name);
    glBufferData(GL_PIXEL_PACK_BUFFER, v.pixels.size(), NULL, GL_STREAM_READ);
    glGenVertexArrays(1, &name);
    glBindVertexArray(name);
    for (int i = 0; i < 2; i++) {
        const GLuint shader = glCreateShader(i ? GL_FRAGMENT_SHADER : GL_VERTEX_SHADER);
        glShaderSource(shader, 1, &shaders[i], NULL);
        glCompileShader(shader);
        glAttachShader(program, shader);
    }
    glLinkProgram(program);
    glUseProgram(program);
    glUniform2i(0, v.r.width, v.r.height);
}

static void draw(GLuint buffer, int frame)
{
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glQueryCounter(v.drawn[frame], GL_TIMESTAMP);
    if (v.checked)
        glReadPixels(0, 0, v.r.width, v.r.height, GL_RGBA, GL_UNSIGNED_BYTE,
                     (void *)(frame * (v.pixels.size() / CHECKED)));
    glFlush();
}

/* Writes the last frame. Returns whether its red values are many. */
static bool write_picture(const char *path)
{
    std::bitset<256> reds;
    std::ofstream file(path, std::ios::binary);
    file << "P6 " << v.r.width << " " << v.r.height << " 255\n";
    for (size_t i = v.pixels.size() / CHECKED * (CHECKED - 1); i < v.pixels.size(); i += 4)
        file.write(&v.pixels[i], 3), reds.set((unsigned char)v.pixels[i]);
    return reds.count() > 64;
}

/* ---- Ways to hand a frame over --------------------------------------------------------------- */

/* Waits until CUDA and OpenGL are idle, and returns the seconds of a clock. */
static double idle()
{
    glFinish();
    CHECK(cudaDeviceSynchronize());
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

static void rasterise(float *out, int frame)
{
    const rasteriser &r = v.r;
    CHECK(cudaMemsetAsync(r.counts, 0, v.tiles * sizeof(*r.counts), v.stream));
    project<<<(r.gaussians + 255) / 256, 256, 0, v.stream>>>(r, 0.02f * frame, v.started + frame);
    blend<<<dim3(r.columns, r.rows), dim3(TILE, TILE), 0, v.stream>>>(r, out);
    CHECK(cudaGetLastError());
}

/* The rasteriser without OpenGL. */
static void alone()
{
    float *out;
    CHECK(cudaMalloc(&out, v.size));
    for (int i = 0; i < v.frames; i++) {
        if (i == v.warm)
            v.begin = idle();
        rasterise(out, i);
    }
    v.end = idle();
    CHECK(cudaFree(out));
}

/* In order, as SIBR and its descendants do it: map, rasterise, unmap, draw. */
static void interop()
{
    GLuint buffer;
    cudaGraphicsResource_t resource;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, buffer);
    glBufferStorage(GL_SHADER_STORAGE_BUFFER, v.size, NULL, GL_DYNAMIC_STORAGE_BIT);
    CHECK(cudaGraphicsGLRegisterBuffer(&resource, buffer, cudaGraphicsRegisterFlagsWriteDiscard));
    for (int i = 0; i < v.frames; i++) {
        if (i == v.warm)
            v.begin = idle();
        void *out;
        size_t size;
        CHECK(cudaGraphicsMapResources(1, &resource, v.stream));
        CHECK(cudaGraphicsResourceGetMappedPointer(&out, &size, resource));
        rasterise((float *)out, i);
        CHECK(cudaGraphicsUnmapResources(1, &resource, v.stream));
        draw(buffer, i);
    }
    v.end = idle();
    CHECK(cudaGraphicsUnregisterResource(resource));
    glDeleteBuffers(1, &buffer);
}

static void in_ring(int in_flight)
{
    std::vector<grinterop::resource> buffers;
    std::vector<gr_resource *> slots;
    for (int i = 0; i < in_flight + 2; i++) {
        buffers.emplace_back(gr_create_gl_buffer(v.size, GR_WRITE_DISCARD, NULL));
        slots.push_back(buffers.back().get());
    }
    const grinterop::ring ring(gr_ring_create(slots.data(), slots.size(), NULL));
    for (int i = 0; i < v.frames; i++) {
        if (i == v.warm)
            v.begin = idle();
        grinterop::slot written = ring.acquire_write(v.stream, 0);
        rasterise((float *)gr_buffer_ptr(written.buffer()), i);
        written.hand_over();
        grinterop::slot drawn = ring.acquire_read(GR_STREAM_NONE, 0);
        draw(gr_gl_name(drawn.get()->resource), i);
        drawn.give_back();
    }
    v.end = idle();
}

/* ---- Measurement ----------------------------------------------------------------------------- */

static void run(int way, int frames, bool checked)
{
    v.checked = checked;
    v.warm = checked ? 0 : frames / 8;
    v.frames = v.warm + frames;
    if (way == ALONE)
        alone();
    else if (way == INTEROP)
        interop();
    else
        in_ring(way);
}

static void print_latency()
{
    std::vector<double> us;
    for (int i = v.warm; i < v.frames; i++) {
        GLuint64 drawn;
        glGetQueryObjectui64v(v.drawn[i], GL_QUERY_RESULT, &drawn);
        us.push_back(1e-3 * (double)(int64_t)(drawn - v.started[i]));
    }
    std::sort(us.begin(), us.end());
    printf(" %9.0f %9.0f", us[us.size() / 2], us[us.size() * 99 / 100]);
}

/* Prints a row of the table. */
static void measure(int way, const char *name, int frames)
{
    run(way, frames, false);
    printf("%-8s %9.0f %9.0f", name, frames / (v.end - v.begin), 1e6 * (v.end - v.begin) / frames);
    if (way != ALONE)
        print_latency();
    printf("\n");
}

/* Returns the hash of CHECKED frames. */
static size_t hash(int way)
{
    glClearBufferData(GL_PIXEL_PACK_BUFFER, GL_R8, GL_RED, GL_UNSIGNED_BYTE, NULL);
    run(way, CHECKED, true);
    glGetBufferSubData(GL_PIXEL_PACK_BUFFER, 0, v.pixels.size(), v.pixels.data());
    return std::hash<std::string>{}(v.pixels);
}

template <typename T> static T *allocate(size_t count)
{
    T *memory;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    return memory;
}

/* The scene is a torus of coloured discs. */
static void prepare_rasteriser()
{
    rasteriser &r = v.r;
    std::mt19937 random(1);
    auto uniform = [&] { return random() * 0x1p-32f; };
    std::vector<gaussian> scene(r.gaussians);
    for (gaussian &g : scene) {
        const float t = 6.2831853f * uniform(), u = 6.2831853f * uniform();
        const float wide = 1 + 0.4f * cosf(u), light = 0.6f + 0.4f * sinf(u + 3 * t);
        g.normal = make_float3(cosf(u) * cosf(t), cosf(u) * sinf(t), sinf(u));
        g.position = make_float3(wide * cosf(t), wide * sinf(t), 0.4f * sinf(u));
        g.radius = (1 + uniform()) * 1.8f / sqrtf((float)r.gaussians);
        g.colour = make_float4(light * (0.6f + 0.4f * cosf(t)), light * (0.6f + 0.4f * cosf(t - 2)),
                               light * (0.6f + 0.4f * cosf(t + 2)), 0.5f + 0.5f * uniform());
    }
    const size_t bytes = scene.size() * sizeof(scene[0]);
    r.scene = allocate<gaussian>(scene.size());
    CHECK(cudaMemcpy(r.scene, scene.data(), bytes, cudaMemcpyHostToDevice));
    r.columns = (r.width + TILE - 1) / TILE;
    r.rows = (r.height + TILE - 1) / TILE;
    v.tiles = (size_t)r.columns * r.rows;
    r.splats = allocate<splat>(scene.size());
    r.counts = allocate<unsigned>(v.tiles);
    r.keys = allocate<unsigned long long>(v.tiles * MOST_PER_TILE);
    v.size = 3 * sizeof(float) * r.width * r.height;
    v.pixels.resize(4 * (size_t)r.width * r.height * CHECKED);
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: splat WIDTH HEIGHT GAUSSIANS FRAMES PICTURE\n");
        return 2;
    }
    const int frames = atoi(argv[4]);
    v.r = {atoi(argv[1]), atoi(argv[2]), 0, 0, atoi(argv[3])};
    grinterop::check(gr_cuda_load(true));
    CHECK(cudaStreamCreate(&v.stream));
    const grinterop::egl egl(gr_egl_create(NULL));
    prepare_rasteriser();
    prepare_drawing();
    v.drawn.resize(std::max(2 * frames, (int)CHECKED));
    glGenQueries(v.drawn.size(), v.drawn.data());
    CHECK(cudaMallocHost(&v.started, v.drawn.size() * sizeof(*v.started)));
    printf("%s\n%d x %d, %d Gaussians, %d frames\n", egl.get()->description, v.r.width, v.r.height,
           v.r.gaussians, frames);
    printf("%-8s %9s %9s %9s %9s\n", "", "frames/s", "us/frame", "latency", "99 %");
    measure(ALONE, "no draw", frames);
    measure(INTEROP, "interop", frames);
    for (int in_flight : {1, 4, 16})
        measure(in_flight, ("ring " + std::to_string(in_flight)).c_str(), frames);
    const size_t expected = hash(INTEROP);
    const bool same = hash(1) == expected && hash(4) == expected && hash(16) == expected;
    const bool empty = !write_picture(argv[5]);
    printf("%016zx: the pictures are %s\n", expected,
           !same   ? "DIFFERENT"
           : empty ? "nearly EMPTY"
                   : "the same");
    return !same || empty;
}
