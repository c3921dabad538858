/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Lets CUDA compute on another device than the one that draws. On the software driver, OpenGL draws
 * on the first of two devices.
 */
#include "gl_peer_device.h"

#include <stdio.h>

struct drawing_device drawing;

static char missing[300];
static struct fixture before; /* the fixture as other tests use it */

const char *peer_missing(void)
{
    return missing[0] ? missing : NULL;
}

/* ---- The device of the fixture --------------------------------------------------------------- */

/*
 * Finds a device that can access the memory of the drawing device. Returns false, with the reason
 * in the message, if there is none.
 */
static bool find_peer(CUdevice draws, CUdevice *peer)
{
    int count = 0, can = 0;
    snprintf(missing, sizeof(missing), "it needs two CUDA devices");
    CU(DeviceGetCount(&count));
    for (int i = 0; i < count; i++) {
        CU(DeviceGet(peer, i));
        if (*peer == draws)
            continue;
        CU(DeviceCanAccessPeer(&can, *peer, draws));
        if (can)
            return true;
        snprintf(missing, sizeof(missing), "CUDA device %d does not reach the one that draws", i);
    }
    return false;
}

static void setup(void)
{
    int number = 0;
    CUdevice draws, peer;
    assert_ok(gr_gl_cuda_device(&number));
    CU(DeviceGet(&draws, number));
    bool found = find_peer(draws, &peer);
    fault->reset();
    if (!found)
        return;
    missing[0] = '\0';
    before = fx;
    drawing = (struct drawing_device){.device = draws};
    CU(DevicePrimaryCtxRetain(&drawing.context, draws));
    fx.device = peer;
    CU(DevicePrimaryCtxRetain(&fx.context, peer));
    CU(CtxSetCurrent(fx.context));
    CU(StreamCreate(&fx.stream, CU_STREAM_NON_BLOCKING));
    CU(StreamCreate(&fx.other, CU_STREAM_NON_BLOCKING));
    fault->reset();
}

static void end(void)
{
    fault->reset();
    if (missing[0])
        return;
    gates_open();
    CU(CtxSynchronize());
    CU(StreamDestroy(fx.stream));
    CU(StreamDestroy(fx.other));
    CU(CtxSetCurrent(before.context));
    CU(DevicePrimaryCtxRelease(fx.device));
    CU(DevicePrimaryCtxRelease(drawing.device));
    fx.device = before.device;
    fx.context = before.context;
    fx.stream = before.stream;
    fx.other = before.other;
}

static void (*first_use)(void);

/*
 * The driver initialises the second device on first use, and keeps it. The contexts are kept until
 * the program ends, since creating them again for each case is slow on a GPU.
 */
static void use_device(void)
{
    setup();
    if (!missing[0]) {
        CUcontext held;
        CU(DevicePrimaryCtxRetain(&held, drawing.device));
        CU(DevicePrimaryCtxRetain(&held, fx.device));
        first_use();
    }
    end();
}

TCase *with_peer_device(TCase *tcase, void (*use)(void))
{
    first_use = use;
    return with_fixture(with_first_use(tcase, use_device), setup, end);
}
