/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * hello_engine: a Vulkan engine that keeps its own command buffers, submits, semaphores and log.
 * grinterop only adds barriers to the commands and semaphores to the submits. Vulkan clears an
 * image to another colour in each frame, and CUDA reads it. An engine that lets grinterop submit
 * needs less code: hello_vulkan.c.
 */
#include <grinterop/cuda.h>
#include <grinterop/image.h>
#include <grinterop/semaphore.h>
#include <grinterop/submit.h>
#include <grinterop/vk.h>
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

enum { SIDE = 64, FRAMES = 3 };

static unsigned char pixels[SIDE][SIDE][4];

static void check(bool good, const char *what)
{
    if (good)
        return;
    gr_error_print(stderr, what);
    exit(EXIT_FAILURE);
}

/* Makes a timeline semaphore of the engine. CUDA can import only those made for export. */
static VkSemaphore make_timeline(VkDevice device, bool for_export)
{
    VkSemaphore made;
    const VkExportSemaphoreCreateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .pNext = for_export ? &export : NULL,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo create = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                          .pNext = &type};
    check(!vkCreateSemaphore(device, &create, NULL, &made), "a semaphore");
    return made;
}

static gr_resource *make_image(gr_vk_device *device, VkFormat format)
{
    const gr_vk_format_info *in_cuda = gr_vk_format_get_info(format);
    check(in_cuda && in_cuda->channels == 4, "the format");
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = format,
                                    .extent = {SIDE, SIDE, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    gr_resource *image = gr_create_vk_image(device, &info, GR_READ_ONLY);
    check(image, "the image");
    return image;
}

/*
 * Begins to use the image in Vulkan. In the first frame CUDA has not used the new image yet, so the
 * barrier only sets its layout.
 */
static void begin_use(VkCommandBuffer commands, gr_resource *image, const gr_vk_use *use, int frame)
{
    const VkImageMemoryBarrier new_image = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .newLayout = use->layout,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = gr_vk_image(image),
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    if (frame > 0)
        check(gr_vk_cmd_from_cuda(commands, &image, 1, use) == GR_OK, "the barrier after CUDA");
    else
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                             VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &new_image);
}

static VkCommandBuffer record(VkDevice device, VkCommandPool pool, gr_resource *image, int frame)
{
    VkCommandBuffer commands;
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = pool,
                                             .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkClearColorValue colour = {.float32 = {0, (float)frame / FRAMES, 1, 1}};
    const VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    const gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                  .access = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                  .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    check(!vkAllocateCommandBuffers(device, &one, &commands), "a command buffer");
    check(!vkBeginCommandBuffer(commands, &begin), "a command buffer");
    begin_use(commands, image, &use, frame);
    vkCmdClearColorImage(commands, gr_vk_image(image), use.layout, &colour, 1, &all);
    check(gr_vk_cmd_to_cuda(commands, &image, 1, &use) == GR_OK, "the barrier before CUDA");
    check(!vkEndCommandBuffer(commands), "a command buffer");
    return commands;
}

/* The engine's own submits, to which grinterop adds the semaphores for CUDA. */
static void submit_v1(VkQueue queue, VkCommandBuffer commands, gr_resource *image)
{
    VkSubmitInfo filled;
    const VkSubmitInfo own = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                              .commandBufferCount = 1,
                              .pCommandBuffers = &commands};
    GR_AUTO(gr_submit) *begun = gr_submit_begin(&image, 1);
    check(begun && gr_vk_submit_fill_v1(begun, &own, 0, &filled) == GR_OK, "the semaphores");
    check(!vkQueueSubmit(queue, 1, &filled, VK_NULL_HANDLE), "the submit");
    check(gr_submit_commit(begun) == GR_OK, "the commit");
}

