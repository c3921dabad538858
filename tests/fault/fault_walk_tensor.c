/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Scenarios of test_fault_walk with tensors, and with resources that they are published to. */
#include "fault_walk.h"
#include "tests/support/support_image.h"

#include <stdlib.h>
#include <string.h>

#include <epoxy/egl.h>
#include <grinterop/framebuffer.h>
#include <grinterop/publish.h>
#include <grinterop/tensor.h>
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif

#define SIDE 4

static const int64_t picture[3] = {SIDE, SIDE, 4};

static gr_tensor_desc desc_of(gr_memory memory)
{
    return GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = picture,
                   .memory = memory);
}

static gr_tensor *make(gr_memory memory)
{
    const gr_tensor_desc desc = desc_of(memory);
    gr_tensor *made = gr_tensor_create(&desc, fx.stream);
    done(made);
    return made;
}

static bool goes_and_comes(gr_tensor *tensor)
{
    static unsigned char out[SIDE * SIDE * 4], back[sizeof(out)];
    memset(out, 7, sizeof(out));
    bool good = ok(gr_tensor_copy_from_host(tensor, out, sizeof(out), fx.stream)) &&
                ok(gr_tensor_copy_to_host(tensor, back, sizeof(back), fx.stream));
    CU(StreamSynchronize(fx.stream));
    return good && bytes_are(memcmp(out, back, sizeof(out)) == 0);
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static bool run_in(void)
{
    gr_tensor *tensor = make(scenario->memory);
    bool good = tensor && goes_and_comes(tensor) && ok(gr_tensor_wait(tensor, fx.other)) &&
                ok(gr_tensor_used_on(tensor, fx.other));
    gr_tensor_free(tensor);
    return ok(gr_tensor_collect(WALK_SOON)) && good;
}

static bool run_copies(void)
{
    gr_tensor *from = make(GR_MEMORY_DEVICE), *to = make(GR_MEMORY_PINNED);
    gr_tensor *clone = from ? gr_tensor_clone(from, GR_MEMORY_HOST, fx.other) : NULL;
    bool good = from && to && done(clone) && ok(gr_tensor_copy(to, from, fx.stream)) &&
                ok(gr_tensor_copy(from, clone, fx.other));
    gr_tensor_free(clone);
    gr_tensor_free(to);
    gr_tensor_free(from);
    return good;
}

/* Copies without a stream, and between host tensors and device tensors in both directions. */
static bool run_unordered(void)
{
    const gr_tensor_desc desc = desc_of(GR_MEMORY_DEVICE);
    gr_tensor *tensor = gr_tensor_create(&desc, GR_STREAM_NONE);
    gr_tensor *other = make(GR_MEMORY_DEVICE), *host = make(GR_MEMORY_HOST);
    bool good = done(tensor) && other && host && ok(gr_tensor_copy(other, tensor, fx.stream)) &&
                ok(gr_tensor_copy(host, other, fx.stream)) &&
                ok(gr_tensor_copy(tensor, host, fx.other));
    gr_tensor_free(host);
    gr_tensor_free(other);
    gr_tensor_free(tensor);
    return ok(gr_tensor_collect(WALK_SOON)) && good;
}

/* Uses more streams than the initial capacity of a tensor. */
static bool run_many_streams(void)
{
    CUstream streams[8];
    gr_tensor *tensor = make(GR_MEMORY_DEVICE);
    bool good = tensor;
    for (int i = 0; i < 8; i++) {
        CU(StreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        good = good && ok(gr_tensor_used_on(tensor, streams[i]));
    }
    gr_tensor_free(tensor);
    good = ok(gr_tensor_collect(WALK_SOON)) && good;
    for (int i = 0; i < 8; i++)
        CU(StreamDestroy(streams[i]));
    return good;
}

static bool run_view(void)
{
    static const int64_t part[3] = {SIDE, SIDE / 2, 4}, whole[3] = {SIDE * 4, 4, 1};
    const gr_tensor_desc half =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = part, .strides = whole);
    GR_AUTO(gr_tensor) *tensor = make(GR_MEMORY_DEVICE);
    GR_AUTO(gr_tensor) *view = tensor ? gr_tensor_view(tensor, &half) : NULL;
    GR_AUTO(gr_tensor) *clone = view ? gr_tensor_clone(view, GR_MEMORY_DEVICE, fx.stream) : NULL;
    return done(view) && done(gr_tensor_get_info(view)) && done(clone) &&
           done(gr_tensor_array_interface(clone, fx.other));
}

static unsigned ended;

static void end(void *user)
{
    free(user);
    ended++;
}

/* The end function must be called once if the tensor was created, and otherwise never. */
static bool run_wrap(void)
{
    const gr_tensor_desc desc = desc_of(GR_MEMORY_HOST);
    void *memory = calloc(1, SIDE * SIDE * 4);
    ended = 0;
    gr_tensor *tensor = gr_tensor_from_memory(&desc, memory, fx.stream, end, memory);
    bool good = done(tensor);
    if (!tensor)
        free(memory);
    good = good && ok(gr_tensor_used_on(tensor, fx.other));
    gr_tensor_free(tensor);
    CU(CtxSynchronize());
    return ok(gr_tensor_collect(WALK_SOON)) && good && bytes_are(ended == 1);
}

#if __has_include(<dlpack/dlpack.h>)
static bool take_back(DLManagedTensorVersioned *managed)
{
    GR_AUTO(gr_tensor) *back =
        managed ? gr_tensor_from_dlpack(managed, GR_DLPACK_VERSIONED, fx.other) : NULL;
    bool good = done(back);
    if (!back && managed)
        managed->deleter(managed);
    return good;
}

static bool take_back_legacy(DLManagedTensor *managed)
{
    GR_AUTO(gr_tensor) *back =
        managed ? gr_tensor_from_dlpack(managed, GR_DLPACK_LEGACY, fx.other) : NULL;
    bool good = done(back);
    if (!back && managed)
        managed->deleter(managed);
    return good;
}

static bool run_dlpack(void)
{
    gr_tensor *tensor = make(GR_MEMORY_DEVICE);
    bool good = tensor && take_back(gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, fx.other)) &&
                take_back_legacy(gr_tensor_to_dlpack(tensor, GR_DLPACK_LEGACY, fx.other));
    gr_tensor_free(tensor);
    return ok(gr_tensor_collect(WALK_SOON)) && good;
}

