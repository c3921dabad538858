/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * CUDA on one GPU uses storage on another GPU, which renders. CUDA device GR_TEST_CUDA_DEVICE
 * computes, by default device 1. The software driver has three devices. This file tests OpenGL
 * buffers and refusals.
 */
#define _GNU_SOURCE
#include "tests/drivers/fault_driver.h"
#include "peer_shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 65536

GROUP("bytes", add_peer_case)

static const size_t sizes[] = {1, 4096, 65536 + 7, (2 << 20) + 1};

PEER_TEST(opengl_and_cuda_see_the_same_bytes, sizeof(sizes) / sizeof(*sizes))
{
    need_kernels();
    size_t size = sizes[_i];
    GR_AUTO(gr_resource) *resource = must_share(size);
    shared_bytes_both_ways(resource, size);
}

/* The pointer of the mapping is also valid on the rendering device. */
PEER_TEST(a_mapped_pointer_is_valid_on_the_rendering_device)
{
    unsigned char bytes[256];
    int owner = -1;
    GR_AUTO(gr_resource) *resource = must_share(sizeof(bytes));
    gr_buffer *buffer = must_map(resource);
    CU(PointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, gr_buffer_ptr(buffer)));
    ck_assert_int_eq(owner, 0);
    cuda_fill(buffer, 0x31);
    CU(StreamSynchronize(fx.stream));
    CU(CtxSetCurrent(devices.context[0]));
    CU(MemcpyDtoHAsync(bytes, gr_buffer_ptr(buffer), sizeof(bytes), devices.stream[0]));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x32, sizeof(bytes), devices.stream[0]));
    CU(StreamSynchronize(devices.stream[0]));
    CU(CtxSetCurrent(fx.context));
    assert_bytes(bytes, sizeof(bytes), 0x31);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_bytes(gr_gl_name(resource), sizeof(bytes), 0x32);
}

/* Maps resources of all devices in turn, while the context of any device or none is current. */
PEER_TEST(resources_of_all_devices_are_mapped_on_one_thread)
{
    gr_resource *resources[MOST_DEVICES];
    for (int i = 0; i < devices.count; i++) {
        CU(CtxSetCurrent(devices.context[i]));
        resources[i] = must_share(SIZE);
    }
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < devices.count; i++) {
            CU(CtxSetCurrent(round % 2 ? NULL : devices.context[round % devices.count]));
            gr_buffer *buffer = must_map_on(resources[i], devices.stream[i]);
            CU(CtxSetCurrent(devices.context[i]));
            cuda_fill(buffer, 16 * i + round);
            CU(CtxSetCurrent(devices.context[(i + 1) % devices.count]));
            assert_ok(gr_buffer_release(buffer));
        }
        for (int i = 0; i < devices.count; i++)
            assert_gl_bytes(gr_gl_name(resources[i]), SIZE, 16 * i + round);
    }
    free_resources(resources, devices.count);
    CU(CtxSetCurrent(fx.context));
}

GROUP("messages and refusals", add_peer_case)

/* "CUDA device N,", as in messages. */
static const char *named(int device)
{
    static char text[2][32];
    static int turn;
    turn = !turn;
    snprintf(text[turn], sizeof(text[turn]), "CUDA device %d,", device);
    return text[turn];
}

#define assert_names_both(text)                                                                    \
    ck_assert_msg(strstr(text, named(0)) && strstr(text, named(fx.device)), "%s", text)

PEER_TEST(the_description_of_a_buffer_names_both_devices)
{
    char text[900];
    GR_AUTO(gr_resource) *resource = must_share(SIZE);
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_SHARED);
    gr_resource_describe(resource, text, sizeof(text));
    ck_assert_msg(strstr(text, "transport shared (storage on") && strstr(text, "peer access"), "%s",
                  text);
    assert_names_both(text);
}

PEER_TEST(the_shared_transport_is_the_best_one_for_buffers, 2)
{
    static const unsigned allowed[] = {0, GR_TRANSPORT_ANY};
    GR_AUTO(gr_resource) *resource = must_make(gr_create_gl_buffer(
        SIZE, GR_READ_WRITE, &GR_INIT(gr_gl_options, .transports = allowed[_i])));
    ck_assert_int_eq(gr_resource_get_info(resource)->transport, GR_TRANSPORT_SHARED);
    fill_mapped(resource, 0x66);
    assert_gl_bytes(gr_gl_name(resource), SIZE, 0x66);
}

