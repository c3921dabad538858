/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Resources with share_group: any OpenGL context of the share group maps, releases and closes them,
 * and every other context is refused before the call reaches the CUDA driver.
 */
#include <grinterop/ring.h>

#include "tests/drivers/fault_driver.h"
#include "tests/support/support_image.h"
#include "tests/support/usable.h"

#define SIZE USABLE_SIZE

START(fault_control_start())

/*
 * `first` registers the buffer, and `worker` shares objects with it. The context of the fixture is
 * the alien: it shares nothing. `worker` is current at the start of a test.
 */
static gr_egl *first, *worker;
static GLuint name;
static gr_resource *resource;

static const gr_gl_options grouped = {.struct_size = sizeof(grouped), .share_group = true};

static gr_egl *make_sharing(const gr_egl *share)
{
    return must_make(gr_egl_create(&GR_INIT(gr_egl_options, .share = share)));
}

static gr_resource *must_group(GLuint of)
{
    return must_make(gr_from_gl_buffer_with(of, GR_READ_WRITE, &grouped));
}

static void make_both(void)
{
    first = must_make(gr_egl_create(NULL));
    name = gl_buffer_filled(SIZE, 0x11);
    resource = must_group(name);
    glFinish();
    worker = make_sharing(first);
    fault->reset();
}

static void end_both(void)
{
    assert_ok(gr_egl_make_current(worker));
    gr_resource_free(resource);
    resource = NULL;
    assert_gl_clean();
    gr_egl_free(worker);
    gr_egl_free(first);
    first = worker = NULL;
    assert_ok(gr_egl_make_current(fx.egl));
    ck_assert_uint_eq(fault->all_refusals(), 0);
}

/* Leaves the current context after its commands are complete, as another context of it requires. */
static void enter(const gr_egl *egl)
{
    gr_status status = gr_egl_make_current(egl);
    ck_assert_msg(status == GR_OK, "%s", error_text());
}

static void finish_and_enter(const gr_egl *egl)
{
    glFinish();
    enter(egl);
}

static void end_first(void)
{
    gr_egl_free(first);
    first = NULL;
}

static TCase *add_group_case(Suite *suite, const char *title)
{
    return with_fixture(add_case(suite, title), make_both, end_both);
}

GROUP("share group", add_group_case)

TEST(a_sharing_context_maps_releases_and_closes)
{
    unsigned char bytes[SIZE];
    pattern_fill(bytes, SIZE, 1);
    gl_write(name, bytes, SIZE);
    assert_mapped(resource, 1);
    write_mapped(resource, 2);
    assert_gl_pattern(name, SIZE, 2);
    assert_described(resource, "interop", "share group");
    assert_ok(gr_resource_close(resource, fx.stream));
    ck_assert_uint_eq(fault->calls("cuGraphicsUnregisterResource"), 1);
    finish_and_enter(first);
    assert_gl_pattern(name, SIZE, 2);
}

TEST(a_buffer_mapped_in_one_context_is_released_in_the_other)
{
    gr_egl *const contexts[] = {worker, first, worker};
    for (unsigned i = 0; i < 2; i++) {
        enter(contexts[i]);
        gr_buffer *buffer = must_map(resource);
        cuda_write_pattern(buffer, i + 3);
        finish_and_enter(contexts[i + 1]);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(name, SIZE, i + 3);
    }
}

/* Catches: the resource was lost with the context that had registered it. */
TEST(the_group_outlives_the_context_of_the_registration)
{
    end_first();
    write_mapped(resource, 5);
    assert_gl_pattern(name, SIZE, 5);
    gr_egl *later = make_sharing(worker);
    write_mapped(resource, 6);
    assert_gl_pattern(name, SIZE, 6);
    assert_ok(gr_resource_close(resource, fx.stream));
    gr_egl_free(later);
}

TEST(an_image_is_mapped_in_the_sharing_context)
{
    struct image image = image_filled("RGBA8", "2D", 16, 16, 1, 1);
    gr_resource *of = must_make(
        gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE, &grouped));
    finish_and_enter(first);
    gr_buffer *buffer = must_map_image(of);
    assert_mapped_level(buffer, &image, 0, 0, 1);
    mapped_level_write(buffer, &image, 0, 0, 2);
    assert_ok(gr_buffer_release(buffer));
    finish_and_enter(worker);
    assert_image(&image, 2);
    gr_resource_free(of);
    image_delete(&image);
}

