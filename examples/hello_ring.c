/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * hello_ring: frames in flight. One thread writes waves with CUDA, the other draws them with
 * OpenGL, each at full speed; hello_ring.png is the last frame. Run it in the folder of its
 * kernels, as hello.c explains:
 *
 *     cd build/kernels; ../examples/hello_ring
 */
#include <epoxy/gl.h>
#include <grinterop/cuda.h>
#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/ring.h>
#include <png.h>
#include <pthread.h>
#include <stdlib.h>

enum { WIDTH = 960, HEIGHT = 540, SIDE = 512, VERTEX = 8 * sizeof(float) };
enum { SLOTS = 4, FRAMES = 60 };

static unsigned char pixels[4 * WIDTH * HEIGHT];

/* Uses _Exit(), since exit() would shut down OpenGL while the other thread draws. */
static void check(bool good, const char *what)
{
    if (good)
        return;
    gr_error_print(stderr, what);
    _Exit(EXIT_FAILURE);
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
    _Exit(EXIT_FAILURE);
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

/* Once: creates a framebuffer and sets the state for draw(). */
static void prepare(void)
{
    GLuint framebuffer, colours, attributes;
    use_shaders();
    glGenVertexArrays(1, &attributes);
    glBindVertexArray(attributes);
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
    glPointSize(3.0f);
}

/* In each frame: draws the points of a vertex buffer. */
static void draw(GLuint vertices)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glBindBuffer(GL_ARRAY_BUFFER, vertices);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, VERTEX, (void *)0);
    glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, VERTEX, (void *)(VERTEX / 2));
    glDrawArrays(GL_POINTS, 0, SIDE * SIDE);
}

/*
 * The producer thread, which has no OpenGL context. It waits while all slots are still being drawn.
 */
static void *produce(void *user)
{
    gr_ring *ring = user;
    const gr_cuda_api *cuda = gr_cuda();
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the producer's CUDA context");
    CUstream stream = gr_cuda_context_get_info(context)->stream;
    CUmodule module;
    CUfunction wave;
    const char *kernels = gr_cuda_is_software() ? "./hello.so" : "./hello.fatbin";
    check_cuda(cuda->ModuleLoad(&module, kernels), kernels);
    check_cuda(cuda->ModuleGetFunction(&wave, module, "wave"), "the kernel");
    for (int i = 0; i < FRAMES; i++) {
        const gr_slot *slot;
        check(gr_ring_acquire_write(ring, stream, &slot, 1, 10000) == GR_OK, "a free slot");
        CUdeviceptr pointer = gr_buffer_ptr(slot->buffer);
        float time = 0.1f * (float)i;
        void *arguments[] = {&pointer, &time};
        CUresult started = cuda->LaunchKernel(wave, SIDE / 16, SIDE / 16, 1, 16, 16, 1, 0, stream,
                                              arguments, NULL);
        check_cuda(started, "the launch");
        check(gr_ring_hand_over(ring, &slot, 1) == GR_OK, "a frame");
    }
    check_cuda(cuda->StreamSynchronize(stream), "the stream");
    return NULL;
}

int main(void)
{
    /* CUDA and OpenGL on the same GPU, without a window; or both on the CPU if there is no GPU. */
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    GR_AUTO(gr_egl) *egl = gr_egl_create(NULL);
    check(egl, "the OpenGL context");
    prepare();

    /* The buffers are in memory that OpenGL and CUDA share, for several frames in flight. */
    gr_resource *vertices[SLOTS];
    const gr_gl_options shared = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_SHARED);
    for (int i = 0; i < SLOTS; i++) {
        vertices[i] = gr_create_gl_buffer(SIDE * SIDE * VERTEX, GR_WRITE_DISCARD, &shared);
        check(vertices[i], "a vertex buffer");
    }
    GR_AUTO(gr_ring) *ring = gr_ring_create(vertices, SLOTS, NULL); /* CUDA writes, in order */
    check(ring, "the ring");
    for (int i = 0; i < SLOTS; i++)
        gr_resource_free(vertices[i]); /* the ring holds references to the buffers */

    pthread_t producer;
    check(pthread_create(&producer, NULL, produce, ring) == 0, "a thread");
    for (int i = 0; i < FRAMES; i++) {
        const gr_slot *slot;
        check(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 10000) == GR_OK, "a frame");
        draw(gr_gl_name(slot->resource));
        check(gr_ring_give_back(ring, &slot, 1) == GR_OK, "a slot");
    }
    pthread_join(producer, NULL);
    const gr_ring_info *info = gr_ring_get_info(ring);
    check(info, "the ring's numbers");
    printf("%llu frames were read and %llu dropped; the newest is %.3f ms old\n",
           (unsigned long long)info->read, (unsigned long long)info->dropped,
           (double)info->newest_age_ns / 1e6);

    /* The first row in OpenGL is the bottom row. */
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    png_image png = {.version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT};
    png.format = PNG_FORMAT_RGBA;
    check(png_image_write_to_file(&png, "hello_ring.png", 0, pixels, -4 * WIDTH, NULL), "the PNG");
    return EXIT_SUCCESS;
}
