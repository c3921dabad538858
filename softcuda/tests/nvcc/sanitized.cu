/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Kernels with adjacent integer parameters, for a program built with AddressSanitizer. */
#include "expect.h"

struct extent {
    int width, height;
};

__global__ void integers(float *out, int width, int height)
{
    out[0] = width + height;
}

__global__ void floats(float *out, float a, float b)
{
    out[1] = a + b;
}

__global__ void pair(float *out, extent size)
{
    out[2] = size.width * size.height;
}

__global__ void host_memory(float *out)
{
    out[0] = 4;
}

int main(int count, char **)
{
    numbers<float> out(3);
    integers<<<1, 1>>>(out.device, 320, 240);
    floats<<<1, 1>>>(out.device, 320, 1e-42f);
    pair<<<1, 1>>>(out.device, extent{320, 240});
    out.fetch();
    EXPECT(out[0] == 560 && out[1] == 320 && out[2] == 76800, "%g %g %g", out[0], out[1], out[2]);
    if (count > 1) {
        float *own = new float[1000];
        host_memory<<<1, 1>>>(own);
        CUDA(cudaDeviceSynchronize());
        EXPECT(own[0] == 4, "%g", own[0]);
        delete[] own;
    }
    return 0;
}