/* A tensor of another library, which names its device. */
static void end_foreign(DLManagedTensorVersioned *managed)
{
    CU(MemFree((CUdeviceptr)(uintptr_t)managed->dl_tensor.data));
    free(managed);
}

static DLManagedTensorVersioned *make_foreign(void)
{
    static int64_t shape[1] = {SIDE};
    CUdeviceptr memory = 0;
    DLManagedTensorVersioned *made = calloc(1, sizeof(*made));
    CU(MemAlloc(&memory, SIDE));
    made->version = (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    made->deleter = end_foreign;
    made->dl_tensor = (DLTensor){.data = (void *)(uintptr_t)memory,
                                 .device = {kDLCUDA, 0},
                                 .ndim = 1,
                                 .dtype = {kDLUInt, 8, 1},
                                 .shape = shape};
    return made;
}

static bool run_foreign(void)
{
    bool good = take_back(make_foreign());
    return ok(gr_tensor_collect(WALK_SOON)) && good;
}
#endif

/* ---- Tensors of mappings --------------------------------------------------------------------- */

static bool run_mapping(void)
{
    GLuint name = gl_buffer_filled(SIDE * SIDE * 4, 1);
    const gr_tensor_desc desc = desc_of(GR_MEMORY_DEVICE);
    gr_resource *resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    gr_tensor *tensor = buffer ? gr_buffer_tensor(buffer, &desc) : NULL;
    bool good = done(tensor) && goes_and_comes(tensor) && ok(gr_tensor_used_on(tensor, fx.other));
    good = walk_release(buffer) && good;
    gr_tensor_free(tensor);
    gr_resource_free(resource);
    glDeleteBuffers(1, &name);
    return good;
}

/* Creates a tensor of the CUDA array of a mapped image, and wraps the same array again. */
static bool run_array(void)
{
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .memory = GR_MEMORY_ARRAY);
    struct image image = image_make("RGBA8", "2D", SIDE, SIDE, 1);
    gr_resource *resource = gr_from_gl_image(image.name, GL_TEXTURE_2D, GR_READ_WRITE);
    gr_buffer *buffer = done(resource) ? gr_map(resource, fx.stream) : NULL;
    gr_tensor *tensor = done(buffer) ? gr_buffer_tensor(buffer, &desc) : NULL;
    CUarray array = done(tensor) ? gr_tensor_get_info(tensor)->array : NULL;
    gr_tensor *wrapped = array ? gr_tensor_from_memory(&desc, array, fx.stream, NULL, NULL) : NULL;
    bool good = done(wrapped) && goes_and_comes(tensor) && goes_and_comes(wrapped);
    gr_tensor_free(wrapped);
    good = walk_release(buffer) && good;
    gr_tensor_free(tensor);
    gr_resource_free(resource);
    image_delete(&image);
    return good;
}

