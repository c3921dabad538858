/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Scenarios of test_fault_walk with OpenGL buffers and contexts. */
#include "fault_walk.h"

#define SIZE 256

static const gr_gl_options by_packed = {
    .struct_size = sizeof(by_packed), .transports = GR_TRANSPORT_SHARED, .packed = true};

static const gr_gl_options by_group = {.struct_size = sizeof(by_group), .share_group = true};

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

/* A mapped buffer is released, whatever failed. If the release fails too, the resource is freed. */
static bool filled_and_released(gr_buffer *buffer, int value)
{
    CU(MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value, gr_buffer_size(buffer),
                     gr_buffer_get_info(buffer)->stream));
    return ok(gr_buffer_release(buffer)) || (gr_buffer_release_later(buffer), false);
}

static bool fill_by_cuda(gr_resource *resource, int value)
{
    gr_buffer *buffer = gr_map(resource, fx.stream);
    return done(buffer) && filled_and_released(buffer, value);
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
    walk_again(resource);
    gr_resource_free(resource);
    return good;
}

bool walk_a_buffer(void)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    bool good = use_and_free(gr_from_gl_buffer_with(name, GR_READ_WRITE, scenario->options), name);
    delete_buffer(name);
    return good;
}

/* The first size is half of that which use() needs. */
static bool follow_a_buffer(void)
{
    gr_gl_options options = *scenario->options;
    options.follow_storage = true;
    GLuint name = gl_buffer_filled(SIZE / 2, 1);
    gr_resource *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, &options);
    bool good = done(resource) && fill_by_cuda(resource, 1);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferData(GL_COPY_WRITE_BUFFER, SIZE, NULL, GL_STATIC_DRAW);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    good = good && use(resource, name);
    walk_again(resource);
    gr_resource_free(resource);
    delete_buffer(name);
    return good;
}

/* ---- Pending OpenGL errors ------------------------------------------------------------------- */

static void blit_from_nothing(void)
{
    GLuint name = bound_framebuffer(GL_READ_FRAMEBUFFER);
    glBlitFramebuffer(0, 0, 1, 1, 0, 0, 1, 1, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &name);
}

static void ask_for_too_much(void)
{
    GLuint name;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, PTRDIFF_MAX, NULL, GL_STATIC_DRAW);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glDeleteBuffers(1, &name);
}

static void raise_error(GLenum error)
{
    if (error == GL_INVALID_ENUM)
        glHint(GL_NONE, GL_NONE);
    else if (error == GL_INVALID_VALUE)
        glDeleteBuffers(-1, NULL);
    else if (error == GL_INVALID_OPERATION)
        glUnmapBuffer(GL_ARRAY_BUFFER);
    else if (error == GL_OUT_OF_MEMORY)
        ask_for_too_much();
    else
        blit_from_nothing();
}

static bool map_beside(GLenum error, gr_resource *resource)
{
    raise_error(error);
    bool good = fill_by_cuda(resource, 5);
    GLenum left = glGetError();
    return bytes_are(left == error || walk_is_armed()) && good;
}

/*
 * OpenGL errors of the program stay pending, unless the failing call raises another one. grinterop
 * must not report them as its own.
 */
static bool run_errors(void)
{
    static const GLenum errors[] = {GL_INVALID_ENUM, GL_INVALID_VALUE, GL_INVALID_OPERATION,
                                    GL_OUT_OF_MEMORY, GL_INVALID_FRAMEBUFFER_OPERATION};
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_copy);
    bool good = done(resource);
    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors) && good; i++)
        good = map_beside(errors[i], resource);
    walk_again(resource);
    gr_resource_free(resource);
    delete_buffer(name);
    return good;
}

/* ---- Buffers by each transport --------------------------------------------------------------- */

static bool run_plain(void)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    bool good = use_and_free(gr_from_gl_buffer(name, GR_WRITE_DISCARD), name);
    delete_buffer(name);
    return good;
}

static bool run_flying(void)
{
    const gr_gl_options flying =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER, .in_flight = 2);
    GLuint name = gl_buffer_filled(SIZE, 1);
    bool good = use_and_free(gr_from_gl_buffer_with(name, GR_WRITE_DISCARD, &flying), name);
    gr_resource *reader = gr_from_gl_buffer_with(name, GR_READ_ONLY, &flying);
    for (int i = 0; i < 3 && good; i++) {
        gr_buffer *buffer = done(reader) ? gr_map(reader, fx.stream) : NULL;
        good = done(buffer) &&
               (ok(gr_buffer_release(buffer)) || (gr_buffer_release_later(buffer), false));
    }
    walk_again(reader);
    gr_resource_free(reader);
    delete_buffer(name);
    return good;
}

