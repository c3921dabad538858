/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan buffers and rings while CUDA computes on a device other than that of Vulkan. Also tests
 * which objects CUDA refuses there.
 */
#include "peer_shared.h"

#include <stdio.h>
#include <string.h>

#define SIZE  65536
#define SLOTS 4

GROUP("Vulkan", add_peer_vulkan_case)

VULKAN_TEST(cuda_and_vulkan_see_the_same_bytes_of_a_buffer)
{
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    vulkan_bytes_both_ways(resource, gr_vk_buffer(resource), SIZE, 1);
}

VULKAN_TEST(cuda_and_vulkan_see_the_same_bytes_of_dedicated_memory)
{
    struct vulkan_own own = vulkan_own(SIZE, true);
    GR_AUTO(gr_resource) *resource = must_register_own(&own, SIZE, GR_READ_WRITE);
    vulkan_bytes_both_ways(resource, own.buffer, SIZE, 3);
}

VULKAN_TEST(frames_arrive_in_order_in_both_directions, 2)
{
    unsigned long wanted = frames_wanted();
    struct shared_ring r =
        shared_ring_begin(SLOTS, _i == 0 ? GR_SIDE_CUDA : GR_SIDE_GRAPHICS, GR_RING_LOSSLESS);
    for (unsigned long i = 1; i <= wanted; i++) {
        assert_ok(_i == 0 ? cuda_writes(r.ring) : vulkan_writes(r.ring));
        ck_assert_uint_eq(_i == 0 ? vulkan_reads(&r) : cuda_reads(r.ring), i);
        if (i % SLOTS == 0)
            vulkan_finish();
    }
    shared_ring_end(&r);
}

static const VkImageCreateInfo info = {
    .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
    .imageType = VK_IMAGE_TYPE_2D,
    .format = VK_FORMAT_R8G8B8A8_UNORM,
    .extent = {4, 4, 1},
    .mipLevels = 1,
    .arrayLayers = 1,
    .samples = VK_SAMPLE_COUNT_1_BIT,
    .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
};

VULKAN_TEST(images_and_memory_that_is_not_dedicated_are_refused)
{
    char other[32];
    struct vulkan_own own = vulkan_own(SIZE, false);
    const gr_vk_buffer_desc desc =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = SIZE);
    snprintf(other, sizeof(other), "CUDA device %d,", fx.device);
    const gr_vk_device_desc no_copies = vulkan_desc(NULL);
    GR_AUTO(gr_vk_device) *wrap = must_make(gr_vk_device_from_vk(&no_copies));
    assert_null(gr_create_vk_image(wrap, &info, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0,
                "CUDA device 0,");
    assert_null(gr_create_vk_image(wrap, &info, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0, other);
    assert_null(gr_from_vk_buffer(wrap, &desc, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0,
                "VkMemoryDedicatedAllocateInfo");
    assert_null(gr_from_vk_buffer(wrap, &desc, GR_READ_WRITE), GR_ERR_UNSUPPORTED, 0, other);
}

static void check_transport(gr_resource *resource, unsigned transport, const char *text)
{
    assert_made(resource);
    ck_assert_uint_eq(gr_resource_get_info(resource)->transport, transport);
    assert_described(resource, text);
    gr_resource_free(resource);
}

/*
 * Dedicated buffers are shared, if that is allowed. Other objects are copied from GPU to GPU, or
 * through host memory if only that is allowed.
 */
static const struct {
    unsigned allowed, buffers, others;
    const char *text;
} choices[] = {
    {GR_TRANSPORT_ANY, GR_TRANSPORT_EXTERNAL, GR_TRANSPORT_PEER,
     "images are copied from GPU to GPU"},
    {GR_TRANSPORT_EXTERNAL | GR_TRANSPORT_PEER, GR_TRANSPORT_EXTERNAL, GR_TRANSPORT_PEER,
     "images are copied from GPU to GPU"},
    {GR_TRANSPORT_EXTERNAL | GR_TRANSPORT_COPY, GR_TRANSPORT_EXTERNAL, GR_TRANSPORT_COPY,
     "images are copied through host memory"},
    {GR_TRANSPORT_PEER | GR_TRANSPORT_COPY, GR_TRANSPORT_PEER, GR_TRANSPORT_PEER,
     "share by copies from GPU to GPU"},
    {GR_TRANSPORT_PEER, GR_TRANSPORT_PEER, GR_TRANSPORT_PEER, "share by copies from GPU to GPU"},
    {GR_TRANSPORT_COPY, GR_TRANSPORT_COPY, GR_TRANSPORT_COPY, "share by copies through host"},
};

VULKAN_TEST(the_transports_decide_how_objects_are_copied, sizeof(choices) / sizeof(choices[0]))
{
    const char *copied =
        choices[_i].others == GR_TRANSPORT_PEER ? "peer, through memory of the Vulkan GPU" : "copy";
    const char *shared = choices[_i].buffers == GR_TRANSPORT_EXTERNAL ? "external" : copied;
    struct vulkan_own own = vulkan_own(SIZE, false);
    const gr_vk_buffer_desc desc =
        GR_INIT(gr_vk_buffer_desc, .buffer = own.buffer, .memory = own.memory,
                .memory_size = own.memory_size, .size = SIZE);
    const VkBufferCreateInfo buffer = vulkan_buffer_info(SIZE);
    gr_vk_device_desc wish = vulkan_desc(NULL);
    wish.transports = choices[_i].allowed;
    GR_AUTO(gr_vk_device) *wrap = must_make(gr_vk_device_from_vk(&wish));
    const gr_vk_device_info *is = gr_vk_device_get_info(wrap);
    ck_assert_uint_eq(is->transport, choices[_i].buffers);
    ck_assert_int_eq(is->cuda_device, choices[_i].allowed == GR_TRANSPORT_COPY ? fx.device : 0);
    ck_assert_msg(strstr(is->description, choices[_i].text), "%s", is->description);
    check_transport(gr_create_vk_buffer(wrap, &buffer, GR_READ_WRITE), choices[_i].buffers, shared);
    check_transport(gr_from_vk_buffer(wrap, &desc, GR_READ_WRITE), choices[_i].others, copied);
    check_transport(gr_create_vk_image(wrap, &info, GR_READ_WRITE), choices[_i].others, copied);
}
