// SPDX-License-Identifier: Apache-2.0 OR MIT
// The class of docs/adopting.md, on stream 0: pixels that CUDA does not write in a frame must stay.
#include <epoxy/gl.h>
#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/gr.hpp>

typedef CUstream cudaStream_t;
#include "frame.hpp"

static const size_t side = 16, row = 4 * side;

static void write_row(Frame &frame, size_t y, unsigned char value)
{
    const std::vector<unsigned char> bytes(row, value);
    const grinterop::mapping mapped = frame.map(nullptr);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = bytes.data();
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = mapped.array();
    copy.dstY = y;
    copy.WidthInBytes = row;
    copy.Height = 1;
    grinterop::check(gr_cuda()->Memcpy2D(&copy), "a copy");
}

int main()
{
    grinterop::check(gr_cuda_load(true));
    const grinterop::cuda_context context(gr_cuda_context_create(0));
    const grinterop::egl egl(gr_egl_create(nullptr));
    Frame frame(side, side);
    std::vector<unsigned char> pixels(row * side);
    write_row(frame, 0, 1);
    write_row(frame, 1, 2);
    glBindTexture(GL_TEXTURE_2D, frame.texture);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    return pixels[0] == 1 && pixels[row] == 2 && pixels[2 * row - 1] == 2 ? 0 : 1;
}
