/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Wrong use of semaphores: each mistake is refused with its reason, and afterwards everything works
 * as before.
 */
#include "tests/support/support_vulkan_image.h"
#include "vk_sync_tests.h"

/* The resource and its semaphores must still work. */
static void assert_works(gr_resource *resource)
{
    gr_submit *submit = begin_submit(resource);
    fill_in(submit, resource, 0x19, NULL);
    gr_buffer *buffer = must_map(resource);
    assert_cuda_bytes(buffer, 0x19);
    must_release(buffer);
    vulkan_finish();
}

GROUP("semaphores used wrongly", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(a_value_that_does_not_grow_is_refused)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = pair.drawn, .value = 5);
    assert_ok(gr_semaphore_signal(&point, 1, fx.stream));
    assert_invalid(gr_semaphore_signal(&point, 1, fx.stream), "grow");
    point.value = 4;
    assert_invalid(gr_semaphore_signal(&point, 1, fx.stream), "grow");
    point.value = 0;
    assert_invalid(gr_semaphore_signal(&point, 1, fx.stream), "grow");
    const gr_semaphore_point twice[] = {
        GR_INIT(gr_semaphore_point, .semaphore = pair.drawn, .value = 7),
        GR_INIT(gr_semaphore_point, .semaphore = pair.drawn, .value = 6)};
    assert_invalid(gr_semaphore_signal(twice, 2, fx.stream), "grow");
    point.value = 6;
    assert_ok(gr_semaphore_signal(&point, 1, fx.stream));
    CU(StreamSynchronize(fx.stream));
    uint64_t value = 0;
    VK(GetSemaphoreCounterValue(vk.h->device, gr_vk_semaphore(pair.drawn), &value));
    ck_assert_uint_eq(value, 6);
    free_pair(&pair);
}

VULKAN_TEST(values_below_those_of_an_application_timeline_are_refused)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = 5};
    const VkSemaphoreCreateInfo create = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                          .pNext = &type};
    gr_vk_semaphore_desc info = GR_INIT(gr_vk_semaphore_desc, .type = VK_SEMAPHORE_TYPE_TIMELINE,
                                        .value = 4, .through_host = true);
    VK(CreateSemaphore(vk.h->device, &create, NULL, &info.semaphore));
    assert_null_invalid(gr_semaphore_from_vk(vk.wrap, &info), "5");
    info.type = VK_SEMAPHORE_TYPE_BINARY;
    info.through_host = false;
    assert_null(gr_semaphore_from_vk(vk.wrap, &info),
                vk.exports ? GR_ERR_INVALID_VALUE : GR_ERR_VULKAN, vk.exports ? 0 : -1,
                vk.exports ? "a binary semaphore has no value" : "exports no binary semaphores");
    info.through_host = true;
    info.value = 0;
    assert_null_invalid(gr_semaphore_from_vk(vk.wrap, &info), "binary");
    vk.DestroySemaphore(vk.h->device, info.semaphore, NULL);
}

/*
 * The semaphore is created without VkExportSemaphoreCreateInfo, which newer validation layers also
 * report.
 */
VULKAN_TEST(a_semaphore_that_is_not_exportable_is_refused)
{
    vulkan_allow("VUID-VkSemaphoreGetFdInfoKHR-handleType");
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo create = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                          .pNext = &type};
    gr_vk_semaphore_desc info = GR_INIT(gr_vk_semaphore_desc, .type = VK_SEMAPHORE_TYPE_TIMELINE);
    VK(CreateSemaphore(vk.h->device, &create, NULL, &info.semaphore));
    if (vk.exports)
        assert_null(gr_semaphore_from_vk(vk.wrap, &info), GR_ERR_VULKAN, -1,
                    "VkExportSemaphoreCreateInfo");
    else
        assert_null(gr_semaphore_from_vk(vk.wrap, &info), GR_ERR_VULKAN, -1, "through_host");
    vk.DestroySemaphore(vk.h->device, info.semaphore, NULL);
}

VULKAN_TEST(semaphores_without_a_device_or_valid_desc_are_refused)
{
    const gr_vk_semaphore_desc nothing =
        GR_INIT(gr_vk_semaphore_desc, .type = VK_SEMAPHORE_TYPE_TIMELINE, .through_host = true);
    assert_null_invalid(gr_semaphore_from_vk(vk.wrap, &nothing), "semaphore");
    assert_null_invalid(gr_semaphore_create_vk(vk.wrap, (VkSemaphoreType)77), "77");
    gr_semaphore_free(NULL);
}

