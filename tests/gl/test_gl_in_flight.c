/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames in flight (gr_gl_options.in_flight): the bytes of buffers and images, for each number of
 * staging buffers.
 */
#include "gl_in_flight.h"

#include <stdio.h>
#include <string.h>

#include <grinterop/publish.h>

#define SIZE ((size_t)5000)

static const char *missing;

const char *flight_missing(void)
{
    return missing;
}

static void use_sharing_once(void)
{
    static char reason[700];
    const gr_transport_info *info = must_make(gr_gl_probe(GR_TRANSPORT_PEER));
    snprintf(reason, sizeof(reason), "%s", info->reason);
    missing = info->usable ? NULL : reason;
}

static void setup_flight(void)
{
    fault->reset();
    watch_gl();
}

static void setup_without_shaders(void)
{
    fault->reset();
    watch_gl_without_shaders();
}

static void end_flight(void)
{
    gates_open();
    unwatch_gl();
    fault->reset();
    if (!missing)
        collect_sharing();
}

static TCase *add_shared_case(Suite *suite, const char *name)
{
    return with_first_use(add_image_case(suite, name), use_sharing_once);
}

TCase *add_flight_case(Suite *suite, const char *name)
{
    return with_fixture(add_shared_case(suite, name), setup_flight, end_flight);
}

TCase *add_flight_case_without_shaders(Suite *suite, const char *name)
{
    return with_fixture(add_shared_case(suite, name), setup_without_shaders, end_flight);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

const gr_gl_options *flight_options(unsigned in_flight)
{
    static gr_gl_options options;
    options = GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER, .in_flight = in_flight);
    return &options;
}

static gr_resource *flying(gr_resource *resource)
{
    assert_made(resource);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_PEER);
    return resource;
}

gr_resource *must_fly(GLuint name, unsigned flags, unsigned in_flight)
{
    return flying(gr_from_gl_buffer_with(name, flags, flight_options(in_flight)));
}

gr_resource *must_fly_image(const struct image *image, unsigned flags, unsigned in_flight)
{
    return flying(gr_from_gl_image_with(image->name, image->target->target, flags,
                                        flight_options(in_flight)));
}

/* 0: the transport without the option. */
static const unsigned counts[] = {0, 2, 3, 4, 16, 64};
#define COUNTS (sizeof(counts) / sizeof(*counts))

/* ---- Buffers --------------------------------------------------------------------------------- */

GROUP("buffers", EVERY_FLIGHT)

FLIGHT_TEST(frames_of_cuda_arrive_in_opengl, COUNTS)
{
    static const size_t sizes[] = {1, 3, 4, 100, 4098, 1 << 16, (1 << 20) + 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const GLuint name = gl_buffer_pattern(sizes[i], 1);
        GR_AUTO(gr_resource) *resource = must_fly(name, GR_WRITE_DISCARD, counts[_i]);
        const unsigned before = dispatches;
        for (unsigned frame = 2; frame < counts[_i] + 4; frame++) {
            write_mapped(resource, frame);
            assert_gl_pattern(name, sizes[i], frame);
        }
        const bool by_shader = has_shader && sizes[i] % 4 == 0;
        ck_assert_uint_eq(dispatches - before, by_shader ? counts[_i] + 2 : 0);
    }
}

FLIGHT_TEST(frames_of_opengl_arrive_in_cuda, COUNTS)
{
    static const size_t sizes[] = {1, 4, 4098, 1 << 16, (1 << 20) + 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const GLuint name = gl_buffer_pattern(sizes[i], 1);
        GR_AUTO(gr_resource) *resource = must_fly(name, GR_READ_ONLY, counts[_i]);
        for (unsigned frame = 2; frame < counts[_i] + 4; frame++) {
            gl_write_pattern(name, sizes[i], frame);
            assert_mapped(resource, frame);
        }
        assert_gl_pattern(name, sizes[i], counts[_i] + 3);
    }
}

