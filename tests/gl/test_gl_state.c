/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Each call, successful or refused, leaves the OpenGL bindings, the current context and an earlier
 * pending error unchanged.
 */
#include "tests/support/support_image.h"
#include "tests/support/support_state.h"

#define SIZE 4096

/* ---- The calls ------------------------------------------------------------------------------- */

/* The objects that the steps use. A later step depends on the earlier ones. */
static GLuint names[2], deleted, empty;
static gr_resource *resources[2];
static gr_buffer *buffers[2];

static bool register_both(void)
{
    resources[0] = gr_from_gl_buffer(names[0], GR_READ_WRITE);
    resources[1] = gr_from_gl_buffer(names[1], GR_WRITE_DISCARD);
    return resources[0] && resources[1];
}

static bool register_bad_names(void)
{
    return !gr_from_gl_buffer(0, GR_READ_WRITE) && !gr_from_gl_buffer(deleted, GR_READ_WRITE) &&
           !gr_from_gl_buffer(empty, GR_READ_WRITE) && !gr_from_gl_buffer(names[0], 0x100);
}

static bool map_one(void)
{
    return (buffers[0] = gr_map(resources[0], fx.stream));
}

static bool map_it_again(void)
{
    return !gr_map(resources[0], fx.stream);
}

static bool ask(void)
{
    char text[256];
    return gr_buffer_ptr(buffers[0]) && gr_buffer_size(buffers[0]) == SIZE &&
           gr_resource_get_info(resources[0])->mapped &&
           !gr_resource_get_info(resources[0])->closed && driver_handle(resources[0]) &&
           gr_resource_describe(resources[0], text, sizeof(text)) > 0;
}

static bool release_one(void)
{
    return gr_buffer_release(buffers[0]) == GR_OK;
}

static bool release_it_again(void)
{
    return gr_buffer_release(buffers[0]) == GR_ERR_INVALID_VALUE;
}

static bool map_and_release_on_another_stream(void)
{
    return map_one() && release_on(buffers[0], fx.other) == GR_OK;
}

static bool map_and_unmap(void)
{
    return map_one() && gr_resource_unmap(resources[0], GR_STREAM_OF_MAP) == GR_OK &&
           gr_buffer_release(buffers[0]) == GR_OK;
}

static bool unmap_without_a_map(void)
{
    return gr_resource_unmap(resources[0], fx.stream) == GR_ERR_STATE;
}

static bool map_both(void)
{
    return gr_map_many(resources, 2, fx.stream, NULL, buffers) == GR_OK;
}

static bool release_both(void)
{
    return gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP, NULL) == GR_OK;
}

static bool map_on_entry(void)
{
    gr_buffer *buffer = gr_map_gl_buffer(names[0], GR_READ_WRITE, fx.stream);
    return buffer && gr_buffer_release(buffer) == GR_OK;
}

static bool close_while_mapped(void)
{
    return map_one() && gr_resource_close(resources[0], fx.stream) == GR_OK && release_one();
}

static bool map_a_closed_one(void)
{
    return !gr_map(resources[0], fx.stream);
}

static bool free_both(void)
{
    free_resources(resources, 2);
    return true;
}

static const struct state_step steps[] = {
    {"register_both", register_both},
    {"register_bad_names", register_bad_names},
    {"map_one", map_one},
    {"map_it_again", map_it_again},
    {"ask", ask},
    {"release_one", release_one},
    {"release_it_again", release_it_again},
    {"map_and_release_on_another_stream", map_and_release_on_another_stream},
    {"map_and_unmap", map_and_unmap},
    {"unmap_without_a_map", unmap_without_a_map},
    {"map_both", map_both},
    {"release_both", release_both},
    {"map_on_entry", map_on_entry},
    {"close_while_mapped", close_while_mapped},
    {"map_a_closed_one", map_a_closed_one},
    {"free_both", free_both},
};

static void prepare(void)
{
    names[0] = gl_buffer_filled(SIZE, 1);
    names[1] = gl_buffer_filled(SIZE, 2);
    deleted = gl_buffer_filled(SIZE, 3);
    glDeleteBuffers(1, &deleted);
    empty = gl_buffer(NULL, 0);
    assert_gl_clean();
}

static const struct state_steps all = {prepare, NULL, sizeof(steps) / sizeof(steps[0]), steps};

GROUP("state", add_case)

TEST(the_test_detects_a_changed_binding)
{
    state_bind();
    state_assert_bound();
}

TEST(buffers_bound_by_the_application_can_be_mapped)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    glBindBuffer(GL_COPY_READ_BUFFER, name);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    GR_AUTO(gr_resource) *resource = must_register(name);
    fill_mapped(resource, 4);
    unsigned char bytes[SIZE];
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, SIZE, bytes);
    assert_bytes(bytes, SIZE, 4);
    GLint bound = 0;
    glGetIntegerv(GL_COPY_READ_BUFFER_BINDING, &bound);
    ck_assert_uint_eq((GLuint)bound, name);
}

TEST_STATE(&all)

/* ---- Objects that another context of the share group deleted while they were bound ----------- */

static gr_egl *own, *sharing;
static struct image images[3];
enum { IMAGES = sizeof(images) / sizeof(*images) };

