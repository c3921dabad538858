/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The rows in which Vulkan draws a mesh that CUDA writes. A ring has buffers that grinterop
 * creates, and the command buffers of each slot, recorded in advance. A group is one submit.
 */
#include "bench/frames/frames.h"

#include <string.h>

/* A value of a timeline semaphore; VK_NULL_HANDLE: none. */
struct point {
    VkSemaphore semaphore;
    uint64_t value;
};

static struct {
    gr_vk_device *shared, *copying; /* the device: sharing memory, copying through the host */
    gr_semaphore *moved;            /* the transfer queue signals each copy by the next value */
    uint64_t moves;                 /* the last value of `moved` */
    struct frames_vulkan_draw draw;
    struct bench_vk_object pixels;
} vulkan;

static struct bench_vk_queue *const GRAPHICS = &bench_vk.queues[BENCH_GRAPHICS];
static struct bench_vk_queue *const TRANSFER = &bench_vk.queues[BENCH_TRANSFER];

/* ---- The device ------------------------------------------------------------------------------ */

void frames_vulkan_open(void *none)
{
    (void)none;
    if (scene.gl_ordinal == FRAMES_SOFTWARE_GL)
        bench_fail("OpenGL draws on the CPU");
    bench_vk_open(scene.gl_ordinal);
    vulkan.shared = bench_vk_wrap(GRAPHICS, 0, true);
    vulkan.copying = bench_vk_wrap(GRAPHICS, GR_TRANSPORT_COPY, false);
    frames_vulkan_draw_init(&vulkan.draw);
    vulkan.pixels = bench_vk_buffer(FRAMES_PIXELS, VK_BUFFER_USAGE_TRANSFER_DST_BIT, false);
}

void frames_vulkan_need(void)
{
    if (*scene.no_vulkan != '\0')
        bench_fail("%s", scene.no_vulkan);
}

void frames_vulkan_drain(void)
{
    if (*scene.no_vulkan == '\0')
        VK(DeviceWaitIdle, bench_vk.on.device);
}

const char *frames_vulkan_describe(void)
{
    return *scene.no_vulkan != '\0' ? scene.no_vulkan
                                    : gr_vk_device_get_info(vulkan.shared)->description;
}

/* ---- Commands -------------------------------------------------------------------------------- */

static VkCommandBuffer begin(gr_resource *resource, const gr_vk_use *use)
{
    VkCommandBuffer commands =
        bench_vk_record(GRAPHICS, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    GR(vk_cmd_from_cuda, commands, &resource, 1, use);
    return commands;
}

static void end(VkCommandBuffer commands, gr_resource *resource, const gr_vk_use *use)
{
    GR(vk_cmd_to_cuda, commands, &resource, 1, use);
    VK(EndCommandBuffer, commands);
}

static void barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
                    VkPipelineStageFlags to, VkAccessFlags access)
{
    const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = written,
                                 .dstAccessMask = access};
    bench_vk.CmdPipelineBarrier(commands, from, to, 0, 1, &all, 0, NULL, 0, NULL);
}

static struct point first_point(gr_semaphore *const semaphores[], const uint64_t values[], size_t n)
{
    return n ? (struct point){gr_vk_semaphore(semaphores[0]), values[0]}
             : (struct point){VK_NULL_HANDLE, 0};
}

static void submit_to(const struct bench_vk_queue *queue, const VkCommandBuffer commands[],
                      uint32_t n, const struct point *wait, VkPipelineStageFlags stage,
                      const struct point *signal)
{
    const uint32_t waits = wait->semaphore != VK_NULL_HANDLE;
    const uint32_t signals = signal->semaphore != VK_NULL_HANDLE;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits,
        .pWaitSemaphoreValues = &wait->value,
        .signalSemaphoreValueCount = signals,
        .pSignalSemaphoreValues = &signal->value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = waits,
                               .pWaitSemaphores = &wait->semaphore,
                               .pWaitDstStageMask = &stage,
                               .commandBufferCount = n,
                               .pCommandBuffers = commands,
                               .signalSemaphoreCount = signals,
                               .pSignalSemaphores = &signal->semaphore};
    VK(QueueSubmit, queue->queue, 1, &info, VK_NULL_HANDLE);
}

