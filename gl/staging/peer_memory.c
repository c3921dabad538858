/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Staging in memory of the GPU that draws: buffers of the shared transport, whose semaphores order
 * both sides. So no thread waits, and CUDA works on the next frame in another slot while OpenGL
 * draws.
 */
#include "gl/staging/staging.h"

#include <stdio.h>

#include <epoxy/gl.h>

#include "lib/resource/backend.h"
#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/cuda/driver.h"
#include "lib/resource/resource.h"
#include "gl/context/saved_state.h"
#include "gl/memory/memory.h"
#include "gl/texels/texels.h"

struct peer_staging {
    struct gl_staging staging;
    gr_resource *slots[GR_MOST_IN_FLIGHT];
    uint64_t used; /* the slots that OpenGL has used and not given back yet, a bit each */
};

static struct peer_staging *staging_of(const gr_resource *resource)
{
    return (struct peer_staging *)((const struct gl_resource *)resource)->staging;
}

static gr_resource *slot_of(const gr_resource *resource)
{
    const struct peer_staging *s = staging_of(resource);
    return s->slots[s->staging.turn];
}

static struct gl_place place(const struct gl_staging *s)
{
    const gr_resource *slot = ((const struct peer_staging *)s)->slots[s->turn];
    return (struct gl_place){
        .buffer = ((const struct gl_resource *)slot)->name, .of_cuda = true, .cuda = slot->ptr};
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Lists the slots of the resources, at most GR_BATCH. */
static void list(gr_resource *const resources[], size_t n, gr_resource *slots[])
{
    for (size_t i = 0; i < n; i++)
        slots[i] = slot_of(resources[i]);
}

/* The length of the run that begins at `i`. */
static size_t run_at(gr_resource *const slots[], size_t n, size_t i)
{
    return n - i > 1 ? slots[i]->backend->run(slots + i, n - i) : 1;
}

static gr_status use(gr_resource *const slots[], size_t n, bool begin)
{
    for (size_t i = 0, length; i < n; i += length) {
        const struct gr_backend *backend = slots[i]->backend;
        length = run_at(slots, n, i);
        GR_TRY((begin ? backend->begin_use : backend->end_use)(slots + i, length));
    }
    return GR_OK;
}

static bool has_used(const struct peer_staging *s, unsigned slot)
{
    return s->used >> slot & 1;
}

/* OpenGL gives back the slots that it has used, by one signal. */
static gr_status give_back(gr_resource *const resources[], size_t n)
{
    gr_resource *slots[GR_BATCH];
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        struct peer_staging *s = staging_of(resources[i]);
        for (unsigned j = 0; s->used; j++) {
            if (count == GR_BATCH) {
                GR_TRY(use(slots, count, false));
                count = 0;
            }
            if (has_used(s, j))
                slots[count++] = s->slots[j];
            s->used &= ~((uint64_t)1 << j);
        }
    }
    return use(slots, count, false);
}

static gr_status to_gl(gr_resource *const resources[], size_t n, bool read)
{
    gr_resource *slots[GR_BATCH];
    size_t count = 0;
    (void)read;
    for (size_t i = 0; i < n; i++)
        if (staging_of(resources[i])->staging.chosen)
            slots[count++] = slot_of(resources[i]);
    return use(slots, count, true);
}

/*
 * CUDA needs a slot only when it has its turn again, so OpenGL gives back half of the slots at a
 * time: each signal takes the GPU 6 us.
 */
static gr_status from_gl(gr_resource *const resources[], size_t n, bool read)
{
    bool due = false;
    (void)read;
    for (size_t i = 0; i < n; i++) {
        struct peer_staging *s = staging_of(resources[i]);
        if (!s->staging.chosen)
            continue;
        unsigned used = 0;
        s->used |= (uint64_t)1 << s->staging.turn;
        for (unsigned j = 0; j < s->staging.count; j++)
            used += has_used(s, j);
        due |= used >= (s->staging.count + 1) / 2;
    }
    return due ? give_back(resources, n) : GR_OK;
}

/* Makes the stream wait for the last use of all slots by OpenGL, or of none. */
static gr_status to_cuda(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_resource *slots[GR_BATCH];
    gr_status status = GR_OK;
    list(resources, n, slots);
    for (size_t i = 0; i < n; i++) {
        const struct peer_staging *s = staging_of(resources[i]);
        if (has_used(s, s->staging.turn))
            GR_TRY(give_back(resources, n));
    }
    for (size_t i = 0, length; i < n && status == GR_OK; i += length) {
        length = run_at(slots, n, i);
        status = slots[i]->backend->map(slots + i, length, stream);
        if (status != GR_OK && i)
            slots[0]->backend->undo_map(slots, i, stream);
    }
    return status;
}

