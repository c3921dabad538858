/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * gr_map_linear(): images as linear memory, with each flag, level and layer. linear_copies.c tests
 * copies between an image and other linear memory.
 */
#define _GNU_SOURCE
#include "tests/support/allocations.h"
#include "tests/drivers/fault_driver.h"
#include "tests/support/support_image.h"

static unsigned char texels[IMAGE_MOST_BYTES], got[IMAGE_MOST_BYTES], rows[2 * IMAGE_MOST_BYTES];

GROUP("gr_map_linear", add_image_case)

/* The mapped memory must contain pattern `number` of the level and layer. */
static void assert_reads(const gr_buffer *mapped, const struct image *image, unsigned level,
                         unsigned layer, unsigned number)
{
    size_t row = (size_t)image_width(image, level) * image_texel_bytes(image->format);
    size_t count = (size_t)image_height(image, level) * image_slices(image, level);
    size_t pitch = gr_buffer_get_info(mapped)->pitch;
    ck_assert_uint_ge(pitch, row);
    ck_assert_uint_le(pitch * count, sizeof(rows));
    ck_assert_uint_ge(gr_buffer_size(mapped), pitch * (count - 1) + row);
    cuda_read(rows, gr_buffer_ptr(mapped), pitch * (count - 1) + row, fx.stream);
    for (size_t y = 0; y < count; y++)
        memcpy(got + y * row, rows + y * pitch, row);
    image_pattern(image->format, texels, row * count, image_seed(number, level, layer));
    ck_assert_mem_eq(got, texels, row * count);
}

/* Writes pattern `number` of the level and layer to the mapped memory. */
static void write_pattern(const gr_buffer *mapped, const struct image *image, unsigned level,
                          unsigned layer, unsigned number)
{
    size_t row = (size_t)image_width(image, level) * image_texel_bytes(image->format);
    size_t count = (size_t)image_height(image, level) * image_slices(image, level);
    size_t pitch = gr_buffer_get_info(mapped)->pitch;
    image_pattern(image->format, texels, row * count, image_seed(number, level, layer));
    memset(rows, 0xA5, sizeof(rows)); /* the guard between the rows */
    for (size_t y = 0; y < count; y++)
        memcpy(rows + y * pitch, texels + y * row, row);
    CU(MemcpyHtoDAsync(gr_buffer_ptr(mapped), rows, pitch * (count - 1) + row, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

static gr_buffer *must_map_linear(gr_resource *resource, unsigned level, unsigned layer)
{
    gr_buffer *mapped = must_make(gr_map_linear(resource, level, layer, fx.stream));
    ck_assert_uint_ne(gr_buffer_ptr(mapped), 0);
    ck_assert_ptr_eq(gr_buffer_get_info(mapped)->stream, fx.stream);
    ck_assert(gr_resource_get_info(resource)->mapped);
    return mapped;
}

static void go_round(const struct image *image, unsigned level, unsigned layer)
{
    image_fill(image, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(image, GR_READ_WRITE);
    gr_buffer *mapped = must_map_linear(resource, level, layer);
    assert_reads(mapped, image, level, layer, 1);
    write_pattern(mapped, image, level, layer, 2);
    assert_ok(gr_buffer_release(mapped));
    assert_no_difference(image_level_differs(image, level, layer, 2));
    for (unsigned k = 0; k < image->levels; k++)
        for (unsigned i = 0; i < image->layers; i++)
            if (k != level || i != layer)
                assert_no_difference(image_level_differs(image, k, i, 1));
}

TEST(each_level_and_layer_is_read_and_written_back)
{
    static const char *const targets[] = {"2D", "3D", "RECT", "CUBE", "2D_ARRAY", "RENDERBUFFER"};
    for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]); t++) {
        bool cube = strcmp(targets[t], "CUBE") == 0;
        struct image image = image_make("RGBA8", targets[t], cube ? 7 : 13, 7, 3);
        for (unsigned level = 0; level < image.levels; level++)
            for (unsigned layer = 0; layer < image.layers; layer++)
                go_round(&image, level, layer);
    }
}

TEST(texels_of_each_size_are_read_and_written_back)
{
    static const char *const formats[] = {"R8",    "RG8",     "RGB8",   "R16F",
                                          "RG32F", "RGBA16F", "RGBA32F"};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct image odd = image_make(formats[i], "2D", 13, 7, 1);
        struct image one = image_make(formats[i], "2D", 1, 1, 1);
        struct image wide = image_make(formats[i], "2D", 257, 3, 1);
        go_round(&odd, 0, 0);
        go_round(&one, 0, 0);
        go_round(&wide, 0, 0);
    }
}

