/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * For each OpenGL format and target: whether CUDA accepts such an image, and which CUDA arrays the
 * image has. Compares the driver and grinterop with the results of the NVIDIA driver on an H200, in
 * tests/image/formats-h200.txt. IMAGE_TABLE_SHOW=1 prints the results in the format of that file.
 */
#include "tests/support/format_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE      8
#define GL_LEVELS 3
#define SLICES    4
#define LAYERS    3

/* ---- Differences ----------------------------------------------------------------------------- */

/* Differences are collected until the end of the case, so that one run shows all of them. */
static char differences[3000]; /* Check cannot handle longer messages */
static char row[96];           /* format, target and flags of the current image */

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
    char line[512];
    int used = snprintf(line, sizeof(line), "\n  %s: ", row);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, sizeof(line) - (size_t)used, format, arguments);
    va_end(arguments);
    strncat(differences, line, sizeof(differences) - strlen(differences) - 1);
}

#define expect(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            note(__VA_ARGS__);                                                                     \
    } while (0)

/* The call must return this code. */
#define GIVES(code, call)                                                                          \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        expect(result_ == (code), "%s returned %d, not %d", #call, (int)result_, (int)(code));     \
    } while (0)

static void prepare(void)
{
    format_table_read();
    differences[0] = '\0';
}

static void check_differences(void)
{
    ck_assert_msg(differences[0] == '\0', "%s", differences);
}

/* ---- Combinations ---------------------------------------------------------------------------- */

/* The table was measured with these flags. */
static const unsigned flags_of_2d[] = {0, 4, 1, 2, 8}, flags_of_others[] = {0, 4};

static size_t flags_for(const struct image_target *target, const unsigned **flags)
{
    bool all = target->target == GL_TEXTURE_2D;
    *flags = all ? flags_of_2d : flags_of_others;
    return all ? 5 : 2;
}

static bool is_taken(const char *cell)
{
    return strcmp(cell, "no") != 0 && strcmp(cell, "gl") != 0;
}

/*
 * The entry of the table, or NULL if nothing was measured. An image that OpenGL refused on the
 * measured machine counts as "no" if CUDA accepts no image with its format or none with its target.
 */
static const char *expected(const struct image_format *format, const struct image_target *target)
{
    const char *cell = format_table_cell(format, target);
    if (strcmp(cell, "gl") != 0)
        return cell;
    bool taken = false;
    for (size_t i = 0; i < image_target_count; i++)
        taken = taken || is_taken(format_table_cell(format, &image_targets[i]));
    return taken && format_table_target(target)->taken ? NULL : "no";
}

static struct image make_row(const struct image_format *format, const struct image_target *target)
{
    return image_make_of(format, target, SIZE, SIZE, SLICES, LAYERS, GL_LEVELS);
}

static void each_row(const struct image_target *target,
                     void (*visit)(const struct image *image, unsigned flags))
{
    for (size_t i = 0; i < image_format_count; i++) {
        const struct image_format *format = &image_formats[i];
        struct image image = make_row(format, target);
        /* Images that OpenGL refused on the measured machine cannot be compared. */
        bool comparable = expected(format, target);
        const unsigned *flags;
        size_t count = flags_for(target, &flags);
        for (size_t k = 0; k < count && image.name != 0 && comparable; k++) {
            snprintf(row, sizeof(row), "%s %s flags %u", format->name, target->name, flags[k]);
            visit(&image, flags[k]);
        }
        if (image.name != 0)
            image_delete(&image);
    }
}

/* ---- Driver calls ---------------------------------------------------------------------------- */

static unsigned array_flags(unsigned flags)
{
    return (flags & GR_SURFACE_LOAD_STORE ? CUDA_ARRAY3D_SURFACE_LDST : 0u) |
           (flags & GR_TEXTURE_GATHER ? CUDA_ARRAY3D_TEXTURE_GATHER : 0u);
}

static void check_array(CUarray array, const char *size, unsigned flags, const char *cell)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    char text[72];
    GIVES(CUDA_SUCCESS, fx.cu->Array3DGetDescriptor(&d, array));
    snprintf(text, sizeof(text), "%zux%zux%zu", d.Width, d.Height, d.Depth);
    expect(strcmp(text, size) == 0, "an array is %s, not %s", text, size);
    expect(d.Flags == flags, "an array has the flags 0x%x, not 0x%x", d.Flags, flags);
    struct format_cell found = format_cell_of(d.Format, d.NumChannels);
    expect(strcmp(found.text, cell) == 0, "an array is %s, not %s", found.text, cell);
}