static void undo(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_resource *slots[GR_BATCH];
    list(resources, n, slots);
    slots[0]->backend->undo_map(slots, n, stream);
}

static gr_status from_cuda(gr_resource *const resources[], size_t n, CUstream stream)
{
    gr_resource *slots[GR_BATCH];
    list(resources, n, slots);
    return slots[0]->backend->unmap(slots, n, stream);
}

static void signal_slot(const struct gl_staging *s)
{
    const gr_resource *slot = ((const struct peer_staging *)s)->slots[s->turn];
    slot->backend->signal_in_place(slot);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static gr_status move(const struct gl_resource *r, bool read)
{
    const unsigned int slot = place(r->staging).buffer;
    const struct gl_span span = gl_span_of(r);
    gl_buffer_copy(r->shader, read ? r->name : slot, read ? slot : r->name, slot, span.offset,
                   span.size);
    return GR_OK;
}

static gr_status copy(const struct gl_resource *r, bool up, CUstream stream)
{
    const struct gl_span span = gl_span_of(r);
    const struct gl_staging *s = r->staging;
    if (r->base.is_image)
        return gl_arrays_stream(r, place(s), up, stream);
    const CUdeviceptr own = s->own + span.offset, slot = place(s).cuda + span.offset;
    GR_TRY_WORK(gr_driver()->MemcpyDtoDAsync(up ? own : slot, up ? slot : own, span.size, stream),
                "cuMemcpyDtoDAsync", "The copy of %s between two GPUs failed.",
                gl_object_text(&r->base).text);
    return GR_OK;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* The slots know their own work, and so when their memory ends. */
static void drop(struct gl_staging *s)
{
    struct peer_staging *p = (struct peer_staging *)s;
    for (unsigned i = 0; i < s->count; i++)
        if (p->slots[i])
            gr_resource_drop(p->slots[i]);
    s->count = 0;
}

static void describe(const struct gl_resource *r, struct gl_staging *s)
{
    snprintf(s->way, sizeof(s->way), "%u staging buffer%s of %zu byte%s, which %s", s->count,
             gr_s(s->count), s->size, gr_s(s->size),
             r->shader ? "a shader copies" : "calls of OpenGL copy");
}

static gr_status make(struct gl_resource *r, struct gl_staging *s, unsigned flags)
{
    /* CUDA reads one slot while OpenGL writes the other */
    const unsigned usual = flags & GR_READ_ONLY ? 2 : flags & GR_WRITE_DISCARD ? 4 : 1;
    s->size = (s->size + 3) / 4 * 4; /* shaders write whole words */
    s->is_linear = r->reach == GL_REACH_OWN;
    for (; s->count < (r->in_flight ? r->in_flight : usual); s->count++) {
        /* small slots share blocks of memory, since one of its own takes at least 2 MiB */
        struct gl_wish wish = {.size = s->size, .packed = true, .context = r->context};
        wish.context.group = NULL;
        GR_TRY(gl_shared_create(&wish));
        gr_resource *slot = &wish.made->base;
        slot->in_a_ring = true; /* its maps and uses by OpenGL are apart */
        gl_object_label_staging(slot);
        gr_live_remove(GR_LIVE_RESOURCE, slot);
        ((struct peer_staging *)s)->slots[s->count] = slot;
    }
    describe(r, s);
    return GR_OK;
}

/* Finds the shader that copies the object, so that the first map need not. */
static void prepare(struct gl_resource *r)
{
    GL_SAVED(before, GL_SAVE(ERRORS));
    if (r->base.is_image)
        gl_arrays_prepare(r);
    else
        r->shader = gl_shader_use(&r->context);
    if (r->shader && !r->base.is_image && !r->owned) /* that may only be staging */
        gl_buffer_shader_prepare(r->shader);
    describe(r, r->staging);
}

const struct gl_staging_kind gl_peer_memory = {
    .size = sizeof(struct peer_staging),
    .has_semaphores = true,
    .gl_calls = "glDispatchCompute, glCopyNamedBufferSubData, glGetTextureSubImage",
    .make = make,
    .prepare = prepare,
    .drop = drop,
    .place = place,
    .move = move,
    .copy = copy,
    .to_gl = to_gl,
    .from_gl = from_gl,
    .to_cuda = to_cuda,
    .undo = undo,
    .from_cuda = from_cuda,
    .signal = signal_slot,
};
