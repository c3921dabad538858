/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Images by copy: every format that CUDA supports with every target, compared with a registered
 * image. Tests their arrays, surfaces, textures and linear maps, and that bytes are copied only in
 * the directions that the flags need.
 */
#include "gl_copy_tests.h"

#include <stdlib.h>
#include <string.h>

#define PART "cuMemcpy3DAsync"

static unsigned char got[IMAGE_MOST_BYTES], wanted[IMAGE_MOST_BYTES];

/* ---- Bytes of all formats -------------------------------------------------------------------- */

/* Whether image units accept the format: a name such as RG16F, without unused bits. */
static bool has_image_units(const struct image_format *f)
{
    const size_t channels = strspn(f->name, "RGBA");
    return channels == f->channels && channels != 3 &&
           (unsigned)atoi(f->name + channels) == 8 * f->channel_bytes;
}

/* The dispatches that copy all levels in one direction; 0: glTexSubImage2D() and others copy. */
static unsigned dispatches_for(const struct image *image)
{
    const GLenum target = image->target->target;
    unsigned count = 0;
    if (!has_shader || !has_image_units(image->format) || target == GL_RENDERBUFFER ||
        target == GL_TEXTURE_RECTANGLE || image->layers * image->slices > 8)
        return 0;
    for (unsigned level = 0; level < image->levels; level++) {
        const unsigned slices = image_slices(image, level), parts = image->layers * slices;
        if (parts > 1 && image_bytes(image, level) / slices % 4)
            return 0;
        count += parts;
    }
    return count;
}

static void check_bytes(const struct image *image)
{
    const unsigned before = dispatches;
    image_fill(image, 1);
    GR_AUTO(gr_resource) *resource = must_copy_image(image, GR_READ_WRITE);
    gr_buffer *buffer = must_map_image(resource);
    const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
    const bool is_packed = image->format->kind == IMAGE_PACKED;
    if (is_packed && info->texel_bytes != image->format->channel_bytes)
        image_note(image, "has texels of another size");
    if (!is_packed && (info->format != image_cuda_format(image->format) ||
                       info->channels != image_channels(image->format)))
        image_note(image, "has another format");
    if (info->layered || info->levels != image->levels || info->layers != image->layers ||
        info->depth != image->slices || info->width != image->width ||
        info->height != image->height)
        image_note(image, "is described wrongly");
    image_both_ways(buffer, image, 1);
    if (dispatches - before != 2 * dispatches_for(image))
        image_note(image, "not copied by a shader, or copied by one");
}

/* Every second image has mip levels. */
static struct image make_small(const struct image_format *format, const struct image_target *target)
{
    unsigned width = target->target == GL_TEXTURE_CUBE_MAP ? 5 : 7;
    return image_make_of(format, target, width, 5, 3, 2, (format - image_formats) % 2 ? 2 : 1);
}

GROUP("images by copy", EVERY_IMAGE_GL)
TAG("bytes")

COPY_TEST(every_format_passes_both_ways, image_target_count)
{
    image_each_format(&image_targets[_i], make_small, check_bytes);
}

COPY_TEST(packed_texels_pass_both_ways_unchanged, image_target_count)
{
    for (size_t i = 0; i < image_format_count && image_targets[_i].taken; i++) {
        if (image_formats[i].kind != IMAGE_PACKED)
            continue;
        struct image image = make_small(&image_formats[i], &image_targets[_i]);
        if (image.format->internal == GL_RGB9_E5 && image.target->target == GL_RENDERBUFFER)
            assert_null(
                gr_from_gl_image_with(image.name, GL_RENDERBUFFER, GR_READ_WRITE, image_options()),
                image.name ? GR_ERR_UNSUPPORTED : GR_ERR_INVALID_VALUE, 0, "");
        else if (image.name)
            check_bytes(&image);
        image_delete(&image);
    }
}

/* Several groups of the shader, whole words, and the limit of layers. */
COPY_TEST(packed_images_are_created, 2)
{
    const gr_gl_options frames =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER, .in_flight = 2);
    const gr_gl_image_desc desc = GR_INIT(gr_gl_image_desc, .target = GL_TEXTURE_2D,
                                          .internal_format = GL_RGB10_A2, .width = 8, .height = 8);
    if (_i && !must_make(gr_gl_probe(GR_TRANSPORT_PEER))->usable)
        skip("OpenGL shares no memory with CUDA");
    GR_AUTO(gr_resource) *resource =
        must_make(gr_create_gl_image(&desc, GR_WRITE_DISCARD, _i ? &frames : &by_any));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport,
                     _i ? GR_TRANSPORT_PEER : GR_TRANSPORT_COPY);
    assert_ok(gr_buffer_release(must_map_image(resource)));
}

