/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The CUDA side of a trial. Every second round copies with a kernel instead of a driver call: the
 * GPU executes kernels and copies in different engines, and the driver orders kernels and copies
 * differently.
 */
#include "tools/info/try.h"

#include <stdarg.h>
#include <stdio.h>

#include <grinterop/image.h>

#include "tools/info/finding.h"

enum { SLOTS = 4, AHEAD = 2 }; /* AHEAD: the frames that CUDA writes before the first one is read */

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

bool try_not_made(struct trial *t)
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

bool try_open(struct trial *t, struct try_side *side, int device)
{
    say_step("a CUDA context");
    t->cu = gr_cuda();
    side->context = t->cu ? gr_cuda_context_create(device) : NULL;
    if (!side->context)
        return try_error(t);
    side->stream = side->context->stream;
    side->copy = load_kernel(t);
    return try_cuda_fine(t, t->cu->MemAlloc(&side->memory, TRY_BUFFER_BYTES), "cuMemAlloc");
}

bool try_launch(struct trial *t, const struct try_side *side, CUdeviceptr to, CUdeviceptr from,
                size_t size)
{
    unsigned words = (unsigned)(size / 4);
    void *arguments[] = {&to, &from, &words};
    unsigned blocks = (words + TRY_THREADS - 1) / TRY_THREADS;
    t->kernel_ran = true;
    return try_cuda_fine(t,
                         t->cu->LaunchKernel(side->copy, blocks, 1, 1, TRY_THREADS, 1, 1, 0,
                                             side->stream, arguments, NULL),
                         "cuLaunchKernel");
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

void try_pattern(struct trial *t, unsigned seed)
{
    unsigned value = 2654435761u * (seed + 1);
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

/* A kernel can only copy from and to memory allocated by CUDA, so the bytes are copied to such
 * memory first. */
static bool write_bytes(struct trial *t, CUdeviceptr to, const void *from, size_t size)
{
    const struct try_side *side = &t->cuda;
    const bool kernel = t->by_kernel && side->copy;
    CUresult copied = t->cu->MemcpyHtoDAsync(kernel ? side->memory : to, from, size, side->stream);
    return try_cuda_fine(t, copied, "cuMemcpyHtoDAsync") &&
           (!kernel || try_launch(t, side, to, side->memory, size));
}

static bool read_bytes(struct trial *t, CUdeviceptr from, size_t size)
{
    const struct try_side *side = &t->cuda;
    const bool kernel = t->by_kernel && side->copy;
    if (kernel && !try_launch(t, side, side->memory, from, size))
        return false;
    from = kernel ? side->memory : from;
    return try_cuda_fine(t, t->cu->MemcpyDtoHAsync(t->got, from, size, side->stream),
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
    bool good = !size    ? copy_image(t, buffer, writes)
                : writes ? write_bytes(t, gr_buffer_ptr(buffer), t->sent, size)
                         : read_bytes(t, gr_buffer_ptr(buffer), size);
    say_step("gr_buffer_release()");
    return (gr_buffer_release(buffer) == GR_OK || (good && try_error(t))) && good;
}

bool try_write(struct trial *t, gr_resource *resource)
{
    return map_and_copy(t, resource, true);
}

bool try_read(struct trial *t, gr_resource *resource)
{
    if (!map_and_copy(t, resource, false))
        return false;
    say_step("cuStreamSynchronize()");
    return try_cuda_fine(t, t->cu->StreamSynchronize(t->cuda.stream), "cuStreamSynchronize");
}

/* ---- Rings ----------------------------------------------------------------------------------- */

/* The ring holds references to its resources, and frees them when it ends. */
static gr_ring *make_ring(struct trial *t, const struct try_reader *reader)
{
    gr_resource *resources[SLOTS] = {NULL};
    size_t made = 0;
    while (made < SLOTS && (resources[made] = reader->make(t)))
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
    if (gr_ring_acquire_write(ring, t->cuda.stream, &slot, 1, TRY_RING_MS) != GR_OK)
        return try_error(t);
    say_step("a CUDA copy to the slot");
    t->by_kernel = frame % 2;
    bool good = write_bytes(t, gr_buffer_ptr(slot->buffer), t->sent + frame * TRY_FRAME_BYTES,
                            TRY_FRAME_BYTES);
    say_step("gr_ring_hand_over()");
    return (gr_ring_hand_over(ring, &slot, 1) == GR_OK || (good && try_error(t))) && good;
}

static bool read_frame(struct trial *t, const struct try_reader *reader, gr_ring *ring,
                       size_t frame)
{
    const gr_slot *slot;
    say_step("gr_ring_acquire_read()");
    if (gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, TRY_RING_MS) != GR_OK)
        return try_error(t);
    if (!reader->copy(t, slot, frame)) {
        gr_ring_cancel_read(ring, &slot, 1);
        return false;
    }
    say_step("gr_ring_give_back()");
    return gr_ring_give_back(ring, &slot, 1) == GR_OK || try_error(t);
}

bool try_ring(struct trial *t, const struct try_reader *reader)
{
    bool good = true;
    say_step("the creation of the ring");
    gr_ring *ring = make_ring(t, reader);
    if (!ring)
        return try_not_made(t);
    try_pattern(t, 0);
    for (size_t i = 0; good && i < TRY_FRAMES + AHEAD; i++)
        good = (i >= TRY_FRAMES || write_frame(t, ring, i)) &&
               (i < AHEAD || read_frame(t, reader, ring, i - AHEAD));
    good = good && reader->read(t) && try_same(t, reader->name, "CUDA", TRY_BUFFER_BYTES);
    say_step("the end of the ring");
    if (reader->wait)
        reader->wait(t);
    gr_ring_free(ring);
    return good;
}
