/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * hello_image: CUDA writes rings to an OpenGL texture, OpenGL draws it to hello_image.png. Run it
 * in the folder of its kernels, as hello.c explains:
 *
 *     cd build/kernels; ../examples/hello_image
 */
#include <epoxy/gl.h>
#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/image.h>
#include <png.h>
#include <stdlib.h>

enum { WIDTH = 960, HEIGHT = 540 };

static unsigned char pixels[4 * WIDTH * HEIGHT];

static void check(bool good, const char *what)
{
    if (good)
        return;
    gr_error_print(stderr, what);
    exit(EXIT_FAILURE);
}

/* CUDA calls return their own error codes. */
static void check_cuda(CUresult result, const char *what)
{
    const char *code = "";
    if (result == CUDA_SUCCESS)
        return;
    if (gr_cuda()->GetErrorName(result, &code) != CUDA_SUCCESS)
        code = "an unknown error code";
    fprintf(stderr, "%s: %s\n", what, code);
    exit(EXIT_FAILURE);
}

/* Plain OpenGL: draws a texture over the whole picture. */
static void draw(GLuint texture, const char *path)
{
    GLuint framebuffer, colours;
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glGenRenderbuffers(1, &colours);
    glBindRenderbuffer(GL_RENDERBUFFER, colours);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, WIDTH, HEIGHT);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colours);
    glViewport(0, 0, WIDTH, HEIGHT);
    glEnable(GL_TEXTURE_2D);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glBegin(GL_TRIANGLE_STRIP);
    for (int i = 0; i < 4; i++) {
        glTexCoord2i(i % 2, i / 2);
        glVertex2i(2 * (i % 2) - 1, 2 * (i / 2) - 1);
    }
    glEnd();
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);

    /* The first row in OpenGL is the bottom row. */
    png_image png = {.version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT};
    png.format = PNG_FORMAT_RGBA;
    check(png_image_write_to_file(&png, path, 0, pixels, -4 * WIDTH, NULL), path);
}

int main(void)
{
    /* CUDA and OpenGL on the same GPU, without a window; or both on the CPU if there is no GPU. */
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    const gr_cuda_api *cuda = gr_cuda();
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    GR_AUTO(gr_egl) *egl = gr_egl_create(&GR_INIT(gr_egl_options, .compatibility = true));
    check(egl, "the OpenGL context");

    CUmodule module;
    CUfunction rings;
    CUstream stream = gr_cuda_context_get_info(context)->stream;
    const char *kernels = gr_cuda_is_software() ? "./hello.so" : "./hello.fatbin";
    check_cuda(cuda->ModuleLoad(&module, kernels), kernels);
    check_cuda(cuda->ModuleGetFunction(&rings, module, "rings"), "the kernel");

    /* Once: an OpenGL texture. CUDA will overwrite all of it. */
    GLuint name;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, WIDTH, HEIGHT);
    GR_AUTO(gr_resource) *texture =
        gr_from_gl_image(name, GL_TEXTURE_2D, GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE);
    check(texture, "the texture");

    /* Each frame: CUDA owns the texture inside this scope. */
    {
        GR_AUTO(gr_buffer) *image = gr_map(texture, stream);
        check(image, "the map");
        CUsurfObject surface = gr_buffer_surface(image, 0, 0);
        check(surface, "the surface");
        int width = WIDTH, height = HEIGHT;
        float time = 1.0f;
        void *arguments[] = {&surface, &width, &height, &time};
        CUresult started = cuda->LaunchKernel(rings, (WIDTH + 15) / 16, (HEIGHT + 15) / 16, 1, 16,
                                              16, 1, 0, stream, arguments, NULL);
        check_cuda(started, "the launch");
    }
    /* The end of the scope released the texture in stream order. The CPU did not wait. */
    draw(name, "hello_image.png");
    return EXIT_SUCCESS;
}
