/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Lifetimes with Vulkan: a resource, its device or the process may end while a stream still uses
 * the resource.
 */
#include "tests/support/child_check.h"
#include "tests/support/own_vulkan.h"
#include "tests/support/support_cuda.h"
#include "tests/support/support_vulkan.h"
#include "tests/tensor/tensor.h"
#include "vk_life.h"

#include <stdio.h>
#include <string.h>

/*
 * If a call waits for a gate that it must not wait for, the gate opens after this time, and the
 * case fails.
 */
#define TOO_LATE_MS 5000

GROUP("work that is still pending", add_vulkan_case)

/*
 * Creates a resource, which frees the objects whose free was deferred. Its submit creates the
 * semaphores of the device, which stay.
 */
static void collect(void)
{
    GR_AUTO(gr_resource) *resource = must_create(4, GR_READ_WRITE);
    gr_submit_free(must_make(gr_submit_begin(&resource, 1)));
}

/*
 * Runs with and without semaphores; the resource is closed and freed, or only freed. Every object
 * that the test frees while the gate is closed is still in use, so that its destruction is
 * deferred: destroying an unused object would wait for the whole CUDA context.
 */
VULKAN_TEST(freeing_does_not_wait_for_the_stream, 4)
{
    collect();
    int fds = open_fds();
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_resource *resource = must_register_own(&own, SIZE, GR_READ_WRITE);
    gr_semaphore *drawn = NULL, *computed = NULL;
    if (_i & 1) {
        drawn = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
        computed = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
        assert_ok(gr_resource_set_sync(resource, drawn, computed));
    }
    struct gate *gate = gate_open_after(gate_put(fx.stream), TOO_LATE_MS);
    fill_mapped(resource, 0x41);
    if (_i & 2)
        assert_ok(gr_resource_close(resource, fx.stream));
    gr_resource_free(resource);
    gr_semaphore_free(drawn);
    gr_semaphore_free(computed);
    ck_assert_msg(!gate_is_open(gate), "a call waited for the stream");
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    assert_vulkan_bytes(own.buffer, SIZE, 0x41);
    vulkan_own_free(&own);
    sleep_ms(20); /* long enough for a wrong wait in the clean-up to show */
    collect();
    ck_assert_int_eq(open_fds(), fds);
}

VULKAN_TEST(closing_a_mapped_resource_does_not_wait_for_the_stream)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_resource *resource = must_register_own(&own, SIZE, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    struct gate *gate = gate_open_after(gate_put(fx.stream), TOO_LATE_MS);
    cuda_fill(buffer, 0x42);
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
    ck_assert_msg(!gate_is_open(gate), "a call waited for the stream");
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    assert_vulkan_bytes(own.buffer, SIZE, 0x42);
}

static unsigned complaints; /* the number of messages of the validation layer */

static void complain(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "%s\n", text);
    __atomic_fetch_add(&complaints, 1, __ATOMIC_RELAXED);
}

enum order { UNORDERED, BY_A_SEMAPHORE, BY_DEFAULT, ORDERS, COPIED = ORDERS };

/* If `kept` is not NULL, the caller gets the semaphore, if there is one. */
static gr_resource *make_ordered(gr_vk_device *device, enum order order, gr_semaphore **kept)
{
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    gr_resource *resource = must_make(gr_create_vk_buffer(device, &info, GR_READ_WRITE));
    if (order == UNORDERED)
        unordered(resource);
    if (order == BY_A_SEMAPHORE) {
        gr_semaphore *computed =
            must_make(gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE));
        assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, computed));
        if (kept)
            *kept = computed;
        else
            gr_semaphore_free(computed);
    }
    return resource;
}

/* CUDA uses the resource while the gate is closed. */
static struct gate *leave_to_the_stream(gr_resource *resource)
{
    /* a call that waits is detected, but still ends */
    struct gate *gate = gate_open_after(gate_put(fx.stream), 700);
    fill_mapped(resource, 0x44);
    return gate;
}

static void assert_no_call_waited(struct gate *gate)
{
    ck_assert_msg(!gate_is_open(gate), "a call waited for the stream");
}

static gr_vk_device *wrap(const gr_vk_headless_info *h, VkDevice device, unsigned transports)
{
    return must_make(gr_vk_device_from_vk(
        &GR_INIT(gr_vk_device_desc, h->get_instance_proc_addr, h->instance, h->physical_device,
                 device, .queue_family = h->graphics_family, .transports = transports)));
}

