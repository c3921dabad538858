/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Images in external memory: their description for the driver, and images that are refused before
 * the driver is called.
 */
#include "descriptors.h"

#include <stdint.h>
#include <string.h>

#define IMPORT "cuImportExternalMemory"
#define MAP    "cuExternalMemoryGetMappedMipmappedArray"
#define CREATE "cuMipmappedArrayCreate"

#define U8  CU_AD_FORMAT_UNSIGNED_INT8
#define F32 CU_AD_FORMAT_FLOAT

#define R8      .format = U8, .channels = 1
#define RG8     .format = U8, .channels = 2
#define RGBA8   .format = U8, .channels = 4
#define RGBA32F .format = F32, .channels = 4

#define LAYERED    CUDA_ARRAY3D_LAYERED
#define CUBEMAP    CUDA_ARRAY3D_CUBEMAP
#define SURFACE    CUDA_ARRAY3D_SURFACE_LDST
#define GATHER     CUDA_ARRAY3D_TEXTURE_GATHER
#define ATTACHMENT CUDA_ARRAY3D_COLOR_ATTACHMENT
#define DEPTH      CUDA_ARRAY3D_DEPTH_TEXTURE

/* The size of the memory of the images; special handle types need less. */
#define SIZE (1u << 24)

/* ---- What reaches the driver ----------------------------------------------------------------- */

static const struct shape {
    const char *name;
    gr_external_image_desc image;
    struct {
        size_t width, height, depth;
        unsigned flags, levels;
    } driver;       /* the expected description for the driver */
    unsigned flags; /* the flags that grinterop gets */
    size_t offset;
} shapes[] = {
    {"1D", .image = {.width = 100, R8}, .driver = {100, 0, 0, 0, 1}},
    {"1D array", .image = {.width = 100, .layers = 7, R8}, .driver = {100, 0, 7, LAYERED, 1}},
    {"2D", .image = {.width = 64, .height = 33, .levels = 1, RGBA8}, .driver = {64, 33, 0, 0, 1}},
    {"2D, all levels, at an offset",
     .image = {.width = 64, .height = 33, .levels = 7, .format = F32, .channels = 2},
     .driver = {64, 33, 0, 0, 7}, .offset = 131072},
    {"2D array of one", .image = {.width = 8, .height = 8, .layers = 1, RG8},
     .driver = {8, 8, 1, LAYERED, 1}},
    {"2D array", .image = {.width = 8, .height = 4, .layers = 5, .levels = 4, R8},
     .driver = {8, 4, 5, LAYERED, 4}},
    {"cube", .image = {.width = 16, .height = 16, .layers = 6, .cube = true, RGBA8},
     .driver = {16, 16, 6, CUBEMAP, 1}},
    {"array of cubes", .image = {.width = 16, .height = 16, .layers = 12, .cube = true, RGBA8},
     .driver = {16, 16, 12, CUBEMAP | LAYERED, 1}},
    {"3D", .image = {.width = 8, .height = 9, .depth = 10, .levels = 4, RGBA32F},
     .driver = {8, 9, 10, 0, 4}},
    {"compressed, in all of the memory",
     .image = {.width = 2048, .height = 8189, .format = GR_FORMAT_BC6H_UF16, .channels = 3},
     .driver = {2048, 8189, 0, 0, 1}},
    {"surface", .image = {.width = 8, .height = 8, RGBA8}, .driver = {8, 8, 0, SURFACE, 1},
     .flags = GR_SURFACE_LOAD_STORE},
    {"gather", .image = {.width = 8, .height = 8, RGBA8}, .driver = {8, 8, 0, GATHER, 1},
     .flags = GR_TEXTURE_GATHER | GR_READ_ONLY},
    {"attachment", .image = {.width = 8, .height = 8, .color_attachment = true, RGBA8},
     .driver = {8, 8, 0, SURFACE | ATTACHMENT, 1},
     .flags = GR_SURFACE_LOAD_STORE | GR_WRITE_DISCARD},
    {"depth",
     .image = {.width = 8, .height = 8, .depth_texture = true, .format = F32, .channels = 1},
     .driver = {8, 8, 0, DEPTH, 1}},
    {"sRGB is unknown to the driver",
     .image = {.width = 8, .height = 8, .srgb = true, .normalized = true, RGBA8},
     .driver = {8, 8, 0, 0, 1}},
};

/* The part of the memory, which has a Windows handle and thus needs no cleanup. */
static gr_external_part_desc part;

static gr_external_memory_desc make(const gr_external_image_desc *image)
{
    static gr_external_image_desc own;
    if (image)
        own = *image;
    own.struct_size = sizeof(own);
    part = GR_INIT(gr_external_part_desc, .image = image ? &own : NULL);
    return GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32,
                   .win32_handle = SOME_HANDLE, .size = SIZE, .part = &part);
}