/*
 * One driver call maps the resources that one context registered. Catches: NVIDIA's driver (580)
 * refused a call for the resources of two contexts of a share group.
 */
TEST(gr_map_many_takes_the_resources_of_two_contexts_of_a_group)
{
    gr_resource *all[3] = {resource, must_group(gl_buffer_filled(SIZE, 1)),
                           must_group(gl_buffer_filled(SIZE, 1))};
    gr_buffer *buffers[3];
    glFinish();
    assert_ok(gr_map_many(all, 3, fx.stream, NULL, buffers));
    ck_assert_uint_eq(fault->calls("cuGraphicsMapResources"), 2);
    for (unsigned i = 0; i < 3; i++)
        cuda_write_pattern(buffers[i], i + 3);
    assert_ok(gr_buffer_release_many(buffers, 3, fx.stream, NULL));
    ck_assert_uint_eq(fault->calls("cuGraphicsUnmapResources"), 2);
    for (unsigned i = 0; i < 3; i++)
        assert_gl_pattern(gr_gl_name(all[i]), SIZE, i + 3);
    gr_resource_free(all[1]);
    gr_resource_free(all[2]);
}

/* A map registers the object in the current context, and later maps it with others of it. */
TEST(a_resource_that_follows_is_registered_in_the_current_context)
{
    gr_gl_options follows = grouped;
    follows.follow_storage = true;
    enter(first);
    const GLuint second = gl_buffer_filled(SIZE, 1);
    gr_resource *both[2] = {resource,
                            must_make(gr_from_gl_buffer_with(second, GR_READ_WRITE, &follows))};
    gr_buffer *buffers[2];
    finish_and_enter(worker);
    glBindBuffer(GL_COPY_WRITE_BUFFER, second);
    glBufferData(GL_COPY_WRITE_BUFFER, 2 * SIZE, NULL, GL_STATIC_DRAW);
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(gr_map_many(both, 2, fx.stream, NULL, buffers));
        ck_assert_uint_eq(gr_buffer_size(buffers[1]), 2 * SIZE);
        cuda_write_pattern(buffers[0], i);
        cuda_write_pattern(buffers[1], i + 3);
        assert_ok(gr_buffer_release_many(buffers, 2, fx.stream, NULL));
        assert_gl_pattern(name, SIZE, i);
        assert_gl_pattern(second, 2 * SIZE, i + 3);
        finish_and_enter(i == 0 ? first : worker);
    }
    gr_resource_free(both[1]);
}

static void *map_in_worker(void *unused)
{
    (void)unused;
    enter(worker);
    CU(CtxSetCurrent(fx.context));
    write_mapped(resource, 8);
    glFinish();
    enter(NULL);
    return NULL;
}

TEST(a_worker_context_on_another_thread_maps)
{
    enter(first);
    elsewhere(map_in_worker, NULL);
    assert_gl_pattern(name, SIZE, 8);
}

/* Contexts of a group may have other versions and functions than the one that registered. */
TEST(a_context_of_an_older_version_maps)
{
    gr_egl *old = must_make(gr_egl_create(
        &GR_INIT(gr_egl_options, .share = first, .major = 3, .minor = 2, .compatibility = true)));
    unsigned char bytes[SIZE];
    write_mapped(resource, 9);
    gl_read(name, bytes, SIZE);
    assert_pattern(bytes, SIZE, 9);
    GLuint before = 0;
    glGetIntegerv(GL_ARRAY_BUFFER_BINDING, (GLint *)&before);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, SIZE * 2, NULL, GL_STATIC_DRAW);
    glBindBuffer(GL_ARRAY_BUFFER, before);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "has since been replaced");
    assert_gl_clean();
    gr_egl_free(old);
}

/* ---- Replaced storage ------------------------------------------------------------------------ */

static const gr_gl_options following = {
    .struct_size = sizeof(following), .share_group = true, .follow_storage = true};

/* The bytes pass both ways in the current context. */
static void use_replaced(gr_resource *of, size_t size, unsigned seed)
{
    assert_both_ways(must_map(of), gr_gl_name(of), size, seed);
}

static void replace(GLuint of, size_t size, bool immutable, unsigned seed)
{
    unsigned char *bytes = must_allocate(size);
    pattern_fill(bytes, size, seed);
    glBindBuffer(GL_COPY_WRITE_BUFFER, of);
    if (immutable)
        glBufferStorage(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, bytes, GL_DYNAMIC_STORAGE_BIT);
    else
        glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, bytes, GL_DYNAMIC_DRAW);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    free(bytes);
}

