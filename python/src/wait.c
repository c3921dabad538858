/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Waits in slices. Between slices, Python handles signals such as Ctrl-C. */
#include "module.h"

#include <time.h>

#define SLICE_MS 50

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static unsigned slice_of(unsigned timeout_ms, double end)
{
    if (timeout_ms <= SLICE_MS)
        return timeout_ms;
    double left = timeout_ms == GR_WAIT_FOREVER ? SLICE_MS : end - now_ms();
    return left >= SLICE_MS ? SLICE_MS : left > 1 ? (unsigned)left + 1 : 1;
}

bool wait_in_slices(wait_call *wait, void *user, unsigned timeout_ms)
{
    double end = now_ms() + timeout_ms;
    for (;;) {
        gr_status status;
        unsigned slice = slice_of(timeout_ms, end);
        Py_BEGIN_ALLOW_THREADS
        status = wait(user, slice);
        Py_END_ALLOW_THREADS
        bool last = timeout_ms != GR_WAIT_FOREVER && now_ms() >= end;
        if (status != GR_ERR_TIMEOUT)
            return status == GR_OK || fail();
        if (slice == timeout_ms || last)
            return fail_after(slice, timeout_ms);
        if (PyErr_CheckSignals())
            return false;
    }
}
