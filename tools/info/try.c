/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A trial of one way: CUDA writes a resource, graphics copies it to another, and CUDA reads that.
 * If the bytes are right, graphics has read what CUDA wrote, and the reverse. Some turns copy with
 * a kernel instead of a driver call: the GPU executes kernels and copies in different engines, and
 * the driver orders kernels and copies differently.
 */
#include "tools/info/try.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <grinterop/image.h>
#include <grinterop/ring.h>

#include "tools/info/finding.h"

enum {
    THREADS = 256, /* per block of a kernel */
    SLOTS = 4,
    AHEAD = 2, /* the frames that CUDA writes before the first one is read */
    FRAMES = 8,
    FRAME_BYTES = TRY_BUFFER_BYTES / FRAMES,
    RING_MS = 10000
};

const struct transport transports[TRANSPORTS] = {
    {GR_TRANSPORT_INTEROP, "interop", "OpenGL objects registered with CUDA (interop)"},
    {GR_TRANSPORT_SHARED, "shared", "shared storage, several frames at once (shared)"},
    {GR_TRANSPORT_COPY, "copy", "copies through host memory (copy)"},
    {GR_TRANSPORT_PEER, "peer", "copies in GPU memory (peer)"},
};

/* ---- Failures -------------------------------------------------------------------------------- */

bool try_fail(struct trial *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->failure, sizeof(t->failure), format, arguments);
    va_end(arguments);
    return false;
}

bool try_error(struct trial *t)
{
    const gr_error *error = gr_last_error();
    t->error = gr_status_name(error->status);
    t->code = *error->code_name ? error->code_name : NULL;
    if (!t->code)
        return try_fail(t, "%s", error->message);
    return try_fail(t, "%s (%s: %s)", error->message, error->call, t->code);
}

/* Like try_error(), after a failed creation, whose error shows whether the way is unsupported. */
static bool not_made(struct trial *t)
{
    t->absent = gr_last_error()->status == GR_ERR_UNSUPPORTED;
    return try_error(t);
}

bool try_cuda_fine(struct trial *t, CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return true;
    if (t->cu->GetErrorName(result, &t->code) != CUDA_SUCCESS)
        t->code = "a code without a name";
    return try_fail(t,
                    "%s returned %s for a plain copy. Check the kernel's messages (dmesg: NVRM, "
                    "Xid); restart the program, and the machine if the error persists.",
                    call, t->code);
}

/* ---- The device ------------------------------------------------------------------------------ */

/*
 * The kernel "copy": one 4-byte word per thread. Every driver compiles PTX for its GPU, so the
 * build needs no nvcc.
 */
static const char copy_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry copy(.param .u64 to, .param .u64 from, .param .u32 words)\n"
    "{\n"
    ".reg .pred %p; .reg .b32 %r<7>; .reg .b64 %d<6>;\n"
    "ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.u32 %r6, [words];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.s32 %r4, %r1, %r2, %r3; setp.ge.u32 %p, %r4, %r6; @%p ret;\n"
    "cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2; mul.wide.u32 %d3, %r4, 4;\n"
    "add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;\n"
    "ld.global.u32 %r5, [%d5]; st.global.u32 [%d4], %r5; ret;\n"
    "}\n";

/* NULL on the software driver, or if the driver has no PTX compiler. */
static CUfunction load_kernel(const struct trial *t)
{
    CUmodule module;
    CUfunction kernel;
    if (gr_cuda_is_software() || t->cu->ModuleLoadData(&module, copy_ptx) != CUDA_SUCCESS ||
        t->cu->ModuleGetFunction(&kernel, module, "copy") != CUDA_SUCCESS)
        return NULL;
    return kernel;
}

bool try_open(struct trial *t, struct try_side *side)
{
    say_step("a CUDA context");
    t->cu = gr_driver_functions();
    side->context = t->cu ? gr_cuda_context_create(side->device) : NULL;
    if (!side->context)
        return try_error(t);
    side->stream = gr_cuda_context_get_info(side->context)->stream;
    side->copy = load_kernel(t);
    return try_cuda_fine(t, t->cu->MemAlloc(&side->memory, TRY_BUFFER_BYTES), "cuMemAlloc");
}

