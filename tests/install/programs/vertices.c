/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vertices of the host go through a tensor to an OpenGL buffer, which is mapped once. */
#include <epoxy/gl.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/tensor.h>

#include "program.h"

enum { COUNT = 1000 };

static unsigned char numbered(size_t place)
{
    return (unsigned char)(place % 251);
}

int main(void)
{
    static unsigned char vertices[16 * COUNT], drawn[sizeof(vertices)];
    GLuint name;
    for (size_t i = 0; i < sizeof(vertices); i++)
        vertices[i] = numbered(i);
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    check(egl, "the OpenGL context");
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, sizeof(vertices), NULL, GL_STATIC_DRAW);

    const int64_t shape[] = {COUNT, 4};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shape);
    GR_AUTO(gr_tensor) *tensor = gr_tensor_create(&desc, context->stream);
    check(tensor, "the tensor");
    check(gr_tensor_copy_from_host(tensor, vertices, sizeof(vertices), context->stream) == GR_OK,
          "the copy to the tensor");
    {
        GR_AUTO(gr_buffer) *mapped = gr_map_gl_buffer(name, GR_WRITE_DISCARD, context->stream);
        check(mapped, "the map");
        check(!gr_cuda()->MemcpyDtoDAsync(gr_buffer_ptr(mapped), gr_tensor_get_info(tensor)->ptr,
                                          sizeof(vertices), context->stream),
              "the copy to the buffer");
    }
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(drawn), drawn);
    check_bytes(drawn, sizeof(drawn), numbered);
    return 0;
}
