/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's side of a probe. Every second time its bytes go by a kernel and not by a copy: a GPU does
 * them in different places, and its driver orders them by different means.
 */
#include "tools/info/probe_cuda.h"

#include <grinterop/image.h>

#include "tools/info/kernels.h"
#include "tools/info/say.h"

/* Without one, as where the driver's compiler is missing, copies have to do. */
static void find_kernel(struct probe_try *t)
{
    if (kernels_find(t->cu, "copy", &t->kernel) != CUDA_SUCCESS ||
        (t->kernel && t->cu->MemAlloc(&t->staging, PROBE_BUFFER_BYTES) != CUDA_SUCCESS))
        t->kernel = NULL;
}

bool probe_cuda(struct probe_try *t)
{
    say_step("a CUDA context");
    t->cu = gr_cuda();
    t->context = t->cu ? gr_cuda_context_create(t->probe->cuda_device) : NULL;
    if (!t->context)
        return probe_error(t);
    t->stream = gr_cuda_context_stream(t->context);
    find_kernel(t);
    return true;
}

void probe_pattern(struct probe_try *t, unsigned seed)
{
    unsigned value = 2654435761u * (seed + 1);
    for (size_t i = 0; i < sizeof(t->sent); i++) {
        value = value * 1664525u + 1013904223u;
        t->sent[i] = (unsigned char)(value >> 24);
        t->got[i] = (unsigned char)~t->sent[i];
    }
}

bool probe_same(struct probe_try *t, const char *reader, const char *writer, size_t size)
{
    size_t wrong = 0, first = 0;
    for (size_t i = size; i-- > 0;)
        if (t->got[i] != t->sent[i]) {
            first = i;
            wrong++;
        }
    if (!wrong)
        return true;
    return probe_fail(t,
                      "%s read other bytes than %s wrote: %zu of %zu are wrong, the first is at "
                      "%zu (0x%02x in the place of 0x%02x). The driver shares other memory, or "
                      "keeps the order of the two sides no more: update it, and leave this way out "
                      "until then.",
                      reader, writer, wrong, size, first, t->got[first], t->sent[first]);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static bool launch_copy(struct probe_try *t, CUdeviceptr to, CUdeviceptr from, size_t size)
{
    unsigned words = (unsigned)(size / 4);
    void *arguments[] = {&to, &from, &words};
    unsigned blocks = (words + KERNELS_THREADS - 1) / KERNELS_THREADS;
    t->kernel_ran = true;
    return probe_is_cuda_fine(t,
                              t->cu->LaunchKernel(t->kernel, blocks, 1, 1, KERNELS_THREADS, 1, 1, 0,
                                                  t->stream, arguments, NULL),
                              "cuLaunchKernel");
}

/* By a kernel it is a copy from memory of CUDA's own. */
static bool write_bytes(struct probe_try *t, CUdeviceptr to, const void *from, size_t size)
{
    const bool kernel = t->by_kernel && t->kernel;
    CUresult copied = t->cu->MemcpyHtoDAsync(kernel ? t->staging : to, from, size, t->stream);
    return probe_is_cuda_fine(t, copied, "cuMemcpyHtoDAsync") &&
           (!kernel || launch_copy(t, to, t->staging, size));
}

static bool read_bytes(struct probe_try *t, CUdeviceptr from, size_t size)
{
    const bool kernel = t->by_kernel && t->kernel;
    if (kernel && !launch_copy(t, t->staging, from, size))
        return false;
    return probe_is_cuda_fine(
        t, t->cu->MemcpyDtoHAsync(t->got, kernel ? t->staging : from, size, t->stream),
        "cuMemcpyDtoHAsync");
}

static bool copy_image(struct probe_try *t, gr_buffer *buffer, bool writes)
{
    const gr_linear_desc pixels = GR_INIT(gr_linear_desc, .host = writes ? t->sent : t->got);
    gr_status status = writes ? gr_buffer_copy_to_image(buffer, 0, 0, &pixels, t->stream)
                              : gr_buffer_copy_from_image(buffer, 0, 0, &pixels, t->stream);
    return status == GR_OK || probe_error(t);
}

static bool copy(struct probe_try *t, gr_buffer *buffer, bool writes)
{
    const size_t size = gr_buffer_size(buffer);
    if (!size)
        return copy_image(t, buffer, writes);
    return writes ? write_bytes(t, gr_buffer_ptr(buffer), t->sent, size)
                  : read_bytes(t, gr_buffer_ptr(buffer), size);
}

static bool map_and_copy(struct probe_try *t, gr_resource *resource, bool writes)
{
    say_step("gr_map()");
    gr_buffer *buffer = gr_map(resource, t->stream);
    if (!buffer)
        return probe_error(t);
    say_step(writes ? "a copy by CUDA to what is mapped" : "a copy by CUDA from what is mapped");
    bool good = copy(t, buffer, writes);
    say_step("gr_buffer_release()");
    return (gr_buffer_release(buffer) == GR_OK || (good && probe_error(t))) && good;
}

bool probe_write(struct probe_try *t, gr_resource *resource)
{
    return map_and_copy(t, resource, true);
}

bool probe_read(struct probe_try *t, gr_resource *resource)
{
    if (!map_and_copy(t, resource, false))
        return false;
    say_step("cuStreamSynchronize()");
    return probe_is_cuda_fine(t, t->cu->StreamSynchronize(t->stream), "cuStreamSynchronize");
}

bool probe_write_frame(struct probe_try *t, gr_ring *ring, size_t frame)
{
    const gr_slot *slot;
    say_step("gr_ring_acquire_write()");
    if (gr_ring_acquire_write(ring, t->stream, &slot, 1, PROBE_RING_MS) != GR_OK)
        return probe_error(t);
    say_step("a copy by CUDA to the slot");
    t->by_kernel = frame % 2;
    bool good = write_bytes(t, gr_buffer_ptr(slot->buffer), t->sent + frame * PROBE_FRAME_BYTES,
                            PROBE_FRAME_BYTES);
    say_step("gr_ring_publish()");
    return (gr_ring_publish(ring, &slot, 1) == GR_OK || (good && probe_error(t))) && good;
}
