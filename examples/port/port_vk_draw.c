/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Draws the sheet of port with Vulkan. share(), release_to_cuda() and port_vk_submit() use
 * grinterop; gr_vk_submit() adds waits, signals and barriers.
 */
#include "port_vk_draw.h"

#include "examples/support/cover.h"
#include "examples/support/mesh.h"
#include "port.h"
#include "examples/support/session.h"

/*
 * Runs once: creates the vertices and the texture in memory shared with CUDA. The kernels overwrite
 * both completely.
 */
static bool share(struct port_vk *p)
{
    gr_vk_device *device = p->vulkan->shared;
    const VkBufferCreateInfo vertices = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                         .size =
                                             PORT_COLUMNS * PORT_ROWS * sizeof(struct port_vertex),
                                         .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    const VkImageCreateInfo paper =
        vulkan_image_info(VK_FORMAT_R8G8B8A8_UNORM, PORT_TEXTURE_WIDTH, PORT_TEXTURE_HEIGHT,
                          VK_IMAGE_USAGE_SAMPLED_BIT);
    p->shared[PORT_VERTICES] = gr_vk_buffer_create(device, &vertices, GR_WRITE_DISCARD);
    p->shared[PORT_TEXTURE] =
        gr_vk_image_create(device, &paper, GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE);
    return (p->shared[PORT_VERTICES] && p->shared[PORT_TEXTURE]) ||
           failed_to("share the Vulkan vertices and texture with CUDA");
}

/* Runs once: releases the new resources to CUDA, which writes them first. */
static bool release_to_cuda(const struct port_vk *p)
{
    const gr_vk_use nothing = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT);
    const gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc, .last = &nothing);
    GR_AUTO(gr_submit) *submit = gr_submit_begin(p->shared, PORT_SHARED);
    return (submit && gr_vk_submit(submit, &desc) == GR_OK) ||
           failed_to("give the vertices and the texture to CUDA");
}

/* Submits a frame. CUDA owns both resources before and after the submit. */
bool port_vk_submit(const struct port_vk *p, gr_submit *submit, const VkSubmitInfo2 *info)
{
    const gr_vk_use drawing = GR_INIT(
        gr_vk_use,
        .stages = VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
        .access = VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_SHADER_READ_BIT,
        .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    const gr_vk_submit_desc desc =
        GR_INIT(gr_vk_submit_desc, .info = info, .fence = p->vulkan->fence, .first = &drawing,
                .last = &drawing);
    return gr_vk_submit(submit, &desc) == GR_OK || failed_to("submit a frame");
}

void port_vk_record(const struct port_vk *p, VkCommandBuffer commands)
{
    const struct vulkan *v = p->vulkan;
    const VkBuffer vertices = gr_vk_buffer(p->shared[PORT_VERTICES]);
    const VkDeviceSize start = 0;
    v->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, p->set.layout, 0, 1,
                             &p->set.set, 0, NULL);
    v->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, p->background);
    v->CmdDraw(commands, 3, 1, 0, 0);
    v->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, p->surface);
    v->CmdBindVertexBuffers(commands, 0, 1, &vertices, &start);
    v->CmdBindIndexBuffer(commands, p->indices.buffer, 0, VK_INDEX_TYPE_UINT32);
    v->CmdDrawIndexed(commands, (uint32_t)mesh_index_count(PORT_COLUMNS, PORT_ROWS), 1, 0, 0, 0);
}

static bool make_pipelines(struct port_vk *p, VkRenderPass pass)
{
    const struct vulkan *v = p->vulkan;
    const VkVertexInputBindingDescription binding = {0, sizeof(struct port_vertex),
                                                     VK_VERTEX_INPUT_RATE_VERTEX};
    const VkVertexInputAttributeDescription attributes[2] = {
        {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct port_vertex, place)},
        {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct port_vertex, normal)},
    };
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = 2,
        .pVertexAttributeDescriptions = attributes};
    struct vulkan_pipeline_info info = {.vertex = &cover_vert,
                                        .fragment = &port_background_frag,
                                        .layout = p->set.layout,
                                        .pass = pass};
    p->background = vulkan_graphics_pipeline(v, &info);
    if (p->background == VK_NULL_HANDLE)
        return false;
    info.vertex = &port_surface_vert;
    info.fragment = &port_surface_frag;
    info.vertices = &vertices;
    info.depth = true;
    p->surface = vulkan_graphics_pipeline(v, &info);
    return p->surface != VK_NULL_HANDLE;
}

static bool make_set(struct port_vk *p)
{
    const struct vulkan *v = p->vulkan;
    p->paper = vulkan_view(v, gr_vk_image(p->shared[PORT_TEXTURE]), VK_FORMAT_R8G8B8A8_UNORM);
    p->sampler = vulkan_sampler(v, VK_FILTER_LINEAR);
    const struct vulkan_binding bindings[2] = {
        {.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
         .stages = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
         .buffer = p->uniforms.buffer},
        {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
         .stages = VK_SHADER_STAGE_FRAGMENT_BIT,
         .view = p->paper,
         .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
         .sampler = p->sampler},
    };
    return p->paper != VK_NULL_HANDLE && p->sampler != VK_NULL_HANDLE &&
           vulkan_set_init(v, bindings, 2, 0, &p->set);
}

static bool make_buffers(struct port_vk *p)
{
    const struct vulkan *v = p->vulkan;
    const VkDeviceSize size = mesh_index_count(PORT_COLUMNS, PORT_ROWS) * sizeof(unsigned);
    if (!vulkan_buffer_init(v, sizeof(struct port_view), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
                            &p->uniforms) ||
        !vulkan_buffer_init(v, size, VK_BUFFER_USAGE_INDEX_BUFFER_BIT, &p->indices))
        return false;
    mesh_indices(PORT_COLUMNS, PORT_ROWS, p->indices.bytes);
    return true;
}

bool port_vk_init(struct port_vk *p, const struct vulkan *vulkan, VkRenderPass pass,
                  gr_resource *shared[PORT_SHARED])
{
    *p = (struct port_vk){.vulkan = vulkan, .shared = shared};
    return make_buffers(p) && share(p) && make_set(p) && make_pipelines(p, pass) &&
           release_to_cuda(p);
}

/* Frees everything in reverse order, once nothing is in use any more. */
void port_vk_free(struct port_vk *p)
{
    const struct vulkan *v = p->vulkan;
    if (!v)
        return;
    v->DestroyPipeline(v->device, p->surface, NULL);
    v->DestroyPipeline(v->device, p->background, NULL);
    vulkan_set_free(v, &p->set);
    v->DestroySampler(v->device, p->sampler, NULL);
    v->DestroyImageView(v->device, p->paper, NULL);
    vulkan_buffer_free(v, &p->indices);
    vulkan_buffer_free(v, &p->uniforms);
    for (int i = 0; i < PORT_SHARED; i++)
        gr_resource_free(p->shared[i]);
}
