/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* OpenGL ES: buffers by interop and by copy, and the state of the application. */
#include "gl_es.h"
#include "tests/support/usable.h"

#include <grinterop/framebuffer.h>

void es_check_buffers(void)
{
    static const size_t sizes[] = {1, 4096, 300000, 5 << 20};
    for (int way = 0; way < ES_WAYS; way++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            GLuint name = gl_buffer_pattern(sizes[i], 1);
            GR_AUTO(gr_resource) *resource =
                must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, es_ways[way]));
            assert_both_ways(must_map(resource), name, sizes[i], 1);
            assert_both_ways(must_map(resource), name, sizes[i], 2);
            assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
            glDeleteBuffers(1, &name);
            assert_gl_clean();
        }
}

GROUP("buffers", add_es_case)

TEST(bytes_of_buffers_pass_both_ways)
{
    es_check_buffers();
}

/* glBufferStorageEXT(): storage that cannot be mapped, and storage that stays mapped. */
TEST(bytes_of_immutable_buffers_pass_both_ways, ES_WAYS * 2)
{
    const GLbitfield persistent = GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT;
    const bool maps = _i / ES_WAYS;
    static unsigned char bytes[4096];
    if (!epoxy_has_gl_extension("GL_EXT_buffer_storage"))
        skip("this OpenGL ES lacks GL_EXT_buffer_storage");
    GLuint name;
    glGenBuffers(1, &name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    pattern_fill(bytes, sizeof(bytes), 1);
    glBufferStorageEXT(GL_ARRAY_BUFFER, sizeof(bytes), bytes, maps ? persistent : 0);
    if (maps)
        ck_assert(glMapBufferRange(GL_ARRAY_BUFFER, 0, sizeof(bytes), persistent));
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, es_ways[_i % ES_WAYS]));
    assert_both_ways(must_map(resource), name, sizeof(bytes), 1);
    assert_both_ways(must_map(resource), name, sizeof(bytes), 2);
}

TEST(a_part_of_a_buffer_is_copied_alone, ES_WAYS)
{
    GLuint name = gl_buffer_filled(4096, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, es_ways[_i]));
    gr_buffer *buffer = must_make(
        gr_map_with(resource, fx.stream, &GR_INIT(gr_map_options, .offset = 1024, .size = 512)));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 7, 512, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    static unsigned char bytes[4096];
    gl_read(name, bytes, sizeof(bytes));
    assert_bytes(bytes, 1024, 1);
    assert_bytes(bytes + 1024, 512, 7);
    assert_bytes(bytes + 1536, 4096 - 1536, 1);
}

/* A buffer that the application has mapped cannot be copied. */
TEST(a_mapped_buffer_is_not_copied)
{
    GLuint name = gl_buffer_filled(USABLE_SIZE, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &by_copy));
    glBindBuffer(GL_ARRAY_BUFFER, name);
    ck_assert(glMapBufferRange(GL_ARRAY_BUFFER, 0, 64, GL_MAP_READ_BIT));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "is mapped by glMapBuffer");
    glUnmapBuffer(GL_ARRAY_BUFFER);
    assert_resource_usable(resource, name);
}

GROUP("contexts of resources", add_es_case)

TEST(storage_is_followed, ES_WAYS)
{
    const gr_gl_options follow =
        GR_INIT(gr_gl_options, .transports = es_ways[_i]->transports, .follow_storage = true);
    GLuint name = gl_buffer_pattern(4096, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &follow));
    static unsigned char bytes[8192];
    pattern_fill(bytes, sizeof(bytes), 1);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, sizeof(bytes), bytes, GL_DYNAMIC_DRAW);
    assert_both_ways(must_map(resource), name, sizeof(bytes), 1);
}

TEST(a_resource_belongs_to_its_context)
{
    GLuint name = gl_buffer_pattern(4096, 1);
    GR_AUTO(gr_resource) *resource = must_register(name);
    assert_ok(gr_egl_make_current(fx.egl));
    assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, "was registered in another context");
    assert_ok(gr_egl_make_current(es_context));
    assert_both_ways(must_map(resource), name, 4096, 1);
}

