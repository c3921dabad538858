/* SPDX-License-Identifier: Apache-2.0 */
/* What test_fault_walk does with OpenGL's buffers and images. */
#include "fault_walk.h"
#include "support_image.h"

#include <string.h>

#include <grinterop/image.h>

#define SIZE 256
#define SIDE 4

static const gr_gl_options by_copy = {.struct_size = sizeof(by_copy),
                                      .transports = GR_TRANSPORT_COPY},
                           by_interop = {.struct_size = sizeof(by_interop),
                                         .transports = GR_TRANSPORT_INTEROP},
                           by_shared = {.struct_size = sizeof(by_shared),
                                        .transports = GR_TRANSPORT_SHARED},
                           by_packed = {.struct_size = sizeof(by_packed),
                                        .transports = GR_TRANSPORT_SHARED,
                                        .packed = true},
                           by_any = {.struct_size = sizeof(by_any), .transports = GR_TRANSPORT_ANY};

/* ---- Buffers --------------------------------------------------------------------------------- */

static void delete_buffer(GLuint name)
{
    glDeleteBuffers(1, &name);
}

static bool has_value(GLuint name, int value)
{
    unsigned char bytes[SIZE];
    gl_read(name, bytes, SIZE);
    for (size_t i = 0; i < SIZE; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static void fill(gr_buffer *buffer, int value)
{
    CU(MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value, gr_buffer_size(buffer),
                     gr_buffer_stream(buffer)));
}

/* Whatever failed, a buffer that is out is given back: where that fails, too, its resource ends. */
static bool fill_and_release(gr_buffer *buffer, int value)
{
    fill(buffer, value);
    return ok(gr_buffer_release(buffer)) || (gr_buffer_release_later(buffer), false);
}

static bool fill_by_cuda(gr_resource *resource, int value)
{
    gr_buffer *buffer = gr_map(resource, fx.stream);
    return done(buffer) && fill_and_release(buffer, value);
}

static bool use(gr_resource *resource, GLuint name)
{
    static int value;
    value = value % 200 + 1;
    return fill_by_cuda(resource, value) &&
           (bytes_are(has_value(name, value)) && ok(gr_resource_wait(resource, WALK_SOON)));
}

static bool use_and_free(gr_resource *resource, GLuint name)
{
    char text[512];
    bool good = done(resource) && gr_resource_describe(resource, text, sizeof(text)) > 0 &&
                use(resource, name) && use(resource, name);
    gr_resource_free(resource);
    return good;
}

static bool map_a_buffer(const gr_gl_options *options)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    bool good = use_and_free(gr_from_gl_buffer_with(name, GR_READ_WRITE, options), name);
    delete_buffer(name);
    return good;
}

static bool run_interop(void)
{
    return map_a_buffer(&by_interop);
}

static bool run_copy(void)
{
    return map_a_buffer(&by_copy);
}

static bool run_any(void)
{
    return map_a_buffer(&by_any);
}

static bool run_plain(void)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    bool good = use_and_free(gr_from_gl_buffer(name, GR_WRITE_DISCARD), name);
    delete_buffer(name);
    return good;
}

static bool create_a_buffer(const gr_gl_options *options)
{
    gr_resource *resource = gr_gl_buffer_create(SIZE, GR_READ_WRITE, options);
    return use_and_free(resource, resource ? gr_gl_name(resource) : 0);
}

static bool run_create_any(void)
{
    return create_a_buffer(NULL);
}

static bool run_create_interop(void)
{
    return create_a_buffer(&by_interop);
}

static bool run_create_copy(void)
{
    return create_a_buffer(&by_copy);
}

static bool run_create_shared(void)
{
    return create_a_buffer(&by_shared);
}

static bool run_create_packed(void)
{
    return create_a_buffer(&by_packed);
}

static bool run_on_entry(void)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_buffer *buffer = gr_map_gl_buffer(name, GR_READ_WRITE, fx.stream);
    bool good = done(buffer) && fill_and_release(buffer, 9) && bytes_are(has_value(name, 9));
    delete_buffer(name);
    return good;
}

static bool run_later(void)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_buffer *buffer = gr_map_gl_buffer(name, GR_READ_WRITE, fx.stream);
    bool good = done(buffer);
    if (buffer)
        gr_buffer_release_later(buffer);
    delete_buffer(name);
    return good;
}

/* Close, with and without a mapping; a buffer that is left is released afterwards. */
static bool run_close(void)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    bool good = done(buffer) && ok(gr_resource_unmap(resource, fx.stream)) &&
                ok(gr_resource_close(resource, fx.stream));
    if (buffer && gr_buffer_release(buffer) != GR_OK)
        gr_buffer_release_later(buffer);
    gr_resource_free(resource);
    delete_buffer(name);
    return good;
}