static void check_texture(const CUDA_RESOURCE_DESC *resource, CUDA_TEXTURE_DESC options)
{
    CUtexObject texture = 0;
    GIVES(CUDA_SUCCESS, fx.cu->TexObjectCreate(&texture, resource, &options, NULL));
    if (texture != 0)
        GIVES(CUDA_SUCCESS, fx.cu->TexObjectDestroy(texture));
}

static void check_objects(CUarray array, bool with_surface)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUsurfObject surface = 0;
    if (with_surface)
        GIVES(CUDA_SUCCESS, fx.cu->SurfObjectCreate(&surface, &resource));
    if (surface != 0)
        GIVES(CUDA_SUCCESS, fx.cu->SurfObjectDestroy(surface));
    check_texture(&resource, (CUDA_TEXTURE_DESC){.flags = 0});
    check_texture(&resource, (CUDA_TEXTURE_DESC){.flags = CU_TRSF_READ_AS_INTEGER});
    check_texture(&resource, (CUDA_TEXTURE_DESC){.flags = CU_TRSF_NORMALIZED_COORDINATES,
                                                 .filterMode = CU_TR_FILTER_MODE_LINEAR});
}

/*
 * The driver creates a surface even if the image was registered without the surface flag. The
 * software driver then prints a warning, so the test does this only once.
 */
static void check_arrays(CUgraphicsResource r, const struct target_facts *facts, unsigned flags,
                         const char *cell)
{
    CUarray array = NULL;
    for (unsigned level = 0; level < facts->levels; level++)
        for (unsigned layer = 0; layer < facts->layers; layer++) {
            GIVES(CUDA_SUCCESS, fx.cu->GraphicsSubResourceGetMappedArray(&array, r, layer, level));
            if (level < 2)
                check_array(array, level == 0 ? facts->array : facts->level1, array_flags(flags),
                            cell);
        }
    GIVES(CUDA_ERROR_INVALID_VALUE,
          fx.cu->GraphicsSubResourceGetMappedArray(&array, r, 0, facts->levels));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          fx.cu->GraphicsSubResourceGetMappedArray(&array, r, facts->layers, 0));
    GIVES(CUDA_SUCCESS, fx.cu->GraphicsSubResourceGetMappedArray(&array, r, 0, 0));
    check_objects(array, flags & GR_SURFACE_LOAD_STORE || strcmp(cell, "sint8x1") == 0);
}

static void check_mipmapped(CUgraphicsResource r, const struct target_facts *facts, unsigned flags,
                            const char *cell)
{
    CUmipmappedArray mipmapped = NULL;
    CUarray array = NULL;
    GIVES(CUDA_SUCCESS, fx.cu->GraphicsResourceGetMappedMipmappedArray(&mipmapped, r));
    for (unsigned level = 0; level < facts->levels; level++)
        GIVES(CUDA_SUCCESS, fx.cu->MipmappedArrayGetLevel(&array, mipmapped, level));
    GIVES(CUDA_ERROR_INVALID_VALUE,
          fx.cu->MipmappedArrayGetLevel(&array, mipmapped, facts->levels));
    GIVES(CUDA_SUCCESS, fx.cu->MipmappedArrayGetLevel(&array, mipmapped, 0));
    check_array(array, facts->mipmapped, array_flags(flags) | facts->flags, cell);
    check_texture(&(CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                        .res.mipmap.hMipmappedArray = mipmapped},
                  (CUDA_TEXTURE_DESC){.flags = CU_TRSF_NORMALIZED_COORDINATES,
                                      .filterMode = CU_TR_FILTER_MODE_LINEAR,
                                      .mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR,
                                      .maxMipmapLevelClamp = 9});
}

static void check_by_driver(const struct image *image, unsigned flags)
{
    const char *cell = expected(image->format, image->target);
    const struct target_facts *facts = format_table_target(image->target);
    bool taken = is_taken(cell);
    CUgraphicsResource r = NULL;
    CUresult result = fx.cu->GraphicsGLRegisterImage(&r, image->name, image->target->target, flags);
    expect(result == (taken ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE),
           "registering returned %d, and the table says %s", (int)result, cell);
    if (result != CUDA_SUCCESS)
        return;
    if (taken) {
        CUdeviceptr pointer;
        size_t size;
        GIVES(CUDA_SUCCESS, fx.cu->GraphicsMapResources(1, &r, fx.stream));
        check_arrays(r, facts, flags, cell);
        check_mipmapped(r, facts, flags, cell);
        GIVES(CUDA_ERROR_NOT_MAPPED_AS_POINTER,
              fx.cu->GraphicsResourceGetMappedPointer(&pointer, &size, r));
        GIVES(CUDA_SUCCESS, fx.cu->GraphicsUnmapResources(1, &r, fx.stream));
    }
    GIVES(CUDA_SUCCESS, fx.cu->GraphicsUnregisterResource(r));
}

