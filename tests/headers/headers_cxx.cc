// SPDX-License-Identifier: Apache-2.0 OR MIT
// The public headers in C++: this only links if each grinterop function has C linkage.
// nvcc --default-stream per-thread defines this.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/cuda.h>
#include <grinterop/compat.h>
#include <grinterop/image.h>
#include <grinterop/vk.h>
#include <grinterop/external.h>
#include <grinterop/framebuffer.h>
#include <grinterop/publish.h>
#include <grinterop/tensor.h>
#include <grinterop/share.h>
#include <grinterop/gr.h>

#include "headers.h"

#if defined(EPOXY_GL_H) || defined(__gl_h_) || defined(__egl_h_) || defined(GL_VERSION_1_1)
#error "a public grinterop header includes one of OpenGL or EGL"
#endif

extern "C" void cxx_functions(anything *functions)
{
    anything *at = functions;
#define FUNCTION(name, ...) *at++ = reinterpret_cast<anything>(name);
#include "tests/api/functions.def"
}

// GR_INIT outside of functions.
static const gr_egl_options everywhere = GR_INIT(gr_egl_options);
struct member {
    gr_egl_options options = GR_INIT(gr_egl_options);
};

// Returns 1 if GR_AUTO ends its objects and GR_INIT initialises structs in C++ too.
extern "C" int cxx_scope()
{
    GR_AUTO(gr_resource) *resource = nullptr;
    GR_AUTO(gr_buffer) *buffer = nullptr;
    GR_AUTO(gr_egl) *egl = nullptr;
    gr_egl_options options = GR_INIT(gr_egl_options);
    return resource == nullptr && buffer == nullptr && egl == nullptr && options.share == nullptr &&
           everywhere.struct_size == sizeof(gr_egl_options) &&
           member().options.struct_size == sizeof(gr_egl_options) && GR_STREAM_OF_MAP != nullptr &&
           GR_STREAM(0) == GR_STREAM_PER_THREAD && GR_STREAM(nullptr) == GR_STREAM_PER_THREAD;
}
