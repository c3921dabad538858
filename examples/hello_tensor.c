/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * hello_tensor: numbers of the host go through a CUDA tensor to an OpenGL vertex buffer, which is
 * mapped for this one use. OpenGL reads them back.
 */
#include <epoxy/gl.h>
#include <grinterop/driver.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/publish.h>
#include <grinterop/tensor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000 };

static float vertices[COUNT][4], drawn[COUNT][4];

static void check(bool good, const char *what)
{
    if (good)
        return;
    gr_error_print(stderr, what);
    exit(EXIT_FAILURE);
}

int main(void)
{
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    CUstream stream = gr_cuda_context_get_info(context)->stream;
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    check(egl, "the OpenGL context");
    GLuint name;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, sizeof(vertices), NULL, GL_STATIC_DRAW);

    /* A tensor of the shape (COUNT, 4) with the numbers of the host. */
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 4; k++)
            vertices[i][k] = (float)i + 0.25f * (float)k;
    const int64_t shape[] = {COUNT, 4};
    GR_AUTO(gr_tensor) *tensor = gr_tensor_create(
        &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 2, .shape = shape), stream);
    check(tensor, "the tensor");
    check(gr_tensor_copy_from_host(tensor, vertices, sizeof(vertices), stream) == GR_OK,
          "the copy to the tensor");

    /* The end of the scope releases the buffer and ends its registration. */
    {
        GR_AUTO(gr_buffer) *buffer = gr_map_gl_buffer(name, GR_WRITE_DISCARD, stream);
        check(buffer, "the map");
        check(gr_buffer_publish(buffer, tensor, NULL, stream) == GR_OK, "the copy to the buffer");
    }
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, sizeof(drawn), drawn);
    if (memcmp(drawn, vertices, sizeof(drawn)) != 0) {
        fprintf(stderr, "OpenGL has other vertices than the host.\n");
        return EXIT_FAILURE;
    }
    printf("OpenGL has the %d vertices of the host.\n", COUNT);
    return EXIT_SUCCESS;
}