COPY_TEST(every_size_passes_both_ways)
{
    static const struct {
        const char *format, *target;
        unsigned width, height, slices, layers, levels;
    } rows[] = {{"R8", "2D", 131, 9, 1, 1, 8},        {"RG8", "2D", 65, 3, 1, 1, 1},
                {"RGBA32F", "2D", 129, 13, 1, 1, 2},  {"RGBA16F", "CUBE", 16, 16, 1, 6, 5},
                {"RGBA8", "2D_ARRAY", 8, 4, 1, 8, 2}, {"RGBA8", "2D_ARRAY", 8, 4, 1, 9, 1},
                {"R16", "3D", 4, 4, 8, 1, 1},         {"RGBA8", "3D", 4, 4, 9, 1, 1},
                {"R8", "2D_ARRAY", 6, 3, 1, 2, 1},    {"R8", "2D_ARRAY", 8, 8, 1, 2, 2}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct image image =
            image_make_of(image_format(rows[i].format), image_target(rows[i].target), rows[i].width,
                          rows[i].height, rows[i].slices, rows[i].layers, rows[i].levels);
        ck_assert_uint_ne(image.name, 0);
        check_bytes(&image);
        image_delete(&image);
    }
}

/* The messages are the same as with interop. */
COPY_TEST(formats_that_interop_refuses_are_refused)
{
    for (size_t i = 0; i < image_format_count; i++) {
        if (image_formats[i].kind != IMAGE_REFUSED)
            continue;
        struct image image = image_make_of(&image_formats[i], image_target("2D"), 8, 8, 1, 1, 1);
        if (image.name == 0)
            continue;
        gr_error refusal;
        ck_assert_ptr_null(gr_from_gl_image(image.name, GL_TEXTURE_2D, GR_READ_WRITE));
        refusal = *gr_last_error();
        ck_assert_int_eq(refusal.status, GR_ERR_UNSUPPORTED);
        assert_null(
            gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_WRITE, image_options()),
            GR_ERR_UNSUPPORTED, 0, refusal.message);
        image_delete(&image);
    }
    for (size_t i = 0; i < image_target_count; i++) {
        if (image_targets[i].taken)
            continue;
        struct image image = image_make_of(image_format("RGBA8"), &image_targets[i], 8, 8, 1, 1, 1);
        if (image.name == 0)
            continue;
        assert_null(gr_from_gl_image_with(image.name, image_targets[i].target, GR_READ_WRITE,
                                          image_options()),
                    GR_ERR_UNSUPPORTED, 0, "Use ");
        image_delete(&image);
    }
}

/* ---- Directions ------------------------------------------------------------------------------ */

COPY_TEST(images_are_copied_only_in_the_directions_of_the_flags)
{
    static const char *const targets[] = {"2D", "CUBE", "3D", "RENDERBUFFER"};
    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        struct image image = image_filled("RGBA8", targets[i], 8, 8, 1, 1);
        GR_AUTO(gr_resource) *reader = must_copy_image(&image, GR_READ_ONLY);
        gr_buffer *buffer = must_map_image(reader);
        assert_mapped_level(buffer, &image, 0, 0, 1);
        memset(got, 0xEE, sizeof(got));
        CUDA_MEMCPY3D poison =
            copy_to_array(gr_buffer_array(buffer, 0, 0), got, 32, 8, image.slices);
        CU(Memcpy3DAsync(&poison, fx.stream));
        fault->reset();
        assert_ok(gr_buffer_release(buffer));
        assert_calls(PART, 0);
        assert_image(&image, 1);

        GR_AUTO(gr_resource) *writer = must_copy_image(&image, GR_WRITE_DISCARD);
        fault->reset();
        buffer = must_map_image(writer);
        assert_calls(PART, 0);
        mapped_image_write(buffer, &image, 3);
        assert_ok(gr_buffer_release(buffer));
        assert_image(&image, 3);
        image_fill(&image, 4);
        buffer = must_map_image(writer);
        assert_mapped_level(buffer, &image, 0, 0, 3);
        assert_ok(gr_buffer_release(buffer));
        assert_image(&image, 3);
    }
}

GROUP("small images by copy", EVERY_COPY_GL)

/*
 * The limit of 256 KiB applies to all faces and levels together: six faces of one level are below
 * it.
 */