static void prepare_own(void)
{
    names[0] = gl_buffer_filled(SIZE, 1);
    images[0] = image_filled("RGBA8", "2D", 16, 8, 1, 1);
    images[1] = image_filled("R8", "CUBE", 8, 8, 1, 1);
    images[2] = image_filled("RGBA8", "RENDERBUFFER", 16, 8, 1, 1);
}

static bool is_bound_to(GLenum query, GLuint name)
{
    GLint bound = 0;
    glGetIntegerv(query, &bound);
    return (GLuint)bound == name;
}

/*
 * Deletes all objects but those in use, those whose binding point is the only one for its purpose,
 * and the one whose binding point grinterop uses instead of others.
 */
static bool delete_elsewhere(void)
{
    static GLuint found[2][512];
    GLsizei buffer_count = 0, texture_count = 0;
    for (GLuint name = 1; name < 512; name++) {
        if (glIsBuffer(name) && name != names[0] && !is_bound_to(GL_ARRAY_BUFFER_BINDING, name) &&
            !is_bound_to(GL_PIXEL_PACK_BUFFER_BINDING, name) &&
            !is_bound_to(GL_PIXEL_UNPACK_BUFFER_BINDING, name))
            found[0][buffer_count++] = name;
        if (glIsTexture(name) && name != images[0].name && name != images[1].name)
            found[1][texture_count++] = name;
    }
    assert_ok(gr_egl_make_current(sharing));
    glDeleteBuffers(buffer_count, found[0]);
    glDeleteTextures(texture_count, found[1]);
    assert_gl_clean();
    assert_ok(gr_egl_make_current(own));
    return buffer_count > 4 && texture_count > 20;
}

static bool use(gr_resource *resource)
{
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    const bool good = buffer && gr_buffer_release(buffer) == GR_OK;
    gr_resource_free(resource);
    return good;
}

static const gr_gl_options ways[] = {
    {.struct_size = sizeof(gr_gl_options)},
    {.struct_size = sizeof(gr_gl_options), .share_group = true},
    {.struct_size = sizeof(gr_gl_options), .transports = GR_TRANSPORT_COPY}};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

static bool use_buffers(void)
{
    bool good = true;
    for (int i = 0; i < WAYS; i++)
        good = good && use(gr_from_gl_buffer_with(names[0], GR_READ_WRITE, &ways[i]));
    return good;
}

static bool use_images(void)
{
    bool good = true;
    for (int i = 0; i < WAYS * IMAGES; i++)
        good = good &&
               use(gr_from_gl_image_with(images[i / WAYS].name, images[i / WAYS].target->target,
                                         GR_READ_WRITE, &ways[i % WAYS]));
    return good;
}

static void finish_own(void)
{
    for (int i = 0; i < IMAGES; i++)
        assert_image(&images[i], 1);
    for (GLuint name = 1; name < 512; name++)
        ck_assert(!glIsTexture(name) || name == images[0].name || name == images[1].name);
}

static const struct state_step with_deleted_steps[] = {{"delete_elsewhere", delete_elsewhere},
                                                       {"use_buffers", use_buffers},
                                                       {"use_images", use_images}};
static const struct state_steps with_deleted = {
    prepare_own, finish_own, sizeof(with_deleted_steps) / sizeof(*with_deleted_steps),
    with_deleted_steps};

static void make_own(bool compatibility)
{
    own = must_make(gr_egl_create(&GR_INIT(gr_egl_options, .compatibility = compatibility)));
    sharing = must_make(
        gr_egl_create(&GR_INIT(gr_egl_options, .share = own, .compatibility = compatibility)));
    assert_ok(gr_egl_make_current(own));
}

static void end_own(void)
{
    gr_egl_free(sharing);
    gr_egl_free(own);
    assert_ok(gr_egl_make_current(fx.egl));
}

/* Catches: the object of grinterop stayed bound, and the restore left GL_INVALID_OPERATION. */
TEST(objects_that_another_context_deleted_stay_bound, 2)
{
    make_own(_i);
    state_run_steps(&with_deleted, GL_NO_ERROR);
    end_own();
}

/* Nothing is bound where no other binding can be used instead. */
TEST(a_deleted_buffer_of_pixels_or_renderbuffer_is_unbound, 2)
{
    static const GLenum queries[] = {GL_PIXEL_PACK_BUFFER_BINDING, GL_PIXEL_UNPACK_BUFFER_BINDING,
                                     GL_RENDERBUFFER_BINDING};
    GLuint buffers_of_pixels[2], renderbuffer;
    make_own(_i);
    prepare_own();
    glGenBuffers(2, buffers_of_pixels);
    glGenRenderbuffers(1, &renderbuffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers_of_pixels[0]);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffers_of_pixels[1]);
    glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
    assert_ok(gr_egl_make_current(sharing));
    glDeleteBuffers(2, buffers_of_pixels);
    glDeleteRenderbuffers(1, &renderbuffer);
    assert_ok(gr_egl_make_current(own));
    ck_assert(use_images());
    assert_gl_clean();
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++)
        ck_assert(is_bound_to(queries[i], 0));
    ck_assert(!glIsBuffer(buffers_of_pixels[0]) && !glIsRenderbuffer(renderbuffer));
    end_own();
}
