// SPDX-License-Identifier: Apache-2.0 OR MIT
// gr.hpp: CUDA fills an OpenGL buffer, OpenGL reads it, and errors are exceptions.
#include <algorithm>
#include <array>

#include <epoxy/gl.h>
#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/gr.hpp>

static void fill(grinterop::resource &bytes, CUstream stream)
{
    const grinterop::mapping mapped = bytes.map(stream);
    grinterop::check(gr_cuda()->MemsetD8Async(mapped.pointer(), 42, 16, stream), "a fill");
}

static bool refuses_no_stream(grinterop::resource &bytes)
{
    try {
        bytes.map(nullptr);
    } catch (const grinterop::error &error) {
        return !bytes.info().mapped && error.status == GR_ERR_INVALID_VALUE;
    }
    return false;
}

int main()
{
    grinterop::check(gr_cuda_load(true));
    const grinterop::cuda_context context(gr_cuda_context_create(0));
    const grinterop::egl egl(gr_egl_create(nullptr));
    grinterop::resource bytes(gr_create_gl_buffer(16, GR_READ_WRITE, nullptr));
    fill(bytes, context.stream());
    std::array<unsigned char, 16> read{};
    glBindBuffer(GL_ARRAY_BUFFER, gr_gl_name(bytes.get()));
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, read.size(), read.data());
    if (std::count(read.begin(), read.end(), 42) != 16)
        return 1;
    return refuses_no_stream(bytes) ? 0 : 2;
}
