/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * ripples: a pool in a window. CUDA moves the water, a mesh in a vertex buffer, and renders the
 * tiles on the floor as seen through it, from a texture into a pixel buffer. OpenGL draws the mesh
 * with these pixels.
 *
 *     ripples [--frames N] [--picture FILE.ppm]
 *
 * --frames   draws N frames, frame i at time i/60 s, and exits
 * --picture  writes the last frame
 */
#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>

#include <GLFW/glfw3.h>
#include <cuda_runtime.h>
#include <grinterop/gl.h>
#include <grinterop/gr.hpp>
#include <grinterop/image.h>

#include "../pool.h"

static GLFWwindow *window;

static void initGL()
{
    if (!glfwInit()) {
        fprintf(stderr, "GLFW finds no display\n");
        exit(1);
    }
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_RESIZABLE, GLFW_FALSE);
    window = glfwCreateWindow(WINDOW, WINDOW, "ripples", NULL, NULL);
    if (!window) {
        fprintf(stderr, "there is no OpenGL 3.3\n");
        exit(1);
    }
    glfwMakeContextCurrent(window);
}

/* The resources that CUDA and OpenGL share. The destructor unregisters them. */
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
    how.normalized_coordinates = GR_CHOICE_YES;
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

static void run(int frames, const char *picture)
{
    const Shared shared = registerWithCuda();
    const cudaStream_t stream = cudaStreamPerThread;
    for (int i = 0; !glfwWindowShouldClose(window) && (!frames || i < frames); i++) {
        runCuda(shared, stream, frames ? i / 60.0f : (float)glfwGetTime());
        draw();
        if (picture && i + 1 == frames)
            writePicture(picture);
        glfwSwapBuffers(window);
        glfwPollEvents();
    }
}

int main(int argc, char **argv)
try {
    int frames = 0;
    const char *picture = NULL;
    readOptions(argc, argv, &frames, &picture);

    initGL();
    createScene();
    run(frames, picture);
    glfwTerminate();
    return 0;
} catch (const std::exception &error) {
    fprintf(stderr, "ripples: %s\n", error.what());
    return 1;
}