static TCase *add_table_case(Suite *suite, const char *name)
{
    return with_fixture(add_image_case(suite, name), prepare, NULL);
}

GROUP("table", add_table_case)

TEST(the_driver_matches_the_table, (int)image_target_count)
{
    each_row(&image_targets[_i], check_by_driver);
    check_differences();
}

/* ---- Through grinterop ----------------------------------------------------------------------- */

/* The message must name the format or target that CUDA refuses. */
static void check_refusal(const struct image *image)
{
    gr_error error = *gr_last_error();
    char format[64];
    snprintf(format, sizeof(format), "GL_%s", image->format->name);
    expect(error.status == GR_ERR_UNSUPPORTED, "refused with %s: %s", gr_status_name(error.status),
           error.message);
    bool samples = image->target->multisampled && image->target->target == GL_RENDERBUFFER;
    const char *target = samples ? "samples" : image->target->gl_name;
    const char *named = image->target->taken ? format : target;
    expect(strstr(error.message, named), "the refusal does not name %s: %s", named, error.message);
}

static void check_info(gr_buffer *buffer, const struct image *image, const char *cell)
{
    const gr_image_info *info = gr_buffer_get_image_info(buffer);
    expect(info, "gr_buffer_get_image_info: %s", error_text());
    if (!info)
        return;
    expect(info->width == SIZE && info->height == SIZE && info->depth == image->slices,
           "the size is %zux%zux%zu", info->width, info->height, info->depth);
    expect(info->levels == image->levels && info->layers == image->layers,
           "%u levels and %u layers", info->levels, info->layers);
    struct format_cell found = format_cell_of(info->format, info->channels);
    expect(strcmp(found.text, cell) == 0, "it is %s, not %s", found.text, cell);
    expect(info->texel_bytes == image_texel_bytes(image->format), "%u bytes a texel",
           info->texel_bytes);
    expect(info->cube == (image->target->target == GL_TEXTURE_CUBE_MAP), "cube is %d", info->cube);
    expect(info->srgb == image_is_srgb(image->format), "srgb is %d", info->srgb);
    expect(info->normalized == (image->format->kind == IMAGE_NORMALIZED), "normalized is %d",
           info->normalized);
}

/* grinterop accepts only the levels of OpenGL, although CUDA may report more. */
static void check_parts(gr_buffer *buffer, const struct image *image)
{
    for (unsigned level = 0; level < image->levels; level++)
        for (unsigned layer = 0; layer < image->layers; layer++)
            expect(gr_buffer_array(buffer, level, layer), "no array: %s", error_text());
    expect(!gr_buffer_array(buffer, image->levels, 0), "an array of level %u", image->levels);
    expect(gr_last_error()->status == GR_ERR_INVALID_VALUE, "another error for the level");
    expect(!gr_buffer_array(buffer, 0, image->layers), "an array of layer %u", image->layers);
    expect(gr_last_error()->status == GR_ERR_INVALID_VALUE, "another error for the layer");
    expect(gr_buffer_mipmapped_array(buffer), "no mipmapped array: %s", error_text());
}

static void check_grinterop_objects(gr_buffer *buffer, const struct image *image, unsigned flags)
{
    CUsurfObject surface = gr_buffer_surface(buffer, 0, 0);
    if (flags & GR_SURFACE_LOAD_STORE) {
        expect(surface != 0, "no surface: %s", error_text());
    } else {
        expect(surface == 0, "a surface without GR_SURFACE_LOAD_STORE");
        expect(gr_last_error()->status == GR_ERR_STATE, "another error for the surface");
    }
    expect(gr_buffer_texture(buffer, NULL) != 0, "no texture: %s", error_text());
    CUtexObject texture = gr_buffer_texture(buffer, &GR_INIT(gr_texture_options, .whole = true));
    /* The driver creates a texture object of a whole cube, but kernels read zeros from it. */
    if (image->target->target == GL_TEXTURE_CUBE_MAP)
        expect(texture == 0 && gr_last_error()->status == GR_ERR_UNSUPPORTED, "a whole cube");
    else
        expect(texture != 0, "no whole texture: %s", error_text());
    expect(gr_buffer_ptr(buffer) == 0 && gr_buffer_size(buffer) == 0, "an image has a pointer");
}

