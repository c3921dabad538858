/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * gr_vk_submit(): the application records only its own commands, without barriers or semaphores,
 * and grinterop adds the barriers and semaphores. The validation layer is on. The loop cases run on
 * devices with and without synchronization2, with shared memory and with copies.
 */
#include "vk_submit.h"

#include <string.h>

#define LATE_MS 60
#define FRAMES  12

/* ---- Devices, and the calls that they receive ------------------------------------------------ */

unsigned pools;                /* the number of created command pools */
static VkResult submit_result; /* if not VK_SUCCESS, submits fail with this error */
unsigned submits[2];           /* the number of submits by vkQueueSubmit2 and by vkQueueSubmit */
static VkPipelineStageFlags2 first_stages; /* of the first wait of the last submit */

static VKAPI_ATTR VkResult VKAPI_CALL count_pool(VkDevice device,
                                                 const VkCommandPoolCreateInfo *info,
                                                 const VkAllocationCallbacks *callbacks,
                                                 VkCommandPool *pool)
{
    pools++;
    return ((PFN_vkCreateCommandPool)vulkan_device_function(device, "vkCreateCommandPool"))(
        device, info, callbacks, pool);
}

/* Whether the submit must fail. If not, counts the submit. */
static bool is_refused(int kind)
{
    submits[kind] += submit_result == VK_SUCCESS;
    return submit_result != VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit2(VkQueue queue, uint32_t n, const VkSubmitInfo2 *info,
                                              VkFence fence)
{
    if (is_refused(WITH_SYNCHRONIZATION2))
        return submit_result;
    first_stages = info->waitSemaphoreInfoCount ? info->pWaitSemaphoreInfos->stageMask : 0;
    return ((PFN_vkQueueSubmit2)vulkan_device_function(vk.h->device, "vkQueueSubmit2KHR"))(
        queue, n, info, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit1(VkQueue queue, uint32_t n, const VkSubmitInfo *info,
                                              VkFence fence)
{
    first_stages = info->waitSemaphoreCount ? *info->pWaitDstStageMask : 0;
    return is_refused(PLAIN) ? submit_result : vk.QueueSubmit(queue, n, info, fence);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_function(VkDevice device, const char *name)
{
    if (strcmp(name, "vkCreateCommandPool") == 0)
        return (PFN_vkVoidFunction)count_pool;
    if (strcmp(name, "vkQueueSubmit") == 0)
        return (PFN_vkVoidFunction)submit1;
    if (strcmp(name, "vkQueueSubmit2") == 0)
        return (PFN_vkVoidFunction)submit2;
    return vulkan_device_function(device, name);
}

gr_vk_device *device;

void begin_device(int kind)
{
    bool is_new = kind % COPIED == WITH_SYNCHRONIZATION2;
    if (is_new && !vk.h->synchronization2)
        skip("this Vulkan device has no synchronization2");
    pools = submits[0] = submits[1] = 0;
    submit_result = VK_SUCCESS;
    gr_vk_device_desc info = vulkan_desc(device_function);
    info.synchronization2 = is_new;
    info.transports = kind / COPIED ? GR_TRANSPORT_COPY : GR_TRANSPORT_EXTERNAL | GR_TRANSPORT_PEER;
    device = must_make(gr_vk_device_from_vk(&info));
}

void end_device(void)
{
    VK(QueueWaitIdle(vk.h->graphics));
    CU(StreamSynchronize(fx.stream));
    gr_vk_device_free(device);
}

/* ---- Submits --------------------------------------------------------------------------------- */

const gr_vk_use copying = {
    .struct_size = sizeof(gr_vk_use),
    .stages = VK_PIPELINE_STAGE_2_TRANSFER_BIT,
    .access = VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
    .layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
};

gr_resource *make_buffer(void)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    return must_make(gr_create_vk_buffer(device, &info, GR_READ_WRITE));
}

/* Records a fill, without barriers for the resource. */
static VkCommandBuffer record_fill(gr_resource *resource, int value)
{
    VkCommandBuffer commands = vulkan_begin();
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE,
                     (uint32_t)(unsigned char)value * 0x01010101u);
    VK(EndCommandBuffer(commands));
    return commands;
}

static VkCommandBuffer record_read(gr_resource *resource, const struct vulkan_host *to)
{
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_copy_to_host(commands, gr_vk_buffer(resource), to, 0, SIZE);
    VK(EndCommandBuffer(commands));
    return commands;
}

static VkFence new_fence(void)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    VK(CreateFence(vk.h->device, &info, NULL, &fence));
    return fence;
}

static gr_status submit_used(gr_resource *const resources[], size_t n, VkCommandBuffer commands,
                             VkFence fence, const gr_vk_use *use)
{
    if (!fence)
        return gr_vk_submit_commands(resources, n, commands, use->stages, use->access, use->layout);
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = commands};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &buffer};
    GR_AUTO(gr_submit) *submit = must_make(gr_submit_begin(resources, n));
    return gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .info = &info, .fence = fence,
                                         .first = use, .last = use));
}