TEST(a_buffer_replaced_in_one_context_is_mapped_in_the_other)
{
    gr_egl *const contexts[] = {first, worker};
    GLuint of = gl_buffer_filled(SIZE, 1), again = 0;
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(of, GR_READ_WRITE, &following));
    for (unsigned i = 0; i < 4; i++) {
        finish_and_enter(contexts[i % 2]);
        replace(of, 100u << i, false, i);
        finish_and_enter(contexts[(i + 1) % 2]);
        use_replaced(resource, 100u << i, i);
    }
    /* without the context of the registration */
    finish_and_enter(worker);
    end_first();
    glDeleteBuffers(1, &of);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
    gr_egl *later = make_sharing(worker);
    glGenBuffers(1, &again);
    if (again != of)
        skip("OpenGL does not reuse the name");
    replace(of, 100, true, 7);
    finish_and_enter(worker);
    fault->reset();
    use_replaced(resource, 100, 7);
    use_replaced(resource, 100, 8);
    ck_assert_uint_eq(fault->calls("cuGraphicsGLRegisterBuffer"), 1);
    gr_egl_free(later);
    use_replaced(resource, 100, 9);
}

TEST(an_image_replaced_in_one_context_is_mapped_in_the_other)
{
    gr_egl *const contexts[] = {first, worker};
    struct image image = image_filled("RGBA8", "2D", 16, 16, 1, 0);
    gr_resource *of = must_make(
        gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE, &following));
    for (unsigned i = 0; i < 4; i++) {
        finish_and_enter(contexts[i % 2]);
        if (!image_create_again(&image, "RGBA8", 20 + i, 9, 1, 2 * i))
            skip("OpenGL does not reuse the name");
        finish_and_enter(contexts[(i + 1) % 2]);
        image_both_ways(must_map_image(of), &image, 2 * i);
    }
    gr_resource_free(of);
    image_delete(&image);
}

/* Catches: GL_INVALID_OPERATION was left, because the texture was bound to its former target. */
TEST(a_texture_of_another_target_is_refused, 2)
{
    GLuint again;
    GLuint texture = bound_texture(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, 16, 16, 0, GL_RED, GL_UNSIGNED_BYTE, NULL);
    gr_resource *of = must_make(
        gr_from_gl_image_with(texture, GL_TEXTURE_2D, GR_READ_WRITE, _i ? &following : &grouped));
    glDeleteTextures(1, &texture);
    finish_and_enter(first);
    glGenTextures(1, &again);
    if (again != texture)
        skip("OpenGL does not reuse the name");
    glBindTexture(GL_TEXTURE_3D, texture);
    glTexStorage3D(GL_TEXTURE_3D, 1, GL_R8, 16, 16, 16);
    finish_and_enter(worker);
    for (unsigned i = 0; i < 2; i++) {
        glEnable(i ? 0xFFFF : GL_BLEND);
        assert_null(gr_map(of, fx.stream), _i ? GR_ERR_INVALID_VALUE : GR_ERR_STATE, 0,
                    _i ? "not a GL_TEXTURE_2D" : "replaced");
        ck_assert_uint_eq(glGetError(), i ? GL_INVALID_ENUM : GL_NO_ERROR);
        assert_gl_clean();
    }
    gr_resource_free(of);
    glDeleteTextures(1, &texture);
}

/* ---- Refused contexts ------------------------------------------------------------------------ */

TEST(contexts_outside_of_the_group_are_refused)
{
    static const struct {
        bool alien;
        const char *text;
    } wrongs[] = {{true, "is not in that share group"}, {false, "needs one of the share group"}};
    for (size_t i = 0; i < 2; i++) {
        enter(worker);
        gr_buffer *buffer = must_map(resource);
        enter(wrongs[i].alien ? fx.egl : NULL);
        const unsigned long calls = fault->calls("cuGraphicsUnmapResources");
        assert_fails(gr_buffer_release(buffer), GR_ERR_GL, 0, wrongs[i].text);
        assert_fails(gr_resource_close(resource, fx.stream), GR_ERR_GL, 0, wrongs[i].text);
        ck_assert_uint_eq(fault->calls("cuGraphicsUnmapResources"), calls);
        ck_assert(gr_resource_get_info(resource)->mapped);
        enter(worker);
        assert_ok(gr_buffer_release(buffer));
        enter(wrongs[i].alien ? fx.egl : NULL);
        const unsigned long maps = fault->calls("cuGraphicsMapResources");
        assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, wrongs[i].text);
        ck_assert_uint_eq(fault->calls("cuGraphicsMapResources"), maps);
        enter(worker);
        assert_resource_usable(resource, name);
    }
}