static void check_by_grinterop(const struct image *image, unsigned flags)
{
    const char *cell = expected(image->format, image->target);
    bool taken = is_taken(cell);
    gr_clear_error();
    gr_resource *resource = gr_from_gl_image(image->name, image->target->target, flags);
    expect((resource != NULL) == taken, "the table says %s; %s", cell, error_text());
    if (!resource && !taken)
        check_refusal(image);
    gr_buffer *buffer = resource ? gr_map(resource, fx.stream) : NULL;
    if (buffer) {
        check_info(buffer, image, cell);
        check_parts(buffer, image);
        check_grinterop_objects(buffer, image, flags);
    } else if (resource) {
        note("not mapped: %s", error_text());
    }
    expect(gr_buffer_release(buffer) == GR_OK, "not released: %s", error_text());
    gr_resource_free(resource);
    GLenum error = glGetError();
    expect(error == GL_NO_ERROR, "OpenGL error 0x%04x", error);
    gr_clear_error();
}

TEST(grinterop_accepts_and_refuses_the_same_images_as_the_table, (int)image_target_count)
{
    each_row(&image_targets[_i], check_by_grinterop);
    check_differences();
}

/* ---- Flags ----------------------------------------------------------------------------------- */

TEST(the_driver_accepts_every_defined_flag)
{
    struct image image = image_make("RGBA8", "2D", SIZE, SIZE, GL_LEVELS);
    for (unsigned flags = 0; flags < 32; flags++) {
        CUgraphicsResource r = NULL;
        snprintf(row, sizeof(row), "flags %u", flags);
        CUresult wanted = flags < 16 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
        GIVES(wanted, fx.cu->GraphicsGLRegisterImage(&r, image.name, GL_TEXTURE_2D, flags));
        if (!r)
            continue;
        CUarray array = NULL;
        GIVES(CUDA_SUCCESS, fx.cu->GraphicsMapResources(1, &r, fx.stream));
        GIVES(CUDA_SUCCESS, fx.cu->GraphicsSubResourceGetMappedArray(&array, r, 0, 0));
        check_array(array, "8x8x0", array_flags(flags), "uint8x4");
        GIVES(CUDA_SUCCESS, fx.cu->GraphicsUnmapResources(1, &r, fx.stream));
        GIVES(CUDA_SUCCESS, fx.cu->GraphicsUnregisterResource(r));
    }
    check_differences();
}

/* The driver accepts meaningless flags, too, such as read-only with write-discard. */
TEST(grinterop_accepts_only_flags_that_make_sense)
{
    struct image image = image_make("RGBA8", "2D", SIZE, SIZE, GL_LEVELS);
    for (unsigned flags = 0; flags < 40; flags++) {
        bool valid = flags < 16 && (flags & 3) != 3;
        snprintf(row, sizeof(row), "flags %u", flags);
        GR_AUTO(gr_resource) *resource = gr_from_gl_image(image.name, GL_TEXTURE_2D, flags);
        expect((resource != NULL) == valid, "registered: %d; %s", resource != NULL, error_text());
        if (!resource)
            expect(gr_last_error()->status == GR_ERR_INVALID_VALUE, "another error");
    }
    check_differences();
}

/* ---- Combinations that can't be compared ----------------------------------------------------- */

/*
 * OpenGL 4.5 (8.5.1) requires these formats in textures and renderbuffers. Integer formats are
 * required only without multisampling.
 */
static bool is_required(const struct image_format *format, const struct image_target *target)
{
    bool integer = format->kind == IMAGE_SIGNED || format->kind == IMAGE_UNSIGNED;
    return format->kind > IMAGE_PACKED && format->channels != 3 && format->step == 0 &&
           format->internal != GL_STENCIL_INDEX8 && !(integer && target->multisampled);
}

