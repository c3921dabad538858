/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Surface objects of mapped images in kernels: element types, levels, layers, slices and lifetime.
 * surface_textures.c and surface_options.c test textures.
 */
#define _GNU_SOURCE
#include "tests/support/cuda_symbol.h"
#include "tests/support/child_check.h"
#include "surface_tests.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "examples/support/kernel_image.h"

KERNEL_IMAGE(image_kernels);

/* ---- Kernels --------------------------------------------------------------------------------- */

#define MOST_COPIES 16

static CUmodule module;
static CUdeviceptr copies[MOST_COPIES];
static int copy_count;

const char *image_kernels_load(void)
{
    if (module)
        return NULL;
    bool software = gr_cuda_is_software();
    if ((software ? image_kernels_image.host : image_kernels_image.gpu)[0] == 0)
        return software ? "the kernels were not built for the software driver"
                        : "the kernels were not built for a GPU (no nvcc)";
    ck_assert(kernel_image_load(&image_kernels_image, &module));
    return NULL;
}

static void begin_kernels(void)
{
    module = NULL;
    copy_count = 0;
}

static void free_copies(void)
{
    CU(StreamSynchronize(fx.stream));
    while (copy_count > 0)
        CU(MemFree(copies[--copy_count]));
}

static void end_kernels(void)
{
    CU(CtxSetCurrent(fx.context));
    free_copies();
    if (module)
        CU(ModuleUnload(module));
}

TCase *add_kernel_case(Suite *suite, const char *name)
{
    return with_fixture(add_image_case(suite, name), begin_kernels, end_kernels);
}

void image_kernel(const char *name, size_t count, void **parameters)
{
    launch_kernel(module, name, count, parameters);
}

CUdeviceptr device_copy(const void *bytes, size_t size)
{
    ck_assert_int_lt(copy_count, MOST_COPIES);
    CUdeviceptr memory = 0;
    CU(MemAlloc(&memory, size));
    copies[copy_count++] = memory;
    if (bytes)
        CU(MemcpyHtoDAsync(memory, bytes, size, fx.stream));
    return memory;
}

/* The name of the kernel for the elements. Half floats are copied as 16-bit integers. */
static void element_name(const struct image_format *format, const char *verb, char name[32])
{
    unsigned bits = 8 * format->channel_bytes, channels = image_channels(format);
    if (format->kind == IMAGE_FLOAT && bits == 32)
        snprintf(name, 32, "%s_floatx%u", verb, channels);
    else
        snprintf(name, 32, "%s_%cint%ux%u", verb, format->kind == IMAGE_SIGNED ? 's' : 'u', bits,
                 channels);
}

static void run_surface(const char *verb, CUsurfObject surface, const struct image *image,
                        unsigned level, CUdeviceptr memory)
{
    char name[32];
    int width = (int)image_width(image, level), height = (int)image_height(image, level);
    element_name(image->format, verb, name);
    image_kernel(name, (size_t)width * (size_t)height,
                 (void *[]){&surface, &memory, &width, &height});
}

void surface_store(CUsurfObject surface, const struct image *image, unsigned level,
                   const void *texels)
{
    run_surface("store", surface, image, level, device_copy(texels, image_bytes(image, level)));
}

void surface_load(CUsurfObject surface, const struct image *image, unsigned level, void *texels)
{
    CUdeviceptr memory = device_copy(NULL, image_bytes(image, level));
    run_surface("load", surface, image, level, memory);
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(texels, memory, image_bytes(image, level)));
}

GROUP("surfaces", add_kernel_case)

static unsigned char got[IMAGE_MOST_BYTES], wanted[IMAGE_MOST_BYTES];