/* Copies the target to host memory. The copy is not part of any frame. */
void frames_vulkan_read(void)
{
    const VkBufferImageCopy all = {.imageSubresource = BENCH_VK_COLOUR,
                                   .imageExtent = {FRAMES_TARGET, FRAMES_TARGET, 1}};
    VkCommandBuffer commands =
        bench_vk_record(GRAPHICS, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    bench_vk.CmdCopyImageToBuffer(commands, vulkan.draw.image.image,
                                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, vulkan.pixels.buffer, 1,
                                  &all);
    barrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    VK(EndCommandBuffer, commands);
    submit_to(GRAPHICS, &commands, 1, &(struct point){0}, 0, &(struct point){0});
    frames_vulkan_drain();
    memcpy(scene.pixels, vulkan.pixels.bytes, FRAMES_PIXELS);
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/* The device for a row. Few rows need the device for copies from GPU to GPU. */
static gr_vk_device *device_for(unsigned transport)
{
    return !transport                       ? vulkan.shared
           : transport == GR_TRANSPORT_PEER ? bench_vk_wrap(GRAPHICS, transport, false)
                                            : vulkan.copying;
}

/* With two command buffers per slot, the graphics and the transfer queue use the buffers. */
static gr_resource *make_buffer(gr_vk_device *device, bool two_families)
{
    const uint32_t families[] = {GRAPHICS->family, TRANSFER->family};
    const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .size = scene.bytes,
                                       .usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT,
                                       .sharingMode = two_families ? VK_SHARING_MODE_CONCURRENT
                                                                   : VK_SHARING_MODE_EXCLUSIVE,
                                       .queueFamilyIndexCount = two_families ? 2 : 0,
                                       .pQueueFamilyIndices = families};
    gr_resource *resource;
    GR_KEEP(resource, create_vk_buffer, device, &buffer, GR_WRITE_DISCARD);
    return resource;
}

static void make_ring(struct frames_run *run, unsigned commands,
                      void (*record)(struct frames_run *run, gr_resource *resource, unsigned slot))
{
    gr_resource *resources[FRAMES_MOST_SLOTS];
    const struct frames_kind *kind = run->kind;
    frames_vulkan_need();
    gr_vk_device *device = device_for(kind->transport);
    run->commands = bench_alloc((size_t)kind->slots * commands * sizeof(VkCommandBuffer));
    for (unsigned i = 0; i < kind->slots; i++) {
        resources[i] = make_buffer(device, commands == 2);
        record(run, resources[i], i);
    }
    GR_KEEP(run->ring, ring_create, resources, kind->slots, NULL);
}

/* The command buffers of the next slots; without slots, of the first one. */
static void choose_commands(const struct frames_run *run, VkCommandBuffer commands[])
{
    for (unsigned i = 0; i < run->kind->group; i++)
        commands[i] = run->commands[run->slots[i] ? run->slots[i]->index : 0];
}

static void graphics_ring(struct frames_run *run)
{
    VkCommandBuffer commands[FRAMES_MOST_GROUP];
    frames_acquire(run, GR_STREAM_NONE, false);
    choose_commands(run, commands);
    gr_submit *points = run->slots[0]->submit;
    const struct point wait = first_point(points->waits, points->wait_values, points->wait_count);
    const struct point signal =
        first_point(points->signals, points->signal_values, points->signal_count);
    submit_to(GRAPHICS, commands, run->kind->group, &wait,
              VK_PIPELINE_STAGE_VERTEX_INPUT_BIT |
                  (run->kind->transport ? VK_PIPELINE_STAGE_TRANSFER_BIT : 0),
              &signal);
    GR(submit_commit, points);
    frames_pass_on(run, false);
}

static void graphics_alone(struct frames_run *run)
{
    VkCommandBuffer commands[FRAMES_MOST_GROUP];
    choose_commands(run, commands);
    submit_to(GRAPHICS, commands, 1, &(struct point){0}, 0, &(struct point){0});
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static const gr_vk_use DRAWING = {.struct_size = sizeof(gr_vk_use),
                                  .stages = VK_PIPELINE_STAGE_VERTEX_INPUT_BIT,
                                  .access = VK_ACCESS_VERTEX_ATTRIBUTE_READ_BIT};

static void write_once(gr_resource *vertices)
{
    gr_buffer *buffer;
    GR_NEW(buffer, map, vertices, scene.on.stream);
    frames_launch(gr_buffer_ptr(buffer));
    GR(buffer_release, buffer);
    frames_drain();
}

static void record_points(struct frames_run *run, gr_resource *vertices, unsigned slot)
{
    VkCommandBuffer commands = run->commands[slot] = begin(vertices, &DRAWING);
    frames_vulkan_draw_points(&vulkan.draw, commands, gr_vk_buffer(vertices));
    end(commands, vertices, &DRAWING);
    /* A row that only draws needs a mesh. */
    if (run->kind->unchecked && slot == 0)
        write_once(vertices);
}

static void open_buffers(struct frames_run *run)
{
    make_ring(run, 1, record_points);
}

static const gr_vk_use WRITING = {.struct_size = sizeof(gr_vk_use),
                                  .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                  .access = VK_ACCESS_TRANSFER_WRITE_BIT};

/* ---- The transfer queue: the copy of a frame overlaps the drawing of the frame before ----------
 */

/* For each slot: the copy from the staging memory, and the drawing. */
static void record_both(struct frames_run *run, gr_resource *vertices, unsigned slot)
{
    const VkCommandBufferUsageFlags reused = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    VkCommandBuffer copy = run->commands[2 * slot] = bench_vk_record(TRANSFER, reused);
    VkCommandBuffer draw = run->commands[2 * slot + 1] = bench_vk_record(GRAPHICS, reused);
    GR(vk_cmd_from_cuda, copy, &vertices, 1, &WRITING);
    VK(EndCommandBuffer, copy);
    frames_vulkan_draw_points(&vulkan.draw, draw, gr_vk_buffer(vertices));
    end(draw, vertices, &DRAWING);
}

static void open_two_queues(struct frames_run *run)
{
    frames_vulkan_need();
    if (TRANSFER->queue == VK_NULL_HANDLE)
        bench_fail("the device has no transfer queue");
    GR_KEEP(vulkan.moved, semaphore_create_vk, vulkan.copying, VK_SEMAPHORE_TYPE_TIMELINE);
    vulkan.moves = 0;
    make_ring(run, 2, record_both);
}

static void move_and_draw(struct frames_run *run)
{
    frames_acquire(run, GR_STREAM_NONE, false);
    gr_submit *points = run->slots[0]->submit;
    const VkCommandBuffer *commands = &run->commands[2 * run->slots[0]->index];
    const struct point released =
        first_point(points->waits, points->wait_values, points->wait_count);
    const struct point drawn =
        first_point(points->signals, points->signal_values, points->signal_count);
    const struct point moved = {gr_vk_semaphore(vulkan.moved), ++vulkan.moves};
    submit_to(TRANSFER, commands, 1, &released, VK_PIPELINE_STAGE_TRANSFER_BIT, &moved);
    submit_to(GRAPHICS, commands + 1, 1, &moved, VK_PIPELINE_STAGE_VERTEX_INPUT_BIT, &drawn);
    GR(submit_commit, points);
    frames_pass_on(run, false);
}

/* ---- The rows -------------------------------------------------------------------------------- */

static const struct frames_way drawing = {.open = open_buffers, .graphics = graphics_alone};
static const struct frames_way buffers = {
    .open = open_buffers, .cuda = frames_cuda_ring, .graphics = graphics_ring};
static const struct frames_way two_queues = {
    .open = open_two_queues, .cuda = frames_cuda_ring, .graphics = move_and_draw};

#define ROW(key, label, slots, group, ...)                                                         \
    FRAMES_ROW("Vulkan, gr_ring", "vulkan/" key, label, slots, group, __VA_ARGS__, .vulkan = true)
#define PEER GR_TRANSPORT_PEER
#define HOST GR_TRANSPORT_COPY

const struct frames_kind frames_vulkan_rows[] = {
    ROW("draw", "draw alone", 1, 1, &drawing, .unchecked = true),
    ROW("1", "1 in flight", 3, 1, &buffers),
    ROW("16", "16 in flight", 18, 1, &buffers),
    ROW("64", "groups of 64", 128, 64, &buffers),
    ROW("copy/1", "copy, 1 in flight", 3, 1, &buffers, HOST),
    ROW("copy/4", "copy, 4 in flight", 6, 1, &buffers, HOST),
    ROW("peer/1", "peer, 1 in flight", 3, 1, &buffers, PEER, .across = true),
    ROW("peer/4", "peer, 4 in flight", 6, 1, &buffers, PEER, .across = true),
    ROW("copy/queue", "copy on the transfer queue, 4", 6, 1, &two_queues, HOST),
    {.slots = 0},
};