TEST(contexts_of_a_share_group_map_it)
{
    const gr_gl_options group = GR_INIT(gr_gl_options, .share_group = true);
    gr_egl *second =
        must_make(gr_egl_create(&GR_INIT(gr_egl_options, .share = es_context, .es = true)));
    GLuint name = gl_buffer_pattern(4096, 1);
    gr_resource *resource = must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &group));
    assert_ok(gr_egl_make_current(es_context));
    assert_both_ways(must_map(resource), name, 4096, 1);
    gr_resource_free(resource);
    gr_egl_free(second);
    assert_ok(gr_egl_make_current(es_context));
}

TEST(a_destroyed_context_is_reported)
{
    gr_egl *second = es_begin(0, 0);
    GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(64, 1));
    gr_egl_free(second);
    assert_ok(gr_egl_make_current(es_context));
    assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, "has been destroyed");
}

/* Drivers give the handle of a destroyed context to a later one. */
TEST(a_later_context_with_the_same_handle_is_another_one)
{
    gr_egl *later = es_begin(0, 0);
    bool reused = false;
    for (int i = 0; i < 10 && !reused; i++) {
        const void *handle = later->context;
        GR_AUTO(gr_resource) *resource = must_register(gl_buffer_filled(64, 1));
        gr_egl_free(later);
        later = es_begin(0, 0);
        reused = later->context == handle;
        (void)gl_buffer_filled(64, 2); /* may have the same name */
        assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, "has been destroyed");
    }
    gr_egl_free(later);
    assert_ok(gr_egl_make_current(es_context));
    if (!reused)
        skip("the driver reuses no handle");
}

/* ---- State ----------------------------------------------------------------------------------- */

GROUP("state", add_es_case)

static const struct {
    GLenum what;
    GLint value; /* 0: a binding */
} stores[] = {{GL_PACK_ROW_LENGTH, 33},    {GL_PACK_SKIP_ROWS, 1},     {GL_PACK_SKIP_PIXELS, 2},
              {GL_PACK_ALIGNMENT, 8},      {GL_UNPACK_ROW_LENGTH, 34}, {GL_UNPACK_SKIP_ROWS, 3},
              {GL_UNPACK_SKIP_PIXELS, 4},  {GL_UNPACK_SKIP_IMAGES, 5}, {GL_UNPACK_ALIGNMENT, 2},
              {GL_UNPACK_IMAGE_HEIGHT, 35}};
static const GLenum bindings[] = {
    GL_ARRAY_BUFFER_BINDING,      GL_COPY_READ_BUFFER_BINDING,    GL_COPY_WRITE_BUFFER_BINDING,
    GL_PIXEL_PACK_BUFFER_BINDING, GL_PIXEL_UNPACK_BUFFER_BINDING, GL_UNIFORM_BUFFER_BINDING,
    GL_READ_FRAMEBUFFER_BINDING,  GL_DRAW_FRAMEBUFFER_BINDING,    GL_RENDERBUFFER_BINDING,
    GL_TEXTURE_BINDING_2D,        GL_TEXTURE_BINDING_3D,          GL_ACTIVE_TEXTURE,
    GL_PROGRAM_PIPELINE_BINDING};
#define STORES   (sizeof(stores) / sizeof(stores[0]))
#define BINDINGS (sizeof(bindings) / sizeof(bindings[0]))

static void read_state(GLint values[STORES + BINDINGS])
{
    for (size_t i = 0; i < STORES + BINDINGS; i++)
        glGetIntegerv(i < STORES ? stores[i].what : bindings[i - STORES], &values[i]);
}

static void bind_everything(void)
{
    static const GLenum buffers[] = {GL_ARRAY_BUFFER,        GL_COPY_READ_BUFFER,
                                     GL_COPY_WRITE_BUFFER,   GL_PIXEL_PACK_BUFFER,
                                     GL_PIXEL_UNPACK_BUFFER, GL_UNIFORM_BUFFER};
    GLuint names[6];
    glGenFramebuffers(2, names);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, names[0]);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, names[1]);
    glGenRenderbuffers(1, names);
    glBindRenderbuffer(GL_RENDERBUFFER, names[0]);
    glActiveTexture(GL_TEXTURE3);
    glGenTextures(2, names);
    glBindTexture(GL_TEXTURE_2D, names[0]);
    glBindTexture(GL_TEXTURE_3D, names[1]);
    glGenProgramPipelines(1, names);
    glBindProgramPipeline(names[0]);
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
        glBindBuffer(buffers[i], gl_buffer_filled(64, 0));
    for (size_t i = 0; i < STORES; i++)
        glPixelStorei(stores[i].what, stores[i].value);
}