/* The kernel must read what OpenGL wrote, and OpenGL must read what the kernel wrote. */
static void go_through_surface(const struct image *image, unsigned level, unsigned layer)
{
    image_fill(image, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    CUsurfObject surface = gr_buffer_surface(buffer, level, layer);
    ck_assert_msg(surface != 0, "%s: %s", image->format->name, error_text());
    size_t bytes = image_bytes(image, level);
    image_pattern(image->format, wanted, bytes, image_seed(1, level, layer));
    surface_load(surface, image, level, got);
    ck_assert_msg(memcmp(got, wanted, bytes) == 0, "%s %s: a kernel reads other bytes",
                  image->format->name, image->target->name);
    image_pattern(image->format, wanted, bytes, image_seed(2, level, layer));
    surface_store(surface, image, level, wanted);
    assert_ok(gr_buffer_release(buffer));
    assert_no_difference(image_level_differs(image, level, layer, 2));
}

IMAGE_KERNEL_TEST(each_element_type_is_read_and_written)
{
    static const char *const formats[] = {
        "R8",       "RG8",     "RGBA8",   "R16",          "RG16",   "RGBA16",  "R8UI",
        "RG8UI",    "RGBA8UI", "R8I",     "RG8I",         "RGBA8I", "R16UI",   "RG16UI",
        "RGBA16UI", "R16I",    "RG16I",   "RGBA16I",      "R32UI",  "RG32UI",  "RGBA32UI",
        "R32I",     "RG32I",   "RGBA32I", "R16F",         "RG16F",  "RGBA16F", "R32F",
        "RG32F",    "RGBA32F", "RGB8",    "SRGB8_ALPHA8",
    };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct image image = image_make(formats[i], "2D", 13, 7, 1);
        go_through_surface(&image, 0, 0);
        free_copies();
    }
}

IMAGE_KERNEL_TEST(each_target_level_and_layer_is_read_and_written)
{
    static const struct {
        const char *target;
        unsigned level, layer;
    } parts[] = {
        {"2D", 1, 0},       {"2D", 2, 0},   {"RECT", 0, 0},     {"RENDERBUFFER", 0, 0},
        {"2D_ARRAY", 0, 2}, {"CUBE", 0, 0}, {"2D_ARRAY", 1, 1}, {"CUBE", 1, 5},
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        bool cube = strcmp(parts[i].target, "CUBE") == 0;
        struct image image = image_make("RGBA8", parts[i].target, cube ? 7 : 13, 7, 3);
        go_through_surface(&image, parts[i].level, parts[i].layer);
        free_copies();
    }
}

IMAGE_KERNEL_TEST(slices_of_a_3d_image_are_written)
{
    struct image image = image_make("RGBA8", "3D", 13, 7, 2);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    for (unsigned level = 0; level < 2; level++) {
        CUsurfObject surface = gr_buffer_surface(buffer, level, 0);
        ck_assert_msg(surface != 0, "%s", error_text());
        size_t bytes = image_bytes(&image, level);
        image_pattern(image.format, wanted, bytes, image_seed(3, level, 0));
        CUdeviceptr memory = device_copy(wanted, bytes);
        int width = (int)image_width(&image, level), height = (int)image_height(&image, level);
        int depth = (int)image_slices(&image, level);
        image_kernel("store_3d", bytes / 4, (void *[]){&surface, &memory, &width, &height, &depth});
    }
    assert_ok(gr_buffer_release(buffer));
    assert_image(&image, 3);
}

GROUP("life", add_kernel_case)

TEST(surfaces_without_the_flag_are_refused)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    static const unsigned without[] = {GR_READ_WRITE, GR_READ_ONLY, GR_WRITE_DISCARD,
                                       GR_TEXTURE_GATHER};
    for (size_t i = 0; i < 4; i++) {
        GR_AUTO(gr_resource) *resource = must_register_image(&image, without[i]);
        GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
        ck_assert_uint_eq(gr_buffer_surface(buffer, 0, 0), 0);
        assert_error(GR_ERR_STATE, 0, "GR_SURFACE_LOAD_STORE");
        ck_assert_uint_ne(gr_buffer_texture(buffer, NULL), 0);
    }
}

