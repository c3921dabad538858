/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_frames' kernel: a mesh of w by w points on a wave, which OpenGL and Vulkan draw.
 */
#include <grinterop/cuhost.h>

/*
 * Points lie a tenth of a pixel off the middle between two, so that no rounding moves one to its
 * neighbour. The waves are steep enough for gaps between the points of the finest mesh, so that
 * each part of it shows in the picture.
 */
extern "C" __global__ void mesh(float4 *out, int w, float phase)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= w * w)
        return;
    const float off = 0.1f / 256.0f;
    const float x = 2.0f * ((float)(i % w) + 0.5f) / (float)w - 1.0f + off;
    const float y = 2.0f * ((float)(i / w) + 0.5f) / (float)w - 1.0f + off;
    const float height = sinf(5.0f * x + 6.2831853f * phase) * cosf(9.0f * y - 3.0f * phase);
    out[i] = make_float4(x, 0.7f * y + 0.28f * height, height, phase);
}
GR_KERNEL(mesh)
