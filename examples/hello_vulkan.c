/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * hello_vulkan: CUDA writes rings to a Vulkan image, Vulkan copies the image to a buffer, and CUDA
 * reads the buffer, which becomes hello_vulkan.png. The GPU orders these three steps. Run it in the
 * folder of its kernels, as hello.c explains:
 *
 *     cd build/kernels; ../examples/hello_vulkan
 */
#include <grinterop/cuda.h>
#include <grinterop/image.h>
#include <grinterop/vk.h>
#include <png.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

enum { WIDTH = 960, HEIGHT = 540 };

static unsigned char pixels[4 * WIDTH * HEIGHT];

static void check(bool good, const char *what)
{
    if (good)
        return;
    gr_error_print(stderr, what);
    exit(EXIT_FAILURE);
}

/* CUDA calls return their own error codes. */
static void check_cuda(CUresult result, const char *what)
{
    const char *code = "";
    if (result == CUDA_SUCCESS)
        return;
    if (gr_cuda()->GetErrorName(result, &code) != CUDA_SUCCESS)
        code = "an unknown error code";
    fprintf(stderr, "%s: %s\n", what, code);
    exit(EXIT_FAILURE);
}

static void launch(CUfunction rings, CUsurfObject surface, CUstream stream)
{
    int width = WIDTH, height = HEIGHT;
    float time = 1.0f;
    void *arguments[] = {&surface, &width, &height, &time};
    check(surface, "the surface");
    CUresult started = gr_cuda()->LaunchKernel(rings, (WIDTH + 15) / 16, (HEIGHT + 15) / 16, 1, 16,
                                               16, 1, 0, stream, arguments, NULL);
    check_cuda(started, "the launch");
}

/* Plain Vulkan: the commands of a frame, without any barriers for CUDA. */
static VkCommandBuffer record(VkDevice device, VkCommandPool pool, VkImage image, VkBuffer buffer)
{
    VkCommandBuffer commands;
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = pool,
                                             .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkBufferImageCopy all = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {WIDTH, HEIGHT, 1}};
    check(!vkAllocateCommandBuffers(device, &one, &commands), "a command buffer");
    check(!vkBeginCommandBuffer(commands, &begin), "a command buffer");
    vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1, &all);
    check(!vkEndCommandBuffer(commands), "a command buffer");
    return commands;
}

int main(void)
{
    /* CUDA and Vulkan on the same GPU, without a window; or both on the CPU if there is no GPU. */
    check(gr_cuda_load(true) == GR_OK, "CUDA");
    const gr_cuda_api *cuda = gr_cuda();
    GR_AUTO(gr_cuda_context) *context = gr_cuda_context_create(0);
    check(context, "the CUDA context");
    GR_AUTO(gr_vk_headless) *headless = gr_vk_headless_create(NULL);
    check(headless, "the Vulkan device");
    const gr_vk_headless_info *vk = gr_vk_headless_get_info(headless);
    GR_AUTO(gr_vk_device) *device = gr_vk_device_from_headless(headless, 0);
    check(device, "the Vulkan device for CUDA");

    CUmodule module;
    CUfunction rings;
    CUstream stream = gr_cuda_context_get_info(context)->stream;
    const char *kernels = gr_cuda_is_software() ? "./hello.so" : "./hello.fatbin";
    check_cuda(cuda->ModuleLoad(&module, kernels), kernels);
    check_cuda(cuda->ModuleGetFunction(&rings, module, "rings"), "the kernel");

    /* Once: an image and a buffer that Vulkan and CUDA share, and the Vulkan commands. */
    const VkImageCreateInfo image = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                     .imageType = VK_IMAGE_TYPE_2D,
                                     .format = VK_FORMAT_R8G8B8A8_UNORM,
                                     .extent = {WIDTH, HEIGHT, 1},
                                     .mipLevels = 1,
                                     .arrayLayers = 1,
                                     .samples = VK_SAMPLE_COUNT_1_BIT,
                                     .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = sizeof(pixels),
                                       .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    GR_AUTO(gr_resource) *drawn =
        gr_create_vk_image(device, &image, GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE);
    check(drawn, "the image");
    GR_AUTO(gr_resource) *read = gr_create_vk_buffer(device, &buffer, GR_READ_ONLY);
    check(read, "the buffer");
    gr_resource *const both[2] = {drawn, read};

    VkCommandPool pool;
    const VkCommandPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                            .queueFamilyIndex = vk->graphics_family};
    check(!vkCreateCommandPool(vk->device, &create, NULL, &pool), "a command pool");
    VkCommandBuffer commands = record(vk->device, pool, gr_vk_image(drawn), gr_vk_buffer(read));

    /* Once: hands the new image and buffer to CUDA. */
    check(gr_vk_hand_over(both, 2, VK_IMAGE_LAYOUT_UNDEFINED) == GR_OK, "the hand-over");

    /* Each frame: CUDA writes the image, ... */
    {
        GR_AUTO(gr_buffer) *mapped = gr_map(drawn, stream);
        check(mapped, "the map");
        launch(rings, gr_buffer_surface(mapped, 0, 0), stream);
    }
    /* ... Vulkan copies it into the buffer, ... */
    gr_status submitted =
        gr_vk_submit_commands(both, 2, commands, VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                              VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
                              VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    check(submitted == GR_OK, "the submit");
    /* ... and CUDA reads the buffer. */
    {
        GR_AUTO(gr_buffer) *mapped = gr_map(read, stream);
        check(mapped, "the map");
        CUresult copied =
            cuda->MemcpyDtoHAsync(pixels, gr_buffer_ptr(mapped), sizeof(pixels), stream);
        check_cuda(copied, "the copy");
    }
    check_cuda(cuda->StreamSynchronize(stream), "the stream");

    png_image png = {.version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT};
    png.format = PNG_FORMAT_RGBA;
    check(png_image_write_to_file(&png, "hello_vulkan.png", 0, pixels, 0, NULL), "the PNG");
    vkQueueWaitIdle(vk->graphics);
    vkDestroyCommandPool(vk->device, pool, NULL);
    return EXIT_SUCCESS;
}
