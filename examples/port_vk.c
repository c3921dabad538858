/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port's renderer in Vulkan. What is grinterop's here: share(), give_away() and submit_frame().
 * Waits, signals and barriers are put in by gr_vk_submit().
 */
#include "port_renderer.h"

#include <stdlib.h>
#include <string.h>

#include "cover.h"
#include "mesh.h"
#include "port.h"
#include "session.h"
#include "vulkan_pipeline.h"
#include "vulkan_target.h"

struct renderer {
    struct vulkan vulkan;
    struct vulkan_target target;
    struct vulkan_buffer uniforms, indices;
    gr_resource **shared;
    VkImageView paper;
    VkSampler sampler;
    struct vulkan_set set;
    VkPipeline background, surface;
    VkCommandBufferSubmitInfo frame; /* its commands; each one is the same */
};

/*
 * Once: makes the vertices and the texture so that CUDA shares them. The kernels write all of both,
 * so nothing need be kept.
 */
static bool share(struct renderer *r)
{
    gr_vk_device *device = r->vulkan.shared;
    const VkBufferCreateInfo vertices = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                         .size =
                                             PORT_COLUMNS * PORT_ROWS * sizeof(struct port_vertex),
                                         .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    const VkImageCreateInfo paper =
        vulkan_image_info(VK_FORMAT_R8G8B8A8_UNORM, PORT_TEXTURE_WIDTH, PORT_TEXTURE_HEIGHT,
                          VK_IMAGE_USAGE_SAMPLED_BIT);
    r->shared[PORT_VERTICES] = gr_vk_buffer_create(device, &vertices, GR_WRITE_DISCARD);
    r->shared[PORT_TEXTURE] =
        gr_vk_image_create(device, &paper, GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE);
    return (r->shared[PORT_VERTICES] && r->shared[PORT_TEXTURE]) ||
           failed_to("share Vulkan's vertices and texture with CUDA");
}

/* Once: they are new, and CUDA writes them first. */
static bool give_away(const struct renderer *r)
{
    const gr_vk_use nothing = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT);
    const gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc, .last = &nothing);
    GR_AUTO(gr_submit) *submit = gr_submit_begin(r->shared, PORT_SHARED);
    return (submit && gr_vk_submit(submit, &desc) == GR_OK) ||
           failed_to("give the vertices and the texture to CUDA");
}

/* A frame: both are CUDA's before it and after it. */
static bool submit_frame(const struct renderer *r, gr_submit *submit)
{
    const gr_vk_use drawing = GR_INIT(
        gr_vk_use,
        .stages = VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
        .access = VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_SHADER_READ_BIT,
        .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &r->frame};
    const gr_vk_submit_desc desc =
        GR_INIT(gr_vk_submit_desc, .info = &info, .fence = r->vulkan.fence, .first = &drawing,
                .last = &drawing);
    return gr_vk_submit(submit, &desc) == GR_OK || failed_to("submit a frame");
}

static void record_drawing(const struct renderer *r, VkCommandBuffer commands)
{
    const struct vulkan *v = &r->vulkan;
    const VkBuffer vertices = gr_vk_buffer(r->shared[PORT_VERTICES]);
    const VkDeviceSize start = 0;
    vulkan_target_begin(v, &r->target, commands);
    v->CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->set.layout, 0, 1,
                             &r->set.set, 0, NULL);
    v->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->background);
    v->CmdDraw(commands, 3, 1, 0, 0);
    v->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->surface);
    v->CmdBindVertexBuffers(commands, 0, 1, &vertices, &start);
    v->CmdBindIndexBuffer(commands, r->indices.buffer, 0, VK_INDEX_TYPE_UINT32);
    v->CmdDrawIndexed(commands, (uint32_t)mesh_index_count(PORT_COLUMNS, PORT_ROWS), 1, 0, 0, 0);
    vulkan_target_end(v, &r->target, commands);
}

static bool record(struct renderer *r)
{
    const VkCommandBuffer commands = vulkan_record(&r->vulkan, 0);
    if (!commands)
        return false;
    record_drawing(r, commands);
    r->frame = (VkCommandBufferSubmitInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                           .commandBuffer = commands};
    return vulkan_ok(r->vulkan.EndCommandBuffer(commands), "record commands");
}

