/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the source files of test_vk_copy. test_vk_copy.c defines the functions. */
#ifndef GR_TESTS_VK_COPY_H
#define GR_TESTS_VK_COPY_H

#include "tests/support/support_vulkan_image.h"

#define SIZE 65536

/*
 * Access to the host memory: Vulkan imports memory of CUDA, CUDA registers memory of Vulkan, or the
 * CPU copies between the memory of both. Or no host memory: CUDA imports memory of Vulkan.
 */
enum { IMPORTED, REGISTERED, BY_CPU, BY_PEER, WAYS };

/* The next device reports that it can create no images, or export none. */
extern bool refuses_images, refuses_exports;

/* Wraps the device. The caller frees the wrap. */
gr_vk_device *wrap_with(unsigned transports, bool synchronization2);

/* A wrap that copies. begin_copying_by() can create it without synchronization2. */
extern gr_vk_device *copying;
void begin_copying(int way);
void begin_copying_by(int way, bool synchronization2);
void end_copying(void);

/* A use by transfer commands. `layout` is for images. */
gr_vk_use transfers(VkImageLayout layout);

/*
 * A buffer of SIZE bytes in memory that was not allocated for export; `known`: the program names
 * the memory. And the image of an engine, which the caller destroys.
 */
gr_vk_buffer_desc hidden_buffer(bool known);
VkImage hidden_image(const VkImageCreateInfo *info);

/* Creates a buffer on the device `copying`. */
gr_resource *must_copy(size_t size, unsigned flags);

/* For BY_CPU: the next allocation cannot be registered with CUDA. Reset the faults after it. */
void refuse_registration(void);

/*
 * vk_copy_in_flight.c: registers a new buffer, or an image of several levels and layers, with
 * frames in flight. The caller ends the image. begin_image() lets Vulkan use it once, so that CUDA
 * has it.
 */
gr_resource *must_fly(unsigned flags, unsigned in_flight);
struct vulkan_image fly_image(unsigned flags, unsigned in_flight);
void begin_image(struct vulkan_image *image);
void submit_image(struct vulkan_image *image, struct vulkan_host *host, bool write);
void end_image(struct vulkan_image *image);

/* Vulkan fills a buffer of the device `copying`, or reads all its bytes. */
void fill_by_vulkan(gr_resource *resource, int value);
void check_all_by_vulkan(gr_resource *resource, int value);
void check_by_vulkan(gr_resource *resource, const unsigned char *bytes);

/* CUDA maps and fills a part, and `expected` gets the same bytes. */
void write_part(gr_resource *resource, size_t offset, size_t size, int value,
                unsigned char *expected);

/* Vulkan and CUDA fill the buffer in turn, and check the bytes of each other. */
void check_bytes_both_ways(gr_resource *resource);

/* Submits the commands, which use the buffer by transfers, between both barriers. */
void must_submit(gr_resource *resource, VkCommandBuffer commands);

/*
 * Ends the commands, and submits them between both barriers with gr_vk_submit(), without waiting.
 * VK_NULL_HANDLE: submits no commands.
 */
gr_status submit_with(gr_resource *const resources[], size_t n, VkCommandBuffer commands,
                      const gr_vk_use *first, const gr_vk_use *last);

/* The same with a submit that has begun. */
gr_status submit_to(gr_submit *submit, VkCommandBuffer commands, const gr_vk_use *first,
                    const gr_vk_use *last);

#endif
