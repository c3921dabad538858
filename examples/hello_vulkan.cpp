/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * hello_vulkan in C++: CUDA writes rings to a Vulkan image, Vulkan copies the image to a buffer,
 * and CUDA reads the buffer, which becomes hello_vulkan_cpp.png. Run it in the folder of its
 * kernels, as hello.c explains:
 *
 *     cd build/kernels; ../examples/hello_vulkan_cpp
 */
#include <grinterop/cuda.h>
#include <grinterop/vk.h>

#include <grinterop/gr.hpp>
#include <png.h>

using grinterop::check;

constexpr unsigned width = 960, height = 540;

static void check_vulkan(VkResult result, const char *what)
{
    if (result != VK_SUCCESS)
        throw std::runtime_error(std::string(what) + ": VkResult " + std::to_string(result));
}

/* Plain Vulkan: the commands of a frame, without any barriers for CUDA. */
class commands
{
    VkDevice device_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer buffer_ = VK_NULL_HANDLE;

public:
    commands(VkDevice device, uint32_t family) : device_(device)
    {
        const VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, 0,
                                           family};
        check_vulkan(vkCreateCommandPool(device, &pool, nullptr, &pool_), "a command pool");
    }
    commands(const commands &) = delete;
    ~commands()
    {
        vkDeviceWaitIdle(device_);
        vkDestroyCommandPool(device_, pool_, nullptr);
    }
    void record(VkImage image, VkBuffer buffer)
    {
        const VkCommandBufferAllocateInfo one{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              nullptr, pool_, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
        const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                             0, nullptr};
        const VkBufferImageCopy all{
            0, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, {}, {width, height, 1}};
        check_vulkan(vkAllocateCommandBuffers(device_, &one, &buffer_), "a command buffer");
        check_vulkan(vkBeginCommandBuffer(buffer_, &begin), "a command buffer");
        vkCmdCopyImageToBuffer(buffer_, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1,
                               &all);
        check_vulkan(vkEndCommandBuffer(buffer_), "a command buffer");
    }
    VkCommandBuffer get() const { return buffer_; }
};

int main()
try {
    /* CUDA and Vulkan on the same GPU, without a window; or both on the CPU if there is no GPU. */
    check(gr_cuda_load(true));
    const gr_cuda_api *cuda = gr_cuda();
    const grinterop::cuda_context context(gr_cuda_context_create(0));
    const grinterop::vk_headless headless(gr_vk_headless_create(nullptr));
    const gr_vk_headless_info &vk = *gr_vk_headless_get_info(headless.get());
    const grinterop::vk_device device = grinterop::vk_device::from_headless(headless);

    CUmodule module;
    CUfunction rings;
    CUstream stream = context.stream();
    const char *kernels = gr_cuda_is_software() ? "./hello.so" : "./hello.fatbin";
    check(cuda->ModuleLoad(&module, kernels), kernels);
    check(cuda->ModuleGetFunction(&rings, module, "rings"), "the kernel");

    /* Once: an image and a buffer that Vulkan and CUDA share, handed to CUDA, and the commands. */
    VkImageCreateInfo image{};
    image.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    image.imageType = VK_IMAGE_TYPE_2D;
    image.format = VK_FORMAT_R8G8B8A8_UNORM;
    image.extent = {width, height, 1};
    image.mipLevels = image.arrayLayers = 1;
    image.samples = VK_SAMPLE_COUNT_1_BIT;
    image.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    VkBufferCreateInfo buffer{};
    buffer.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    buffer.size = 4 * width * height;
    buffer.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    const grinterop::resource drawn(
        gr_create_vk_image(device.get(), &image, GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE));
    const grinterop::resource read(gr_create_vk_buffer(device.get(), &buffer, GR_READ_ONLY));
    commands copy(vk.device, vk.graphics_family);
    copy.record(gr_vk_image(drawn.get()), gr_vk_buffer(read.get()));
    grinterop::vk_hand_over({drawn, read}, VK_IMAGE_LAYOUT_UNDEFINED);

    /* Each frame: CUDA writes the image, ... */
    {
        const grinterop::mapping mapped = drawn.map(stream);
        CUsurfObject surface = mapped.surface();
        int size[] = {width, height};
        float time = 1.0f;
        void *arguments[] = {&surface, &size[0], &size[1], &time};
        check(cuda->LaunchKernel(rings, (width + 15) / 16, (height + 15) / 16, 1, 16, 16, 1, 0,
                                 stream, arguments, nullptr),
              "the launch");
    }
    /* ... Vulkan copies it into the buffer, ... */
    grinterop::vk_submit_commands({drawn, read}, copy.get(), VK_PIPELINE_STAGE_2_TRANSFER_BIT,
                                  VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    /* ... and CUDA reads the buffer. */
    std::vector<unsigned char> pixels(4 * width * height);
    {
        const grinterop::mapping mapped = read.map(stream);
        check(cuda->MemcpyDtoHAsync(pixels.data(), mapped.pointer(), mapped.size(), stream),
              "the copy");
    }
    check(cuda->StreamSynchronize(stream), "the stream");

    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = width;
    png.height = height;
    png.format = PNG_FORMAT_RGBA;
    if (!png_image_write_to_file(&png, "hello_vulkan_cpp.png", 0, pixels.data(), 0, nullptr))
        throw std::runtime_error(png.message);
} catch (const std::exception &error) {
    std::fprintf(stderr, "hello_vulkan_cpp: %s\n", error.what());
    return 1;
}