/* No required image may be left out because only one of the machines supports it. */
TEST(every_required_image_is_compared, (int)image_target_count)
{
    const struct image_target *target = &image_targets[_i];
    char left_out[1024] = "";
    for (size_t i = 0; i < image_format_count; i++) {
        const struct image_format *format = &image_formats[i];
        struct image image = make_row(format, target);
        const char *cell = format_table_cell(format, target);
        bool here = image.name != 0, there = strcmp(cell, "gl") != 0;
        snprintf(row, sizeof(row), "%s %s", format->name, target->name);
        if (is_required(format, target)) {
            expect(here, "this OpenGL refuses what every OpenGL has");
            expect(there, "the table's OpenGL refuses what every OpenGL has");
            expect(is_taken(cell) == target->taken, "the table says %s", cell);
        } else if (here ? !expected(format, target) : there) {
            snprintf(left_out + strlen(left_out), sizeof(left_out) - strlen(left_out), " %s (%s)",
                     format->name, here ? "not the table's OpenGL" : "not this OpenGL");
        }
        if (here)
            image_delete(&image);
    }
    check_differences();
    if (left_out[0] != '\0')
        skip("not everywhere a %s:%s", target->gl_name, left_out);
}

/* ---- Printing the table ---------------------------------------------------------------------- */

static const char *size_text(CUarray array, char text[72], CUDA_ARRAY3D_DESCRIPTOR *d)
{
    *d = (CUDA_ARRAY3D_DESCRIPTOR){0};
    if (!array || fx.cu->Array3DGetDescriptor(d, array) != CUDA_SUCCESS)
        return "-";
    snprintf(text, 72, "%zux%zux%zu", d->Width, d->Height, d->Depth);
    return text;
}

static CUarray array_of(CUgraphicsResource r, unsigned level, unsigned layer)
{
    CUarray array = NULL;
    return fx.cu->GraphicsSubResourceGetMappedArray(&array, r, layer, level) == CUDA_SUCCESS ? array
                                                                                             : NULL;
}

static void show_target(CUgraphicsResource r, const struct image_target *target)
{
    unsigned levels = 0, layers = 0;
    while (array_of(r, levels, 0))
        levels++;
    while (array_of(r, 0, layers))
        layers++;
    CUmipmappedArray mipmapped = NULL;
    CUarray whole = NULL;
    fx.cu->GraphicsResourceGetMappedMipmappedArray(&mipmapped, r);
    fx.cu->MipmappedArrayGetLevel(&whole, mipmapped, 0);
    CUDA_ARRAY3D_DESCRIPTOR d, all;
    char size[3][72];
    const char *level1 = size_text(array_of(r, 1, 0), size[0], &d);
    const char *all_size = size_text(whole, size[1], &all);
    const char *level0 = size_text(array_of(r, 0, 0), size[2], &d);
    printf("%-12s  %-5s  %-6u  %-6u  %-9s  %-5u  %s\n", target->name, level0, levels, layers,
           all_size, all.Flags & ~d.Flags, level1);
}

static struct format_cell show_cell(const struct image *image, bool of_target)
{
    CUgraphicsResource r = NULL;
    if (image->name == 0)
        return (struct format_cell){"gl"};
    if (fx.cu->GraphicsGLRegisterImage(&r, image->name, image->target->target, 0) != CUDA_SUCCESS)
        return (struct format_cell){"no"};
    CU(GraphicsMapResources(1, &r, fx.stream));
    CUDA_ARRAY3D_DESCRIPTOR d;
    char size[72];
    size_text(array_of(r, 0, 0), size, &d);
    if (of_target)
        show_target(r, image->target);
    CU(GraphicsUnmapResources(1, &r, fx.stream));
    CU(GraphicsUnregisterResource(r));
    return format_cell_of(d.Format, d.NumChannels);
}

static struct format_cell show_pair(size_t format, size_t target, bool of_target)
{
    struct image image = make_row(&image_formats[format], &image_targets[target]);
    struct format_cell cell = show_cell(&image, of_target);
    if (image.name != 0)
        image_delete(&image);
    return cell;
}

TEST(the_table_is_printed, getenv("IMAGE_TABLE_SHOW") != NULL)
{
    printf("target        array  levels  layers  mipmapped  flags  level1\n");
    for (size_t k = 0; k < image_target_count; k++)
        show_pair(0, k, true);
    printf("\n%-26s", "format");
    for (size_t k = 0; k < image_target_count; k++)
        printf("  %-8s", image_targets[k].name);
    for (size_t i = 0; i < image_format_count; i++) {
        printf("\n%-26s", image_formats[i].name);
        for (size_t k = 0; k < image_target_count; k++)
            printf("  %-8s", show_pair(i, k, false).text);
    }
    printf("\n");
}
