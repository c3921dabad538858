/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The copy transport, and the choice between transports. Cases of bytes and of misuse run with two
 * OpenGL implementations: that of the fixture, and Mesa on the CPU, from which CUDA on a GPU cannot
 * register objects. They also run with pinned memory, as if CUDA refused to register mapped memory.
 */
#include "gl_copy_tests.h"

#include <string.h>

#include "gl_peer_device.h"
#include "tests/support/own_egl.h"

/* ---- OpenGL of Mesa beside that of the fixture ----------------------------------------------- */

static struct own_egl mesa;
static const char *missing;
static bool by_peer; /* CUDA computes on another device */

const char *copy_gl_missing(void)
{
    return missing ? missing : by_peer ? peer_missing() : NULL;
}

static void setup_mesa(void)
{
    missing = own_egl_open_software(&mesa);
    if (missing)
        assert_ok(gr_egl_make_current(fx.egl));
    watch_gl_without_shaders();
    fault->reset();
}

static void end_mesa(void)
{
    GLenum error = !missing ? glGetError() : GL_NO_ERROR;
    unwatch_gl();
    assert_ok(gr_egl_make_current(fx.egl));
    own_egl_close(&mesa);
    missing = NULL;
    ck_assert_uint_eq(error, GL_NO_ERROR);
}

static void use_mesa(void)
{
    setup_mesa();
    if (!missing) {
        GR_AUTO(gr_resource) *resource = must_copy(gl_buffer_filled(64, 1), GR_READ_WRITE);
        assert_ok(gr_buffer_release(must_map(resource)));
    }
    end_mesa();
}

/* The probe opens the Vulkan device of grinterop, which stays open. */
static void probe(void)
{
    assert_made(gr_gl_probe(GR_TRANSPORT_SHARED));
}

/* While true, CUDA refuses to register any mapping. */
static bool pinned;

static void setup_pinned(void)
{
    pinned = true;
    has_shader = false; /* shaders copy only from buffers */
}

static void end_pinned(void)
{
    pinned = false;
}

static void setup_copy(void)
{
    fault->reset();
    watch_gl();
}

static void end_copy(void)
{
    unwatch_gl();
    fault->reset();
}

static void setup_peer(void)
{
    by_peer = true;
    watch_gl();
}

/* The memory of an image by peer has a descriptor until the stream has ended. */
static void end_peer(void)
{
    gates_open();
    end_copy();
    if (!peer_missing())
        collect_sharing();
    by_peer = false;
}

static TCase *add_probed_case(Suite *suite, const char *name)
{
    return with_first_use(add_image_case(suite, name), probe);
}

TCase *add_copy_case(Suite *suite, const char *name)
{
    return with_fixture(add_probed_case(suite, name), setup_copy, end_copy);
}

TCase *add_mesa_copy_case(Suite *suite, const char *name)
{
    return with_fixture(with_first_use(add_probed_case(suite, name), use_mesa), setup_mesa,
                        end_mesa);
}

TCase *add_pinned_copy_case(Suite *suite, const char *name)
{
    return with_fixture(add_copy_case(suite, name), setup_pinned, end_pinned);
}

static void use_peer(void)
{
    by_peer = true;
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_READ_WRITE);
    assert_ok(gr_buffer_release(must_map_image(resource)));
    image_delete(&image);
    by_peer = false;
}

TCase *add_peer_copy_case(Suite *suite, const char *name)
{
    return with_fixture(with_peer_device(add_probed_case(suite, name), use_peer), setup_peer,
                        end_peer);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

void refuse_mapping(void)
{
    ck_assert(fault->set("cuMemHostRegister", CUDA_ERROR_NOT_SUPPORTED, 0));
}

/* Called before each creation of a resource. */
static void refuse_if_pinned(void)
{
    if (pinned)
        refuse_mapping();
}

static gr_resource *made_by_copy(gr_resource *resource)
{
    assert_made(resource);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_COPY);
    if (pinned)
        assert_described(resource, "copy, through pinned host memory, since ");
    return resource;
}

gr_resource *must_copy(GLuint name, unsigned flags)
{
    refuse_if_pinned();
    return made_by_copy(gr_from_gl_buffer_with(name, flags, &by_copy));
}

/*
 * The library first tries the storage of the buffer itself, then another buffer. Each try uses up
 * one refusal.
 */
gr_resource *must_create_copy(size_t size, unsigned flags)
{
    refuse_if_pinned();
    gr_resource *resource = must_make(gr_create_gl_buffer(size, flags, &by_copy));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_COPY);
    return resource;
}

const gr_gl_options *image_options(void)
{
    static const gr_gl_options also_peer = {.struct_size = sizeof(gr_gl_options),
                                            .transports = GR_TRANSPORT_COPY | GR_TRANSPORT_PEER};
    return by_peer ? &also_peer : &by_copy;
}

void assert_image_transport(const gr_resource *resource)
{
    ck_assert_int_eq(gr_resource_get_info(resource)->transport,
                     by_peer ? GR_TRANSPORT_PEER : GR_TRANSPORT_COPY);
}

gr_resource *must_copy_image(const struct image *image, unsigned flags)
{
    refuse_if_pinned();
    gr_resource *resource =
        gr_from_gl_image_with(image->name, image->target->target, flags, image_options());
    ck_assert_msg(resource, "%s %s is refused: %s", image->format->name, image->target->name,
                  error_text());
    /* peer refuses GL_RGB16I, which NVIDIA's driver stores wrongly */
    if (image->format->internal == GL_RGB16I)
        ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_COPY);
    else
        assert_image_transport(resource);
    return resource;
}

static const struct map_call map_calls[] = {{"cuMemcpyHtoDAsync", 4}};
static const struct release_call release_calls[] = {
    {"cuMemcpyDtoHAsync", 0, false}, {"cuEventRecord", 0, false}, {"cuEventQuery", 0, true}};

static const struct transport copies = {
    .make = must_copy,
    .missing = copy_gl_missing,
    .first = "cuMemcpyHtoDAsync",
    .in = "cuMemcpyHtoDAsync",
    .out = "cuMemcpyDtoHAsync",
    .end = "cuMemFree",
    .failed = "copy",
    .map_calls = map_calls,
    .map_call_count = 1,
    .release_calls = release_calls,
    .release_call_count = sizeof(release_calls) / sizeof(*release_calls),
    .release_waits = true,
    .finds_storage = true,
};

const struct transport *tested = &copies;

make_case *const transport_cases[] = {EVERY_COPY_GL, NULL};
make_case *const copying_cases[] = {EVERY_COPY_GL, NULL};

START(fault_control_start())