/* An alien group has a marker of its own, which may have the same name. */
TEST(two_groups_are_distinguished)
{
    enter(fx.egl);
    GLuint other_name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *other = must_group(other_name);
    assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, "is not in that share group");
    assert_resource_usable(other, other_name);
    enter(worker);
    assert_null(gr_map(other, fx.stream), GR_ERR_GL, 0, "is not in that share group");
    assert_resource_usable(resource, name);
    enter(fx.egl);
}

/* An alien context may have a shader of the same name, even with a similar text. */
TEST(a_shader_of_the_application_is_no_marker)
{
    enum { MANY = 64 };
    const char *text = "// Share group 1 of grinterop";
    GLuint shaders[MANY];
    enter(fx.egl);
    for (int i = 0; i < MANY; i++) {
        shaders[i] = glCreateShader(GL_VERTEX_SHADER);
        glShaderSource(shaders[i], 1, &text, NULL);
    }
    assert_null(gr_map(resource, fx.stream), GR_ERR_GL, 0, "is not in that share group");
    for (int i = 0; i < MANY; i++)
        glDeleteShader(shaders[i]);
    assert_gl_clean();
}

TEST(without_share_group_the_error_names_the_option)
{
    enter(first);
    GR_AUTO(gr_resource) *own = must_register(name);
    enter(worker);
    assert_null(gr_map(own, fx.stream), GR_ERR_GL, 0, "gr_gl_options.share_group");
    enter(first);
    assert_resource_usable(own, name);
}

/* ---- Deferred ends --------------------------------------------------------------------------- */

static unsigned long ended(void)
{
    return fault->calls("cuGraphicsUnregisterResource");
}

TEST(a_resource_freed_without_a_context_ends_in_any_context_of_the_group)
{
    elsewhere(free_elsewhere, resource);
    resource = NULL;
    enter(fx.egl);
    assert_buffer_usable(gl_buffer_filled(SIZE, 1));
    ck_assert_uint_eq(ended(), 1); /* that of the alien context itself */
    enter(worker);
    end_first();
    assert_buffer_usable(name);
    ck_assert_uint_eq(ended(), 3);
}

TEST(a_buffer_released_later_ends_in_any_context_of_the_group)
{
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 4);
    elsewhere(release_elsewhere, buffer);
    enter(fx.egl);
    assert_buffer_usable(gl_buffer_filled(SIZE, 1));
    enter(first);
    assert_mapped(resource, 4);
}

/* ---- The marker ------------------------------------------------------------------------------ */

static int count_shaders(void)
{
    int count = 0;
    for (GLuint i = 1; i < 1000; i++)
        count += glIsShader(i);
    return count;
}

TEST(a_group_has_one_marker_which_ends_with_its_last_resource)
{
    ck_assert_int_eq(count_shaders(), 1);
    gr_resource *second = must_group(name);
    ck_assert_int_eq(count_shaders(), 1);
    gr_resource_free(resource);
    resource = NULL;
    ck_assert_int_eq(count_shaders(), 1);
    /* Freed elsewhere, the marker stays for the next resource. */
    assert_ok(gr_resource_close(second, fx.stream));
    elsewhere(free_elsewhere, second);
    ck_assert_int_eq(count_shaders(), 1);
    resource = must_group(name);
    ck_assert_int_eq(count_shaders(), 1);
    gr_resource_free(resource);
    resource = NULL;
    ck_assert_int_eq(count_shaders(), 0);
    /* A failed registration leaves none. */
    ck_assert(fault->set("cuGraphicsGLRegisterBuffer", CUDA_ERROR_UNKNOWN, 0));
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &grouped), GR_ERR_CUDA, -1, "");
    ck_assert_int_eq(count_shaders(), 0);
}

TEST(a_registration_preserves_a_pending_error)
{
    gr_resource_free(resource);
    glEnable(0xFFFF);
    resource = must_group(name);
    ck_assert_uint_eq(glGetError(), GL_INVALID_ENUM);
    assert_gl_clean();
}

/* ---- Options --------------------------------------------------------------------------------- */