/* ---- Flags ----------------------------------------------------------------------------------- */

TEST(read_only_memory_is_not_written_back)
{
    struct image image = image_filled("RGBA8", "2D", 13, 7, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_ONLY);
    gr_buffer *mapped = must_map_linear(resource, 0, 0);
    assert_reads(mapped, &image, 0, 0, 1);
    /* The mapped memory is a copy, so the write does not reach the image. */
    CU(MemsetD8Async(gr_buffer_ptr(mapped), 0x77, gr_buffer_size(mapped), fx.stream));
    assert_ok(gr_buffer_release(mapped));
    assert_image(&image, 1);
}

/* Checks how many copies a map and its release request from the driver. */
static void check_copies(unsigned flags, unsigned long at_map, unsigned long at_release)
{
    struct image image = image_make("RGBA8", "2D", 13, 7, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, flags);
    fault->reset();
    gr_buffer *mapped = must_map_linear(resource, 0, 0);
    ck_assert_uint_eq(fault->calls("cuMemcpy3DAsync"), at_map);
    assert_ok(gr_buffer_release(mapped));
    ck_assert_uint_eq(fault->calls("cuMemcpy3DAsync"), at_map + at_release);
}

TEST(copies_are_made_only_in_the_directions_of_the_flags)
{
    if (!fault->set("cuMemcpy3DAsync", CUDA_SUCCESS, 0))
        skip("fault_driver does not count cuMemcpy3DAsync");
    check_copies(GR_READ_WRITE, 1, 1);
    check_copies(GR_READ_ONLY, 1, 0);
    check_copies(GR_WRITE_DISCARD, 0, 1);
    check_copies(GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE, 0, 1);
}

/* The library reuses the memory, so it still holds the texels of the last map. */
TEST(write_discard_memory_is_not_read_from_the_image)
{
    struct image image = image_filled("RGBA8", "2D", 13, 7, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_WRITE_DISCARD);
    gr_buffer *mapped = must_map_linear(resource, 0, 0);
    CUdeviceptr where = gr_buffer_ptr(mapped);
    write_pattern(mapped, &image, 0, 0, 2);
    assert_ok(gr_buffer_release(mapped));
    assert_image(&image, 2);
    image_fill(&image, 3);
    mapped = must_map_linear(resource, 0, 0);
    ck_assert_uint_eq(gr_buffer_ptr(mapped), where);
    assert_reads(mapped, &image, 0, 0, 2);
    write_pattern(mapped, &image, 0, 0, 4);
    assert_ok(gr_buffer_release(mapped));
    assert_image(&image, 4);
}

TEST(a_linear_map_also_has_arrays_surfaces_and_textures)
{
    struct image image = image_make("RGBA8", "2D", 13, 7, 1);
    GR_AUTO(gr_resource) *resource =
        must_register_image(&image, GR_SURFACE_LOAD_STORE | GR_TEXTURE_GATHER);
    gr_buffer *mapped = must_map_linear(resource, 0, 0);
    /* A linear map also has the properties of a mapped image. */
    const gr_image_info *info = must_make(gr_buffer_get_image_info(mapped));
    ck_assert_uint_eq(info->width, 13);
    ck_assert_ptr_nonnull(gr_buffer_array(mapped, 0, 0));
    ck_assert_uint_ne(gr_buffer_surface(mapped, 0, 0), 0);
    ck_assert_uint_ne(gr_buffer_texture(mapped, NULL), 0);
    write_pattern(mapped, &image, 0, 0, 1);
    assert_ok(gr_buffer_release(mapped));
    assert_image(&image, 1);
}

/* ---- A buffer -------------------------------------------------------------------------------- */

TEST(map_linear_of_a_buffer_makes_no_copy)
{
    GLuint name = gl_buffer_pattern(1000, 5);
    GR_AUTO(gr_resource) *resource = must_register(name);
    gr_buffer *mapped = must_map_linear(resource, 0, 0);
    CUdeviceptr pointer = 0;
    size_t size = 0;
    CU(GraphicsResourceGetMappedPointer(&pointer, &size, driver_handle(resource)));
    ck_assert_uint_eq(gr_buffer_ptr(mapped), pointer);
    ck_assert_uint_eq(gr_buffer_size(mapped), 1000);
    ck_assert_uint_eq(gr_buffer_get_info(mapped)->pitch, 0);
    fill_and_release(mapped, 9);
    assert_gl_bytes(name, 1000, 9);
    assert_null_invalid(gr_map_linear(resource, 1, 0, fx.stream), "level");
    assert_null_invalid(gr_map_linear(resource, 0, 1, fx.stream), "layer");
    assert_not_mapped(resource);
}