static bool run_many(void)
{
    GLuint names[2] = {gl_buffer_filled(SIZE, 1), gl_buffer_filled(SIZE, 2)};
    gr_resource *both[2] = {gr_from_gl_buffer(names[0], GR_READ_WRITE),
                            gr_from_gl_buffer_with(names[1], GR_READ_WRITE, &by_copy)};
    gr_buffer *buffers[2] = {NULL, NULL};
    CUevent event = NULL;
    CU(EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CU(EventRecord(event, fx.other));
    const gr_map_options before =
        GR_INIT(gr_map_options, .wait_event = event, .ready_event = event);
    const gr_release_options after = GR_INIT(gr_release_options, .wait_event = event);
    bool good = done(both[0] && both[1]) && ok(gr_map_many(both, 2, fx.stream, &before, buffers)) &&
                ok(gr_buffer_release_many(buffers, 2, fx.stream, &after));
    for (int i = 0; i < 2; i++) {
        if (buffers[i])
            gr_buffer_release_later(buffers[i]);
        gr_resource_free(both[i]);
        delete_buffer(names[i]);
    }
    CU(EventDestroy(event));
    return good;
}

/* ---- Contexts and questions ------------------------------------------------------------------ */

static bool run_probe(void)
{
    int device = -1;
    bool good = true;
    static const gr_transport all[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_SHARED, GR_TRANSPORT_COPY,
                                       GR_TRANSPORT_PEER};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        good = done(gr_gl_probe(all[i])) && good;
    return good && ok(gr_gl_cuda_device(&device));
}

static bool run_egl(void)
{
    char text[512];
    const gr_egl_options options = GR_INIT(gr_egl_options, .share = fx.egl);
    gr_egl *egl = gr_egl_create(&options);
    bool good = done(egl) && ok(gr_egl_make_current(egl)) && ok(gr_egl_make_current(fx.egl));
    if (egl)
        gr_egl_describe(egl, text, sizeof(text));
    gr_egl_free(egl);
    return good && ok(gr_egl_make_current(fx.egl));
}

static bool run_context(void)
{
    CU(CtxSetCurrent(NULL));
    gr_cuda_context *context = gr_cuda_context_create(fixture_cuda_device());
    bool good =
        done(context && gr_cuda_context_context(context) && gr_cuda_context_stream(context));
    gr_cuda_context_free(context);
    CU(CtxSetCurrent(fx.context));
    return good;
}

/* Without a CUDA context of the program's. */
static bool run_without_context(void)
{
    CU(CtxSetCurrent(NULL));
    gr_resource *resource = gr_gl_buffer_create(SIZE, GR_READ_WRITE, NULL);
    bool good = done(resource);
    gr_resource_free(resource);
    CU(CtxSetCurrent(fx.context));
    return good;
}

static const char *no_sharing(void)
{
    const gr_transport_info *info = gr_gl_probe(GR_TRANSPORT_SHARED);
    return info && info->usable ? NULL : info ? info->reason : "the probe fails";
}

const struct scenario walk_gl[] = {
    {"a buffer by interop", run_interop, NULL, false},
    {"a buffer by copies", run_copy, NULL, false},
    {"a buffer by any way", run_any, NULL, false},
    {"a buffer that is discarded", run_plain, NULL, false},
    {"a buffer that is made", run_create_any, NULL, false},
    {"a buffer that is made for interop", run_create_interop, NULL, false},
    {"a buffer that is made for copies", run_create_copy, NULL, false},
    {"a buffer that is made and shared", run_create_shared, no_sharing, false},
    {"a buffer that is made and packed", run_create_packed, no_sharing, false},
    {"a map on entry", run_on_entry, NULL, false},
    {"a release for later", run_later, NULL, true},
    {"a close", run_close, NULL, false},
    {"two maps at once", run_many, NULL, false},
    {"the probes", run_probe, NULL, false},
    {"a context of EGL's", run_egl, NULL, false},
    {"a context of CUDA's", run_context, NULL, false},
    {"no context of CUDA's", run_without_context, NULL, false},
    {NULL, NULL, NULL, false},
};

/* ---- Images ---------------------------------------------------------------------------------- */

static bool copy_both_ways(gr_buffer *buffer)
{
    static unsigned char host[SIDE * SIDE * 8 * 4]; /* 5 slices */
    const gr_linear_desc linear = GR_INIT(gr_linear_desc, .host = host);
    return ok(gr_buffer_copy_from_image(buffer, 0, 0, &linear, fx.stream)) &&
           ok(gr_buffer_copy_to_image(buffer, 0, 0, &linear, fx.stream));
}

/* Each layer that is copied has memory of its own. */
static bool look_at_image(gr_buffer *buffer, bool surface, bool is_copied)
{
    const gr_texture_options linear =
        GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR, .normalized_coordinates = GR_YES,
                .address = {GR_ADDRESS_WRAP});
    return done(gr_buffer_image_info(buffer)) && done(gr_buffer_array(buffer, 0, 0)) &&
           (is_copied || done(gr_buffer_mipmapped_array(buffer))) &&
           (!surface || done(gr_buffer_surface(buffer, 0, 0))) &&
           done(gr_buffer_texture(buffer, NULL)) && done(gr_buffer_texture(buffer, &linear)) &&
           copy_both_ways(buffer);
}

