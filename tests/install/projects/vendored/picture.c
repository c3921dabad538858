/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Publishes a tensor without alpha to a texture, for which the library needs a kernel. Then OpenGL
 * draws the texture.
 */
#include <epoxy/gl.h>

#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/publish.h>

#include "../../programs/program.h"

enum { SIDE = 4 };

static unsigned char colours[SIDE * SIDE][3], pixels[4 * SIDE * SIDE];

static unsigned char drawn(size_t place)
{
    return place % 4 == 3 ? 255 : (unsigned char)(5 * (place - place / 4));
}

static void draw(GLuint texture)
{
    GLuint framebuffer, picture;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glGenRenderbuffers(1, &picture);
    glBindRenderbuffer(GL_RENDERBUFFER, picture);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIDE, SIDE);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, picture);
    glViewport(0, 0, SIDE, SIDE);
    glBindTexture(GL_TEXTURE_2D, texture);
    glEnable(GL_TEXTURE_2D);
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 4; i++) {
        glTexCoord2i(i % 2, i / 2);
        glVertex2i(2 * (i % 2) - 1, 2 * (i / 2) - 1);
    }
    glEnd();
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

static void publish(GLuint texture, CUstream stream)
{
    static const int64_t shape[] = {SIDE, SIDE, 3};
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3,
                                        .shape = shape, .memory = GR_MEMORY_HOST);
    for (int i = 0; i < 3 * SIDE * SIDE; i++)
        colours[i / 3][i % 3] = (unsigned char)(5 * i);
    GR_AUTO(gr_tensor) *host = gr_tensor_from_memory(&desc, colours, GR_STREAM_NONE, NULL, NULL);
    check(host, "the tensor");
    GR_AUTO(gr_tensor) *device = gr_tensor_clone(host, GR_MEMORY_DEVICE, stream);
    check(device, "its copy");
    GR_AUTO(gr_resource) *image = gr_from_gl_image(texture, GL_TEXTURE_2D, GR_WRITE_DISCARD);
    check(image, "the texture");
    check(gr_publish(image, device, NULL, stream) == GR_OK, "gr_publish");
}

int main(void)
{
    GLuint texture;
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    GR_AUTO(gr_egl) *egl = gr_egl_create(&GR_INIT(gr_egl_options, .compatibility = true));
    check(egl, "the OpenGL context");
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SIDE, SIDE);
    publish(texture, context->stream);
    draw(texture);
    check_bytes(pixels, sizeof(pixels), drawn);
    return 0;
}
