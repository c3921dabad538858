/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tools/info/probe_try.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <grinterop/image.h>

#include "tools/info/finders.h"
#include "tools/info/say.h"

/* ---- What goes wrong ------------------------------------------------------------------------- */

bool probe_fail(struct probe_try *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->failure, sizeof(t->failure), format, arguments);
    va_end(arguments);
    return false;
}

bool probe_error(struct probe_try *t)
{
    const gr_error *error = gr_last_error();
    t->error = gr_status_name(error->status);
    t->code = *error->code_name ? error->code_name : NULL;
    if (!t->code)
        return probe_fail(t, "%s", error->message);
    return probe_fail(t, "%s (%s: %s)", error->message, error->call, t->code);
}

bool probe_not_made(struct probe_try *t)
{
    t->absent = gr_last_error()->status == GR_ERR_UNSUPPORTED;
    return probe_error(t);
}

bool probe_is_cuda_fine(struct probe_try *t, CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return true;
    if (t->cu->GetErrorName(result, &t->code) != CUDA_SUCCESS)
        t->code = "a code without a name";
    return probe_fail(t,
                      "%s answered %s to a copy that is no more than that. Look at the kernel's "
                      "messages (dmesg: NVRM, Xid); restart the program, and the machine if it "
                      "stays so.",
                      call, t->code);
}

/* ---- CUDA's side ----------------------------------------------------------------------------- */

bool probe_cuda(struct probe_try *t)
{
    say_step("a CUDA context");
    t->cu = gr_cuda();
    t->context = t->cu ? gr_cuda_context_create(t->probe->cuda_device) : NULL;
    if (!t->context)
        return probe_error(t);
    t->stream = gr_cuda_context_stream(t->context);
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

static bool copy(struct probe_try *t, gr_buffer *buffer, bool writes)
{
    const gr_linear_desc pixels = GR_INIT(gr_linear_desc, .host = writes ? t->sent : t->got);
    size_t size = gr_buffer_size(buffer);
    if (!size && writes)
        return gr_buffer_copy_to_image(buffer, 0, 0, &pixels, t->stream) == GR_OK || probe_error(t);
    if (!size)
        return gr_buffer_copy_from_image(buffer, 0, 0, &pixels, t->stream) == GR_OK ||
               probe_error(t);
    CUdeviceptr pointer = gr_buffer_ptr(buffer);
    return writes ? probe_is_cuda_fine(t, t->cu->MemcpyHtoDAsync(pointer, t->sent, size, t->stream),
                                       "cuMemcpyHtoDAsync")
                  : probe_is_cuda_fine(t, t->cu->MemcpyDtoHAsync(t->got, pointer, size, t->stream),
                                       "cuMemcpyDtoHAsync");
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
    CUresult copied =
        t->cu->MemcpyHtoDAsync(gr_buffer_ptr(slot->buffer), t->sent + frame * PROBE_FRAME_BYTES,
                               PROBE_FRAME_BYTES, t->stream);
    say_step("gr_ring_publish()");
    if (gr_ring_publish(ring, &slot, 1) != GR_OK)
        return probe_error(t);
    return probe_is_cuda_fine(t, copied, "cuMemcpyHtoDAsync");
}

/* ---- The probe ------------------------------------------------------------------------------- */

static double now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static bool run(struct probe_try *t)
{
#ifdef INFO_VULKAN
    if (t->probe->api == PROBE_VULKAN)
        return probe_vulkan(t);
#endif
#ifdef INFO_OPENGL
    if (t->probe->api != PROBE_VULKAN)
        return probe_opengl(t);
#endif
    return probe_fail(t, "grinterop was built without it.");
}

static void say_result(const struct probe_try *t, bool good, double ms)
{
    char id[96], label[160];
    probe_id(t->probe, id, sizeof(id));
    probe_label(t->probe, label, sizeof(label));
    say(id, good ? MARK_GOOD : MARK_BAD, label, "%s",
        good ? "Both sides read what the other one wrote." : t->failure);
    say_fact("ms", "%.1f", ms);
    if (t->error)
        say_fact("error", "%s", t->error);
    if (t->code)
        say_fact("code", "%s", t->code);
    if (t->absent)
        say_fact("expected", "no");
}

void find_probe(const struct find *find)
{
    static struct probe_try t;
    struct probe probe;
    if (!probe_parse(find->argument, &probe))
        return;
    t.probe = &probe;
    double before = now_ms();
    bool good = run(&t);
    gr_cuda_context_free(t.context);
    say_result(&t, good, now_ms() - before);
}
