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
#include <cuda_gl_interop.h>
#include <cuda_runtime.h>

#include "../pool.h"

static GLFWwindow *window;
static cudaGraphicsResource_t vboResource, pboResource, tilesResource;

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

static void registerWithCuda()
{
    checkCudaErrors(
        cudaGraphicsGLRegisterBuffer(&vboResource, vbo, cudaGraphicsRegisterFlagsWriteDiscard));
    checkCudaErrors(
        cudaGraphicsGLRegisterBuffer(&pboResource, pbo, cudaGraphicsRegisterFlagsWriteDiscard));
    checkCudaErrors(cudaGraphicsGLRegisterImage(&tilesResource, tiles, GL_TEXTURE_2D,
                                                cudaGraphicsRegisterFlagsReadOnly));
}

static cudaTextureObject_t createTextureObject(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    how.normalizedCoords = 1;
    cudaTextureObject_t texture;
    checkCudaErrors(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    return texture;
}

static void runCuda(float time)
{
    cudaGraphicsResource_t resources[] = {vboResource, pboResource, tilesResource};
    checkCudaErrors(cudaGraphicsMapResources(3, resources, 0));

    float4 *vertices;
    uchar4 *pixels;
    cudaArray_t array;
    size_t size;
    checkCudaErrors(cudaGraphicsResourceGetMappedPointer((void **)&vertices, &size, vboResource));
    checkCudaErrors(cudaGraphicsResourceGetMappedPointer((void **)&pixels, &size, pboResource));
    checkCudaErrors(cudaGraphicsSubResourceGetMappedArray(&array, tilesResource, 0, 0));
    cudaTextureObject_t texture = createTextureObject(array);

    const dim3 block(16, 16);
    ripple<<<dim3(MESH / 16, MESH / 16), block>>>(vertices, MESH, time);
    tint<<<dim3(IMAGE / 16, IMAGE / 16), block>>>(pixels, texture, IMAGE, time);
    checkCudaErrors(cudaGetLastError());
    checkCudaErrors(cudaDeviceSynchronize());

    checkCudaErrors(cudaDestroyTextureObject(texture));
    checkCudaErrors(cudaGraphicsUnmapResources(3, resources, 0));
}

static void run(int frames, const char *picture)
{
    registerWithCuda();
    for (int i = 0; !glfwWindowShouldClose(window) && (!frames || i < frames); i++) {
        runCuda(frames ? i / 60.0f : (float)glfwGetTime());
        draw();
        if (picture && i + 1 == frames)
            writePicture(picture);
        glfwSwapBuffers(window);
        glfwPollEvents();
    }
    checkCudaErrors(cudaGraphicsUnregisterResource(vboResource));
    checkCudaErrors(cudaGraphicsUnregisterResource(pboResource));
    checkCudaErrors(cudaGraphicsUnregisterResource(tilesResource));
}

int main(int argc, char **argv)
{
    int frames = 0;
    const char *picture = NULL;
    readOptions(argc, argv, &frames, &picture);

    initGL();
    createScene();
    run(frames, picture);
    glfwTerminate();
    return 0;
}