static gr_status submit_commands(gr_resource *const resources[], size_t n, VkCommandBuffer commands,
                                 VkFence fence)
{
    return submit_used(resources, n, commands, fence, &copying);
}

static void check_read(gr_resource *resource, int value)
{
    struct vulkan_host *seen = vulkan_host(SIZE);
    VkFence fence = new_fence();
    assert_ok(submit_commands(&resource, 1, record_read(resource, seen), fence));
    VK(WaitForFences(vk.h->device, 1, &fence, VK_TRUE, 20000000000u));
    VK(QueueWaitIdle(vk.h->graphics));
    vk.DestroyFence(vk.h->device, fence, NULL);
    assert_bytes(seen->bytes, SIZE, value);
}

GROUP("submits", add_vulkan_case)

/*
 * Vulkan fills the buffer; CUDA reads it and writes to it late; Vulkan reads it. The host does not
 * wait in between.
 */
VULKAN_TEST(frames_pass_both_ways_without_a_host_wait, DEVICE_KINDS)
{
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    for (int i = 0; i < FRAMES; i++) {
        assert_ok(submit_commands(&resource, 1, record_fill(resource, i), VK_NULL_HANDLE));
        gr_buffer *buffer = must_map(resource);
        assert_cuda_bytes(buffer, i);
        gate_open_after(gate_put(fx.stream), i ? 1 : LATE_MS);
        cuda_fill(buffer, 0x80 + i);
        assert_ok(gr_buffer_release(buffer));
        check_read(resource, 0x80 + i);
    }
    ck_assert_uint_eq(submits[_i % COPIED], 2 * FRAMES);
    ck_assert_uint_eq(submits[!(_i % COPIED)], 0);
    end_device();
}

/* The submit keeps the signals and waits of the application. */
VULKAN_TEST(semaphores_of_the_application_are_kept, DEVICE_KINDS)
{
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    VkSemaphore own = vulkan_timeline(false, 0);
    const VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                        .semaphore = own,
                                        .value = 1,
                                        .stageMask = VK_PIPELINE_STAGE_2_TRANSFER_BIT},
                                signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                          .semaphore = own,
                                          .value = 2,
                                          .stageMask = VK_PIPELINE_STAGE_2_TRANSFER_BIT};
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = record_fill(resource, 0x33)};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .waitSemaphoreInfoCount = 1,
                                .pWaitSemaphoreInfos = &wait,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &buffer,
                                .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &signal};
    gr_submit *submit = must_make(gr_submit_begin(&resource, 1));
    assert_ok(gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .queue = vk.h->graphics,
                                            .info = &info, .first = &copying, .last = &copying)));
    gr_submit_free(submit);
    gr_buffer *buffer_of_cuda = must_map(resource);
    sleep_ms(LATE_MS);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    const VkSemaphoreSignalInfo now = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = own, .value = 1};
    VK(SignalSemaphore(vk.h->device, &now));
    assert_cuda_bytes(buffer_of_cuda, 0x33);
    must_release(buffer_of_cuda);
    uint64_t value = 0;
    VK(GetSemaphoreCounterValue(vk.h->device, own, &value));
    ck_assert_uint_eq(value, 2);
    end_device();
    vk.DestroySemaphore(vk.h->device, own, NULL);
}

