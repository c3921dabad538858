/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A GLFW window that shows a picture from a kernel. */
#include "picture.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

/* Copies the texture into the window, and returns the bytes of the window. */
static void show(GLuint texture, unsigned char *bytes)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glBlitFramebuffer(0, 0, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
}

int main(void)
{
    static unsigned char bytes[4 * WIDTH * HEIGHT];
    check(glfwInit(), "GLFW");
    glfwWindowHint(GLFW_RESIZABLE, GLFW_FALSE);
    GLFWwindow *window = glfwCreateWindow(WIDTH, HEIGHT, "paint", NULL, NULL);
    check(window, "the window");
    glfwMakeContextCurrent(window);
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    int device = 0;
    check(gr_gl_cuda_device(&device) == GR_OK, "the device that renders");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(device);
    check(context, "the CUDA context");
    show(paint(context->stream), bytes);
    check_bytes(bytes, sizeof(bytes), painted);
    glfwSwapBuffers(window);
    glfwTerminate();
    return 0;
}