static bool release(gr_buffer *buffer)
{
    bool good = !buffer || ok(gr_buffer_release(buffer));
    if (!good)
        gr_buffer_release_later(buffer);
    return good;
}

static bool use_image(gr_resource *resource, bool surface)
{
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    bool good = done(buffer) && look_at_image(buffer, surface,
                                              gr_resource_transport(resource) == GR_TRANSPORT_COPY);
    good = release(buffer) && good;
    buffer = good ? gr_map_linear(resource, 0, 0, fx.stream) : NULL;
    good = good && done(buffer && gr_buffer_ptr(buffer) && gr_buffer_pitch(buffer));
    good = release(buffer) && good;
    gr_resource_free(resource);
    return good;
}

static bool map_an_image(const gr_gl_options *options, const char *target, bool surface)
{
    struct image image = image_make("RGBA8", target, SIDE, SIDE, 2);
    bool good =
        use_image(gr_from_gl_image_with(image.name, image.target->target,
                                        surface ? GR_SURFACE_LOAD_STORE : GR_READ_WRITE, options),
                  surface);
    image_delete(&image);
    return good;
}

static bool run_image(void)
{
    return map_an_image(&by_interop, "2D", true);
}

static bool run_image_read(void)
{
    return map_an_image(&by_interop, "2D", false);
}

static bool run_image_array(void)
{
    return map_an_image(&by_interop, "2D_ARRAY", true);
}

static bool run_image_copy(void)
{
    return map_an_image(&by_copy, "2D", true);
}

static bool run_image_copy_3d(void)
{
    return map_an_image(&by_copy, "3D", true);
}

static bool run_image_copy_array(void)
{
    return map_an_image(&by_copy, "2D_ARRAY", true);
}

static bool run_renderbuffer(void)
{
    struct image image = image_make("RGBA8", "RENDERBUFFER", SIDE, SIDE, 1);
    bool good = use_image(gr_from_gl_image(image.name, image.target->target, GR_READ_WRITE), false);
    image_delete(&image);
    return good;
}

static bool create_an_image(const gr_gl_options *options)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = SIDE, .height = SIDE);
    return use_image(gr_gl_image_create(&desc, GR_SURFACE_LOAD_STORE, options), true);
}

static bool run_create_image(void)
{
    return create_an_image(NULL);
}

static bool run_create_image_copy(void)
{
    return create_an_image(&by_copy);
}

static bool run_create_image_interop(void)
{
    return create_an_image(&by_interop);
}

static bool run_create_image_shared(void)
{
    return create_an_image(&by_shared);
}

static const char *no_shared_images(void)
{
    const gr_gl_image_desc desc =
        GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D, .internal_format = GL_RGBA8,
                .width = SIDE, .height = SIDE);
    gr_resource *made = gr_gl_image_create(&desc, GR_SURFACE_LOAD_STORE, &by_shared);
    gr_resource_free(made);
    return made ? NULL : gr_last_error()->message;
}

const struct scenario walk_gl_images[] = {
    {"an image", run_image, NULL, false},
    {"an image that is read", run_image_read, NULL, false},
    {"an image of layers", run_image_array, NULL, false},
    {"an image by copies", run_image_copy, NULL, false},
    {"an image of slices by copies", run_image_copy_3d, NULL, false},
    {"an image of layers by copies", run_image_copy_array, NULL, false},
    {"a renderbuffer", run_renderbuffer, NULL, false},
    {"an image that is made", run_create_image, NULL, false},
    {"an image that is made for interop", run_create_image_interop, NULL, false},
    {"an image that is made for copies", run_create_image_copy, NULL, false},
    {"an image that is made and shared", run_create_image_shared, no_shared_images, false},
    {NULL, NULL, NULL, false},
};