bool try_launch(struct trial *t, const struct try_side *side, CUdeviceptr to, CUdeviceptr from,
                size_t size)
{
    unsigned words = (unsigned)(size / 4);
    void *arguments[] = {&to, &from, &words};
    unsigned blocks = (words + THREADS - 1) / THREADS;
    t->kernel_ran = true;
    return try_cuda_fine(t,
                         t->cu->LaunchKernel(side->copy, blocks, 1, 1, THREADS, 1, 1, 0,
                                             side->stream, arguments, NULL),
                         "cuLaunchKernel");
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

void try_begin_turn(struct trial *t, unsigned turn)
{
    unsigned value = 2654435761u * (turn + 1);
    t->by_kernel = turn >= TRY_TURNS / 2;
    for (size_t i = 0; i < sizeof(t->sent); i++) {
        value = value * 1664525u + 1013904223u;
        t->sent[i] = (unsigned char)(value >> 24);
        t->got[i] = (unsigned char)~t->sent[i];
    }
}

bool try_same(struct trial *t, const char *reader, const char *writer, size_t size)
{
    size_t wrong = 0, first = 0;
    for (size_t i = size; i-- > 0;)
        if (t->got[i] != t->sent[i]) {
            first = i;
            wrong++;
        }
    if (!wrong)
        return true;
    return try_fail(t,
                    "%s read other bytes than %s wrote: %zu of %zu are wrong, the first is at %zu "
                    "(0x%02x instead of 0x%02x). The driver shares the wrong memory, or does not "
                    "order the two sides: update the driver, and avoid this way until then.",
                    reader, writer, wrong, size, first, t->got[first], t->sent[first]);
}

/*
 * Copies t->sent from the byte `at` on to the memory, or the memory to t->got. A kernel can only
 * copy from and to memory allocated by CUDA, so then the bytes pass through such memory.
 */
static bool copy_bytes(struct trial *t, CUdeviceptr memory, size_t at, size_t size, bool writes)
{
    const struct try_side *side = &t->cuda;
    const bool kernel = t->by_kernel && side->copy;
    const CUdeviceptr own = kernel ? side->memory : memory;
    if (writes)
        return try_cuda_fine(t, t->cu->MemcpyHtoDAsync(own, t->sent + at, size, side->stream),
                             "cuMemcpyHtoDAsync") &&
               (!kernel || try_launch(t, side, memory, own, size));
    return (!kernel || try_launch(t, side, own, memory, size)) &&
           try_cuda_fine(t, t->cu->MemcpyDtoHAsync(t->got, own, size, side->stream),
                         "cuMemcpyDtoHAsync");
}

static bool copy_image(struct trial *t, gr_buffer *buffer, bool writes)
{
    const gr_linear_desc pixels = GR_INIT(gr_linear_desc, .host = writes ? t->sent : t->got);
    gr_status status = writes ? gr_buffer_copy_from_linear(buffer, 0, 0, &pixels, t->cuda.stream)
                              : gr_buffer_copy_to_linear(buffer, 0, 0, &pixels, t->cuda.stream);
    return status == GR_OK || try_error(t);
}

static bool map_and_copy(struct trial *t, gr_resource *resource, bool writes)
{
    say_step("gr_map()");
    gr_buffer *buffer = gr_map(resource, t->cuda.stream);
    if (!buffer)
        return try_error(t);
    say_step(writes ? "a CUDA copy to the mapping" : "a CUDA copy from the mapping");
    const size_t size = gr_buffer_size(buffer);
    bool good = size ? copy_bytes(t, gr_buffer_ptr(buffer), 0, size, writes)
                     : copy_image(t, buffer, writes);
    say_step("gr_buffer_release()");
    return (gr_buffer_release(buffer) == GR_OK || (good && try_error(t))) && good;
}

static bool read_resource(struct trial *t, gr_resource *resource)
{
    if (!map_and_copy(t, resource, false))
        return false;
    say_step("cuStreamSynchronize()");
    return try_cuda_fine(t, t->cu->StreamSynchronize(t->cuda.stream), "cuStreamSynchronize");
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static bool hand_over(struct trial *t, const struct try_api *api, gr_resource *const *resources,
                      size_t count)
{
    return !api->hand_over || api->hand_over(t, resources, count);
}

static bool take_turn(struct trial *t, const struct try_api *api, gr_resource *from,
                      gr_resource *to, size_t bytes)
{
    return map_and_copy(t, from, true) && api->copy(t, from, to, NULL, 0, bytes) &&
           read_resource(t, to) && try_same(t, api->name, "CUDA", bytes);
}

/* The two resources of the pair, a buffer or an image and a buffer, swap roles after each turn. */
static bool exchange(struct trial *t, const struct try_api *api)
{
    const bool image = strncmp(t->way.what, "image", strlen("image")) == 0;
    const size_t bytes = image ? TRY_IMAGE_BYTES : TRY_BUFFER_BYTES;
    say_step("the creation of the resources");
    gr_resource *both[2] = {image ? api->make_image(t) : api->make_buffer(t, bytes, GR_READ_WRITE)};
    both[1] = both[0] ? api->make_buffer(t, bytes, GR_READ_WRITE) : NULL;
    bool good = both[1] ? hand_over(t, api, both, 2) : not_made(t);
    for (unsigned i = 0; good && i < TRY_TURNS; i++) {
        try_begin_turn(t, i);
        good = take_turn(t, api, both[i % 2], both[!(i % 2)], bytes);
    }
    if (!good)
        return false;
    say_step("the end of the resources");
    gr_resource_free(both[0]);
    gr_resource_free(both[1]);
    return true;
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/* The ring holds references to its resources, and frees them when it ends. */
static gr_ring *make_ring(struct trial *t, const struct try_api *api)
{
    gr_resource *resources[SLOTS] = {NULL};
    size_t made = 0;
    while (made < SLOTS && (resources[made] = api->make_buffer(t, FRAME_BYTES, GR_WRITE_DISCARD)))
        made++;
    gr_ring *ring = made == SLOTS ? gr_ring_create(resources, made, NULL) : NULL;
    while (made > 0)
        gr_resource_free(resources[--made]);
    return ring;
}

static bool write_frame(struct trial *t, gr_ring *ring, size_t frame)
{
    const gr_slot *slot;
    say_step("gr_ring_acquire_write()");
    if (gr_ring_acquire_write(ring, t->cuda.stream, &slot, 1, RING_MS) != GR_OK)
        return try_error(t);
    say_step("a CUDA copy to the slot");
    t->by_kernel = frame % 2;
    bool good = copy_bytes(t, gr_buffer_ptr(slot->buffer), frame * FRAME_BYTES, FRAME_BYTES, true);
    say_step("gr_ring_hand_over()");
    return (gr_ring_hand_over(ring, &slot, 1) == GR_OK || (good && try_error(t))) && good;
}

/* Graphics copies the frame to its place in the buffer `all`. */
static bool read_frame(struct trial *t, const struct try_api *api, gr_ring *ring, gr_resource *all,
                       size_t frame)
{
    const gr_slot *slot;
    say_step("gr_ring_acquire_read()");
    if (gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, RING_MS) != GR_OK)
        return try_error(t);
    if (!api->copy(t, slot->resource, all, slot->submit, frame * FRAME_BYTES, FRAME_BYTES)) {
        gr_ring_cancel_read(ring, &slot, 1);
        return false;
    }
    say_step("gr_ring_give_back()");
    return gr_ring_give_back(ring, &slot, 1) == GR_OK || try_error(t);
}

/* The host does not wait between frames. */
static bool exchange_frames(struct trial *t, const struct try_api *api)
{
    say_step("the creation of the ring");
    gr_ring *ring = make_ring(t, api);
    gr_resource *all = ring ? api->make_buffer(t, TRY_BUFFER_BYTES, GR_READ_WRITE) : NULL;
    bool good = all || not_made(t);
    try_begin_turn(t, 0);
    for (size_t i = 0; good && i < FRAMES + AHEAD; i++)
        good = (i >= FRAMES || write_frame(t, ring, i)) &&
               (i < AHEAD || read_frame(t, api, ring, all, i - AHEAD));
    good = good && hand_over(t, api, &all, 1) && read_resource(t, all) &&
           try_same(t, api->name, "CUDA", TRY_BUFFER_BYTES);
    if (!good)
        return false;
    say_step("the end of the ring");
    gr_ring_free(ring);
    gr_resource_free(all);
    return true;
}

/* ---- The trial ------------------------------------------------------------------------------- */

bool try_graphics(struct trial *t, const struct try_api *api)
{
    t->cuda.device = t->way.cuda_device;
    const char *how = strchr(t->way.what, '/');
    for (size_t i = 0; how && i < TRANSPORTS; i++)
        if (strcmp(transports[i].name, how + 1) == 0)
            t->transports = transports[i].transport;
    if (how && !t->transports)
        return try_fail(t, "There is no such probe.");
    return api->open(t) && (strcmp(t->way.what, "ring") == 0 ? exchange_frames : exchange)(t, api);
}
