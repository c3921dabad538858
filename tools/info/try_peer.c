/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tries two GPUs with peer access, without graphics, since drivers may report access over PCIe that
 * does not work. The bytes are copied by a driver call, and by a kernel that writes to the other
 * GPU.
 */
#include <string.h>

#include "tools/info/finding.h"
#include "tools/info/try.h"

static bool make_current(struct trial *t, const struct try_side *side)
{
    return try_cuda_fine(t, t->cu->CtxSetCurrent(gr_cuda_context_get_info(side->context)->context),
                         "cuCtxSetCurrent");
}

/* Permits the GPU `from` to access the memory of the GPU `to`. */
static bool let_reach(struct trial *t, const struct try_side *from, const struct try_side *to)
{
    say_step("cuCtxEnablePeerAccess()");
    if (!make_current(t, from))
        return false;
    CUresult result = t->cu->CtxEnablePeerAccess(gr_cuda_context_get_info(to->context)->context, 0);
    return result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ||
           try_cuda_fine(t, result, "cuCtxEnablePeerAccess");
}

/* Fills the memory of `from`, which then writes it to the memory of `to`, on its own stream. */
static bool write_to(struct trial *t, const struct try_side *from, const struct try_side *to)
{
    const size_t size = TRY_BUFFER_BYTES;
    CUresult copied = t->cu->MemcpyHtoDAsync(from->memory, t->sent, size, from->stream);
    if (!try_cuda_fine(t, copied, "cuMemcpyHtoDAsync"))
        return false;
    if (t->by_kernel && from->copy)
        return try_launch(t, from, to->memory, from->memory, size);
    copied = t->cu->MemcpyPeerAsync(to->memory, gr_cuda_context_get_info(to->context)->context,
                                    from->memory, gr_cuda_context_get_info(from->context)->context,
                                    size, from->stream);
    return try_cuda_fine(t, copied, "cuMemcpyPeerAsync");
}

static bool send_bytes(struct trial *t, const struct try_side *from, const struct try_side *to)
{
    say_step("a copy from GPU to GPU");
    if (!make_current(t, from) || !write_to(t, from, to) ||
        !try_cuda_fine(t, t->cu->StreamSynchronize(from->stream), "cuStreamSynchronize") ||
        !make_current(t, to))
        return false;
    CUresult read = t->cu->MemcpyDtoH(t->got, to->memory, TRY_BUFFER_BYTES);
    if (!try_cuda_fine(t, read, "cuMemcpyDtoH"))
        return false;
    if (try_same(t, text_of("CUDA device %d", to->device), text_of("CUDA device %d", from->device),
                 TRY_BUFFER_BYTES))
        return true;
    strncat(t->failure,
            " Between GPUs on PCIe, an IOMMU or the access control (ACS) of its bridges causes "
            "this: disable them in the firmware, or do not use peer access.",
            sizeof(t->failure) - strlen(t->failure) - 1);
    return false;
}

bool try_peer(struct trial *t)
{
    struct try_side both[2] = {{.device = t->way.device}, {.device = t->way.cuda_device}};
    bool good = try_open(t, &both[0]) && try_open(t, &both[1]) &&
                let_reach(t, &both[0], &both[1]) && let_reach(t, &both[1], &both[0]);
    for (unsigned i = 0; good && i < TRY_TURNS; i++) {
        try_begin_turn(t, i);
        good = send_bytes(t, &both[i % 2], &both[!(i % 2)]);
    }
    return good;
}
