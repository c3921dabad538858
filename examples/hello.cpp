/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * hello in C++: CUDA writes a wave to an OpenGL vertex buffer, OpenGL draws it to hello_cpp.png.
 * Run it in the folder of its kernels, as hello.c explains:
 *
 *     cd build/kernels; ../examples/hello_cpp
 */
#include <epoxy/gl.h>
#include <grinterop/cuda.h>
#include <grinterop/gl.h>
#include <grinterop/gr.hpp>
#include <png.h>

using grinterop::check;

constexpr int width = 960, height = 540, side = 512, vertex = 8 * sizeof(float);

/* Plain OpenGL: the vertices are points of one colour each, seen by a fixed camera. */
static const char *const shaders[] = {
    R"(#version 330
    layout(location = 0) in vec4 position;
    layout(location = 1) in vec4 colour_in;
    out vec4 colour;
    const mat4 camera = mat4(1.3, 0, 0, 0, 0, 3, 0, 0, 0, -0.9, 1, -1, 0, 0.2, 0, 2.3);
    void main() { gl_Position = camera * position; colour = colour_in; })",
    R"(#version 330
    in vec4 colour;
    out vec4 pixel;
    void main() { pixel = colour; })"};

static void use_shaders()
{
    static const GLenum kinds[] = {GL_VERTEX_SHADER, GL_FRAGMENT_SHADER};
    GLuint program = glCreateProgram();
    GLint linked;
    for (int i = 0; i < 2; i++) {
        GLuint shader = glCreateShader(kinds[i]);
        glShaderSource(shader, 1, &shaders[i], nullptr);
        glCompileShader(shader);
        glAttachShader(program, shader);
    }
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked)
        throw std::runtime_error("the shaders");
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
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, vertex, nullptr);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, vertex, reinterpret_cast<void *>(vertex / 2));
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);

    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glGenRenderbuffers(1, &colours);
    glBindRenderbuffer(GL_RENDERBUFFER, colours);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colours);
    glViewport(0, 0, width, height);
    glClearColor(0.02f, 0.03f, 0.08f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    glPointSize(3.0f);
    glDrawArrays(GL_POINTS, 0, side * side);

    /* The first row in OpenGL is the bottom row. */
    std::vector<unsigned char> pixels(4 * width * height);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = width;
    png.height = height;
    png.format = PNG_FORMAT_RGBA;
    if (!png_image_write_to_file(&png, path, 0, pixels.data(), -4 * width, nullptr))
        throw std::runtime_error(png.message);
}

int main()
try {
    /* CUDA and OpenGL on the same GPU, without a window; or both on the CPU if there is no GPU. */
    check(gr_cuda_load(true));
    const gr_cuda_api *cuda = gr_cuda();
    const grinterop::cuda_context context(gr_cuda_context_create(0));
    const grinterop::egl egl(gr_egl_create(nullptr));

    CUmodule module;
    CUfunction wave;
    CUstream stream = context.stream();
    const char *kernels = gr_cuda_is_software() ? "./hello.so" : "./hello.fatbin";
    check(cuda->ModuleLoad(&module, kernels), kernels);
    check(cuda->ModuleGetFunction(&wave, module, "wave"), "the kernel");

    /* Once: an OpenGL vertex buffer. CUDA will overwrite all of it. */
    GLuint name;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, side * side * vertex, nullptr, GL_DYNAMIC_DRAW);
    const grinterop::resource vertices(gr_from_gl_buffer(name, GR_WRITE_DISCARD));

    /* Each frame: CUDA owns the buffer inside this scope. */
    {
        const grinterop::mapping mapped = vertices.map(stream);
        CUdeviceptr pointer = mapped.pointer();
        float time = 1.0f;
        void *arguments[] = {&pointer, &time};
        check(cuda->LaunchKernel(wave, side / 16, side / 16, 1, 16, 16, 1, 0, stream, arguments,
                                 nullptr),
              "the launch");
    }
    /* The end of the scope released the buffer in stream order. The CPU did not wait. */
    draw(name, "hello_cpp.png");
} catch (const std::exception &error) {
    std::fprintf(stderr, "hello_cpp: %s\n", error.what());
    return 1;
}