/* Parts at all offsets: aligned to words, blocks and bindings, or to none of them. */
FLIGHT_TEST(a_map_of_a_part_copies_the_part)
{
    static const struct {
        size_t offset, size;
    } parts[] = {{0, 4}, {4, 4}, {16, 32}, {20, 100}, {256, 256}, {1, 2}, {4096, 904}, {260, 3000}};
    static unsigned char wanted[SIZE], got[SIZE];
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        const gr_map_options part =
            GR_INIT(gr_map_options, .offset = parts[i].offset, .size = parts[i].size);
        const GLuint name = gl_buffer_pattern(SIZE, 1);
        gr_resource *resource = must_fly(name, GR_WRITE_DISCARD, 3);
        gr_buffer *buffer = NULL;
        pattern_fill(wanted, SIZE, 1);
        for (unsigned frame = 2; frame < 7; frame++) {
            assert_ok(gr_map_many(&resource, 1, fx.stream, &part, &buffer));
            ck_assert_uint_eq(gr_buffer_size(buffer), parts[i].size);
            cuda_write_pattern(buffer, frame);
            assert_ok(gr_buffer_release(buffer));
            pattern_fill(wanted + parts[i].offset, parts[i].size, frame);
            gl_read(name, got, SIZE);
            ck_assert_mem_eq(got, wanted, SIZE);
        }
        gr_resource_free(resource);
        resource = must_fly(name, GR_READ_ONLY, 2);
        assert_ok(gr_map_many(&resource, 1, fx.stream, &part, &buffer));
        assert_cuda_pattern(buffer, 6);
        assert_ok(gr_buffer_release(buffer));
        gr_resource_free(resource);
    }
}

/* The map has copied the bytes: OpenGL need not wait until CUDA has read them. */
FLIGHT_TEST(opengl_may_write_while_cuda_reads)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_fly(name, GR_READ_ONLY, 2);
    gr_buffer *buffer = must_map(resource);
    gl_write_pattern(name, SIZE, 2);
    glFinish();
    assert_cuda_pattern(buffer, 1);
    assert_ok(gr_buffer_release(buffer));
    assert_mapped(resource, 2);
}

/*
 * The staging buffers take turns, so that a mapping never has the memory of the one before. On
 * two GPUs, CUDA works in one buffer of its own.
 */
FLIGHT_TEST(each_map_has_the_next_staging_buffer, 2)
{
    const unsigned flags = _i ? GR_READ_ONLY : GR_WRITE_DISCARD;
    GR_AUTO(gr_resource) *resource = must_fly(gl_buffer_pattern(SIZE, 1), flags, 3);
    CUdeviceptr seen[6];
    for (unsigned i = 0; i < 6; i++) {
        gr_buffer *buffer = must_map(resource);
        seen[i] = gr_buffer_ptr(buffer);
        fill_and_release(buffer, 1);
        ck_assert(fx.device ? seen[i] == seen[0]
                  : i < 3   ? i == 0 || seen[i] != seen[i - 1]
                            : seen[i] == seen[i - 3]);
    }
}

FLIGHT_TEST(streams_may_alternate)
{
    const GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_fly(name, GR_WRITE_DISCARD, 2);
    for (unsigned frame = 2; frame < 10; frame++) {
        gr_buffer *buffer = must_map_on(resource, frame % 2 ? fx.stream : fx.other);
        cuda_write_pattern(buffer, frame);
        assert_ok(release_on(buffer, frame % 3 ? fx.stream : fx.other));
        assert_gl_pattern(name, SIZE, frame);
    }
}

FLIGHT_TEST(created_buffers_have_frames_in_flight)
{
    GR_AUTO(gr_resource) *resource =
        flying(gr_create_gl_buffer(SIZE, GR_WRITE_DISCARD, flight_options(4)));
    for (unsigned frame = 1; frame < 7; frame++) {
        write_mapped(resource, frame);
        assert_gl_pattern(gr_gl_name(resource), SIZE, frame);
    }
    assert_described(resource, "transport peer, 4 staging buffers of 5000 bytes, which ",
                     has_shader ? "which a shader copies" : "which calls of OpenGL copy");
}