/* Creates a headless device and wraps it. A resource refers to the wrap by its VkDevice handle. */
static gr_vk_device *wrap_headless(gr_vk_headless **headless)
{
    const gr_vk_headless_options options =
        GR_INIT(gr_vk_headless_options, .validation = true, .message = complain);
    *headless = gr_vk_headless_create(&options);
    assert_made(*headless);
    const gr_vk_headless_info *h = gr_vk_headless_get_info(*headless);
    return wrap(h, h->device, 0);
}

/* A VkDevice of the test. The headless device provides the VkInstance with the validation layer. */
struct own_device {
    gr_vk_headless *headless;
    VkDevice device;
    gr_vk_device *wrap;
    PFN_vkDestroyDevice destroy;
};

static VkDevice create_device(const gr_vk_headless_info *h)
{
    gr_vk_device_desc on =
        GR_INIT(gr_vk_device_desc, h->get_instance_proc_addr, h->instance, h->physical_device,
                .queue_family = h->graphics_family, .transports = GR_TRANSPORT_EXTERNAL);
    const char *reason = own_vulkan_make_device(&on);
    ck_assert_msg(!reason, "%s", reason);
    return on.device;
}

static struct own_device create_own(unsigned transports)
{
    struct own_device own;
    gr_vk_device_free(wrap_headless(&own.headless));
    const gr_vk_headless_info *h = gr_vk_headless_get_info(own.headless);
    own.device = create_device(h);
    own.wrap = wrap(h, own.device, transports);
    own.destroy = (PFN_vkDestroyDevice)h->get_instance_proc_addr(h->instance, "vkDestroyDevice");
    return own;
}

static void destroy_own(const struct own_device *own)
{
    own->destroy(own->device, NULL);
    gates_open();
    CU(CtxSynchronize());
    assert_ok(gr_tensor_collect(1000)); /* frees the objects whose free was deferred */
    gr_vk_headless_free(own->headless);
    child_check(__atomic_load_n(&complaints, __ATOMIC_RELAXED) == 0);
}

/* The object that the program frees last. */
enum last { THE_DEVICE, THE_RESOURCE, THE_BUFFER, THE_SEMAPHORE, LASTS };

static void free_own_device(enum order order, enum last last)
{
    struct own_device own = create_own(order == COPIED ? GR_TRANSPORT_COPY : 0);
    gr_semaphore *semaphore = NULL;
    gr_resource *resource =
        make_ordered(own.wrap, order, last == THE_SEMAPHORE ? &semaphore : NULL);
    gr_buffer *buffer = last == THE_BUFFER ? must_map(resource) : NULL;
    struct gate *gate = buffer ? gate_put(fx.stream) : leave_to_the_stream(resource);
    if (buffer)
        gate_open_after(gate, 700);
    if (last != THE_RESOURCE)
        gr_resource_free(resource);
    assert_no_call_waited(gate);
    if (last != THE_DEVICE) {
        gr_vk_device_free(own.wrap);
        assert_no_call_waited(gate);
    }
    if (last == THE_DEVICE)
        gr_vk_device_free(own.wrap);
    else if (last == THE_RESOURCE)
        gr_resource_free(resource);
    else if (last == THE_BUFFER)
        assert_ok(gr_buffer_release(buffer));
    else
        gr_semaphore_free(semaphore);
    child_check(gate_is_open(gate));
    destroy_own(&own);
}

/*
 * The program may destroy its VkDevice after the last of these calls, whose order it chooses. So
 * this call must wait for the pending work. The instance has a validation layer that reports
 * remaining objects. Runs in a child, since an object that outlives its device ends the process.
 * The child skips the teardown of the fixture, since the NVIDIA OpenGL makes no context current
 * once a Vulkan instance has ended.
 *
 * Catches: only gr_vk_device_free() waited. If a resource was freed later, the stream signalled a
 * semaphore of the destroyed VkDevice.
 */
CHILD_TEST_UNLESS(vk.missing, the_last_free_of_a_device_waits_for_pending_work, LASTS)
{
    leaves_all_open = true;
    fixture_setup();
    for (int order = 0; order <= COPIED; order++)
        if (_i != THE_SEMAPHORE || order == BY_A_SEMAPHORE)
            free_own_device((enum order)order, (enum last)_i);
    return 0;
}

/*
 * Catches: vkDestroySemaphore() was called after vkDestroyDevice(), once the stream had finished
 * its work with the last resource.
 */