TEST(each_level_and_layer_has_one_surface)
{
    struct image image = image_make("RGBA8", "2D_ARRAY", 8, 8, 2);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    for (int round = 0; round < 2; round++) {
        GR_AUTO(gr_buffer) *buffer = must_map_image(resource);
        CUsurfObject surfaces[2][3];
        for (unsigned i = 0; i < 6; i++) {
            surfaces[i / 3][i % 3] = gr_buffer_surface(buffer, i / 3, i % 3);
            ck_assert_uint_ne(surfaces[i / 3][i % 3], 0);
            for (unsigned k = 0; k < i; k++)
                ck_assert_uint_ne(surfaces[i / 3][i % 3], surfaces[k / 3][k % 3]);
        }
        for (unsigned i = 0; i < 6; i++)
            ck_assert_uint_eq(gr_buffer_surface(buffer, i / 3, i % 3), surfaces[i / 3][i % 3]);
    }
}

/*
 * Whether the driver still knows the object, queried by this driver function. Only the software
 * driver detects destroyed objects: a GPU driver may reuse their handles.
 */
static bool is_known(const char *function, unsigned long long object)
{
    CUresult(CUDAAPI * describe)(CUDA_RESOURCE_DESC *, unsigned long long) = NULL;
    CUDA_RESOURCE_DESC resource;
    void *symbol = cuda_symbol(function, 5000);
    ck_assert_ptr_nonnull(symbol);
    memcpy(&describe, &symbol, sizeof(symbol));
    return describe(&resource, object) == CUDA_SUCCESS;
}

static bool surface_is_known(CUsurfObject surface)
{
    return is_known("cuSurfObjectGetResourceDesc", surface);
}

static bool texture_is_known(CUtexObject texture)
{
    return is_known("cuTexObjectGetResourceDesc", texture);
}

TEST(surfaces_and_textures_end_with_the_resource)
{
    if (!gr_cuda_is_software())
        skip("only the software driver can be queried for destroyed objects");
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    gr_resource *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    CUsurfObject surface = gr_buffer_surface(buffer, 0, 0);
    CUtexObject texture = gr_buffer_texture(buffer, NULL);
    ck_assert(surface_is_known(surface) && texture_is_known(texture));
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
    ck_assert(!surface_is_known(surface) && !texture_is_known(texture));

    /* A mapping that uses none keeps them, too. */
    resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    buffer = must_map_image(resource);
    surface = gr_buffer_surface(buffer, 0, 0);
    texture = gr_buffer_texture(buffer, NULL);
    for (int i = 0; i < 2; i++) {
        assert_ok(gr_buffer_release(buffer));
        CU(StreamSynchronize(fx.stream));
        ck_assert(surface_is_known(surface) && texture_is_known(texture));
        buffer = must_map_image(resource);
    }
    assert_ok(gr_resource_close(resource, fx.stream));
    ck_assert(!surface_is_known(surface) && !texture_is_known(texture));
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
}

/* A program may create textures with new options in each frame. */
TEST(textures_that_are_no_longer_used_end)
{
    struct image image = image_make("RGBA8", "2D", 8, 8, 4);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    const CUtexObject first = gr_buffer_texture(buffer, NULL);
    CUsurfObject surface = 0;
    for (int i = 0; i < 700; i++) {
        gr_texture_options options = GR_INIT(gr_texture_options, .whole = true);
        options.mip_bias = (float)i;
        ck_assert_uint_ne(gr_buffer_texture(buffer, &options), 0);
        surface = gr_buffer_surface(buffer, 0, 0);
        ck_assert_uint_ne(surface, 0);
        assert_ok(gr_buffer_release(buffer));
        buffer = must_map_image(resource);
    }
    ck_assert(!gr_cuda_is_software() || !texture_is_known(first));
    ck_assert_uint_eq(gr_resource_surface(resource, 0, 0), surface);
    ck_assert_uint_ne(gr_resource_texture(resource, NULL), 0);
    assert_ok(gr_buffer_release(buffer));
}

/* The kernel of the last mapping runs on another stream than that of the mapping before. */
IMAGE_KERNEL_TEST(a_close_waits_for_the_kernels_of_all_streams)
{
    struct image image = image_filled("RGBA8", "2D", 13, 7, 1, 1);
    gr_resource *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    const CUsurfObject surface = gr_resource_surface(resource, 0, 0);
    image_pattern(image.format, wanted, image_bytes(&image, 0), image_seed(9, 0, 0));
    CUdeviceptr memory = device_copy(wanted, image_bytes(&image, 0));
    assert_ok(gr_buffer_release(buffer));
    buffer = must_map_image(resource); /* uses the surface without another call */
    gate_open_after(gate_put(fx.stream), 30);
    run_surface("store", surface, &image, 0, memory);
    assert_ok(gr_buffer_release(buffer));
    buffer = must_make(gr_map(resource, fx.other));
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
    assert_image(&image, 9);
}

