/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan images for the tests: formats, shapes, and the bytes of every level and layer. */
#ifndef GR_TESTS_SUPPORT_VULKAN_IMAGE_H
#define GR_TESTS_SUPPORT_VULKAN_IMAGE_H

#include "support_vulkan.h"

#include <cuda.h>
#include <grinterop/image.h>

/* ---- Formats --------------------------------------------------------------------------------- */

enum {
    FORMAT_NORMALIZED = 1,
    FORMAT_SRGB = 2,
    FORMAT_DEPTH = 4,
    FORMAT_SWAPPED = 8,
    FORMAT_FLOAT = 16,
    FORMAT_COMPRESSED = 32 /* in blocks of 4 x 4 texels */
};

/* A format that CUDA supports, and its CUDA equivalent. */
struct vulkan_format {
    const char *name;
    VkFormat format;
    unsigned cuda; /* a GR_FORMAT */
    unsigned channels;
    unsigned element_bytes; /* of a texel or a compressed block */
    unsigned is;
};

extern const struct vulkan_format vulkan_formats[];
extern const size_t vulkan_format_count;

/* Looks up a format. NULL if CUDA does not support it. */
const struct vulkan_format *vulkan_format(VkFormat format);

/* ---- Shapes ---------------------------------------------------------------------------------- */

struct vulkan_shape {
    const char *name;
    VkImageType type;
    unsigned layers, slices;
    bool cube;
};

extern const struct vulkan_shape vulkan_shapes[];
extern const size_t vulkan_shape_count;
const struct vulkan_shape *vulkan_shape(const char *name);

/* ---- Images ---------------------------------------------------------------------------------- */

struct vulkan_image {
    const struct vulkan_format *format;
    const struct vulkan_shape *shape;
    VkImageCreateInfo info;
    gr_vk_image_desc own; /* set by vulkan_image_own() */
    VkImage image;
    gr_resource *resource;
    bool cudas; /* the image has been handed to CUDA; until then it has no contents */
};

/*
 * The create info of an image with `usage` and transfer usage; height and layers depend on the
 * shape.
 */
VkImageCreateInfo vulkan_image_info(const struct vulkan_format *format,
                                    const struct vulkan_shape *shape, unsigned width,
                                    unsigned height, unsigned levels, VkImageUsageFlags usage);

/* Whether this device can share an image with this create info. */
bool vulkan_image_possible(const VkImageCreateInfo *info);

/*
 * Creates an image with gr_create_vk_image(). On failure the resource is NULL and the error is set.
 */
struct vulkan_image vulkan_image_try(const struct vulkan_format *format,
                                     const struct vulkan_shape *shape, unsigned width,
                                     unsigned height, unsigned levels, VkImageUsageFlags usage,
                                     unsigned flags);

/* Like vulkan_image_try(), but must succeed. */
struct vulkan_image vulkan_image(VkFormat format, const char *shape, unsigned width,
                                 unsigned height, unsigned levels, VkImageUsageFlags usage,
                                 unsigned flags);

/*
 * An image that the test creates in its own memory, and one that it registers with
 * gr_from_vk_image(), too. The caller sets own.create_info = &info of the first.
 */
struct vulkan_image vulkan_image_unregistered(VkFormat format, const char *shape, unsigned width,
                                              unsigned height, unsigned levels, bool dedicated);
struct vulkan_image vulkan_image_own(VkFormat format, const char *shape, unsigned width,
                                     unsigned height, unsigned levels, bool dedicated,
                                     unsigned flags);
void vulkan_image_own_free(struct vulkan_image *image);

/* The width and height of one level in texels, and the number of bytes of one of its layers. */
unsigned vulkan_image_width(const struct vulkan_image *image, unsigned level);
unsigned vulkan_image_height(const struct vulkan_image *image, unsigned level);
size_t vulkan_image_bytes(const struct vulkan_image *image, unsigned level);

/* ---- Texels ---------------------------------------------------------------------------------- */

/* The pattern of one level and layer; `number` distinguishes fills. */
void vulkan_image_pattern(const struct vulkan_image *image, unsigned level, unsigned layer,
                          unsigned number, void *texels);

/* Record the transfer of the image from and to CUDA with grinterop's barriers. */
void vulkan_cmd_from_cuda(VkCommandBuffer commands, struct vulkan_image *image,
                          VkImageLayout layout, VkAccessFlags access);
void vulkan_cmd_to_cuda(VkCommandBuffer commands, struct vulkan_image *image, VkImageLayout layout,
                        VkAccessFlags access);

/* Writes every level and layer with Vulkan, releases the image to CUDA, and waits. */
void vulkan_image_fill(struct vulkan_image *image, unsigned number);

/* Clears all texels of an image with a single level and layer, which was filled before. */
void vulkan_image_clear(struct vulkan_image *image, const VkClearColorValue *colour);

/* Returns NULL, or how the contents in Vulkan differ from the pattern with that number. */
const char *vulkan_image_differs(struct vulkan_image *image, unsigned number);
#define assert_vulkan_image(image, number) assert_no_difference(vulkan_image_differs(image, number))

/* Maps the image on fx.stream. */
gr_buffer *must_map_vulkan(const struct vulkan_image *image);

/* Hands a new image without contents to CUDA, and maps the image. */
gr_buffer *must_hand_over(struct vulkan_image *image);

/* Releases the buffer and frees the resource. */
void vulkan_image_end(const struct vulkan_image *image, gr_buffer *buffer);

/* Like vulkan_image_fill() and vulkan_image_differs(), but with CUDA and for a mapped image. */
void cuda_image_fill(gr_buffer *buffer, const struct vulkan_image *image, unsigned number);
const char *cuda_image_differs(gr_buffer *buffer, const struct vulkan_image *image,
                               unsigned number);

#endif
