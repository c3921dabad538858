/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Kernels that convert pixels from glReadPixels(), written as in an application. */
#include <grinterop/cuhost.h>

extern "C" __global__ void planes(const unsigned *from, float *to, int count)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    for (int c = 0; c < 3 && i < count; c++)
        to[i + c * count] = (float)(from[i] >> 8 * c & 255) * (1 / 255.0f);
}
GR_KERNEL(planes)

/* Converts depth to distance. The near plane is at 0.1, the far plane at 100. */
extern "C" __global__ void distance(const float *from, float *to, int count)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        to[i] = 1 / (10 - 9.99f * from[i]);
}
GR_KERNEL(distance)