static bool draw(void *renderer, gr_submit *submit, const struct port_view *view,
                 unsigned char *pixels)
{
    const struct renderer *r = renderer;
    memcpy(r->uniforms.bytes, view, sizeof(*view));
    if (!submit_frame(r, submit) || !vulkan_wait(&r->vulkan))
        return false;
    memcpy(pixels, r->target.pixels.bytes, 4 * (size_t)r->target.width * (size_t)r->target.height);
    return true;
}

static bool make_pipelines(struct renderer *r)
{
    const struct vulkan *v = &r->vulkan;
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
                                        .layout = r->set.layout,
                                        .pass = r->target.pass};
    r->background = vulkan_graphics_pipeline(v, &info);
    if (r->background == VK_NULL_HANDLE)
        return false;
    info.vertex = &port_surface_vert;
    info.fragment = &port_surface_frag;
    info.vertices = &vertices;
    info.depth = true;
    r->surface = vulkan_graphics_pipeline(v, &info);
    return r->surface != VK_NULL_HANDLE;
}

static bool make_set(struct renderer *r)
{
    const struct vulkan *v = &r->vulkan;
    r->paper = vulkan_view(v, gr_vk_image(r->shared[PORT_TEXTURE]), VK_FORMAT_R8G8B8A8_UNORM);
    r->sampler = vulkan_sampler(v, VK_FILTER_LINEAR);
    const struct vulkan_binding bindings[2] = {
        {.type = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
         .stages = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
         .buffer = r->uniforms.buffer},
        {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
         .stages = VK_SHADER_STAGE_FRAGMENT_BIT,
         .view = r->paper,
         .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
         .sampler = r->sampler},
    };
    return r->paper != VK_NULL_HANDLE && r->sampler != VK_NULL_HANDLE &&
           vulkan_set_init(v, bindings, 2, 0, &r->set);
}

static bool make_objects(struct renderer *r, int width, int height)
{
    const struct vulkan *v = &r->vulkan;
    const VkDeviceSize size = mesh_index_count(PORT_COLUMNS, PORT_ROWS) * sizeof(unsigned);
    if (!vulkan_target_init(v, width, height, &r->target) ||
        !vulkan_buffer_init(v, sizeof(struct port_view), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
                            &r->uniforms) ||
        !vulkan_buffer_init(v, size, VK_BUFFER_USAGE_INDEX_BUFFER_BIT, &r->indices))
        return false;
    mesh_indices(PORT_COLUMNS, PORT_ROWS, r->indices.bytes);
    return true;
}

/* Backwards, once nothing of it is in use any more. */
static bool close_renderer(void *renderer)
{
    struct renderer *r = renderer;
    if (!r)
        return true;
    struct vulkan *v = &r->vulkan;
    if (v->DeviceWaitIdle) {
        v->DeviceWaitIdle(v->device);
        v->DestroyPipeline(v->device, r->surface, NULL);
        v->DestroyPipeline(v->device, r->background, NULL);
        vulkan_set_free(v, &r->set);
        v->DestroySampler(v->device, r->sampler, NULL);
        v->DestroyImageView(v->device, r->paper, NULL);
        vulkan_buffer_free(v, &r->indices);
        vulkan_buffer_free(v, &r->uniforms);
        vulkan_target_free(v, &r->target);
    }
    for (int i = 0; i < PORT_SHARED; i++)
        gr_resource_free(r->shared[i]);
    const bool silent = vulkan_close(v);
    free(r);
    return silent;
}

static void *open_renderer(int width, int height, bool validate, gr_resource *shared[PORT_SHARED])
{
    struct renderer *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->shared = shared;
    if (vulkan_open(&r->vulkan, VULKAN_GRAPHICS, validate) && make_objects(r, width, height) &&
        share(r) && make_set(r) && make_pipelines(r) && record(r) && give_away(r))
        return r;
    close_renderer(r);
    return NULL;
}

const struct port_renderer port_vk = {"vk", open_renderer, draw, close_renderer};
