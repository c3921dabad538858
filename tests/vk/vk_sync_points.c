/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Manual signals and waits, semaphores of the application, and binary semaphores. */
#include "tests/support/support_vulkan.h"
#include "vk_sync_tests.h"

#include <string.h>

GROUP("manual signals and waits, application semaphores, binary semaphores", add_vulkan_case,
      add_copied_vulkan_case)

VULKAN_TEST(manual_signals_and_waits_order_two_streams)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    CUdeviceptr memory = 0;
    unsigned char bytes[256];
    CU(MemAlloc(&memory, sizeof(bytes)));
    CU(MemsetD8Async(memory, 0, sizeof(bytes), fx.stream));
    CU(StreamSynchronize(fx.stream));
    const gr_semaphore_point points[] = {
        GR_INIT(gr_semaphore_point, .semaphore = pair.drawn, .value = 7),
        GR_INIT(gr_semaphore_point, .semaphore = pair.computed, .value = 9)};
    gate_open_after(gate_put(fx.stream), LATE_MS);
    CU(MemsetD8Async(memory, 0x61, sizeof(bytes), fx.stream));
    assert_ok(gr_semaphore_signal(points, 2, fx.stream));
    assert_ok(gr_semaphore_wait(points, 2, fx.other));
    cuda_read(bytes, memory, sizeof(bytes), fx.other);
    assert_bytes(bytes, sizeof(bytes), 0x61);
    ck_assert_uint_eq(counter(pair.drawn), 7);
    ck_assert_uint_eq(counter(pair.computed), 9);
    CU(MemFree(memory));
    free_pair(&pair);
}

VULKAN_TEST(manual_signals_and_waits_are_refused_in_a_capture)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = pair.drawn, .value = 1);
    capture_graph(fx.stream);
    assert_fails(gr_semaphore_signal(&point, 1, fx.stream), GR_ERR_STATE,
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "is capturing a graph");
    assert_fails(gr_semaphore_wait(&point, 1, fx.stream), GR_ERR_STATE,
                 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "is capturing a graph");
    capture_graph(NULL);
    assert_ok(gr_semaphore_signal(&point, 1, fx.stream));
    assert_ok(gr_semaphore_wait(&point, 1, fx.stream));
    CU(StreamSynchronize(fx.stream));
    free_pair(&pair);
}

VULKAN_TEST(a_manual_wait_ends_after_vkSignalSemaphore)
{
    GR_AUTO(gr_semaphore) *semaphore =
        must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = 3);
    assert_ok(gr_semaphore_wait(&point, 1, fx.stream));
    sleep_ms(LATE_MS);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    const VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                        .semaphore = gr_vk_semaphore(semaphore),
                                        .value = 3};
    VK(SignalSemaphore(vk.h->device, &info));
    CU(StreamSynchronize(fx.stream));
}

/* ---- From the application -------------------------------------------------------------------- */

/* Waits in the thread of the application for a release, which signals the value. */
static void wait_on_host(VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    VK(WaitSemaphores(vk.h->device, &info, UINT64_C(10000000000)));
}

static void check_own(bool through_host)
{
    VkSemaphore own[2] = {vulkan_timeline(!through_host, 10), vulkan_timeline(!through_host, 20)};
    gr_semaphore *made[2];
    for (int i = 0; i < 2; i++) {
        const gr_vk_semaphore_desc info =
            GR_INIT(gr_vk_semaphore_desc, .semaphore = own[i], .type = VK_SEMAPHORE_TYPE_TIMELINE,
                    .value = i == 0 ? 10 : 20, .through_host = through_host);
        made[i] = must_make(gr_semaphore_from_vk(vk.wrap, &info));
        ck_assert(gr_vk_semaphore(made[i]) == own[i]);
        ck_assert(gr_semaphore_get_info(made[i])->timeline);
        ck_assert((!gr_semaphore_get_info(made[i])->external) == through_host);
    }
    gr_resource *resource = make_resource(NULL);
    assert_ok(gr_resource_set_sync(resource, made[0], made[1]));
    gr_submit *submit = begin_submit(resource);
    ck_assert_uint_eq(signal_value_of(submit), 11);
    fill_in(submit, resource, 0x71, NULL);
    fill_late(resource, 0x72, fx.stream);
    submit = begin_submit(resource);
    ck_assert_uint_eq(wait_value_of(submit), 21);
    check_read_after(resource, submit, 0x72);
    fill_late(resource, 0x73, fx.stream);
    wait_on_host(own[1], 22);
    CU(StreamSynchronize(fx.stream));
    gr_resource_free(resource);
    for (int i = 0; i < 2; i++) {
        gr_semaphore_free(made[i]);
        vk.DestroySemaphore(vk.h->device, own[i], NULL);
    }
}

VULKAN_TEST(application_timelines_work_through_the_host)
{
    check_own(true);
}