/* Rows that OpenGL ES packs upside down for the application. */
TEST(the_order_of_packed_rows_is_kept, ES_WAYS)
{
    GLint order = 0;
    if (!epoxy_has_gl_extension("GL_ANGLE_pack_reverse_row_order"))
        skip("this OpenGL ES lacks GL_ANGLE_pack_reverse_row_order");
    const struct image image = image_filled("RGBA8", "2D", 12, 12, 1, 1);
    glPixelStorei(GL_PACK_REVERSE_ROW_ORDER_ANGLE, GL_TRUE);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_ONLY, es_ways[_i]));
    gr_buffer *buffer = must_map_image(resource);
    assert_mapped_level(buffer, &image, 0, 0, 1);
    assert_ok(gr_buffer_release(buffer));
    glGetIntegerv(GL_PACK_REVERSE_ROW_ORDER_ANGLE, &order);
    ck_assert_int_eq(order, GL_TRUE);
}

static GLenum pending;

/* The step must leave the state and the pending error as they were. */
static void assert_kept(const GLint before[STORES + BINDINGS], const char *step)
{
    GLint after[STORES + BINDINGS];
    ck_assert_msg(glGetError() == pending, "%s: another pending error", step);
    read_state(after);
    for (size_t i = 0; i < STORES + BINDINGS; i++)
        ck_assert_msg(after[i] == before[i], "%s: 0x%x is %d, not %d", step,
                      i < STORES ? stores[i].what : bindings[i - STORES], after[i], before[i]);
    if (pending)
        glEnable(GL_NONE); /* raises GL_INVALID_ENUM */
}

TEST(no_call_changes_the_state_or_errors, ES_WAYS * 2)
{
    GLint before[STORES + BINDINGS];
    GLuint name = gl_buffer_pattern(4096, 1);
    const struct image image = image_filled("R8UI", "2D", 13, 11, 1, 1);
    const struct image wide = image_filled("RGBA8", "RENDERBUFFER", 13, 11, 1, 1);
    const struct image bad = image_make("RGB8", "2D", 8, 8, 1);
    const gr_gl_options *way = es_ways[_i % ES_WAYS];
    gr_resource *resources[3];
    gr_buffer *buffers[3];
    bind_everything();
    pending = _i / ES_WAYS ? GL_INVALID_ENUM : GL_NO_ERROR;
    read_state(before);
    if (pending)
        glEnable(GL_NONE);
    resources[0] = must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, way));
    assert_kept(before, "a buffer");
    resources[1] = must_make(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, 0, way));
    assert_kept(before, "a texture");
    resources[2] = must_make(gr_from_gl_image_with(wide.name, GL_RENDERBUFFER, 0, way));
    assert_kept(before, "a renderbuffer");
    ck_assert(!gr_from_gl_image_with(bad.name, GL_TEXTURE_2D, 0, &by_copy));
    ck_assert(!gr_from_gl_image(image.name, GL_TEXTURE_3D, 0));
    ck_assert(!gr_create_gl_buffer(64, GR_READ_WRITE, NULL));
    ck_assert_int_eq(gr_copy_framebuffer(0, resources[0], 0, NULL), GR_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(gr_gl_probe(GR_TRANSPORT_COPY));
    ck_assert_ptr_nonnull(gr_gl_probe(GR_TRANSPORT_INTEROP));
    gr_clear_error();
    assert_kept(before, "refusals and probes");
    for (int i = 0; i < 2; i++) {
        assert_ok(gr_map_many(resources, 3, fx.stream, NULL, buffers));
        assert_kept(before, "a map");
        assert_ok(gr_buffer_release_many(buffers, 3, GR_STREAM_OF_MAP, NULL));
        assert_kept(before, "a release");
    }
    free_resources(resources, 3);
    assert_kept(before, "the ends");
    glGetError();
}