COPY_TEST(small_images_that_cuda_writes_are_copied_by_the_cpu)
{
    enum { FEW = 1 };
    for (unsigned levels = FEW; levels <= FEW + 1; levels++) {
        struct image image = image_make("RGBA8", "CUBE", 104, 104, levels);
        fault->reset();
        GR_AUTO(gr_resource) *writer = must_copy_image(&image, GR_WRITE_DISCARD);
        if (levels == FEW)
            assert_described(writer, "since up to 256 KiB the CPU copy is faster");
        assert_calls("cuMemHostRegister", levels > FEW);
        for (unsigned round = 1; round < 4; round++) {
            write_mapped_image(writer, &image, round);
            assert_image(&image, round);
        }
        image_delete(&image);
    }
}

GROUP("images by copy", EVERY_IMAGE_GL)

/* ---- Replaced storage ------------------------------------------------------------------------ */

static void use_followed(gr_resource *resource, const struct image *image, unsigned number)
{
    gr_buffer *buffer = must_map_image(resource);
    const gr_image_info *info = must_make(gr_buffer_get_image_info(buffer));
    ck_assert(info->width == image->width && info->height == image->height &&
              info->levels == image->levels && info->format == image_cuda_format(image->format));
    image_both_ways(buffer, image, number);
    assert_image_transport(resource);
}

/* Peer refuses GL_RGB16I, which copy accepts: the transport stays. */
COPY_TEST(maps_follow_images_that_are_created_again, 3)
{
    static const char *const targets[] = {"2D", "CUBE", "RENDERBUFFER"};
    gr_gl_options options = *image_options();
    options.follow_storage = true;
    struct image image = image_filled("RGBA8", targets[_i], 8, 8, 1, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(image.name, image.target->target, GR_READ_WRITE, &options));
    const bool by_peer = gr_resource_get_info(resource)->transport == GR_TRANSPORT_PEER;
    use_followed(resource, &image, 1);
    if (!image_create_again(&image, "RGBA8", 32, 32, 3, 3))
        skip("OpenGL does not reuse the name");
    let_fail("cuMipmappedArrayCreate", CUDA_ERROR_OUT_OF_MEMORY, (long)image.layers - 1);
    assert_null(gr_map(resource, fx.stream), GR_ERR_NO_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, "");
    use_followed(resource, &image, 3);
    use_followed(resource, &image, 4);
    ck_assert(image_create_again(&image, "RG16UI", 5, 5, 1, 5));
    use_followed(resource, &image, 5);
    if (image.target->target != GL_RENDERBUFFER) { /* which GL_RGB16I need not be */
        ck_assert(image_create_again(&image, "RGB16I", 5, 5, 1, 7));
        if (by_peer)
            assert_null(gr_map(resource, fx.stream), GR_ERR_UNSUPPORTED, 0, "GL_RGB16I");
        else
            use_followed(resource, &image, 7);
    }
    ck_assert(image_create_again(&image, "R32F", 16, 16, 2, 9));
    use_followed(resource, &image, 9);
    image_delete(&image);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
}

/* ---- Queries of a mapped image --------------------------------------------------------------- */

COPY_TEST(copied_images_have_surfaces_textures_and_linear_maps)
{
    struct image image = image_filled("RGBA8", "2D_ARRAY", 13, 7, 2, 1);
    GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    for (unsigned layer = 0; layer < image.layers; layer++) {
        const gr_texture_options one = GR_INIT(gr_texture_options, .level = 1, .layer = layer);
        ck_assert_uint_ne(gr_buffer_surface(buffer, 0, layer), 0);
        ck_assert_uint_ne(gr_buffer_texture(buffer, &one), 0);
        for (unsigned other = 0; other < layer; other++)
            ck_assert_ptr_ne(gr_buffer_array(buffer, 0, layer), gr_buffer_array(buffer, 0, other));
    }
    assert_null(gr_buffer_mipmapped_array(buffer), GR_ERR_UNSUPPORTED, 0, "read_only");
    assert_ok(gr_buffer_release(buffer));
    assert_image(&image, 1);

    buffer = must_make(gr_map_linear(resource, 1, 2, fx.stream));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x5A, gr_buffer_size(buffer), fx.stream));
    assert_ok(gr_buffer_release(buffer));
    image_download(&image, 1, 2, got);
    assert_bytes(got, image_bytes(&image, 1), 0x5A);
    assert_no_difference(image_level_differs(&image, 1, 1, 1));
    assert_no_difference(image_level_differs(&image, 0, 2, 1));
}