static bool transfer(gr_resource *resource, gr_tensor *tensor)
{
    return ok(gr_publish(resource, tensor, NULL, fx.stream)) &&
           ok(gr_fetch(resource, tensor, NULL, fx.stream));
}

static bool transfer_mapped(gr_resource *resource, gr_tensor *tensor)
{
    gr_buffer *buffer = gr_map(resource, fx.stream);
    bool good = done(buffer) && ok(gr_buffer_publish(buffer, tensor, NULL, fx.stream)) &&
                ok(gr_buffer_fetch(buffer, tensor, NULL, fx.stream));
    return walk_release(buffer) && good;
}

static bool publish_into(gr_resource *resource)
{
    gr_tensor *tensor = make(scenario->memory);
    bool good =
        done(resource) && tensor && transfer(resource, tensor) && transfer_mapped(resource, tensor);
    gr_tensor_free(tensor);
    gr_resource_free(resource);
    return good;
}

/* By copies only the level is moved, because the image has two. */
static bool publish_into_image(void)
{
    struct image image = image_make("RGBA8", "2D", SIDE, SIDE, 2);
    bool good = publish_into(
        gr_from_gl_image_with(image.name, GL_TEXTURE_2D, scenario->flags, scenario->options));
    image_delete(&image);
    return good;
}

static bool publish_layers(gr_resource *resource, gr_dtype dtype)
{
    const int64_t shape[] = {3, SIDE, SIDE, 4};
    const gr_publish_options all = GR_INIT(gr_publish_options, .layer = GR_ALL_LAYERS);
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = dtype, .ndim = 4, .shape = shape);
    GR_AUTO(gr_tensor) *tensor = gr_tensor_create(&desc, fx.stream);
    return done(tensor) && ok(gr_publish(resource, tensor, &all, fx.stream)) &&
           ok(gr_fetch(resource, tensor, &all, fx.stream));
}

static bool publish_into_layers(void)
{
    struct image image = image_make("RGBA8", "2D_ARRAY", SIDE, SIDE, 1);
    gr_resource *resource =
        gr_from_gl_image_with(image.name, GL_TEXTURE_2D_ARRAY, scenario->flags, &by_interop);
    const bool good = done(resource) && publish_layers(resource, GR_DTYPE_U8) &&
                      publish_layers(resource, GR_DTYPE_F32);
    gr_resource_free(resource);
    image_delete(&image);
    return good;
}

static bool run_publish_buffer(void)
{
    GLuint name = gl_buffer_filled(SIDE * SIDE * 4, 1);
    bool good = publish_into(gr_from_gl_buffer(name, GR_READ_WRITE));
    glDeleteBuffers(1, &name);
    return good;
}