static void check_kept(gr_resource *resource, const struct image *image)
{
    const gr_texture_options linear = GR_INIT(gr_texture_options, .filter = GR_FILTER_LINEAR);
    CUsurfObject surface = 0;
    CUtexObject texture = 0;
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(gr_resource_surface(resource, 0, 0), 0);
        assert_error(GR_ERR_STATE, 0, "map it first");
        ck_assert_uint_eq(gr_resource_texture(resource, NULL), 0);
        assert_error(GR_ERR_STATE, 0, "map it first");
        gr_buffer *buffer = must_map_image(resource);
        CUsurfObject now = gr_resource_surface(resource, 0, 0);
        ck_assert_msg(now && (!i || now == surface), "%s", error_text());
        ck_assert_uint_eq(gr_buffer_surface(buffer, 0, 0), now);
        CUtexObject sampled = gr_buffer_texture(buffer, NULL);
        ck_assert_msg(sampled && (!i || sampled == texture), "%s", error_text());
        ck_assert_uint_eq(gr_resource_texture(resource, NULL), sampled);
        ck_assert_uint_ne(gr_resource_texture(resource, &linear), sampled);
        ck_assert_uint_eq(gr_resource_texture(resource, &linear),
                          gr_buffer_texture(buffer, &linear));
        surface = now;
        texture = sampled;
        surface_load(surface, image, 0, got);
        image_pattern(image->format, wanted, image_bytes(image, 0), image_seed(20 + i, 0, 0));
        ck_assert_mem_eq(got, wanted, image_bytes(image, 0));
        image_pattern(image->format, wanted, image_bytes(image, 0), image_seed(21 + i, 0, 0));
        surface_store(surface, image, 0, wanted);
        assert_ok(gr_buffer_release(buffer));
        assert_image(image, 21 + i);
    }
}

IMAGE_KERNEL_TEST(surfaces_and_textures_are_the_same_in_each_mapping, 2)
{
    struct image image = image_filled("RGBA8", "2D", 13, 7, 1, 20);
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = _i ? GR_TRANSPORT_COPY : GR_TRANSPORT_INTEROP);
    GR_AUTO(gr_resource) *resource = must_make(
        gr_from_gl_image_with(image.name, image.target->target, GR_SURFACE_LOAD_STORE, &options));
    check_kept(resource, &image);
}

/* The stream is blocked while the mapping is released and the next one creates its objects. */
IMAGE_KERNEL_TEST(surfaces_and_textures_outlive_pending_kernels)
{
    struct image image = image_filled("RGBA8", "2D", 13, 7, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    for (unsigned i = 0; i < 3; i++) {
        gr_buffer *buffer = must_map_image(resource);
        image_pattern(image.format, wanted, image_bytes(&image, 0), image_seed(5 + i, 0, 0));
        CUsurfObject surface = gr_buffer_surface(buffer, 0, 0);
        ck_assert_uint_ne(surface, 0);
        CUdeviceptr memory = device_copy(wanted, image_bytes(&image, 0));
        gate_open_after(gate_put(fx.stream), 30);
        run_surface("store", surface, &image, 0, memory);
        assert_ok(gr_buffer_release(buffer));
        buffer = must_map_image(resource);
        ck_assert_uint_ne(gr_buffer_surface(buffer, 0, 0), 0);
        ck_assert_uint_ne(gr_buffer_texture(buffer, NULL), 0);
        assert_ok(gr_buffer_release(buffer));
        assert_image(&image, 5 + i);
    }
}

/* A texture that returns the integers of the texels. */
static CUtexObject must_sample(gr_resource *resource)
{
    const gr_texture_options integers = GR_INIT(gr_texture_options, .as_float = GR_CHOICE_NO);
    CUtexObject texture = gr_resource_texture(resource, &integers);
    ck_assert_msg(texture != 0, "%s", error_text());
    return texture;
}

/* A kernel samples the last texel. */
static void assert_last_texel(CUtexObject texture, const struct image *image, const void *expected)
{
    unsigned char read[4];
    CUdeviceptr texel = device_copy(NULL, 4), at = device_copy(NULL, 4 * sizeof(float));
    const float place[4] = {(float)image->width - 0.5f, (float)image->height - 0.5f};
    CU(MemcpyHtoDAsync(at, place, sizeof(place), fx.stream));
    image_kernel("sample_2d_uchar", 1, (void *[]){&texture, &texel, &at, &(int){1}});
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(read, texel, 4));
    ck_assert_mem_eq(read, expected, 4);
}

