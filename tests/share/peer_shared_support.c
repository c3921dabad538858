/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the cases of test_peer_shared; see peer_shared.h. */
#include "peer_shared.h"

#include <stdlib.h>

struct peer_devices devices;

gr_resource *must_share(size_t size)
{
    return must_make(gr_create_gl_buffer(size, GR_READ_WRITE, &by_sharing));
}

unsigned long frames_wanted(void)
{
    const char *wanted = getenv("GR_TEST_FRAMES");
    return wanted ? strtoul(wanted, NULL, 10) : 300;
}

/* ---- The devices ----------------------------------------------------------------------------- */

/* Uses everything that the driver opens for a device on first use and keeps open. */
static void use_device(int i)
{
    CU(CtxSetCurrent(devices.context[i]));
    CU(StreamCreate(&devices.stream[i], CU_STREAM_NON_BLOCKING));
    GR_AUTO(gr_resource) *resource = gr_create_gl_buffer(64, GR_READ_WRITE, &by_sharing);
    gr_buffer *buffer = resource ? gr_map(resource, devices.stream[i]) : NULL;
    if (buffer) {
        CU(MemsetD8Async(gr_buffer_ptr(buffer), 1, 64, devices.stream[i]));
        assert_ok(gr_buffer_release(buffer));
        gr_clear_error();
    }
    CU(StreamSynchronize(devices.stream[i]));
    CU(StreamDestroy(devices.stream[i]));
}

static void use_all(void)
{
    CU(DeviceGetCount(&devices.count));
    devices.count = devices.count < MOST_DEVICES ? devices.count : MOST_DEVICES;
    for (int i = 0; i < devices.count; i++) {
        CU(DevicePrimaryCtxRetain(&devices.context[i], i));
        use_device(i);
    }
    CU(CtxSetCurrent(fx.context));
}

static void make_streams(void)
{
    for (int i = 0; i < devices.count; i++) {
        CU(CtxSetCurrent(devices.context[i]));
        CU(StreamCreate(&devices.stream[i], CU_STREAM_NON_BLOCKING));
    }
    CU(CtxSetCurrent(fx.context));
}

static void end_streams(void)
{
    for (int i = 0; i < devices.count; i++) {
        CU(CtxSetCurrent(devices.context[i]));
        CU(CtxSynchronize());
        CU(StreamDestroy(devices.stream[i]));
        collect_sharing();
    }
    CU(CtxSetCurrent(fx.context));
}

static TCase *with_devices(TCase *tcase)
{
    with_first_use(tcase, use_sharing);
    return with_fixture(with_first_use(tcase, use_all), make_streams, end_streams);
}

TCase *add_peer_case(Suite *suite, const char *name)
{
    return with_devices(add_case(suite, name));
}

TCase *add_peer_vulkan_case(Suite *suite, const char *name)
{
    return with_devices(add_vulkan_case(suite, name));
}