/* ---- Images ---------------------------------------------------------------------------------- */

static unsigned in_flight;

/*
 * The software driver clears the pages of each staging buffer, which takes most of the time. There
 * each format has 2 in flight, and one of the other counts.
 */
static bool is_left_out(const struct image *image)
{
    static const unsigned of[] = {16, 4, 0};
    return in_flight != 2 && gr_cuda_is_software() &&
           in_flight != of[(image->format - image_formats) % 3];
}

static void check_image(const struct image *image)
{
    if (image->format->internal == GL_RGB16I || is_left_out(image))
        return;
    GR_AUTO(gr_resource) *writer = must_fly_image(image, GR_WRITE_DISCARD, in_flight);
    GR_AUTO(gr_resource) *reader = must_fly_image(image, GR_READ_ONLY, in_flight);
    const unsigned last = in_flight > 4 ? 3 : in_flight + 2;
    for (unsigned frame = 1; frame <= last; frame++) {
        write_mapped_image(writer, image, frame);
        image_note(image, image_differs(image, frame));
        gr_buffer *buffer = must_map_image(reader);
        image_note(image, mapped_image_differs(buffer, image, frame));
        assert_ok(gr_buffer_release(buffer));
    }
}

/* Every second image has mip levels. */
static struct image make_small(const struct image_format *format, const struct image_target *target)
{
    const unsigned width = target->target == GL_TEXTURE_CUBE_MAP ? 5 : 7;
    return image_make_of(format, target, width, 5, 3, 2, (format - image_formats) % 2 ? 2 : 1);
}

static void check_packed(const struct image_target *target)
{
    unsigned count = 0;
    for (size_t i = 0; i < image_format_count && target->taken; i++) {
        const struct image_format *format = &image_formats[i];
        if (format->kind != IMAGE_PACKED ||
            (format->internal == GL_RGB9_E5 && target->target == GL_RENDERBUFFER)) /* refused */
            continue;
        const struct image image = make_small(format, target);
        if (!image.name)
            continue;
        count++;
        check_image(&image);
        image_delete(&image);
    }
    ck_assert(count > 0 || !target->taken);
}

GROUP("images", EVERY_FLIGHT)

FLIGHT_TEST(every_format_passes_both_ways, image_target_count)
{
    static const unsigned of[] = {1, 2, 4, 16};
    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
        in_flight = of[i] == 1 ? 0 : of[i];
        image_each_format(&image_targets[_i], make_small, check_image);
        check_packed(&image_targets[_i]);
    }
}

/* ---- Tensors --------------------------------------------------------------------------------- */

GROUP("tensors", EVERY_FLIGHT)

static gr_tensor *must_have_planes(int64_t height, int64_t width)
{
    const int64_t shape[] = {4, height, width};
    return must_make(gr_tensor_create(&GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 3,
                                               .layout = GR_LAYOUT_CHW, .shape = shape),
                                      fx.stream));
}

/*
 * No array takes part: one copy writes or reads the staging buffer. On two GPUs, a second copy
 * moves the bytes between the GPUs.
 */
FLIGHT_TEST(tensors_of_the_same_type_need_no_array)
{
    struct image image = image_filled("RGBA8", "2D", 13, 6, 1, 1);
    GR_AUTO(gr_resource) *writer = must_fly_image(&image, GR_WRITE_DISCARD, 2);
    GR_AUTO(gr_resource) *reader = must_fly_image(&image, GR_READ_ONLY, 2);
    GR_AUTO(gr_tensor) *tensor =
        must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 3, (const int64_t[]){6, 13, 4});
    static unsigned char bytes[6 * 13 * 4], got[6 * 13 * 4];
    for (unsigned frame = 1; frame < 6; frame++) {
        image_pattern(image.format, bytes, sizeof(bytes), image_seed(frame, 0, 0));
        tensor_from_host(tensor, bytes, sizeof(bytes));
        fault->reset();
        assert_ok(gr_publish(writer, tensor, NULL, fx.stream));
        ck_assert_uint_eq(fault->calls("cuMemcpy3DAsync"), fx.device ? 2 : 1);
        assert_image(&image, frame);
        memset(bytes, 0, sizeof(bytes));
        tensor_from_host(tensor, bytes, sizeof(bytes));
        assert_ok(gr_fetch(reader, tensor, NULL, fx.stream));
        tensor_to_host(tensor, got, sizeof(got));
        image_pattern(image.format, bytes, sizeof(bytes), image_seed(frame, 0, 0));
        ck_assert_mem_eq(got, bytes, sizeof(bytes));
    }
    image_delete(&image);
}