static void get_layer(CUmipmappedArray whole, const struct image *image, unsigned level,
                      unsigned layer)
{
    size_t row = image_width(image, level) * image_texel_bytes(image->format);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcZ = layer,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = got,
                          .dstPitch = row,
                          .dstHeight = image_height(image, level),
                          .WidthInBytes = row,
                          .Height = image_height(image, level),
                          .Depth = 1};
    CU(MipmappedArrayGetLevel(&copy.srcArray, whole, level));
    CU(Memcpy3DAsync(&copy, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

/* 0: the array is not layered. */
static void assert_layers(CUmipmappedArray whole, size_t layers)
{
    CUDA_ARRAY3D_DESCRIPTOR described;
    CUarray array;
    CU(MipmappedArrayGetLevel(&array, whole, 0));
    CU(Array3DGetDescriptor(&described, array));
    ck_assert_uint_eq(!!(described.Flags & CUDA_ARRAY3D_LAYERED), layers > 0);
    if (layers)
        ck_assert_uint_eq(described.Depth, layers);
}

/* What CUDA writes has an array for each layer. */
COPY_TEST(a_read_only_image_is_one_array_with_all_layers)
{
    static const struct {
        const char *target;
        unsigned layers;
        bool layered; /* as the array that interop returns */
    } rows[] = {{"2D", 1, false}, {"2D_ARRAY", 3, true}, {"2D_ARRAY", 1, true}, {"CUBE", 6, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct image image = image_make_of(image_format("RGBA8"), image_target(rows[i].target), 8,
                                           8, 1, rows[i].layers, 2);
        GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_READ_ONLY);
        for (unsigned number = 1; number < 4; number++) {
            image_fill(&image, number);
            gr_buffer *buffer = must_map_image(resource);
            CUmipmappedArray whole = must_make(gr_buffer_mipmapped_array(buffer));
            assert_layers(whole, rows[i].layered ? rows[i].layers : 0);
            for (unsigned level = 0; level < image.levels; level++)
                for (unsigned layer = 0; layer < image.layers; layer++) {
                    size_t bytes = image_bytes(&image, level);
                    get_layer(whole, &image, level, layer);
                    image_pattern(image.format, wanted, bytes, image_seed(number, level, layer));
                    ck_assert_mem_eq(got, wanted, bytes);
                }
            assert_ok(gr_buffer_release(buffer));
        }
        GR_AUTO(gr_resource) *writer = must_copy_image(&image, GR_WRITE_DISCARD);
        gr_buffer *written = must_map_image(writer);
        if (i == 0)
            assert_made(gr_buffer_mipmapped_array(written));
        else
            assert_null(gr_buffer_mipmapped_array(written), GR_ERR_UNSUPPORTED, 0, "read_only");
        assert_ok(gr_buffer_release(written));
    }
}

/* A failed call leaves no array with a part of the layers. */
COPY_TEST(an_array_of_all_layers_that_fails_is_made_again)
{
    static const struct {
        const char *name;
        long count;
    } calls[] = {{"cuMipmappedArrayCreate", 1}, {"cuMipmappedArrayGetLevel", 8}, {PART, 6}};
    struct image image = image_filled("RGBA8", "2D_ARRAY", 8, 8, 2, 1);
    GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_READ_ONLY);
    gr_buffer *buffer = must_map_image(resource);
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        for (long after = 0; after < calls[i].count; after++) {
            let_fail(calls[i].name, CUDA_ERROR_OPERATING_SYSTEM, after);
            assert_null(gr_buffer_mipmapped_array(buffer), GR_ERR_CUDA, CUDA_ERROR_OPERATING_SYSTEM,
                        "");
        }
    get_layer(must_make(gr_buffer_mipmapped_array(buffer)), &image, 1, 2);
    image_pattern(image.format, wanted, image_bytes(&image, 1), image_seed(1, 1, 2));
    ck_assert_mem_eq(got, wanted, image_bytes(&image, 1));
    assert_ok(gr_buffer_release(buffer));
}

/* ---- Shaders --------------------------------------------------------------------------------- */

static void check_once(gr_resource *resource, const struct image *image, unsigned expected)
{
    gr_buffer *buffer = must_map_image(resource);
    assert_mapped_level(buffer, image, 0, 0, 1);
    mapped_level_write(buffer, image, 0, 0, 2);
    assert_ok(gr_buffer_release(buffer));
    ck_assert_uint_eq(dispatches, has_shader ? expected : 0);
}

/* glTexImage2D() leaves a texture that lacks levels, unless its filter needs none. */
COPY_TEST(textures_are_copied_whatever_their_parameters, 4)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 2);
    if (_i < 2) {
        glDeleteTextures(1, &image.name);
        image.name = bound_texture(GL_TEXTURE_2D);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        if (_i)
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
        image.levels = 1;
    }
    image_fill(&image, 1);
    GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_READ_WRITE);
    glBindTexture(GL_TEXTURE_2D, image.name);
    if (_i >= 2)
        glTexParameteri(GL_TEXTURE_2D, _i == 2 ? GL_TEXTURE_BASE_LEVEL : GL_TEXTURE_MAX_LEVEL,
                        _i == 2);
    check_once(resource, &image, _i == 1 ? 2 : _i == 3 ? 2 : 0);
    assert_no_difference(image_level_differs(&image, 0, 0, 2));
    if (image.levels > 1)
        assert_no_difference(image_level_differs(&image, 1, 0, 1));
}