PEER_TEST(the_probe_names_both_devices)
{
    const gr_transport_info *shared = must_make(gr_gl_probe(GR_TRANSPORT_SHARED));
    ck_assert_msg(shared->usable && strstr(shared->reason, "Buffers only"), "%s", shared->reason);
    assert_names_both(shared->reason);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

PEER_TEST(images_are_refused)
{
    const gr_gl_image_desc info = GR_INIT(gr_gl_image_desc, GL_TEXTURE_2D, GL_RGBA8, 4, 4, 1, 1);
    assert_null(gr_create_gl_image(&info, GR_READ_WRITE, &by_sharing), GR_ERR_UNSUPPORTED, 0,
                named(fx.device));
    assert_null(gr_create_gl_image(&info, GR_READ_WRITE, &by_sharing), GR_ERR_UNSUPPORTED, 0,
                named(0));
    assert_null(gr_create_gl_image(&info, GR_READ_WRITE, &by_sharing), GR_ERR_UNSUPPORTED, 0,
                "GL_PIXEL_UNPACK_BUFFER");
    assert_gl_clean();
}

PEER_TEST(a_stream_of_another_device_is_refused)
{
    gr_buffer *buffer = NULL;
    GR_AUTO(gr_resource) *resource = must_share(SIZE);
    for (int i = 0; i < devices.count; i++) {
        if (i == fx.device)
            continue;
        assert_null_invalid(gr_map(resource, devices.stream[i]), named(i));
        assert_invalid(gr_map_many(&resource, 1, devices.stream[i], NULL, &buffer),
                       named(fx.device));
        ck_assert(!gr_resource_get_info(resource)->mapped);
        buffer = must_map(resource);
        assert_invalid(release_on(buffer, devices.stream[i]), named(i));
        ck_assert(gr_resource_get_info(resource)->mapped);
        assert_ok(gr_buffer_release(buffer));
    }
    fill_mapped(resource, 0x11);
    assert_gl_bytes(gr_gl_name(resource), SIZE, 0x11);
}

/* Catches: the stream of the other device waited for the event although the release was refused. */
PEER_TEST(a_refused_release_puts_no_wait_into_the_stream)
{
    CUevent event;
    int other = fx.device == 0 ? 1 : 0;
    GR_AUTO(gr_resource) *resource = must_share(SIZE);
    gr_buffer *buffer = must_map(resource);
    CU(EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    struct gate *gate = gate_put(fx.other);
    CU(EventRecord(event, fx.other));
    assert_invalid(gr_buffer_release_many(&buffer, 1, devices.stream[other],
                                          &GR_INIT(gr_release_options, .wait_event = event)),
                   named(other));
    CU(StreamSynchronize(devices.stream[other]));
    gate_open(gate);
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(fx.other));
    CU(EventDestroy(event));
}

PEER_TEST(resources_of_two_devices_in_one_map_are_refused)
{
    gr_buffer *buffers[2];
    gr_resource *resources[2] = {must_share(SIZE)};
    CU(CtxSetCurrent(devices.context[0]));
    resources[1] = must_share(SIZE);
    CU(CtxSetCurrent(fx.context));
    assert_invalid(gr_map_many(resources, 2, fx.stream, NULL, buffers), "different CUDA contexts");
    free_resources(resources, 2);
}

/* Makes the driver deny peer access. */
static void deny_once(void)
{
    child_check(fault->set("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_DEVICE, 0));
}

CHILD_TEST_UNLESS(shared_missing(), sharing_without_peer_access_is_refused)
{
    fault_control_start();
    fixture_setup();
    deny_once();
    assert_null(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing), GR_ERR_UNSUPPORTED, 0,
                named(0));
    deny_once();
    assert_null(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing), GR_ERR_UNSUPPORTED, 0,
                "no peer access");
    deny_once();
    const gr_transport_info *shared = must_make(gr_gl_probe(GR_TRANSPORT_SHARED));
    ck_assert_msg(!shared->usable && strstr(shared->reason, named(fx.device)), "%s",
                  shared->reason);
    deny_once();
    gr_resource *resource = must_make(gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_any));
    ck_assert_int_ne(gr_resource_get_info(resource)->transport, GR_TRANSPORT_SHARED);
    gr_resource_free(resource);
    GR_AUTO(gr_vk_headless) *vulkan = gr_vk_headless_create(NULL);
    if (vulkan) {
        deny_once();
        assert_null_invalid(gr_vk_device_from_headless(vulkan, 0), "no peer access");
        deny_once();
        GR_AUTO(gr_vk_device) *device =
            must_make(gr_vk_device_from_headless(vulkan, GR_TRANSPORT_ANY));
        const gr_vk_device_info *copies = gr_vk_device_get_info(device);
        ck_assert_msg(strstr(copies->description, "without peer access"), "%s",
                      copies->description);
        ck_assert_int_eq(copies->cuda_device, fx.device);
    }
    return 0;
}

/* ---- CUDA_VISIBLE_DEVICES -------------------------------------------------------------------- */

/* The device numbers are reversed: OpenGL renders on CUDA device 1, the machine's first. */
CHILD_TEST_UNLESS(shared_missing(), messages_name_devices_by_their_visible_order)
{
    char text[900];
    CUcontext context = NULL;
    setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
    assert_ok(gr_cuda_load(true));
    fx.cu = gr_cuda();
    gr_egl *egl = must_make(gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = 1)));
    CU(DevicePrimaryCtxRetain(&context, 0));
    CU(CtxSetCurrent(context));
    CU(StreamCreate(&fx.stream, CU_STREAM_NON_BLOCKING));
    gr_resource *resource = must_share(SIZE);
    gr_resource_describe(resource, text, sizeof(text));
    const char *storage = strstr(text, named(1)), *computing = strstr(text, named(0));
    ck_assert_msg(storage && computing && storage < computing, "%s", text);
    fill_mapped(resource, 0x55);
    assert_gl_bytes(gr_gl_name(resource), SIZE, 0x55);
    gr_resource_free(resource);
    gr_egl_free(egl);
    return 0;
}

/* ---- The program ----------------------------------------------------------------------------- */

static int count_devices(void)
{
    int count = 0;
    return gr_cuda_load(true) == GR_OK && gr_cuda()->DeviceGetCount(&count) == CUDA_SUCCESS ? count
                                                                                            : 0;
}

int main(int argc, char **argv)
{
    const char *driver = getenv("GR_CUDA_DRIVER");
    if (driver && strcmp(driver, "soft") == 0 && !getenv("GR_SOFT_DEVICES")) {
        setenv("GR_SOFT_DEVICES", "3", 1);
        unsetenv("CUDA_VISIBLE_DEVICES");
    }
    setenv("GR_TEST_CUDA_DEVICE", "1", 0);
    if (argc == 1 && (fixture_cuda_device() == 0 || count_devices() <= fixture_cuda_device())) {
        printf("skipped: test_peer_shared: it needs a CUDA device %d other than OpenGL's\n",
               fixture_cuda_device());
        return 77;
    }
    return run_tests(argc, argv);
}