/*
 * A level and a layer of several, and a rectangle, by kernels that convert. On one GPU they access
 * the staging buffer; on two, an array and linear memory are beside it.
 */
FLIGHT_TEST(fetched_regions_are_converted)
{
    struct image image = image_filled("RGBA8", "2D_ARRAY", 16, 12, 2, 1);
    GR_AUTO(gr_resource) *reader = must_fly_image(&image, GR_READ_ONLY, 3);
    GR_AUTO(gr_tensor) *planes = must_have_planes(3, 5);
    static unsigned char wanted[16 * 12 * 4];
    float got[4 * 3 * 5];
    for (unsigned layer = 0; layer < image.layers; layer++)
        for (unsigned level = 0; level < 2; level++) {
            const unsigned width = image_width(&image, level);
            fault->reset();
            assert_ok(gr_fetch(reader, planes,
                               &GR_INIT(gr_publish_options, .level = level, .layer = layer, .x = 2,
                                        .y = 1, .width = 5, .height = 3),
                               fx.stream));
            assert_calls("cuMemcpy3DAsync", fx.device ? 2 : 0);
            tensor_to_host(planes, got, sizeof(got));
            image_pattern(image.format, wanted, image_bytes(&image, level),
                          image_seed(1, level, layer));
            for (unsigned y = 0; y < 3; y++)
                for (unsigned x = 0; x < 5; x++)
                    for (unsigned c = 0; c < 4; c++)
                        ck_assert_float_eq_tol(got[(c * 3 + y) * 5 + x],
                                               wanted[((y + 1) * width + x + 2) * 4 + c] / 255.0f,
                                               1e-6f);
        }
    image_delete(&image);
}

FLIGHT_TEST(published_layers_are_converted)
{
    struct image image = image_filled("RGBA8", "2D_ARRAY", 8, 4, 1, 1);
    GR_AUTO(gr_resource) *writer = must_fly_image(&image, GR_WRITE_DISCARD, 2);
    GR_AUTO(gr_tensor) *planes = must_have_planes(4, 8);
    static unsigned char wanted[8 * 4 * 4];
    float values[4 * 4 * 8];
    for (unsigned layer = 0; layer < image.layers; layer++) {
        image_pattern(image.format, wanted, sizeof(wanted), image_seed(7, 0, layer));
        for (unsigned c = 0; c < 4; c++)
            for (unsigned i = 0; i < 32; i++)
                values[c * 32 + i] = wanted[i * 4 + c] / 255.0f;
        tensor_from_host(planes, values, sizeof(values));
        fault->reset();
        assert_ok(
            gr_publish(writer, planes, &GR_INIT(gr_publish_options, .layer = layer), fx.stream));
        assert_calls("cuMemcpy3DAsync", fx.device ? 2 : 0);
        assert_no_difference(image_level_differs(&image, 0, layer, 7));
    }
    assert_image(&image, 7); /* a publish to one layer keeps the others */
    image_delete(&image);
}

/* The general cases of transports run in test_gl_peer. */
static const struct transport none = {.missing = flight_missing};
const struct transport *tested = &none;
make_case *const transport_cases[] = {NULL}, *const copying_cases[] = {NULL};

START(fault_control_start())