/*
 * The copies before the commands wait, too. Catches: the bytes of CUDA were copied to an image of a
 * swapchain before its semaphore was signalled, if the program waited at a later stage.
 */
VULKAN_TEST(copies_wait_for_semaphores_of_the_application, DEVICE_KINDS)
{
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    VkSemaphore own = vulkan_timeline(false, 1);
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = (const uint64_t[]){1}};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = 1,
                               .pWaitSemaphores = &own,
                               .pWaitDstStageMask = &stage};
    for (int i = 0; i < 2; i++) { /* the first submit has no barrier before its commands */
        gr_submit *submit = must_make(gr_submit_begin(&resource, 1));
        assert_ok(gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .queue = vk.h->graphics,
                                                .info_v1 = &info, .first = i ? &copying : NULL,
                                                .last = &copying)));
        gr_submit_free(submit);
        ck_assert_uint_eq(first_stages,
                          stage | (i && _i / COPIED ? VK_PIPELINE_STAGE_TRANSFER_BIT : 0));
        gr_buffer *mapped = must_map(resource);
        must_release(mapped);
    }
    end_device();
    vk.DestroySemaphore(vk.h->device, own, NULL);
}

GROUP("images", add_vulkan_case)

/*
 * An empty submit with only the last barrier gives a new image its layout. Catches: the validation
 * layer lost track of the layout of an image that was used in the layout for CUDA.
 */
VULKAN_TEST(an_empty_submit_hands_images_to_cuda, 2 * DEVICE_KINDS)
{
    begin_device(_i % DEVICE_KINDS);
    const VkImageLayout layout =
        _i / DEVICE_KINDS ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    gr_vk_use clearing = copying;
    clearing.layout = layout;
    const VkImageCreateInfo create = vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM),
                                                       vulkan_shape("2D"), 16, 16, 1, 0);
    gr_resource *both[] = {gr_create_vk_image(device, &create, GR_READ_WRITE), make_buffer(),
                           must_register(gl_buffer_filled(SIZE, 1))};
    assert_made(both[0]);
    const gr_vk_use nothing = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT,
                                      .layout = VK_IMAGE_LAYOUT_UNDEFINED);
    gr_submit *submit = must_make(gr_submit_begin(both, 3));
    assert_ok(gr_vk_submit(submit, &GR_INIT(gr_vk_submit_desc, .last = &nothing)));
    gr_submit_free(submit);
    gr_buffer *buffers[3];
    /* The OpenGL resource is in no submit. */
    assert_ok(gr_map_many(both, 3, fx.stream, NULL, buffers));
    assert_ok(gr_buffer_release_many(buffers, 3, fx.stream, NULL));

    const VkClearColorValue colour = {.float32 = {0, 1, 0, 1}};
    const VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkCommandBuffer commands = vulkan_begin();
    vk.CmdClearColorImage(commands, gr_vk_image(both[0]), layout, &colour, 1, &all);
    VK(EndCommandBuffer(commands));
    assert_ok(submit_used(both, 3, commands, VK_NULL_HANDLE, &clearing));
    gr_buffer *buffer = must_make(gr_map(both[0], fx.stream));
    unsigned char texels[16 * 16 * 4];
    const gr_linear_desc to = GR_INIT(gr_linear_desc, .host = texels);
    assert_ok(gr_buffer_copy_to_linear(buffer, 0, 0, &to, GR_STREAM_OF_MAP));
    CU(StreamSynchronize(fx.stream));
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(texels[i], i % 2 ? 255 : 0);
    must_release(buffer);
    VK(QueueWaitIdle(vk.h->graphics));
    free_resources(both, 3);
    end_device();
}

GROUP("submits", add_vulkan_case)