/*
 * Kernels read the image through the surface and the texture, and write the next pattern after a
 * gate that opens later.
 */
static void use_objects(gr_resource *resource, const struct image *image, unsigned number)
{
    const size_t bytes = image_bytes(image, 0);
    const CUsurfObject surface = gr_resource_surface(resource, 0, 0);
    ck_assert_msg(surface != 0, "%s", error_text());
    image_pattern(image->format, wanted, bytes, image_seed(number, 0, 0));
    surface_load(surface, image, 0, got);
    ck_assert_mem_eq(got, wanted, bytes);
    assert_last_texel(must_sample(resource), image, wanted + bytes - 4);
    image_pattern(image->format, wanted, bytes, image_seed(number + 1, 0, 0));
    CUdeviceptr memory = device_copy(wanted, bytes);
    gate_open_after(gate_put(fx.stream), 30);
    run_surface("store", surface, image, 0, memory);
}

/* The objects of the replaced storage end, but not before the kernels that use them. */
IMAGE_KERNEL_TEST(surfaces_and_textures_follow_replaced_storage, 2)
{
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .follow_storage = true,
                .transports = _i ? GR_TRANSPORT_COPY : GR_TRANSPORT_INTEROP);
    struct image image = image_filled("RGBA8", "2D", 13, 7, 1, 1);
    GR_AUTO(gr_resource) *resource = must_make(
        gr_from_gl_image_with(image.name, image.target->target, GR_SURFACE_LOAD_STORE, &options));
    for (unsigned i = 0; i < 3; i++) {
        gr_buffer *buffer = must_map_image(resource);
        use_objects(resource, &image, 2 * i + 1);
        const CUsurfObject surface = gr_resource_surface(resource, 0, 0);
        const CUtexObject texture = must_sample(resource);
        assert_ok(gr_buffer_release(buffer));
        if (!image_create_again(&image, "RGBA8", 20 + 9 * i, 5 + i, 1, 2 * i + 2))
            skip("OpenGL does not reuse the name");
        buffer = must_map_image(resource);
        if (gr_cuda_is_software())
            ck_assert(!surface_is_known(surface) && !texture_is_known(texture));
        use_objects(resource, &image, 2 * i + 2);
        assert_ok(gr_buffer_release(buffer));
        assert_image(&image, 2 * i + 3);
        free_copies();
    }
    assert_gl_clean();
}

static CUsurfObject raw_surface(CUarray array)
{
    const CUDA_RESOURCE_DESC described = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                          .res.array.hArray = array};
    CUsurfObject surface = 0;
    CU(SurfObjectCreate(&surface, &described));
    return surface;
}

static CUtexObject raw_texture(CUarray array)
{
    const CUDA_RESOURCE_DESC described = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                          .res.array.hArray = array};
    const CUDA_TEXTURE_DESC sampling = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUtexObject texture = 0;
    CU(TexObjectCreate(&texture, &described, &sampling, NULL));
    return texture;
}

/*
 * The program destroys the objects while the blocked stream still holds kernels that use them.
 *
 * Catches: the software driver stopped the program ("its handle 0x... was destroyed").
 */