TEST(share_group_needs_interop)
{
    gr_gl_options options = grouped;
    options.transports = GR_TRANSPORT_COPY | GR_TRANSPORT_PEER;
    assert_null_invalid(gr_from_gl_buffer_with(name, GR_READ_WRITE, &options),
                        "`share_group` needs GR_TRANSPORT_INTEROP");
    options.transports = GR_TRANSPORT_SHARED;
    assert_null_invalid(gr_from_gl_image_with(1, GL_TEXTURE_2D, GR_READ_WRITE, &options),
                        "`share_group` needs GR_TRANSPORT_INTEROP");
    options.transports = GR_TRANSPORT_ANY;
    gr_resource *of = must_make(gr_from_gl_buffer_with(name, GR_READ_WRITE, &options));
    ck_assert_int_eq((int)gr_resource_get_info(of)->transport, GR_TRANSPORT_INTEROP);
    gr_resource_free(of);
    /* The error of interop is reported: no other transport is tried. */
    ck_assert(fault->set("cuGraphicsGLRegisterBuffer", CUDA_ERROR_UNKNOWN, 0));
    assert_null(gr_from_gl_buffer_with(name, GR_READ_WRITE, &options), GR_ERR_CUDA,
                CUDA_ERROR_UNKNOWN, "was refused");
}

TEST(created_objects_have_no_share_group)
{
    assert_null(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &grouped), GR_ERR_UNSUPPORTED, 0,
                "`share_group` is for existing objects");
    assert_null(
        gr_create_gl_buffer(SIZE, GR_READ_WRITE, &GR_INIT(gr_gl_options, .follow_storage = true)),
        GR_ERR_UNSUPPORTED, 0, "`follow_storage` is for existing objects");
}

TEST(only_created_buffers_are_packed)
{
    const gr_gl_options packed = GR_INIT(gr_gl_options, .packed = true);
    const gr_gl_image_desc image = GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D,
                                           .internal_format = GL_RGBA8, .width = 4, .height = 4);
    assert_null(gr_from_gl_buffer_with(gl_buffer_filled(SIZE, 1), GR_READ_WRITE, &packed),
                GR_ERR_UNSUPPORTED, 0, "`packed` is for new buffers");
    assert_null(gr_from_gl_image_with(1, GL_TEXTURE_2D, GR_READ_WRITE, &packed), GR_ERR_UNSUPPORTED,
                0, "`packed` is for new buffers");
    assert_null(gr_create_gl_image(&image, GR_READ_WRITE, &packed), GR_ERR_UNSUPPORTED, 0,
                "`packed` is for buffers");
}

/* ---- Rings ----------------------------------------------------------------------------------- */

TEST(a_ring_has_the_resources_of_one_context)
{
    gr_resource *both[2] = {resource, must_group(gl_buffer_filled(SIZE, 1))};
    assert_null_invalid(gr_ring_create(both, 2, NULL), "registered in another OpenGL context");
    gr_resource_free(both[1]);
}

TEST(a_ring_does_not_mix_both_kinds)
{
    enter(first);
    gr_resource *mixed[2] = {resource, must_register(gl_buffer_filled(SIZE, 1))};
    assert_null_invalid(gr_ring_create(mixed, 2, NULL), "gr_gl_options.share_group");
    assert_resource_usable(resource, name);
    gr_resource_free(mixed[1]);
}

TEST(a_ring_of_a_group_crosses_contexts)
{
    const gr_slot *slot;
    enter(first);
    gr_resource *both[2] = {resource, must_group(gl_buffer_filled(SIZE, 1))};
    gr_ring *ring =
        must_make(gr_ring_create(both, 2, &GR_INIT(gr_ring_options, .producer = GR_SIDE_CUDA)));
    gr_egl *const contexts[] = {worker, first};
    for (unsigned i = 0; i < 6; i++) {
        enter(contexts[i % 2]);
        assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 1000));
        cuda_fill(slot->buffer, (int)i + 1);
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        finish_and_enter(contexts[(i + 1) % 2]);
        assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 1000));
        assert_gl_bytes(gr_gl_name(both[slot->index]), SIZE, (int)i + 1);
        assert_ok(gr_ring_give_back(ring, &slot, 1));
        glFinish();
    }
    enter(fx.egl);
    assert_fails(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 0), GR_ERR_GL, 0, "share group");
    enter(worker);
    gr_ring_free(ring);
    gr_resource_free(both[1]);
}
