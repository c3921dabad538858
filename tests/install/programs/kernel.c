/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CUDA without graphics: runs the wave kernel of hello.cu on CUDA memory. */
#include "program.h"

enum { SIDE = 64, FLOATS = 8 }; /* a vertex has a position and a colour */

static float vertices[SIDE * SIDE][FLOATS];

/* The vertices must form a square grid. Does not check the height of the wave. */
static void check_vertices(void)
{
    for (int i = 0; i < SIDE * SIDE; i++) {
        const float u = 2.0f * (float)(i % SIDE) / SIDE - 1.0f;
        const float v = 2.0f * (float)(i / SIDE) / SIDE - 1.0f;
        if (vertices[i][0] != u || vertices[i][2] != v || vertices[i][3] != 1.0f) {
            fprintf(stderr, "vertex %d is at %g, %g\n", i, vertices[i][0], vertices[i][2]);
            exit(EXIT_FAILURE);
        }
    }
}

int main(void)
{
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    const gr_cuda_api *cuda = gr_cuda();
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    CUstream stream = context->stream;
    CUmodule module;
    CUfunction wave;
    CUdeviceptr memory;
    check(!cuda->ModuleLoad(&module, "./hello.so"), "./hello.so");
    check(!cuda->ModuleGetFunction(&wave, module, "wave"), "the kernel");
    check(!cuda->MemAlloc(&memory, sizeof(vertices)), "the memory");
    float time = 1.0f;
    void *arguments[] = {&memory, &time};
    check(!cuda->LaunchKernel(wave, SIDE / 16, SIDE / 16, 1, 16, 16, 1, 0, stream, arguments, NULL),
          "the launch");
    check(!cuda->MemcpyDtoHAsync(vertices, memory, sizeof(vertices), stream), "the copy");
    check(!cuda->StreamSynchronize(stream), "the stream");
    check_vertices();
    check(!cuda->MemFree(memory), "the memory");
    return 0;
}