/*
 * Conditional rendering would discard the dispatch, transform feedback refuses another program, and
 * a deleted program could not be current again.
 */
COPY_TEST(states_without_dispatches_do_not_matter, 3)
{
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_READ_WRITE);
    const GLuint name = _i == 0 ? begin_condition() : begin_feedback();
    if (_i == 2) {
        glEndTransformFeedback();
        glDeleteProgram(name);
    }
    check_once(resource, &image, 0);
    assert_gl_clean();
    if (_i == 0)
        glEndConditionalRender();
    else
        ck_assert(glIsProgram(name));
    if (_i == 1)
        glEndTransformFeedback();
    assert_gl_clean();
    assert_image(&image, 2);
}

static void EPOXY_CALLSPEC refuse_dispatch(GLuint x, GLuint y, GLuint z)
{
    glEnable(GL_NONE);
    (void)x, (void)y, (void)z;
}

COPY_TEST(images_are_copied_if_opengl_refuses_the_dispatch)
{
    struct image image = image_filled("RGBA8", "2D", 8, 8, 1, 1);
    GR_AUTO(gr_resource) *resource = must_copy_image(&image, GR_READ_WRITE);
    epoxy_glDispatchCompute = refuse_dispatch; /* the end of the test restores it */
    check_once(resource, &image, 0);
    assert_gl_clean();
    assert_image(&image, 2);
}

COPY_TEST(the_shader_lives_as_long_as_its_images)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1),
                 rgb = image_make("RGB8", "2D", 8, 8, 1);
    gr_resource *other = must_copy_image(&rgb, GR_READ_WRITE);
    ck_assert_int_eq(programs, 0);
    gr_resource *first = must_copy_image(&image, GR_READ_WRITE),
                *second = must_copy_image(&image, GR_READ_WRITE);
    ck_assert_int_eq(programs, has_shader);
    assert_ok(gr_buffer_release(must_map_image(first)));
    gr_resource_free(first);
    gr_resource_free(other);
    ck_assert_int_eq(programs, has_shader);
    gr_resource_free(second);
    ck_assert_int_eq(programs, 0);
}

/* ---- Batches --------------------------------------------------------------------------------- */

COPY_TEST(map_many_maps_images_and_buffers)
{
    struct image image = image_filled("R32F", "2D", 16, 16, 1, 1);
    GLuint name = gl_buffer_pattern(1000, 1);
    gr_resource *resources[2] = {must_copy_image(&image, GR_READ_WRITE),
                                 must_copy(name, GR_READ_WRITE)};
    gr_buffer *buffers[2];
    const bool same = gr_resource_get_info(resources[0])->transport == GR_TRANSPORT_COPY;
    const unsigned long most = same ? 1 : 2; /* by peer, semaphores may make a wait unnecessary */
    for (int i = 0; i < 3; i++) {
        assert_ok(gr_map_many(resources, 2, fx.stream, NULL, buffers));
        mapped_level_write(buffers[0], &image, 0, 0, (unsigned)i + 5);
        cuda_write_pattern(buffers[1], (unsigned)i + 6);
        unsigned long waits = fault->calls("cuEventQuery");
        assert_ok(gr_buffer_release_many(buffers, 2, GR_STREAM_OF_MAP, NULL));
        ck_assert_uint_gt(fault->calls("cuEventQuery"), waits);
        ck_assert_uint_le(fault->calls("cuEventQuery"), waits + most);
        assert_image(&image, (unsigned)i + 5);
        assert_gl_pattern(name, 1000, (unsigned)i + 6);
    }
    free_resources(resources, 2);
}
