/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe of two GPUs, of which each reaches the other one's memory: what a driver believes of
 * PCIe may be wrong. Bytes go by a copy of the driver's, and by a kernel that writes there.
 */
#include "tools/info/probe_peer.h"

#include <stdio.h>
#include <string.h>

#include "tools/info/kernels.h"
#include "tools/info/probe_cuda.h"
#include "tools/info/say.h"

/* One of the two. */
struct side {
    gr_cuda_context *context;
    CUstream stream;
    CUdeviceptr memory;
    CUfunction kernel; /* NULL: there is none */
    char name[32];
};

static bool make_current(struct probe_try *t, const struct side *side)
{
    return probe_is_cuda_fine(t, t->cu->CtxSetCurrent(gr_cuda_context_context(side->context)),
                              "cuCtxSetCurrent");
}

static bool open_side(struct probe_try *t, struct side *side, int device)
{
    snprintf(side->name, sizeof(side->name), "CUDA device %d", device);
    say_step("a CUDA context");
    side->context = gr_cuda() ? gr_cuda_context_create(device) : NULL;
    if (!side->context)
        return probe_error(t);
    t->cu = gr_cuda();
    side->stream = gr_cuda_context_stream(side->context);
    if (kernels_find(t->cu, "copy", &side->kernel) != CUDA_SUCCESS)
        side->kernel = NULL;
    return probe_is_cuda_fine(t, t->cu->MemAlloc(&side->memory, PROBE_BUFFER_BYTES), "cuMemAlloc");
}

/* From now on what `from` runs may use memory of `to`. */
static bool let_reach(struct probe_try *t, const struct side *from, const struct side *to)
{
    say_step("cuCtxEnablePeerAccess()");
    if (!make_current(t, from))
        return false;
    CUresult result = t->cu->CtxEnablePeerAccess(gr_cuda_context_context(to->context), 0);
    return result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ||
           probe_is_cuda_fine(t, result, "cuCtxEnablePeerAccess");
}

/* What `from` has to the memory of `to`, in its own stream. */
static bool move(struct probe_try *t, const struct side *from, const struct side *to, bool kernel)
{
    unsigned words = PROBE_BUFFER_BYTES / 4;
    CUdeviceptr source = from->memory, target = to->memory;
    void *arguments[] = {&target, &source, &words};
    if (!kernel || !from->kernel)
        return probe_is_cuda_fine(
            t,
            t->cu->MemcpyPeerAsync(target, gr_cuda_context_context(to->context), source,
                                   gr_cuda_context_context(from->context), PROBE_BUFFER_BYTES,
                                   from->stream),
            "cuMemcpyPeerAsync");
    t->kernel_ran = true;
    return probe_is_cuda_fine(t,
                              t->cu->LaunchKernel(from->kernel, words / KERNELS_THREADS, 1, 1,
                                                  KERNELS_THREADS, 1, 1, 0, from->stream, arguments,
                                                  NULL),
                              "cuLaunchKernel");
}

static bool is_same(struct probe_try *t, const struct side *from, const struct side *to)
{
    size_t used;
    if (probe_same(t, to->name, from->name, PROBE_BUFFER_BYTES))
        return true;
    used = strlen(t->failure);
    snprintf(t->failure + used, sizeof(t->failure) - used,
             " Between GPUs on PCIe an IOMMU, or access control (ACS) of its bridges, does that: "
             "switch them off in the firmware, or do without peer access.");
    return false;
}

static bool send_bytes(struct probe_try *t, const struct side *from, const struct side *to,
                       unsigned seed)
{
    probe_pattern(t, seed);
    say_step("a copy from GPU to GPU");
    return make_current(t, from) &&
           probe_is_cuda_fine(
               t, t->cu->MemcpyHtoDAsync(from->memory, t->sent, PROBE_BUFFER_BYTES, from->stream),
               "cuMemcpyHtoDAsync") &&
           move(t, from, to, seed / 2 % 2) &&
           probe_is_cuda_fine(t, t->cu->StreamSynchronize(from->stream), "cuStreamSynchronize") &&
           make_current(t, to) &&
           probe_is_cuda_fine(t, t->cu->MemcpyDtoH(t->got, to->memory, PROBE_BUFFER_BYTES),
                              "cuMemcpyDtoH") &&
           is_same(t, from, to);
}

bool probe_peer(struct probe_try *t)
{
    struct side sides[2] = {{.context = NULL}, {.context = NULL}};
    if (!open_side(t, &sides[0], t->probe->device) ||
        !open_side(t, &sides[1], t->probe->cuda_device) || !let_reach(t, &sides[0], &sides[1]) ||
        !let_reach(t, &sides[1], &sides[0]))
        return false;
    for (unsigned i = 0; i < 2 * PROBE_ROUNDS; i++)
        if (!send_bytes(t, &sides[i % 2], &sides[!(i % 2)], i))
            return false;
    return true;
}