IMAGE_KERNEL_TEST(pending_kernels_can_use_destroyed_objects)
{
    struct image image = image_filled("RGBA8", "2D", 13, 7, 1, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    const CUarray array = gr_buffer_array(buffer, 0, 0);
    CUsurfObject surface = raw_surface(array);
    CUtexObject texture = raw_texture(array);
    image_pattern(image.format, wanted, image_bytes(&image, 0), image_seed(2, 0, 0));
    CUdeviceptr memory = device_copy(wanted, image_bytes(&image, 0));
    CUdeviceptr place = device_copy((const float[4]){0.5f, 0.5f}, 4 * sizeof(float));
    CUdeviceptr texel = device_copy(NULL, 4);
    struct gate *gate = gate_put(fx.stream);
    run_surface("store", surface, &image, 0, memory);
    image_kernel("sample_2d_uchar", 1, (void *[]){&texture, &texel, &place, &(int){1}});
    CU(SurfObjectDestroy(surface));
    CU(TexObjectDestroy(texture));
    ck_assert(!surface_is_known(surface) && !texture_is_known(texture));
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoH(got, texel, 4));
    ck_assert_mem_eq(got, wanted, 4);
    assert_ok(gr_buffer_release(buffer));
    assert_image(&image, 2);
}

/* ---- After the release ----------------------------------------------------------------------- */

/* The child must crash. */
CHILD(use_surface_after_release)
{
    fixture_setup();
    begin_kernels();
    child_check(!image_kernels_load());
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    gr_resource *resource = must_register_image(&image, GR_SURFACE_LOAD_STORE);
    gr_buffer *buffer = must_map_image(resource);
    CUsurfObject surface = gr_buffer_surface(buffer, 0, 0);
    child_check(surface != 0);
    child_check(gr_buffer_release(buffer) == GR_OK);
    surface_store(surface, &image, 0, wanted);
    fx.cu->StreamSynchronize(fx.stream);
    return 0;
}

CHILD(use_surface_after_its_end)
{
    fixture_setup();
    begin_kernels();
    child_check(!image_kernels_load());
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    gr_buffer *buffer = must_map_image(must_register_image(&image, GR_SURFACE_LOAD_STORE));
    CUsurfObject surface = raw_surface(gr_buffer_array(buffer, 0, 0));
    struct gate *gate = gate_put(fx.stream);
    surface_store(surface, &image, 0, wanted);
    CU(SurfObjectDestroy(surface));
    surface_store(surface, &image, 0, wanted);
    gate_open(gate);
    fx.cu->StreamSynchronize(fx.stream);
    return 0;
}

static void expect_death(const char *child)
{
    char text[16384];
    int status = child_run(child, text, sizeof(text));
    ck_assert_msg(status != 0 && status != CHILD_FAILED << 8, "%s ended with 0x%x: %.3500s", child,
                  (unsigned)status, text);
    ck_assert_msg(sanitizer() || WIFSIGNALED(status), "%s ended with 0x%x: %.3500s", child,
                  (unsigned)status, text);
    ck_assert_msg(strstr(text, "used after its unmap") || strstr(text, "was destroyed"),
                  "%s said: %s", child, text);
}

IMAGE_KERNEL_TEST(kernels_that_use_objects_after_the_release_crash)
{
    if (!gr_cuda_is_software())
        skip("only the software driver detects it");
    expect_death("use_surface_after_release");
    expect_death("use_texture_after_release");
    expect_death("use_surface_after_its_end");
}

/* The driver checks the array when a copy is issued. */
TEST(copies_with_an_array_after_the_release_are_refused)
{
    if (!gr_cuda_is_software())
        skip("only the software driver detects it");
    struct image image = image_make("RGBA8", "2D", 8, 8, 1);
    GR_AUTO(gr_resource) *resource = must_register_image(&image, GR_READ_WRITE);
    gr_buffer *buffer = must_map_image(resource);
    const CUDA_MEMCPY2D copy = array_copy(gr_buffer_array(buffer, 0, 0), got, 32, 8, false);
    CU(Memcpy2DAsync(&copy, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    ck_assert_int_ne((int)fx.cu->Memcpy2DAsync(&copy, fx.stream), CUDA_SUCCESS);
}