VULKAN_TEST(application_timelines_work_if_exported)
{
    if (!vk.exports)
        skip("this Vulkan device exports no semaphores");
    check_own(false);
}

/* The calls enqueue in the context of the stream, and restore the current context. */
VULKAN_TEST(manual_signals_and_waits_need_no_current_context)
{
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = pair.drawn, .value = 3);
    CU(CtxSetCurrent(NULL));
    assert_ok(gr_semaphore_signal(&point, 1, fx.stream));
    assert_ok(gr_semaphore_wait(&point, 1, fx.other));
    ck_assert_ptr_null(current_context());
    CU(CtxSetCurrent(fx.context));
    CU(StreamSynchronize(fx.other));
    free_pair(&pair);
}

/* ---- Binary semaphores ----------------------------------------------------------------------- */

VULKAN_TEST(binary_semaphores_order_submits_and_maps)
{
    if (!vk.exports) {
        assert_null(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_BINARY), GR_ERR_UNSUPPORTED,
                    0, "timeline");
        skip("this Vulkan device exports no semaphores");
    }
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_BINARY);
    ck_assert(!gr_semaphore_get_info(pair.drawn)->timeline);
    GR_AUTO(gr_resource) *resource = make_resource(&pair);
    for (int i = 1; i <= 4; i++) {
        gr_submit *submit = begin_submit(resource);
        ck_assert_ptr_eq(signal_of(submit), pair.drawn);
        ck_assert(signal_value_of(submit) == 0 && wait_value_of(submit) == 0);
        ck_assert_ptr_eq(wait_of(submit), i == 1 ? NULL : pair.computed);
        fill_in(submit, resource, i, NULL);
        assert_null(gr_submit_begin(&resource, 1), GR_ERR_STATE, 0, "binary");
        gr_buffer *buffer = must_map(resource);
        assert_cuda_bytes(buffer, i);
        gate_open_after(gate_put(fx.stream), 10);
        fill_and_release(buffer, 0x40 + i);
    }
    gr_submit *submit = begin_submit(resource);
    check_read_after(resource, submit, 0x44);
    must_release(must_map(resource)); /* the map waits for the last signal */
    free_pair(&pair);
}

/* Catches: the second stream's wait took the first signal, and the first one never ended. */
VULKAN_TEST(waits_of_two_streams_for_a_binary_semaphore_come_in_order)
{
    if (!vk.exports)
        skip("this Vulkan device exports no semaphores");
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_BINARY);
    GR_AUTO(gr_resource) *resource = make_resource(&pair);
    for (int i = 0; i < 4; i++) {
        fill_in(begin_submit(resource), resource, i, NULL);
        if (i % 2 == 0)
            gate_open_after(gate_put(fx.stream), 10);
        fill_and_release(must_make(gr_map(resource, i % 2 ? fx.other : fx.stream)), 0x40 + i);
    }
    check_read_after(resource, begin_submit(resource), 0x43);
    CU(CtxSynchronize());
    free_pair(&pair);
}

VULKAN_TEST(describe_names_the_kind_and_value_of_a_semaphore)
{
    char text[256];
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_TIMELINE);
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = pair.drawn, .value = 4711);
    assert_ok(gr_semaphore_signal(&point, 1, fx.stream));
    ck_assert_int_gt(gr_semaphore_describe(pair.drawn, text, sizeof(text)), 0);
    ck_assert_msg(strstr(text, "Vulkan") && strstr(text, "timeline") && strstr(text, "4711"), "%s",
                  text);
    ck_assert_msg((!strstr(text, "host")) == vk.exports, "%s", text);
    ck_assert(gr_semaphore_get_info(pair.drawn)->timeline);
    ck_assert(gr_vk_semaphore(pair.drawn) != VK_NULL_HANDLE);
    ck_assert(gr_vk_semaphore(NULL) == VK_NULL_HANDLE);
    ck_assert((gr_semaphore_get_info(pair.drawn)->external != NULL) == vk.exports);
    ck_assert_ptr_null(gr_semaphore_get_info(NULL));
    CU(StreamSynchronize(fx.stream));
    free_pair(&pair);
}

VULKAN_TEST(describe_counts_the_signals_of_a_binary_semaphore)
{
    char text[256];
    if (!vk.exports)
        skip("this Vulkan device exports no semaphores");
    struct pair pair = make_pair(VK_SEMAPHORE_TYPE_BINARY);
    const gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = pair.drawn);
    for (int i = 0; i < 2; i++) {
        assert_ok(gr_semaphore_signal(&point, 1, fx.stream));
        assert_ok(gr_semaphore_wait(&point, 1, fx.stream));
    }
    ck_assert_int_gt(gr_semaphore_describe(pair.drawn, text, sizeof(text)), 0);
    ck_assert_msg(strstr(text, "signals 2"), "%s", text);
    CU(StreamSynchronize(fx.stream));
    free_pair(&pair);
}