static bool walk_a_made_buffer(void)
{
    gr_resource *resource = gr_create_gl_buffer(SIZE, GR_READ_WRITE, scenario->options);
    return use_and_free(resource, resource ? gr_gl_name(resource) : 0);
}

static bool run_on_entry(void)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_buffer *buffer = gr_map_gl_buffer(name, GR_READ_WRITE, fx.stream);
    bool good = done(buffer) && filled_and_released(buffer, 9) && bytes_are(has_value(name, 9));
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

/* A map in one direction, and a map as registered, which sets the flags of the driver again. */
static bool run_access(void)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    gr_resource *resource = gr_from_gl_buffer(name, GR_READ_WRITE);
    bool good = done(resource);
    for (int access = GR_MAP_WRITE_DISCARD; good && access >= 0; access -= 2) {
        const gr_map_options options = GR_INIT(gr_map_options, .access = (gr_map_access)access);
        gr_buffer *buffer = gr_map_with(resource, fx.stream, &options);
        good = done(buffer) && filled_and_released(buffer, 9);
    }
    good = good && bytes_are(has_value(name, 9));
    walk_again(resource);
    gr_resource_free(resource);
    delete_buffer(name);
    return good;
}

/* Closes the resource, with and without a mapping. A remaining buffer is released afterwards. */
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
        walk_again(both[i]);
        gr_resource_free(both[i]);
        delete_buffer(names[i]);
    }
    CU(EventDestroy(event));
    return good;
}

/* ---- Contexts and queries -------------------------------------------------------------------- */

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
    gr_egl *egl = gr_egl_create(&GR_INIT(gr_egl_options, .share = fx.egl));
    bool good = done(egl) && ok(gr_egl_make_current(egl)) && ok(gr_egl_make_current(fx.egl));
    gr_egl_free(egl);
    return good && ok(gr_egl_make_current(fx.egl));
}

static bool run_context(void)
{
    int device = -1;
    CUuuid uuid;
    CU(DeviceGetUuid(&uuid, fx.device));
    CU(CtxSetCurrent(NULL));
    gr_cuda_context *context = gr_cuda_context_create(fixture_cuda_device());
    bool good = done(context && gr_cuda_context_get_info(context)->stream);
    gr_cuda_context_free(context);
    CU(CtxSetCurrent(fx.context));
    return good && ok(gr_cuda_find_device((const unsigned char *)uuid.bytes, &device)) &&
           bytes_are(device == fixture_cuda_device());
}

/* The program has no CUDA context. */
static bool run_without_context(void)
{
    CU(CtxSetCurrent(NULL));
    gr_resource *resource = gr_create_gl_buffer(SIZE, GR_READ_WRITE, NULL);
    bool good = done(resource);
    gr_resource_free(resource);
    CU(CtxSetCurrent(fx.context));
    return good;
}

const struct scenario walk_gl[] = {
    {"a buffer by interop", .run = walk_a_buffer, .options = &by_interop},
    {"a buffer of a share group", .run = walk_a_buffer, .options = &by_group},
    {"a buffer that follows its storage", .run = follow_a_buffer, .options = &by_interop},
    {"a copied buffer that follows its storage", .run = follow_a_buffer, .options = &by_copy},
    {"a buffer by copies", .run = walk_a_buffer, .options = &by_copy},
    {"a buffer with pending OpenGL errors", .run = run_errors, .rules = WALK_FEW},
    {"a buffer by any transport", .run = walk_a_buffer, .options = &by_any},
    {"a discarded buffer", .run = run_plain},
    {"a buffer with frames in flight", .run = run_flying, .missing = walk_no_sharing},
    {"a created buffer", .run = walk_a_made_buffer},
    {"a buffer created for interop", .run = walk_a_made_buffer, .options = &by_interop},
    {"a buffer created for copies", .run = walk_a_made_buffer, .options = &by_copy},
    {"a created and shared buffer", .run = walk_a_made_buffer, .missing = walk_no_sharing,
     .options = &by_sharing},
    {"a created and packed buffer", .run = walk_a_made_buffer, .missing = walk_no_sharing,
     .options = &by_packed},
    {"a map on entry", .run = run_on_entry},
    {"a deferred release", .run = run_later, .rules = WALK_GIVES_UP},
    {"a close", .run = run_close},
    {"two maps at once", .run = run_many},
    {"a map with an access", .run = run_access},
    {"the probes", .run = run_probe},
    {"an EGL context", .run = run_egl},
    {"a CUDA context", .run = run_context},
    {"no CUDA context", .run = run_without_context},
    {.name = NULL},
};