CHILD_TEST_UNLESS(vk.missing, a_headless_device_ends_after_the_work_of_its_resources)
{
    leaves_all_open = true;
    fixture_setup();
    /* Each round frees the objects whose free the previous round deferred. */
    for (int i = 0; i <= ORDERS; i++) {
        gr_vk_headless *headless;
        gr_vk_device *device = wrap_headless(&headless);
        gr_resource *resource = make_ordered(device, (enum order)(i % ORDERS), NULL);
        gr_vk_device_free(device);
        gr_vk_headless_free(headless);
        struct gate *gate = leave_to_the_stream(resource);
        gr_resource_free(resource);
        /*
         * Without semaphores the free destroys the device, which may take the driver a long time.
         */
        if (i % ORDERS != UNORDERED)
            assert_no_call_waited(gate);
        gate_open(gate);
        CU(CtxSynchronize());
        sleep_ms(20); /* long enough for a wrong wait in the clean-up to show */
        child_check(__atomic_load_n(&complaints, __ATOMIC_RELAXED) == 0);
    }
    gates_open();
    return 0;
}

/* The stream may be destroyed before the resource ends. */
VULKAN_TEST(the_stream_may_be_destroyed_after_the_release, 2)
{
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_resource *resource = must_register_own(&own, SIZE, GR_READ_WRITE);
    GR_AUTO(gr_semaphore) *computed =
        must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
    if (_i == 1)
        assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, computed));
    CUstream stream = NULL;
    CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    gr_buffer *buffer = must_make(gr_map(resource, stream));
    gate_open_after(gate_put(stream), 30);
    fill_and_release(buffer, 0x43);
    CU(StreamDestroy(stream));
    gr_resource_free(resource);
    sleep_ms(60);
    CU(CtxSynchronize());
    assert_vulkan_bytes(own.buffer, SIZE, 0x43);
}

/*
 * The tensor ends after the capture, which only this thread can end. The stream also has pending
 * work with a resource that was freed.
 *
 * Catches: gr_vk_device_free() waited for the tensor forever.
 */
VULKAN_TEST(a_device_is_freed_during_a_capture, 2)
{
    gr_vk_device *wrap = vulkan_wrap();
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    gr_resource *resource = must_make(gr_create_vk_buffer(wrap, &info, GR_READ_WRITE));
    gr_tensor *tensor = must_alloc(GR_DTYPE_U8, GR_MEMORY_DEVICE, 1, (const int64_t[]){SIZE});
    gr_buffer *buffer = must_make(gr_map(resource, fx.other));
    struct gate *gate = gate_put(fx.other);
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(resource);
    (_i ? capture_graph_relaxed : capture_graph)(fx.stream);
    gr_tensor_free(tensor);
    gate_open(gate);
    gr_vk_device_free(wrap);
    capture_graph(NULL);
    assert_ok(gr_tensor_collect(1000));
}

GROUP("the end of the process, and of the device", add_vulkan_case)

static const char *without_host_waits(void)
{
    return vk.exports ? "the GPU waits, not the host: its driver decides for how long" : vk.missing;
}

/*
 * Everything is open: mapped, closed and new resources, semaphores with pending work, and the
 * device.
 */
CHILD_TEST_UNLESS(vk.missing, a_process_may_exit_with_everything_open)
{
    leaves_all_open = true;
    fixture_setup();
    vulkan_setup();
    child_check(!vk.missing);
    struct vulkan_own own = vulkan_own(SIZE, false);
    gr_resource *mapped = make_alone(), *unused = make_alone();
    gr_resource *registered = must_register_own(&own, SIZE, GR_READ_WRITE);
    check_round_trip(mapped, 0x50);
    child_check(gr_map(mapped, fx.stream));
    child_check(gr_map(registered, fx.other));
    child_check(gr_submit_begin(&unused, 1));
    fprintf(stderr, "all is open\n");
    return 0;
}

/* Commits a submit that the program never passes to Vulkan. */
static bool begin_and_commit(gr_resource *resource)
{
    GR_AUTO(gr_submit) *submit = gr_submit_begin(&resource, 1);
    return submit && gr_submit_commit(submit) == GR_OK;
}

/*
 * A stream waits for a submit that the program never passes to Vulkan. Tested only if the host
 * performs the wait; on a GPU the driver would have to end it.
 */
CHILD_TEST_UNLESS(without_host_waits(), a_process_may_exit_while_a_stream_waits)
{
    leaves_all_open = true;
    fixture_setup();
    vulkan_setup();
    child_check(!vk.missing);
    gr_resource *resource = make_alone();
    child_check(begin_and_commit(resource));
    gr_buffer *buffer = gr_map(resource, fx.stream);
    child_check(buffer);
    fprintf(stderr, "the stream waits\n");
    return 0;
}