static void submit(VkQueue queue, VkCommandBuffer commands, gr_resource *image)
{
    VkSubmitInfo2 filled;
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = commands};
    const VkSubmitInfo2 own = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                               .commandBufferInfoCount = 1,
                               .pCommandBufferInfos = &buffer};
    GR_AUTO(gr_submit) *begun = gr_submit_begin(&image, 1);
    check(begun && gr_vk_submit_fill(begun, &own, 0, &filled) == GR_OK, "the semaphores");
    check(!vkQueueSubmit2(queue, 1, &filled, VK_NULL_HANDLE), "the submit");
    check(gr_submit_commit(begun) == GR_OK, "the commit");
}

static void read_in_cuda(gr_resource *image, CUstream stream, int frame)
{
    GR_AUTO(gr_buffer) *mapped = gr_map(image, stream);
    const gr_linear_desc memory = GR_INIT(gr_linear_desc, .host = pixels);
    check(mapped && gr_buffer_copy_to_linear(mapped, 0, 0, &memory, stream) == GR_OK, "the copy");
    check(gr_cuda()->StreamSynchronize(stream) == CUDA_SUCCESS, "the stream");
    check(pixels[SIDE / 2][SIDE / 2][1] == 255 * frame / FRAMES, "the colour");
}

/* Waits on the host for a CUDA release. Each release signals the next value. */
static void wait_on_host(VkDevice device, const gr_semaphore *computed, uint64_t value)
{
    const VkSemaphore one = gr_vk_semaphore(computed);
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &one,
                                      .pValues = &value};
    check(!vkWaitSemaphores(device, &wait, UINT64_C(10000000000)), "the last release");
}

/* The engine's log: nothing in this program is a reason to warn. */
static void log_line(void *user, gr_log_level level, const char *line)
{
    (void)user, (void)level;
    check(false, line);
}

int main(void)
{
    check(gr_log_add(GR_LOG_WARNING, log_line, NULL) == GR_OK, "the log");
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    GR_AUTO(gr_vk_headless) *headless = gr_vk_headless_create(NULL);
    check(headless, "the Vulkan device");
    const gr_vk_headless_info *vk = gr_vk_headless_get_info(headless);
    GR_AUTO(gr_vk_device) *device = gr_vk_device_from_headless(headless, 0);
    check(device, "the Vulkan device for CUDA");
    bool exports = gr_vk_device_get_info(device)->has_semaphores;

    /* One semaphore comes from the engine, and one from grinterop. */
    VkSemaphore own = make_timeline(vk->device, exports);
    gr_semaphore *drawn = gr_semaphore_from_vk(
        device, &GR_INIT(gr_vk_semaphore_desc, .semaphore = own, .type = VK_SEMAPHORE_TYPE_TIMELINE,
                         .through_host = !exports));
    gr_semaphore *computed = gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE);
    check(drawn && computed, "the semaphores for CUDA");
    gr_resource *image = make_image(device, VK_FORMAT_R8G8B8A8_UNORM);
    check(gr_resource_set_sync(image, drawn, computed) == GR_OK, "the order");

    VkCommandPool pool;
    const VkCommandPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                            .queueFamilyIndex = vk->graphics_family};
    check(!vkCreateCommandPool(vk->device, &create, NULL, &pool), "a command pool");
    for (int frame = 0; frame < FRAMES; frame++) {
        (frame % 2 ? submit_v1 : submit)(vk->graphics, record(vk->device, pool, image, frame),
                                         image);
        read_in_cuda(image, gr_cuda_context_get_info(context)->stream, frame);
    }
    wait_on_host(vk->device, computed, FRAMES);
    vkQueueWaitIdle(vk->graphics);
    vkDestroyCommandPool(vk->device, pool, NULL);
    gr_resource_free(image);
    gr_semaphore_free(computed);
    gr_semaphore_free(drawn);
    vkDestroySemaphore(vk->device, own, NULL);
    gr_log_remove(log_line, NULL);
    printf("CUDA read %d frames that Vulkan drew.\n", FRAMES);
    return EXIT_SUCCESS;
}
