// SPDX-License-Identifier: Apache-2.0 OR MIT
// The loop of an OptiX viewer, with the window, display and CUDAOutputBuffer of NVIDIA's OptiX
// Toolkit. A CUDA kernel takes the place of the launch of OptiX, which the viewer does not need.
//
//     viewer FRAMES PICTURE [LOOP]
//
// LOOP   toolkit: copies the launch parameters by cudaMemcpy(), as OTKApp does (the default)
//        async:   the same by cudaMemcpyAsync()
//        sdk:     as async, then synchronizes the device, as the samples of the OptiX SDK do
// SIZE   environment variable, WIDTHxHEIGHT; default 1024x768
//
// Prints the frames per second of the second half of the frames, and a hash of the last one.

#include <OptiXToolkit/Gui/CUDAOutputBuffer.h>
#include <OptiXToolkit/Gui/GLDisplay.h>
#include <OptiXToolkit/Gui/glfw3.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

struct Params {
    uchar4 *image;
    float4 *sums;
    unsigned width, height, subframe;
};

// A lit sphere that turns, and noise that the sum of the subframes reduces.
__global__ void raygen(const Params *params)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= params->width || y >= params->height)
        return;
    const unsigned i = y * params->width + x;
    const float u = 2.0f * (float)x / (float)params->width - 1.0f;
    const float v = 2.0f * (float)y / (float)params->height - 1.0f;
    const float left = 0.8f - u * u - v * v;
    unsigned noise = (i * 747796405u + params->subframe * 2891336453u) ^ 0x9e3779b9u;
    noise = (noise ^ noise >> 16) * 0x7feb352du;
    const float grain = (float)(noise >> 24) / 255.0f;
    const float light = left > 0.0f ? left + 0.25f * grain : 0.1f * grain;
    const unsigned stripe = (x + params->subframe) / 32 % 2;
    float4 sum = params->sums[i];
    sum.x += light;
    sum.y += stripe ? light : 0.5f * light;
    sum.z += 0.3f;
    sum.w += 1.0f;
    params->sums[i] = sum;
    const float scale = 255.0f / sum.w;
    params->image[i] = make_uchar4(
        (unsigned char)fminf(sum.x * scale, 255.0f), (unsigned char)fminf(sum.y * scale, 255.0f),
        (unsigned char)(sum.z * scale), (unsigned char)(params->subframe & 255u));
}

static unsigned save(const char *name, int width, int height)
{
    std::vector<unsigned char> pixels((size_t)width * height * 3);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
    FILE *file = fopen(name, "wb");
    if (!file || fprintf(file, "P6\n%d %d\n255\n", width, height) < 0 ||
        fwrite(pixels.data(), pixels.size(), 1, file) != 1 || fclose(file) != 0) {
        fprintf(stderr, "viewer: %s cannot be written\n", name);
        exit(1);
    }
    unsigned hash = 2166136261u;
    for (unsigned char byte : pixels)
        hash = (hash ^ byte) * 16777619u;
    return hash;
}

class Viewer
{
public:
    Viewer(int width, int height, const char *loop) : width(width), height(height), loop(loop)
    {
        OTK_ERROR_CHECK(cudaFree(nullptr));
        window = otk::initGLFW("viewer", width, height);
        otk::initGL();
        display.reset(new otk::GLDisplay(otk::BufferImageFormat::UNSIGNED_BYTE4));
        output.reset(new otk::CUDAOutputBuffer<uchar4>(otk::CUDAOutputBufferType::GL_INTEROP, width,
                                                       height));
        OTK_ERROR_CHECK(cudaStreamCreate(&stream));
        const size_t size = sizeof(float4) * width * height;
        OTK_ERROR_CHECK(cudaMalloc((void **)&params.sums, size));
        OTK_ERROR_CHECK(cudaMemset(params.sums, 0, size));
        OTK_ERROR_CHECK(cudaMalloc((void **)&device_params, sizeof(params)));
        params.width = width;
        params.height = height;
    }

    void draw(unsigned frame)
    {
        params.subframe = frame;
        params.image = output->map();
        if (loop == "toolkit")
            OTK_ERROR_CHECK(
                cudaMemcpy(device_params, &params, sizeof(params), cudaMemcpyHostToDevice));
        else
            OTK_ERROR_CHECK(cudaMemcpyAsync(device_params, &params, sizeof(params),
                                            cudaMemcpyHostToDevice, stream));
        const dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
        raygen<<<grid, block, 0, stream>>>(device_params);
        output->unmap();
        if (loop == "sdk")
            OTK_ERROR_CHECK(cudaDeviceSynchronize());
        display->display(output->width(), output->height(), width, height, output->getPBO());
        glfwSwapBuffers(window);
    }

private:
    const int width, height;
    const std::string loop;
    GLFWwindow *window;
    std::unique_ptr<otk::GLDisplay> display;
    std::unique_ptr<otk::CUDAOutputBuffer<uchar4>> output;
    cudaStream_t stream;
    Params params = {}, *device_params;
};

int main(int count, char **arguments)
{
    int width = 1024, height = 768;
    if (count < 3) {
        fprintf(stderr, "usage: viewer FRAMES PICTURE [toolkit|async|sdk]\n");
        return 2;
    }
    if (const char *size = getenv("SIZE"))
        otk::parseDimensions(size, width, height);
    const unsigned frames = (unsigned)atoi(arguments[1]);
    Viewer viewer(width, height, count > 3 ? arguments[3] : "toolkit");
    double began = 0;
    for (unsigned i = 0; i < frames; i++) {
        if (i == frames / 2) {
            glFinish();
            began = otk::currentTime();
        }
        viewer.draw(i);
    }
    glFinish();
    const double seconds = otk::currentTime() - began;
    printf("viewer: %.1f frames per second, OpenGL %s, hash %08x\n",
           (frames - frames / 2) / seconds, (const char *)glGetString(GL_VERSION),
           save(arguments[2], width, height));
    return 0;
}