static const char *array_is(const struct recorded *call, const struct shape *shape)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC wanted;
    REQUIRE(call);
    memset(&wanted, 0, sizeof(wanted));
    wanted.offset = shape->offset;
    wanted.arrayDesc.Width = shape->driver.width;
    wanted.arrayDesc.Height = shape->driver.height;
    wanted.arrayDesc.Depth = shape->driver.depth;
    wanted.arrayDesc.Format = shape->image.format;
    wanted.arrayDesc.NumChannels = shape->image.channels;
    wanted.arrayDesc.Flags = shape->driver.flags;
    wanted.numLevels = shape->driver.levels;
    if (memcmp(&wanted, &call->given.array, sizeof(wanted)) != 0)
        FAIL("the driver received another image: depth %d, flags 0x%x, %u levels",
             (int)call->given.array.arrayDesc.Depth, call->given.array.arrayDesc.Flags,
             call->given.array.numLevels);
    return NULL;
}

static const char *reaches_driver(const void *row)
{
    gr_error error;
    const struct shape *shape = row;
    gr_external_memory_desc info = make(&shape->image);
    part.offset = shape->offset;
    gr_resource *resource = gr_from_external_memory(&info, shape->flags);
    if (!resource) {
        error = *gr_last_error();
        FAIL("refused: %s", error.message);
    }
    PASS_ON(array_is(recorder->nth(MAP, 0), shape));
    REQUIRE(recorder->calls(MAP) == 1 && recorder->calls("cuExternalMemoryGetMappedBuffer") == 0);
    REQUIRE(recorder->nth(MAP, 0)->handle == recorder->nth(IMPORT, 0)->handle);
    gr_resource_free(resource);
    REQUIRE(recorder->calls("cuMipmappedArrayDestroy") == 1);
    REQUIRE(recorder->calls("cuDestroyExternalMemory") == 1);
    REQUIRE(recorder->calls("cuMemFree") == 0);
    return NULL;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static const struct image_rule {
    const char *name, *words; /* words of the message */
    gr_external_image_desc image;
    /* The driver function that the message cites; NULL: the creation of an array. */
    const char *cited;
} rules[] = {
    {"no width", "0 x 8 x 0", .image = {.height = 8, RGBA8}},
    {"depth without height", "8 x 0 x 8", .image = {.width = 8, .depth = 8, RGBA8}},
    {"3D with layers", "2 layers",
     .image = {.width = 8, .height = 8, .depth = 4, .layers = 2, RGBA8}},
    {"cube that is not square", "8 x 4",
     .image = {.width = 8, .height = 4, .layers = 6, .cube = true, RGBA8}},
    {"cube without layers", "0 layers", .image = {.width = 8, .height = 8, .cube = true, RGBA8}},
    {"cube of five faces", "5 layers",
     .image = {.width = 8, .height = 8, .layers = 5, .cube = true, RGBA8}},
    {"cubes of seven faces", "7 layers",
     .image = {.width = 8, .height = 8, .layers = 7, .cube = true, RGBA8}},
    {"no format", "format is 0x0", .image = {.width = 8, .height = 8, .channels = 4}},
    {"unknown format", "0x21",
     .image = {.width = 8, .height = 8, .format = (CUarray_format)0x21, .channels = 4}},
    {"no channels", "0 channels", .image = {.width = 8, .height = 8, .format = U8}},
    {"three channels", "3 channels",
     .image = {.width = 8, .height = 8, .format = U8, .channels = 3}},
    {"five channels", "5 channels",
     .image = {.width = 8, .height = 8, .format = U8, .channels = 5}},
    {"four channels of a compressed format", "0x9b has 3",
     .image = {.width = 8, .height = 8, .format = GR_FORMAT_BC6H_UF16, .channels = 4}},
    {"two channels of packed texels", "0x50 has 4",
     .image = {.width = 8, .height = 8, .format = GR_FORMAT_UNORM_INT_101010_2, .channels = 2}},
    {"a level too many", "8 mip levels", .image = {.width = 64, .height = 33, .levels = 8, RGBA8}},
    {"a level too many in 3D", "5 mip levels",
     .image = {.width = 4, .height = 4, .depth = 8, .levels = 5, RGBA8}},
    {"attachment and depth", "depth texture",
     .image = {.width = 8, .height = 8, .color_attachment = true, .depth_texture = true, RGBA8},
     .cited = MAP},
    {"larger than the memory", "does not fit", .image = {.width = 2049, .height = 2048, RGBA8},
     .cited = MAP},
    {"larger than the memory, compressed", "does not fit",
     .image = {.width = 2048, .height = 8193, .format = GR_FORMAT_BC6H_UF16, .channels = 3},
     .cited = MAP},
    {"larger than any memory", "does not fit",
     .image = {.width = SIZE_MAX / 16 + 1, .height = 8, RGBA32F}, .cited = MAP},
};

static const char *refused(const gr_external_memory_desc *info, const char *cited,
                           const char *words)
{
    REQUIRE(!gr_from_external_memory(info, GR_READ_WRITE));
    PASS_ON(refused_by_rule(cited, words));
    REQUIRE(recorder->calls(IMPORT) == 0 && recorder->calls(MAP) == 0);
    return NULL;
}

static const char *rule_broken(const void *row)
{
    const struct image_rule *rule = row;
    gr_external_memory_desc info = make(&rule->image);
    return refused(&info, rule->cited ? rule->cited : CREATE, rule->words);
}

static const gr_external_image_desc small = {.width = 8, .height = 8, .levels = 2, RGBA8};

static const char *size_of_image(const void *row)
{
    (void)row;
    gr_external_memory_desc info = make(&small);
    part.size = 256;
    return refused(&info, MAP, "size of 256 bytes");
}

static const char *offset_leaves_no_room(const void *row)
{
    (void)row;
    gr_external_memory_desc info = make(&small);
    part.offset = SIZE - 255;
    return refused(&info, MAP, "at least 256 bytes");
}

static const char *offset_beyond(const void *row)
{
    (void)row;
    gr_external_memory_desc info = make(&small);
    part.offset = SIZE;
    return refused(&info, MAP, "not within");
}

static const char *levels_in_nvscibuf(const void *row)
{
    (void)row;
    gr_external_memory_desc info = make(&small);
    info.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF;
    info.win32_handle = NULL;
    info.nvscibuf = SOME_NVSCI;
    return refused(&info, MAP, "2 mip levels");
}

static const char *in_dma_buf(const void *row)
{
    (void)row;
    gr_external_memory_desc info = make(&small);
    info.type = (CUexternalMemoryHandleType)DMABUF_FD;
    info.win32_handle = NULL;
    info.fd = fd_make();
    const char *wrong = refused(&info, MAP, "dma_buf");
    REQUIRE(fd_is_open(info.fd));
    fd_end(info.fd);
    return wrong;
}

/* The flags for images are invalid for buffers. */
static const char *surface_of_buffer(const void *row)
{
    (void)row;
    gr_error error;
    gr_external_memory_desc info = make(NULL);
    REQUIRE(!gr_from_external_memory(&info, GR_SURFACE_LOAD_STORE));
    REQUIRE((error = *gr_last_error()).status == GR_ERR_INVALID_VALUE);
    REQUIRE(strstr(error.message, "surface_load_store"));
    REQUIRE(recorder->calls(IMPORT) == 0);
    return NULL;
}

static const char *surface_of_blocks(const void *row)
{
    (void)row;
    gr_error error;
    const gr_external_image_desc image = {
        .width = 8, .height = 8, .format = GR_FORMAT_BC1_UNORM, .channels = 4};
    gr_external_memory_desc info = make(&image);
    REQUIRE(!gr_from_external_memory(&info, GR_SURFACE_LOAD_STORE));
    REQUIRE((error = *gr_last_error()).status == GR_ERR_UNSUPPORTED);
    REQUIRE(strstr(error.message, "compressed blocks"));
    REQUIRE(recorder->calls(IMPORT) == 0);
    return NULL;
}

static const char *driver_refuses(const void *row)
{
    (void)row;
    gr_external_memory_desc info = make(&small);
    recorder->answer(MAP, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!gr_from_external_memory(&info, GR_READ_WRITE));
    PASS_ON(refused_by_driver(GR_ERR_CUDA, CUDA_ERROR_INVALID_VALUE, MAP, "mapped"));
    REQUIRE(recorder->calls("cuDestroyExternalMemory") == 1);
    return NULL;
}

void image_cases(void)
{
    for (size_t i = 0; i < COUNT(shapes); i++)
        run_case("image", shapes[i].name, reaches_driver, &shapes[i]);
    for (size_t i = 0; i < COUNT(rules); i++)
        run_case("image", rules[i].name, rule_broken, &rules[i]);
    run_case("image", "a size below that of the image is refused", size_of_image, NULL);
    run_case("image", "an offset too near to the end is refused", offset_leaves_no_room, NULL);
    run_case("image", "an offset beyond the memory is refused", offset_beyond, NULL);
    run_case("image", "levels in NVSCIBUF are refused", levels_in_nvscibuf, NULL);
    run_case("image", "images in DMABUF_FD are refused", in_dma_buf, NULL);
    run_case("image", "the surface flag for a buffer is refused", surface_of_buffer, NULL);
    run_case("image", "the surface flag for compressed blocks is refused", surface_of_blocks, NULL);
    run_case("image", "a failed mapping ends the import", driver_refuses, NULL);
}