/* More resources than grinterop puts into one barrier command, with two pairs of semaphores. */
VULKAN_TEST(seventy_resources_can_be_in_one_submit, DEVICE_KINDS)
{
    begin_device(_i);
    gr_resource *all[70];
    gr_semaphore *drawn = gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE);
    gr_semaphore *computed = gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE);
    for (int i = 0; i < 70; i++) {
        all[i] = make_buffer();
        if (i % 2)
            assert_ok(gr_resource_set_sync(all[i], drawn, computed));
    }
    assert_ok(submit_commands(all, 70, record_fill(all[69], 0x44), VK_NULL_HANDLE));
    gr_buffer *buffer = must_map(all[69]);
    assert_cuda_bytes(buffer, 0x44);
    must_release(buffer);
    check_read(all[69], 0x44);
    VK(QueueWaitIdle(vk.h->graphics));
    free_resources(all, 70);
    gr_semaphore_free(drawn);
    gr_semaphore_free(computed);
    end_device();
}

GROUP("command buffers", add_vulkan_case)

VULKAN_TEST(finished_command_buffers_are_reused, DEVICE_KINDS)
{
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    assert_ok(submit_commands(&resource, 1, record_fill(resource, 0), VK_NULL_HANDLE));
    VK(QueueWaitIdle(vk.h->graphics));
    for (int i = 0; i < FRAMES; i++)
        check_read(resource, 0);
    ck_assert_uint_eq(pools, 1);
    end_device();
}

/* Command buffers of pending submits must stay unchanged. */
VULKAN_TEST(command_buffers_of_pending_submits_are_not_reused, DEVICE_KINDS)
{
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    struct vulkan_gate *gate = vulkan_gate();
    VkCommandBuffer nothing = vulkan_begin();
    vulkan_submit(nothing, NULL, gate); /* blocks the queue */
    for (int i = 0; i < 5; i++)
        assert_ok(submit_commands(&resource, 1, record_fill(resource, i), VK_NULL_HANDLE));
    ck_assert_uint_eq(pools, 5);
    vulkan_gate_open(gate);
    VK(QueueWaitIdle(vk.h->graphics));
    for (int i = 0; i < 5; i++)
        check_read(resource, 4);
    ck_assert_uint_eq(pools, 5);
    vulkan_finish();
    end_device();
}

GROUP("failed submits, and submits by the application", add_vulkan_case)

VULKAN_TEST(a_failed_submit_changes_nothing, DEVICE_KINDS)
{
    static const struct {
        VkResult result;
        gr_status status;
    } fails[] = {{VK_ERROR_OUT_OF_HOST_MEMORY, GR_ERR_NO_MEMORY},
                 {VK_ERROR_OUT_OF_DEVICE_MEMORY, GR_ERR_NO_MEMORY},
                 {VK_ERROR_DEVICE_LOST, GR_ERR_DEVICE_LOST},
                 {VK_ERROR_UNKNOWN, GR_ERR_VULKAN}};
    begin_device(_i);
    GR_AUTO(gr_resource) *resource = make_buffer();
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 0);
    must_release(buffer);
    VkCommandBuffer commands = record_fill(resource, 0x51);
    for (int i = 0; i < 4; i++) {
        submit_result = fails[i].result;
        assert_fails(submit_commands(&resource, 1, commands, VK_NULL_HANDLE), fails[i].status,
                     fails[i].result, "nothing was submitted");
        must_release(must_map(resource)); /* would hang if the map waited for the submit */
    }
    /* A failed submit may be retried. */
    gr_submit *submit = must_make(gr_submit_begin(&resource, 1));
    const gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc, .first = &copying, .last = &copying);
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_VULKAN, -1, "nothing was submitted");
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "gr_submit_commit");
    submit_result = VK_SUCCESS;
    assert_ok(gr_vk_submit(submit, &desc));
    assert_fails(gr_vk_submit(submit, &desc), GR_ERR_STATE, 0, "already");
    gr_submit_free(submit);
    must_release(must_map(resource));
    VK(QueueWaitIdle(vk.h->graphics)); /* the map may end before the submit signals its timeline */
    check_read(resource, 0);
    ck_assert_uint_eq(pools, 1);
    end_device();
}

/* ---- Submits by the application -------------------------------------------------------------- */