GROUP("errors and ends", add_image_case)

TEST(map_linear_of_a_wrong_part_maps_nothing)
{
    struct image image = image_filled("RGBA8", "2D_ARRAY", 13, 7, 2, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    static const unsigned wrong[][2] = {{2, 0}, {0, 3}, {~0u, ~0u}};
    for (int i = 0; i < 3; i++) {
        assert_null_invalid(gr_map_linear(resource, wrong[i][0], wrong[i][1], fx.stream),
                            "2 levels");
        ck_assert(!gr_resource_get_info(resource)->mapped);
    }
    go_round(&image, 1, 2);
    assert_null_invalid(gr_map_linear(resource, 0, 0, GR_STREAM_OF_MAP), "GR_STREAM_OF_MAP");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_ok(gr_resource_close(resource, fx.stream));
    assert_null(gr_map_linear(resource, 0, 0, fx.stream), GR_ERR_STATE, 0, "closed");
}

/* Catches: a refused gr_map_linear() discarded the contents of a write_discard image. */
TEST(map_linear_of_a_wrong_part_keeps_a_write_discard_image)
{
    struct image image = image_filled("RGBA8", "2D", 13, 7, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_WRITE_DISCARD);
    assert_null_invalid(gr_map_linear(resource, 1, 0, fx.stream), "1 level");
    assert_no_difference(image_differs(&image, 1));
}

/* If the image is already mapped, a refused second map must not affect the first. */
TEST(a_refused_map_linear_keeps_the_mapping)
{
    struct image image = image_make("RGBA8", "2D", 13, 7, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    gr_buffer *mapped = must_map_linear(resource, 0, 0);
    CUdeviceptr pointer = gr_buffer_ptr(mapped);
    ck_assert_ptr_null(gr_map_linear(resource, 0, 0, fx.stream));
    ck_assert_str_eq(gr_last_error()->call, "gr_map_linear");
    assert_error(GR_ERR_STATE, 0, "already mapped");
    assert_null(gr_map_linear(resource, 9, 0, fx.stream), GR_ERR_STATE, 0, "already mapped");
    ck_assert(gr_resource_get_info(resource)->mapped);
    ck_assert_uint_eq(gr_buffer_ptr(mapped), pointer);
    assert_ok(gr_buffer_release(mapped));
}

/* ---- Ends ------------------------------------------------------------------------------------ */

/* The ways to end a mapping. Each must write the memory back to the image. */
enum way { RELEASE, RELEASE_OTHER, UNMAP, CLOSE, RELEASE_MANY, FREE_FIRST, WAYS };

static void end_mapping(enum way way, gr_resource **resource, gr_buffer *mapped)
{
    switch (way) {
    case RELEASE_OTHER:
        assert_ok(release_on(mapped, fx.other));
        return;
    case UNMAP:
        assert_ok(gr_resource_unmap(*resource, GR_STREAM_OF_MAP));
        break;
    case CLOSE:
        assert_ok(gr_resource_close(*resource, GR_STREAM_OF_MAP));
        break;
    case RELEASE_MANY:
        assert_ok(gr_buffer_release_many(&mapped, 1, fx.stream, NULL));
        return;
    case FREE_FIRST:
        gr_resource_free(*resource);
        *resource = NULL;
        assert_ok(gr_buffer_release(mapped));
        return;
    default:
        assert_ok(gr_buffer_release(mapped));
        return;
    }
    ck_assert_uint_eq(gr_buffer_ptr(mapped), 0);
    ck_assert_uint_eq(gr_buffer_size(mapped), 0);
    ck_assert_uint_eq(gr_buffer_get_info(mapped)->pitch, 0);
    assert_ok(gr_buffer_release(mapped));
}

/* The stream of the map is blocked for a while, so that the test detects a missing wait. */
TEST(each_way_to_end_a_mapping_writes_back, WAYS)
{
    struct image image = image_make("RGBA8", "2D", 13, 7, 1);
    gr_resource *resource = must_register_image(&image, GR_READ_WRITE);
    gr_buffer *mapped = must_map_linear(resource, 0, 0);
    unsigned number = 3 + (unsigned)_i;
    write_pattern(mapped, &image, 0, 0, number);
    CUdeviceptr kept = 0;
    size_t size = gr_buffer_size(mapped);
    CU(MemAlloc(&kept, size));
    CU(MemcpyDtoDAsync(kept, gr_buffer_ptr(mapped), size, fx.stream));
    CU(MemsetD8Async(gr_buffer_ptr(mapped), 0, size, fx.stream));
    CU(StreamSynchronize(fx.stream));
    gate_open_after(gate_put(fx.stream), 30);
    CU(MemcpyDtoDAsync(gr_buffer_ptr(mapped), kept, size, fx.stream));
    end_mapping((enum way)_i, &resource, mapped);
    assert_image(&image, number);
    gr_resource_free(resource);
    CU(StreamSynchronize(fx.stream));
    CU(MemFree(kept));
}

TEST(the_end_of_a_scope_writes_linear_memory_back)
{
    struct image image = image_make("RGBA8", "2D", 13, 7, 1);
    {
        GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
        GR_AUTO(gr_buffer) *mapped = must_map_linear(resource, 0, 0);
        write_pattern(mapped, &image, 0, 0, 8);
    }
    assert_image(&image, 8);
}

GROUP("loops", add_image_case)

#define ALLOC      "cuMemAlloc"
#define FREE       "cuMemFree"
#define REGISTER   "cuGraphicsGLRegisterImage"
#define UNREGISTER "cuGraphicsUnregisterResource"

static gr_resource *steady;

static void frame(GLuint name)
{
    (void)name;
    gr_buffer *mapped = must_map_linear(steady, 0, 0);
    fill_and_release(mapped, 3);
}

TEST(linear_memory_is_reused)
{
    need_counting();
    struct image image = image_make("RGBA8", "2D", 256, 64, 2);
    steady = must_register_image(&image, GR_READ_WRITE);
    frame(image.name);
    gr_buffer *mapped = must_map_linear(steady, 0, 0);
    CUdeviceptr where = gr_buffer_ptr(mapped);
    assert_ok(gr_buffer_release(mapped));
    start_counting();
    fault->reset();
    for (int i = 0; i < 100; i++) {
        /* Level 1 is smaller and fits into the same memory. */
        mapped = must_map_linear(steady, (unsigned)i % 2, 0);
        ck_assert_uint_eq(gr_buffer_ptr(mapped), where);
        assert_ok(gr_buffer_release(mapped));
    }
    ck_assert_uint_eq(allocations, 0);
    ck_assert_uint_eq(fault->calls(ALLOC), 0);
    gr_resource_free(steady);
    ck_assert_uint_eq(fault->calls(FREE), 1);
}

/*
 * The cycles must free all memory and registrations that they create. The counts of driver calls
 * show this even on a GPU.
 */
static void assert_balanced(void (*cycle)(GLuint name), GLuint name, int count)
{
    fault->reset();
    assert_steady(cycle, name, count);
    ck_assert_uint_eq(fault->calls(FREE), fault->calls(ALLOC));
    ck_assert_uint_eq(fault->calls(UNREGISTER), fault->calls(REGISTER));
    ck_assert_uint_eq(fault->all_refusals(), 0);
}

TEST(map_linear_leaks_nothing)
{
    struct image image = image_make("RGBA8", "2D", 64, 64, 1);
    steady = must_register_image(&image, GR_READ_WRITE);
    frame(image.name);
    assert_balanced(frame, image.name, sanitizer() ? 200 : 2000);
    ck_assert_uint_eq(fault->calls(ALLOC), 0);
    gr_resource_free(steady);
    ck_assert_uint_eq(fault->calls(FREE), 1);
}

/* The memory is freed with the resource. */
static void life(GLuint name)
{
    steady = must_make(gr_from_gl_image(name, GL_TEXTURE_2D, GR_READ_WRITE));
    frame(name);
    gr_resource_free(steady);
}

TEST(registering_and_map_linear_leak_nothing)
{
    struct image image = image_make("RGBA8", "2D", 64, 64, 1);
    const int count = sanitizer() ? 100 : 500;
    assert_balanced(life, image.name, count);
    ck_assert_uint_ge(fault->calls(ALLOC), count);
    ck_assert_uint_ge(fault->calls(REGISTER), count);
}

START(fault_control_start())
