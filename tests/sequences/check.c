/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Compares the state of the library with the model after each call. */
#include "calls.h"

#include "run.h"
#include "tests/drivers/fault_driver.h"

#include <stdarg.h>
#include <string.h>

void fail(struct world *w, const char *format, ...)
{
    char text[640];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    run_failed(w, text);
}

static void names_of(unsigned may, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < 32 && used < size; i++)
        if (may & (1u << i))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " or " : "",
                                     gr_status_name((gr_status)i));
}

bool judge(struct world *w, gr_status status, unsigned may)
{
    char wanted[200];
    if (!may)
        may = MAY(GR_OK);
    w->refused = w->refused || status != GR_OK;
    if (may & MAY(status))
        return status == GR_OK;
    names_of(may, wanted, sizeof(wanted));
    fail(w, "returned %s instead of %s: %s", gr_status_name(status), wanted,
         status == GR_OK ? "" : gr_last_error()->message);
    return status == GR_OK;
}

bool judge_made(struct world *w, const void *made, unsigned may)
{
    return judge(w, made ? GR_OK : gr_last_error()->status, may);
}

void need_cuda(struct world *w, CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS)
        fail(w, "%s returned CUDA error %d", what, (int)result);
}

/* Whether the resource is a slot that the CUDA side has acquired, and is thus mapped. */
static bool is_cuda_slot(const struct resource *r)
{
    for (int i = 0; r->ring && i < ALL_SLOTS; i++)
        if (r->ring->slots[i].state != SLOT_NONE && r->ring->slots[i].resource == r)
            return r->ring->slots[i].state == (r->ring->cuda_reads ? SLOT_READING : SLOT_WRITING);
    return false;
}

/* Whether CUDA imports memory: of images of the shared transport, but not of tensors. */
static bool imports_memory(const struct resource *r)
{
    return (r->transport == GR_TRANSPORT_EXTERNAL && !r->object->of) ||
           (r->image && r->transport == GR_TRANSPORT_SHARED);
}

/* Compares queries that are only valid until the caller frees the resource. */
static void check_resource(struct world *w, struct resource *r)
{
    char text[8];
    const gr_resource_info *info = gr_resource_get_info(r->it);
    must(w, info->closed == r->closed);
    must(w, info->flags == r->flags);
    must(w, info->transport == r->transport);
    if (r->follows && !r->image && info->size == r->object->size)
        r->size = info->size; /* a call that was refused may have followed new storage */
    must(w, info->size == (r->image ? 0 : r->size));
    must(w, info->kind == (r->image ? GR_KIND_IMAGE : GR_KIND_BUFFER));
    must(w, info->api == api_of(r));
    must(w, !info->graphics == (r->closed || r->transport != GR_TRANSPORT_INTEROP));
    must(w, !info->external_memory == (r->closed || !imports_memory(r)));
    must(w, api_of(r) != GR_GRAPHICS_OPENGL || gr_gl_name(r->it) == r->object->name);
    must(w, gr_resource_describe(r->it, text, sizeof(text)) > 0);
    if (!r->later)
        must(w, info->mapped == (r->mapped || is_cuda_slot(r)));
}

static void check_buffer(struct world *w, const struct buffer *b)
{
    bool mapped = b->resource->mapped == b;
    bool linear = mapped && (!b->resource->image || b->linear_image);
    if (!b->resource->image || b->linear_image || !mapped)
        must(w, (gr_buffer_ptr(b->it) != 0) == linear);
    must(w, gr_buffer_size(b->it) == (linear ? b->size : 0));
    const gr_buffer_info *info = gr_buffer_get_info(b->it);
    must(w, info->stream == b->stream);
    must(w, info->tensors == (b->resource->mapped == b ? tensors_of(w, b->resource) : 0));
}

static void check_ring(struct world *w, const struct ring *ring)
{
    const gr_ring_info *info = gr_ring_get_info(ring->it);
    must(w, info->written == ring->written && info->read == ring->read);
    must(w, info->dropped == ring->dropped && info->slots == SLOTS);
    must(w, info->free == ring_count(ring, SLOT_FREE, true) &&
                info->writing == ring_count(ring, SLOT_WRITING, true));
    must(w, info->ready == ring_count(ring, SLOT_READY, true) &&
                info->reading == ring_count(ring, SLOT_READING, true));
    must(w, (info->newest_age_ns > 0) == (ring->written > 0));
}

/*
 * grinterop must detect each mistake before the CUDA driver sees it. But only the driver knows
 * whether a stream has ended or belongs to another context, and it refuses to look at a special
 * stream while no context is current.
 */
static void check_driver(struct world *w)
{
    for (int i = 0; i < STREAMS; i++)
        w->driver_checks = w->driver_checks || w->streams[i].life == ENDED;
    if (!w->alone || w->driver_checks || w->second_made || w->cuda == CUDA_CONTEXTS)
        fault->reset();
    else if (fault->all_refusals() > 0)
        fail(w, "the CUDA driver refused a call of %s", fault->last_refusal());
}

/* The deleter of wrapped memory must not be called before its last user has ended. */
static void check_wraps(struct world *w)
{
    int live = 0;
    for (int i = 0; i < TENSORS; i++)
        live += w->tensors[i].used && w->tensors[i].wraps;
    must(w, __atomic_load_n(&w->wraps_ended, __ATOMIC_RELAXED) <= w->wraps - live);
}

void check_world(struct world *w)
{
    tensors_are_swept(w);
    check_driver(w);
    check_wraps(w);
    for (int i = 0; i < RESOURCES; i++)
        if (w->resources[i].life == LIVE)
            check_resource(w, &w->resources[i]);
    for (int i = 0; i < BUFFERS; i++)
        if (w->buffers[i].life == LIVE)
            check_buffer(w, &w->buffers[i]);
    for (int i = 0; i < RINGS; i++)
        if (w->rings[i].life == LIVE)
            check_ring(w, &w->rings[i]);
    CUcontext current = NULL;
    need_cuda(w, w->cu->CtxGetCurrent(&current), "cuCtxGetCurrent");
    must(w, current == (w->cuda < CUDA_CONTEXTS ? w->contexts[w->cuda] : NULL));
    no_gl_error(w);
}

void no_gl_error(struct world *w)
{
    GLenum error = w->gl == GL_CONTEXTS ? GL_NO_ERROR : glGetError();
    if (error != GL_NO_ERROR)
        fail(w, "OpenGL error 0x%04x is pending", error);
}
