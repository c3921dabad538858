/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * hello: CUDA writes a wave to an OpenGL vertex buffer, OpenGL draws it to hello.png. The kernel is
 * in hello.cu, compiled as hello.fatbin for a GPU and as hello.so for the software driver. The
 * program loads its kernel from the current folder. In a folder without the kernel it ends with
 * CUDA_ERROR_FILE_NOT_FOUND, so run it in the folder of the kernels:
 *
 *     cd build/kernels; ../examples/hello
 */
#include <epoxy/gl.h>
#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <png.h>
#include <stdlib.h>

enum { WIDTH = 960, HEIGHT = 540, SIDE = 512, BLOCKS = SIDE / 16, VERTEX = 8 * sizeof(float) };

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
        code = "a code that the driver does not know";
    fprintf(stderr, "%s: %s\n", what, code);
    exit(EXIT_FAILURE);
}

/* Plain OpenGL: the vertices are points of one colour each, seen by a fixed camera. */
static const char *const shaders[] = {
    "#version 330\n"
    "layout(location = 0) in vec4 position;\n"
    "layout(location = 1) in vec4 colour_in;\n"
    "out vec4 colour;\n"
    "const mat4 camera = mat4(1.3, 0, 0, 0, 0, 3, 0, 0, 0, -0.9, 1, -1, 0, 0.2, 0, 2.3);\n"
    "void main() { gl_Position = camera * position; colour = colour_in; }\n",
    "#version 330\n"
    "in vec4 colour;\n"
    "out vec4 pixel;\n"
    "void main() { pixel = colour; }\n"};

static void use_shaders(void)
{
    static const GLenum kinds[] = {GL_VERTEX_SHADER, GL_FRAGMENT_SHADER};
    GLuint program = glCreateProgram();
    GLint linked;
    for (int i = 0; i < 2; i++) {
        GLuint shader = glCreateShader(kinds[i]);
        glShaderSource(shader, 1, &shaders[i], NULL);
        glCompileShader(shader);
        glAttachShader(program, shader);
    }
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    check(linked, "the shaders");
    glUseProgram(program);
}

/* Draws the points of a vertex buffer to a picture. */
static void draw(GLuint vertices, const char *path)
{
    GLuint framebuffer, colours, attributes;
    use_shaders();
    glGenVertexArrays(1, &attributes);
    glBindVertexArray(attributes);
    glBindBuffer(GL_ARRAY_BUFFER, vertices);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, VERTEX, (void *)0);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, VERTEX, (void *)(VERTEX / 2));
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);

    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glGenRenderbuffers(1, &colours);
    glBindRenderbuffer(GL_RENDERBUFFER, colours);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, WIDTH, HEIGHT);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colours);
    glViewport(0, 0, WIDTH, HEIGHT);
    glClearColor(0.02f, 0.03f, 0.08f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    glPointSize(3.0f);
    glDrawArrays(GL_POINTS, 0, SIDE * SIDE);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);

    /* The first row in OpenGL is the bottom row. */
    png_image png = {.version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT};
    png.format = PNG_FORMAT_RGBA;
    check(png_image_write_to_file(&png, path, 0, pixels, -4 * WIDTH, NULL), path);
}

int main(void)
{
    /* CUDA and OpenGL on one GPU, without a window. Without a GPU: both on the CPU. */
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    const gr_cuda_api *cuda = gr_cuda();
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    CUstream stream = gr_cuda_context_get_info(context)->stream;
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    check(egl, "the OpenGL context");

    CUmodule module;
    CUfunction wave;
    const char *kernels = gr_cuda_is_software() ? "./hello.so" : "./hello.fatbin";
    check_cuda(cuda->ModuleLoad(&module, kernels), kernels);
    check_cuda(cuda->ModuleGetFunction(&wave, module, "wave"), "the kernel");

    /* Once: an OpenGL vertex buffer. CUDA will overwrite all of it. */
    GLuint name;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, SIDE * SIDE * VERTEX, NULL, GL_DYNAMIC_DRAW);
    GR_AUTO(gr_resource) *vertices = gr_from_gl_buffer(name, GR_WRITE_DISCARD);
    check(vertices, "the vertex buffer");

    /* Each frame: CUDA owns the buffer inside this scope. */
    {
        GR_AUTO(gr_buffer) *buffer = gr_map(vertices, stream);
        check(buffer, "the map");
        CUdeviceptr pointer = gr_buffer_ptr(buffer);
        float time = 1.0f;
        void *args[] = {&pointer, &time};
        CUresult started =
            cuda->LaunchKernel(wave, BLOCKS, BLOCKS, 1, 16, 16, 1, 0, stream, args, NULL);
        check_cuda(started, "the launch");
    }
    /* The end of the scope released the buffer in stream order. */
    draw(name, "hello.png");
    return EXIT_SUCCESS;
}