VULKAN_TEST(the_application_can_make_a_submit_that_grinterop_filled, 2)
{
    if (!vk.h->synchronization2)
        skip("this Vulkan device has no synchronization2");
    begin_device(_i ? WITH_SYNCHRONIZATION2 + COPIED : WITH_SYNCHRONIZATION2);
    GR_AUTO(gr_resource) *resource = make_buffer();
    VkCommandBuffer commands = vulkan_begin();
    assert_ok(gr_vk_cmd_from_cuda(commands, &resource, 1, &copying));
    vk.CmdFillBuffer(commands, gr_vk_buffer(resource), 0, SIZE, 0x61616161);
    assert_ok(gr_vk_cmd_to_cuda(commands, &resource, 1, &copying));
    VK(EndCommandBuffer(commands));
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = commands};
    const VkSubmitInfo2 own = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                               .commandBufferInfoCount = 1,
                               .pCommandBufferInfos = &buffer};
    must_release(must_map(resource));
    GR_AUTO(gr_submit) *submit = gr_submit_begin(&resource, 1);
    VkSubmitInfo2 info = {.flags = 77};
    assert_invalid(gr_vk_submit_fill(NULL, &own, 0, &info), "NULL");
    assert_invalid(gr_vk_submit_fill(submit, &own, 0, NULL), "out");
    VkSubmitInfo2 wrong = own;
    wrong.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    assert_invalid(gr_vk_submit_fill(submit, &wrong, 0, &info), "sType");
    wrong = own;
    wrong.pCommandBufferInfos = NULL;
    wrong.commandBufferInfoCount = 1;
    assert_invalid(gr_vk_submit_fill(submit, &wrong, 0, &info), "pCommand");
    wrong = own;
    wrong.pWaitSemaphoreInfos = NULL;
    wrong.waitSemaphoreInfoCount = 1;
    assert_invalid(gr_vk_submit_fill(submit, &wrong, 0, &info), "pWait");
    ck_assert_uint_eq(info.flags, 77);
    assert_ok(gr_vk_submit_fill(submit, &own, VK_PIPELINE_STAGE_2_TRANSFER_BIT, &info));
    ck_assert_uint_eq(info.commandBufferInfoCount, 1);
    ck_assert_uint_eq(info.waitSemaphoreInfoCount, 1);
    ck_assert_uint_eq(info.signalSemaphoreInfoCount, 1);
    ck_assert(info.pWaitSemaphoreInfos[0].semaphore == gr_vk_semaphore(submit->waits[0]));
    ck_assert_uint_eq(info.pWaitSemaphoreInfos[0].value, submit->wait_values[0]);
    ck_assert_uint_eq(info.pWaitSemaphoreInfos[0].stageMask, VK_PIPELINE_STAGE_2_TRANSFER_BIT);
    ck_assert(info.pSignalSemaphoreInfos[0].semaphore == gr_vk_semaphore(submit->signals[0]));
    ck_assert_uint_eq(info.pSignalSemaphoreInfos[0].value, submit->signal_values[0]);
    ck_assert_int_eq(submit2(vk.h->graphics, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_ok(gr_submit_commit(submit));
    assert_fails(gr_vk_submit_fill(submit, &own, 0, &info), GR_ERR_STATE, 0, "already");
    gr_buffer *mapped = must_map(resource);
    assert_cuda_bytes(mapped, 0x61);
    must_release(mapped);
    end_device();
}

VULKAN_TEST(a_filled_submit_without_a_commit_is_logged)
{
    begin_device(WITH_SYNCHRONIZATION2);
    GR_AUTO(gr_resource) *resource = make_buffer();
    VkSubmitInfo2 info;
    log_begin(GR_LOG_WARNING);
    for (int fill = 0; fill < 2; fill++) {
        GR_AUTO(gr_submit) *submit = gr_submit_begin(&resource, 1);
        ck_assert_str_eq(log_text(), "");
        if (fill)
            assert_ok(gr_vk_submit_fill(submit, NULL, 0, &info));
    }
    log_end();
    ck_assert_msg(strstr(log_text(), "gr_submit_commit() was not called"), "%s", log_text());
    end_device();
}
