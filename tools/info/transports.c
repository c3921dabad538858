/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/transports.h"

#include <stdio.h>

#include <grinterop/cuda.h>
#include <grinterop/gl.h>

#include "tools/info/say.h"

static const struct {
    gr_transport transport;
    const char *name, *words;
} transports[] = {
    {GR_TRANSPORT_INTEROP, "interop", "OpenGL's objects are CUDA's, too (interop)"},
    {GR_TRANSPORT_SHARED, "shared", "storage for both, several frames at once (shared)"},
    {GR_TRANSPORT_COPY, "copy", "copies through host memory (copy)"},
    {GR_TRANSPORT_PEER, "peer", "copies from GPU to GPU (peer)"},
};
#define TRANSPORTS (sizeof(transports) / sizeof(transports[0]))

/*
 * Whether it is missing where it does not work: only copies go with an OpenGL that no CUDA device
 * draws for, and copies between GPUs need two.
 */
static bool is_wanted(gr_transport transport, int cuda_device)
{
    int drawing;
    if (gr_gl_cuda_device(&drawing) != GR_OK)
        return transport == GR_TRANSPORT_COPY;
    return transport != GR_TRANSPORT_PEER || drawing != cuda_device;
}

static void say_one(size_t i, const char *id, const char *where, int cuda_device)
{
    char whole[96], label[200];
    const gr_transport_info *info = gr_gl_probe(transports[i].transport);
    snprintf(whole, sizeof(whole), "%s/%s", id, transports[i].name);
    snprintf(label, sizeof(label), "%s: %s", where, transports[i].words);
    if (!info) {
        say_error(whole, label);
        return;
    }
    if (!info->usable && !is_wanted(info->transport, cuda_device)) {
        say_detail(whole, MARK_NOTE, label, "%s", info->reason);
        return;
    }
    say(whole, info->usable ? MARK_GOOD : MARK_BAD, label, "%s", info->reason);
    say_fact("path", "%s", transports[i].name);
    say_fact("cuda_device", "%d", cuda_device);
}

void transports_say(const char *id, const char *where, int cuda_device)
{
    gr_cuda_context *context = gr_cuda_context_create(cuda_device);
    if (!context) {
        char whole[96];
        snprintf(whole, sizeof(whole), "%s/context", id);
        say_error(whole, where);
        say_fact("path", "none");
        return;
    }
    for (size_t i = 0; i < TRANSPORTS; i++)
        say_one(i, id, where, cuda_device);
    gr_cuda_context_free(context);
}