/* A stream waits for such a submit, and the program frees everything. */
CHILD_TEST_UNLESS(without_host_waits(), the_last_free_of_a_device_ends_a_wait_for_vulkan)
{
    leaves_all_open = true;
    fixture_setup();
    struct own_device own = create_own(0);
    gr_resource *resource = make_ordered(own.wrap, BY_DEFAULT, NULL);
    child_check(begin_and_commit(resource));
    fill_mapped(resource, 0x45);
    gr_resource_free(resource);
    gr_vk_device_free(own.wrap);
    child_check(fx.cu->StreamQuery(fx.stream) == CUDA_SUCCESS);
    destroy_own(&own);
    return 0;
}

/* Catches: an error and a warning with the same text, and names of internal functions. */
VULKAN_TEST(frees_after_the_cuda_context_are_logged_once)
{
    CUcontext second = new_context(NULL);
    gr_vk_device *device = vulkan_wrap();
    const VkBufferCreateInfo info = vulkan_buffer_info(SIZE);
    gr_resource *resource = must_make(gr_create_vk_buffer(device, &info, GR_READ_WRITE));
    gr_semaphore *semaphore = must_make(gr_semaphore_create_vk(device, VK_SEMAPHORE_TYPE_TIMELINE));
    end_context(second);
    log_begin(GR_LOG_WARNING);
    gr_resource_free(resource);
    gr_semaphore_free(semaphore);
    gr_vk_device_free(device);
    log_end();
    ck_assert_int_eq(log_count(GR_LOG_WARNING, "") + log_count(GR_LOG_ERROR, ""), 1);
    ck_assert_msg(strncmp(log_text() + 1, "gr_resource_free could not use", 30) == 0, "%s",
                  log_text());
}

/*
 * A stream waits for a submit that Vulkan delays. Freeing a resource blocks until the stream goes
 * on, since the driver ends the import of an unused object after all work in the CUDA context.
 */
VULKAN_TEST(a_free_that_blocks_for_vulkan_is_logged)
{
    gr_resource *resource = must_create(SIZE, GR_READ_WRITE);
    gr_resource *other = must_create(SIZE, GR_READ_WRITE);
    struct vulkan_gate *gate = vulkan_gate();
    gr_submit *submit = vulkan_begin_submit(&resource, 1);
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, gr_vk_buffer(resource), SIZE, 0x46);
    vulkan_submit_begun(commands, submit, gate);
    vulkan_gate_open_after(gate, 2500);
    gr_buffer *buffer = must_map(resource);
    log_begin(GR_LOG_WARNING);
    gr_resource_free(other);
    log_end();
    assert_ok(gr_buffer_release(buffer));
    vulkan_finish(); /* the validation layer does not see that CUDA has waited */
    gr_resource_free(resource);
    ck_assert_msg(strstr(log_text(), "a stream has waited for graphics work for 2 s") &&
                      strstr(log_text(), "present value"),
                  "%s", log_text());
}

/* ---- A lost device --------------------------------------------------------------------------- */

/*
 * Lavapipe loses the device if a timeline is signalled with a lower value. The stream continues,
 * the next map fails with the Vulkan error, and everything can still be freed.
 */
CHILD_TEST_UNLESS(without_host_waits(), a_lost_device_is_reported)
{
    leaves_all_open = true;
    fixture_setup();
    vulkan_setup();
    child_check(!vk.missing);
    GR_AUTO(gr_semaphore) *drawn = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE);
    child_check(drawn);
    GR_AUTO(gr_resource) *resource = must_create(SIZE, GR_READ_WRITE);
    child_check(gr_resource_set_sync(resource, drawn, GR_SEMAPHORE_NONE) == GR_OK);
    vulkan_allow("VUID-VkSemaphoreSignalInfo-value");
    VkSemaphoreSignalInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                  .semaphore = gr_vk_semaphore(drawn),
                                  .value = 5};
    child_check(vk.SignalSemaphore(vk.h->device, &info) == VK_SUCCESS);
    info.value = 3;
    child_check(vk.SignalSemaphore(vk.h->device, &info) == VK_ERROR_DEVICE_LOST);
    child_check(begin_and_commit(resource));
    gr_buffer *buffer = gr_map(resource, fx.stream);
    if (buffer) {
        child_check(fx.cu->StreamSynchronize(fx.stream) == CUDA_SUCCESS);
        child_check(gr_buffer_release(buffer) == GR_OK);
        child_check(begin_and_commit(resource));
        child_check(!gr_map(resource, fx.stream));
    }
    assert_error(GR_ERR_DEVICE_LOST, VK_ERROR_DEVICE_LOST, "lost");
    return 0;
}