VULKAN_TEST(wrong_semaphore_points_are_refused)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    const gr_semaphore_point good =
        GR_INIT(gr_semaphore_point, .semaphore = pair.drawn, .value = 1);
    gr_semaphore_point wrong = good;
    assert_invalid(gr_semaphore_signal(&good, 0, fx.stream), "n is 0");
    assert_invalid(gr_semaphore_wait(&good, 0, fx.stream), "n is 0");
    wrong.key = 1;
    assert_invalid(gr_semaphore_signal(&wrong, 1, fx.stream), "key");
    wrong = good;
    wrong.timeout_ms = 1;
    assert_invalid(gr_semaphore_wait(&wrong, 1, fx.stream), "timeout_ms");
    wrong = good;
    wrong.nvsci_fence = &wrong;
    assert_invalid(gr_semaphore_wait(&wrong, 1, fx.stream), "nvsci_fence");
    wrong = good;
    wrong.skip_nvscibuf = true;
    assert_invalid(gr_semaphore_wait(&wrong, 1, fx.stream), "skip_nvscibuf");
    assert_ok(gr_semaphore_signal(&good, 1, fx.stream));
    CU(StreamSynchronize(fx.stream));
    free_pair(&pair);
}

GROUP("resources and submits used wrongly", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(set_sync_with_wrong_resources_or_semaphores_is_refused)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_resource) *resource = make_resource(&pair);
    GR_AUTO(gr_resource) *gl = must_register(gl_buffer_filled(16, 1));
    assert_invalid(gr_resource_set_sync(resource, pair.drawn, pair.drawn), "same");
    assert_invalid(gr_resource_set_sync(resource, NULL, pair.computed), "acquire");
    assert_invalid(gr_resource_set_sync(resource, pair.drawn, NULL), "GR_SEMAPHORE_NONE");
    assert_invalid(gr_resource_set_sync(gl, pair.drawn, pair.computed), "needs no semaphores");
    gr_buffer *buffer = must_map(resource);
    assert_fails(gr_resource_set_sync(resource, pair.drawn, pair.computed), GR_ERR_STATE, 0,
                 "mapped");
    must_release(buffer);
    assert_works(resource);
    assert_ok(gr_resource_close(resource, fx.stream));
    assert_fails(gr_resource_set_sync(resource, pair.drawn, pair.computed), GR_ERR_STATE, 0,
                 "closed");
    free_pair(&pair);
}

/* The semaphores and the resource must belong to the same CUDA context. */
VULKAN_TEST(semaphores_of_another_context_are_refused)
{
    CUcontext second = new_context(NULL);
    gr_vk_device *other = vulkan_wrap();
    gr_semaphore *foreign = must_make(gr_semaphore_create_vk(other, VK_SEMAPHORE_TYPE_TIMELINE));
    CU(CtxSetCurrent(fx.context));
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_resource) *resource = make_resource(&pair);
    assert_invalid(gr_resource_set_sync(resource, foreign, pair.computed), "context");
    const gr_semaphore_point points[] = {
        GR_INIT(gr_semaphore_point, .semaphore = pair.drawn, .value = 1),
        GR_INIT(gr_semaphore_point, .semaphore = foreign, .value = 1)};
    assert_invalid(gr_semaphore_signal(points, 2, fx.stream), "context");
    assert_works(resource);
    free_pair(&pair);
    gr_semaphore_free(foreign);
    gr_vk_device_free(other);
    CU(CtxDestroy(second));
}

/* ---- Submits --------------------------------------------------------------------------------- */

VULKAN_TEST(wrong_submits_are_refused)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    struct pair other = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    gr_resource *mixed[] = {make_resource(&pair), make_resource(&other), NULL};
    gr_resource *twice[] = {mixed[0], mixed[1], mixed[0]};
    assert_null_invalid(gr_submit_begin(mixed, 0), "n is 0");
    assert_null_invalid(gr_submit_begin(mixed + 1, 2), "NULL");
    assert_null_invalid(gr_submit_begin(twice, 3), "twice");
    gr_buffer *buffer = must_map(mixed[0]);
    assert_null(gr_submit_begin(mixed, 1), GR_ERR_STATE, 0, "mapped");
    must_release(buffer);
    gr_submit *begun = begin_submit(mixed[0]);
    assert_null(gr_submit_begin(mixed, 2), GR_ERR_STATE, 0, "gr_submit_commit");
    assert_fails(gr_resource_set_sync(mixed[0], pair.drawn, pair.computed), GR_ERR_STATE, 0,
                 "gr_submit_free");
    gr_submit_free(begun);
    gr_submit_free(NULL);
    assert_works(mixed[0]);
    assert_works(mixed[1]);
    assert_ok(gr_resource_close(mixed[0], fx.stream));
    assert_null(gr_submit_begin(mixed, 1), GR_ERR_STATE, 0, "closed");
    free_resources(mixed, 2);
    free_pair(&pair);
    free_pair(&other);
}

