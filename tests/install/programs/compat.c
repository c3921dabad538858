/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CUDA fills an OpenGL buffer through the names of CUDA, which compat.h maps to grinterop. */
#include <epoxy/gl.h>

#include <grinterop/compat.h>
#include <grinterop/egl.h>

#include "program.h"

static unsigned char filled(size_t place)
{
    (void)place;
    return 42;
}

static void fill(GLuint name, CUstream stream)
{
    CUgraphicsResource resource = NULL;
    CUdeviceptr pointer = 0;
    size_t size = 0;
    check(!cuGraphicsGLRegisterBuffer(&resource, name, 0), "the registration");
    check(!cuGraphicsMapResources(1, &resource, stream), "the map");
    check(!cuGraphicsResourceGetMappedPointer(&pointer, &size, resource), "the pointer");
    check(!gr_cuda()->MemsetD8Async(pointer, 42, size, stream), "cuMemsetD8Async");
    check(!cuGraphicsUnmapResources(1, &resource, stream), "the unmap");
    check(!cuGraphicsUnregisterResource(resource), "the end of the registration");
}

int main(void)
{
    unsigned char bytes[1000];
    GLuint name = 0;
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    check(egl, "the OpenGL context");
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, sizeof(bytes), NULL, GL_DYNAMIC_DRAW);
    fill(name, gr_cuda_context_get_info(context)->stream);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(bytes), bytes);
    check_bytes(bytes, sizeof(bytes), filled);
    return 0;
}