static gr_tensor *new_picture(gr_dtype dtype, int64_t channels)
{
    const int64_t shape[] = {SIDE, SIDE, channels};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = dtype, .ndim = channels > 1 ? 3 : 2, .shape = shape);
    return gr_tensor_create(&desc, fx.stream);
}

static GLuint new_depth(GLenum internal, GLuint *renderbuffer)
{
    GLuint framebuffer;
    glGenFramebuffers(1, &framebuffer);
    glGenRenderbuffers(1, renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, *renderbuffer);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, 4, internal, SIDE, SIDE);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, *renderbuffer);
    return framebuffer;
}

static bool fetch_depth(GLuint framebuffer, gr_resource *staging, unsigned sample)
{
    GR_AUTO(gr_tensor) *metres = new_picture(GR_DTYPE_F32, 1);
    const gr_framebuffer_options depth =
        GR_INIT(gr_framebuffer_options, .attachment = GL_DEPTH_ATTACHMENT, .z_near = 1, .z_far = 2,
                .staging = staging, .sample = sample);
    const bool good =
        done(metres) && ok(gr_fetch_framebuffer(framebuffer, metres, &depth, fx.stream));
    return good;
}

/*
 * Fetches a multisampled depth buffer, which needs a temporary staging buffer. No shader reads
 * depth of an unsized format.
 */
static bool run_read_pixels(void)
{
    GLuint renderbuffer;
    const GLuint framebuffer = new_depth(GL_DEPTH_COMPONENT, &renderbuffer);
    const bool good = fetch_depth(framebuffer, NULL, 0);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteRenderbuffers(1, &renderbuffer);
    return good;
}

static GLuint new_cube(void)
{
    GLuint framebuffer, texture;
    glGenFramebuffers(1, &framebuffer);
    glCreateTextures(GL_TEXTURE_CUBE_MAP, 1, &texture);
    glTextureStorage2D(texture, 1, GL_RGBA8, SIDE, SIDE);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_CUBE_MAP_POSITIVE_Z,
                           texture, 0);
    return framebuffer;
}

static bool fetch_colours(GLuint framebuffer, gr_resource *staging)
{
    GR_AUTO(gr_tensor) *colours = new_picture(GR_DTYPE_U8, 4);
    const gr_framebuffer_options colour = GR_INIT(gr_framebuffer_options, .staging = staging);
    const bool good =
        done(colours) && ok(gr_fetch_framebuffer(framebuffer, colours, &colour, fx.stream));
    return good;
}

/* Fetches the colours again beside a copy of them. */
static bool fetch_both(GLuint framebuffer)
{
    gr_tensor *tensors[] = {new_picture(GR_DTYPE_U8, 4), new_picture(GR_DTYPE_F32, 4)};
    GR_AUTO(gr_resource) *buffer = gr_create_gl_buffer(SIDE * SIDE * 8, GR_READ_ONLY, NULL);
    const bool good = done(tensors[0]) && done(tensors[1]) && done(buffer) &&
                      ok(gr_copy_framebuffer(framebuffer, buffer, SIDE * SIDE * 4, NULL)) &&
                      ok(gr_fetch_framebuffer_many(framebuffer, tensors, NULL, 2, fx.stream));
    gr_tensor_free(tensors[0]);
    gr_tensor_free(tensors[1]);
    return good;
}

static EGLContext new_core_context(void)
{
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5,
                                     EGL_NONE};
    return eglCreateContext(fx.egl->display, fx.egl->config, EGL_NO_CONTEXT, version);
}

/*
 * Shaders read a multisampled depth buffer, one sample of another and a cube face. The OpenGL
 * context of a run with a fault is new, because a context whose shader failed does not get another
 * one. The runs between them share a context, because compiling its shaders takes most of the time.
 */