/* The message of the map says whether a commit or the choice of an order is missing. */
VULKAN_TEST(a_map_without_a_defined_order_is_refused)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    GR_AUTO(gr_resource) *resource = make_resource(&pair);
    gr_submit *submit = begin_submit(resource);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "gr_submit_commit()");
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "gr_submit_free()");
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, gr_vk_buffer(resource), SIZE, 0x1A);
    vulkan_submit(commands, submit, NULL);
    assert_ok(gr_submit_commit(submit));
    assert_fails(gr_submit_commit(submit), GR_ERR_STATE, 0, "already");
    gr_buffer *buffer = must_map(resource);
    gr_submit_free(submit);
    assert_cuda_bytes(buffer, 0x1A);
    must_release(buffer);
    vulkan_finish();
    free_pair(&pair);
}

/* Begins an empty submit that hands a new image to CUDA. */
static gr_submit *begin_handover(gr_resource *resource, gr_vk_submit_desc *desc)
{
    static const gr_vk_use last = {.struct_size = sizeof(last),
                                   .stages = VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT,
                                   .layout = VK_IMAGE_LAYOUT_UNDEFINED};
    *desc = GR_INIT(gr_vk_submit_desc, .last = &last);
    return begin_submit(resource);
}

GROUP("new images", add_vulkan_case, add_copied_vulkan_case)

/*
 * Applies to semaphores of the program, too, and to every kind of map. A cancelled submit does not
 * hand over the image.
 *
 * Catches: CUDA wrote to an image without a layout, and nothing was reported.
 */
VULKAN_TEST(a_map_of_a_new_image_before_a_submit_is_refused, 2)
{
    const bool paired = _i;
    struct vulkan_image image =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 16, 16, 1, 0, GR_READ_WRITE);
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    gr_resource *resource = image.resource;
    gr_vk_submit_desc desc;
    if (paired)
        assert_ok(gr_resource_set_sync(resource, pair.drawn, pair.computed));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "gr_vk_submit()");
    assert_null(gr_map_linear(resource, 0, 0, fx.stream), GR_ERR_STATE, 0, "new");
    gr_submit_free(begin_handover(resource, &desc));
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "new");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    gr_submit *submit = begin_handover(resource, &desc);
    assert_ok(gr_vk_submit(submit, &desc));
    gr_submit_free(submit);
    for (int i = 0; i < 2; i++) /* CUDA uses the image several times in a row */
        must_release(must_map_vulkan(&image));
    VK(QueueWaitIdle(vk.h->graphics));
    gr_resource_free(resource);
    free_pair(&pair);
}

/*
 * A new image, even one of the program, can be mapped after a barrier alone, or after the program
 * has declared that it orders Vulkan and CUDA itself.
 */
VULKAN_TEST(a_new_image_can_be_mapped_after_a_barrier_or_unordered)
{
    struct vulkan_image own =
        vulkan_image_own(VK_FORMAT_R8G8B8A8_UNORM, "2D", 16, 16, 1, true, GR_READ_WRITE);
    struct vulkan_image loose =
        vulkan_image(VK_FORMAT_R8G8B8A8_UNORM, "2D", 16, 16, 1, 0, GR_READ_WRITE);
    assert_null(gr_map(own.resource, fx.stream), GR_ERR_STATE, 0, "new");
    must_release(must_hand_over(&own));
    assert_null(gr_map(loose.resource, fx.stream), GR_ERR_STATE, 0, "GR_SEMAPHORE_NONE");
    unordered(loose.resource);
    vulkan_image_end(&loose, must_map_vulkan(&loose));
    vulkan_image_own_free(&own);
}

GROUP("resources and submits used wrongly", add_vulkan_case, add_copied_vulkan_case)

VULKAN_TEST(wrong_barriers_are_refused)
{
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    GR_AUTO(gr_resource) *gl = must_register(gl_buffer_filled(16, 1));
    const gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                  .access = VK_ACCESS_TRANSFER_WRITE_BIT);
    VkCommandBuffer commands = vulkan_begin();
    assert_invalid(gr_vk_cmd_to_cuda(commands, &resource, 0, &use), "0");
    assert_invalid(gr_vk_cmd_from_cuda(commands, &gl, 1, &use), "Vulkan");
    vulkan_submit(commands, NULL, NULL);
    vulkan_finish();
}
