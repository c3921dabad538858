/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA part of texture.c and window.c, which shows the picture of paint.cu. */
#include <epoxy/gl.h>

#include <grinterop/gl.h>
#include <grinterop/image.h>

#include "program.h"

enum { WIDTH = 200, HEIGHT = 120 };

static unsigned char painted(size_t place)
{
    const size_t texel = place / 4, x = texel % WIDTH, y = texel / WIDTH;
    const unsigned char colour[] = {(unsigned char)x, (unsigned char)y, (unsigned char)(x ^ y),
                                    255};
    return colour[place % 4];
}

/* Creates a texture and paints it with CUDA. A CUDA context must be current. */
static GLuint paint(CUstream stream)
{
    const gr_cuda_api *cuda = gr_cuda();
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, WIDTH, HEIGHT);
    GR_AUTO(gr_resource) *texture =
        gr_from_gl_image(name, GL_TEXTURE_2D, GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE);
    check(texture, "the texture");

    CUmodule module;
    CUfunction kernel;
    check(!cuda->ModuleLoad(&module, "./paint.so"), "./paint.so");
    check(!cuda->ModuleGetFunction(&kernel, module, "paint"), "the kernel");
    GR_AUTO(gr_buffer) *image = gr_map(texture, stream);
    check(image, "the map");
    CUsurfObject surface = gr_buffer_surface(image, 0, 0);
    check(surface, "the surface");
    int width = WIDTH, height = HEIGHT;
    void *arguments[] = {&surface, &width, &height};
    check(!cuda->LaunchKernel(kernel, (WIDTH + 15) / 16, (HEIGHT + 15) / 16, 1, 16, 16, 1, 0,
                              stream, arguments, NULL),
          "the launch");
    return name;
}