static bool run_framebuffer(void)
{
    static EGLContext shared;
    GLuint renderbuffer;
    if (!walk_is_armed() && !shared)
        shared = new_core_context();
    const EGLContext own = walk_is_armed() ? new_core_context() : shared;
    eglMakeCurrent(fx.egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, own);
    gr_resource *staging = gr_create_gl_buffer(SIDE * SIDE * 4, GR_READ_ONLY, NULL);
    const bool good = done(staging) &&
                      fetch_depth(new_depth(GL_DEPTH_COMPONENT24, &renderbuffer), staging, 0) &&
                      fetch_depth(new_depth(GL_DEPTH_COMPONENT16, &renderbuffer), staging, 2) &&
                      fetch_colours(new_cube(), staging) && fetch_both(new_cube());
    gr_resource_free(staging);
    eglMakeCurrent(fx.egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, fx.egl->context);
    if (own != shared)
        eglDestroyContext(fx.egl->display, own);
    return good;
}

/* The buffer and its tensor end in both orders. */
static bool run_exportable(void)
{
    const int64_t size = SIDE * SIDE;
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1,
                                        .shape = &size, .exportable = true);
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        gr_tensor *tensor = gr_tensor_create(&desc, fx.stream);
        gr_resource *resource = tensor ? gr_create_gl_buffer_of(tensor, GR_READ_WRITE, NULL) : NULL;
        gr_buffer *buffer = resource ? gr_map(resource, fx.other) : NULL;
        good = done(tensor) && done(resource) && done(buffer) && walk_release(buffer);
        if (i)
            gr_tensor_free(tensor);
        gr_resource_free(resource);
        if (!i)
            gr_tensor_free(tensor);
    }
    return good;
}

/* Loads the kernels, which a build may lack. */
static const char *no_kernels(void)
{
    return publish_into_image() && run_publish_buffer() ? NULL : gr_last_error()->message;
}

const struct scenario walk_memory[] = {
    {"a device tensor", .run = run_in, .memory = GR_MEMORY_DEVICE},
    {"a host tensor", .run = run_in, .memory = GR_MEMORY_HOST},
    {"a pinned tensor", .run = run_in, .memory = GR_MEMORY_PINNED},
    {"a managed tensor", .run = run_in, .memory = GR_MEMORY_MANAGED},
    {"copies of tensors", .run = run_copies},
    {"tensors without a stream", .run = run_unordered},
    {"a tensor on many streams", .run = run_many_streams},
    {"a view of a tensor", .run = run_view},
    {"a tensor around memory", .run = run_wrap},
    {"a buffer in the memory of a tensor", .run = run_exportable},
#if __has_include(<dlpack/dlpack.h>)
    {"tensors through DLPack", .run = run_dlpack},
    {"another library's tensor", .run = run_foreign},
#endif
    {"a tensor of a mapping", .run = run_mapping},
    {"a tensor of a CUDA array", .run = run_array},
    {"a tensor into an image", .run = publish_into_image, .missing = no_kernels},
    {"a tensor into an image through a surface", .run = publish_into_image, .missing = no_kernels,
     .flags = GR_SURFACE_LOAD_STORE},
    {"a tensor into all layers", .run = publish_into_layers, .missing = no_kernels},
    {"a tensor into all layers through surfaces", .run = publish_into_layers, .missing = no_kernels,
     .flags = GR_SURFACE_LOAD_STORE},
    {"a tensor into a level of a copied image", .run = publish_into_image, .missing = no_kernels,
     .options = &by_copy},
    {"a host tensor into an image", .run = publish_into_image, .missing = no_kernels,
     .memory = GR_MEMORY_HOST},
    {"a tensor into a buffer", .run = run_publish_buffer, .missing = no_kernels},
    {"a framebuffer into a tensor", .run = run_framebuffer, .missing = no_kernels,
     .rules = WALK_FEW},
    {"a framebuffer by glReadPixels", .run = run_read_pixels, .missing = no_kernels},
    {.name = NULL},
};
