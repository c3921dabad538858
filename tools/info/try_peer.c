/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tries two GPUs with peer access, without graphics, since drivers may report access over PCIe that
 * does not work. The bytes are copied by a driver call, and by a kernel that writes to the other
 * GPU.
 */
#include <stdio.h>
#include <string.h>

#include "tools/info/finding.h"
#include "tools/info/try.h"

/* One of the two GPUs. */
struct end {
    struct try_side side;
    CUcontext context;
    const char *name;
};

static bool make_current(struct trial *t, const struct end *end)
{
    return try_cuda_fine(t, t->cu->CtxSetCurrent(end->context), "cuCtxSetCurrent");
}

static bool open_end(struct trial *t, struct end *end, int device)
{
    end->name = text_of("CUDA device %d", device);
    if (!try_open(t, &end->side, device))
        return false;
    end->context = end->side.context->context;
    return true;
}

/* Permits the GPU `from` to access the memory of the GPU `to`. */
static bool let_reach(struct trial *t, const struct end *from, const struct end *to)
{
    say_step("cuCtxEnablePeerAccess()");
    if (!make_current(t, from))
        return false;
    CUresult result = t->cu->CtxEnablePeerAccess(to->context, 0);
    return result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ||
           try_cuda_fine(t, result, "cuCtxEnablePeerAccess");
}

static bool is_same(struct trial *t, const struct end *from, const struct end *to)
{
    if (try_same(t, to->name, from->name, TRY_BUFFER_BYTES))
        return true;
    size_t used = strlen(t->failure);
    snprintf(t->failure + used, sizeof(t->failure) - used,
             " Between GPUs on PCIe, an IOMMU or the access control (ACS) of its bridges causes "
             "this: disable them in the firmware, or do not use peer access.");
    return false;
}

/*
 * Fills the memory of `from`. Then `from` writes it to the memory of `to`, on the stream of `from`.
 */
static bool write_to(struct trial *t, const struct end *from, const struct end *to, bool by_kernel)
{
    const struct try_side *side = &from->side;
    CUdeviceptr target = to->side.memory;
    CUresult copied = t->cu->MemcpyHtoDAsync(side->memory, t->sent, TRY_BUFFER_BYTES, side->stream);
    if (!try_cuda_fine(t, copied, "cuMemcpyHtoDAsync"))
        return false;
    if (by_kernel && side->copy)
        return try_launch(t, side, target, side->memory, TRY_BUFFER_BYTES);
    copied = t->cu->MemcpyPeerAsync(target, to->context, side->memory, from->context,
                                    TRY_BUFFER_BYTES, side->stream);
    return try_cuda_fine(t, copied, "cuMemcpyPeerAsync");
}

static bool send_bytes(struct trial *t, const struct end *from, const struct end *to, unsigned seed)
{
    try_pattern(t, seed);
    say_step("a copy from GPU to GPU");
    if (!make_current(t, from) || !write_to(t, from, to, seed / 2 % 2) ||
        !try_cuda_fine(t, t->cu->StreamSynchronize(from->side.stream), "cuStreamSynchronize") ||
        !make_current(t, to))
        return false;
    CUresult read = t->cu->MemcpyDtoH(t->got, to->side.memory, TRY_BUFFER_BYTES);
    return try_cuda_fine(t, read, "cuMemcpyDtoH") && is_same(t, from, to);
}

bool try_peer(struct trial *t)
{
    struct end ends[2] = {{.name = NULL}, {.name = NULL}};
    if (!open_end(t, &ends[0], t->way.device) || !open_end(t, &ends[1], t->way.cuda_device) ||
        !let_reach(t, &ends[0], &ends[1]) || !let_reach(t, &ends[1], &ends[0]))
        return false;
    for (unsigned i = 0; i < 2 * TRY_ROUNDS; i++)
        if (!send_bytes(t, &ends[i % 2], &ends[!(i % 2)], i))
            return false;
    return true;
}
