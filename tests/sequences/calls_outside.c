/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Steps outside of grinterop: contexts, streams, and bytes that OpenGL or CUDA writes. */
#include "calls.h"

#include "outside.h"

#include <stdlib.h>
#include <string.h>

bool run_gl_current(struct world *w, const int *a)
{
    use_gl(w, a[0]);
    return true;
}

bool run_cuda_current(struct world *w, const int *a)
{
    if (a[0] == 1 && (!w->second_made || w->second_ended))
        return false;
    use_cuda(w, a[0]);
    return true;
}

/*
 * Creates the second CUDA context, at most one per sequence, so that no later context reuses its
 * address.
 */
bool run_cuda_create(struct world *w, const int *a)
{
    CUdevice device;
    CUcontext popped;
    (void)a;
    if (w->second_made || !w->alone)
        return false;
    need_cuda(w, w->cu->DeviceGet(&device, 0), "cuDeviceGet");
    need_cuda(w, w->cu->CtxCreate(&w->contexts[1], 0, device), "cuCtxCreate");
    w->second_made = true;
    /*
     * cuCtxCreate() has pushed the new context onto the stack. cuCtxSetCurrent(NULL) would only pop
     * it again, and the previous context would be current.
     */
    need_cuda(w, w->cu->CtxPopCurrent(&popped), "cuCtxPopCurrent");
    use_cuda(w, 1);
    return true;
}

/*
 * Notes that the CUDA context of a resource is destroyed. OpenGL may no longer use the object if it
 * was mapped by interop or is a registered image, since the NVIDIA driver, and the layer in
 * tests/nvidia, do not give such objects back to OpenGL.
 */
static void context_is_gone(const struct world *w, struct resource *r)
{
    bool mapped = r->mapped || r->later || r->kept;
    bool registered = r->image && r->life == LIVE && !r->closed;
    r->gone = true;
    if ((!w->software || getenv("GR_TEST_NVIDIA")) && r->transport == GR_TRANSPORT_INTEROP &&
        (mapped || registered))
        r->object->lost = true;
}

/* Destroys the second context. Its resources remain, and calls on them fail. */
bool run_cuda_destroy(struct world *w, const int *a)
{
    (void)a;
    if (!w->second_made || w->second_ended || w->names_used + OBJECTS > NAMES)
        return false;
    if (w->cuda == 1)
        use_cuda(w, 0);
    need_cuda(w, w->cu->CtxDestroy(w->contexts[1]), "cuCtxDestroy");
    w->second_ended = true;
    for (int i = 0; i < STREAMS; i++)
        if (w->streams[i].life == LIVE && w->streams[i].cuda == 1)
            w->streams[i].life = ENDED;
    for (int i = 0; i < RESOURCES; i++)
        if (w->resources[i].used && w->resources[i].cuda == 1)
            context_is_gone(w, &w->resources[i]);
    return true;
}

bool run_stream_create(struct world *w, const int *a)
{
    struct stream *stream = &w->streams[a[0]];
    if (stream->life == LIVE || w->cuda == CUDA_CONTEXTS)
        return false;
    need_cuda(w, w->cu->StreamCreate(&stream->it, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    stream->life = LIVE;
    stream->cuda = w->cuda;
    return true;
}

static bool has_work(const struct world *w, CUstream stream)
{
    for (int i = 0; i < BUFFERS; i++)
        if (w->buffers[i].life == LIVE && w->buffers[i].stream == stream)
            return true;
    for (int i = 0; i < RESOURCES; i++)
        if ((w->resources[i].later || w->resources[i].kept) &&
            w->resources[i].mapped->stream == stream)
            return true;
    return false;
}

static bool slot_is_out(const struct slot *slot)
{
    return slot->state == SLOT_WRITING || slot->state == SLOT_READING;
}

/* Whether slots of a ring were acquired on that stream. They will be released on it. */
static bool ring_uses_stream(const struct world *w, CUstream stream)
{
    for (int i = 0; i < RINGS; i++)
        for (int k = 0; k < ALL_SLOTS; k++)
            if (w->rings[i].life == LIVE && slot_is_out(&w->rings[i].slots[k]) &&
                w->rings[i].slots[k].stream == stream)
                return true;
    return false;
}

static void stream_is_gone(struct resource *r, CUstream stream)
{
    r->last_may_be_gone = true;
    if (r->aside.stream == stream)
        r->aside.stream_ended = true;
}

/*
 * Destroys a stream. Mappings on this stream must then be released on another stream. Only the
 * software driver defines what happens then.
 */
bool run_stream_destroy(struct world *w, const int *a)
{
    struct stream *stream = &w->streams[a[0]];
    bool used = has_work(w, stream->it);
    if (w->handed)
        return false;
    for (int i = 0; i < TENSORS; i++)
        if (w->tensors[i].used) /* streams must outlive their tensors */
            return false;
    if (stream->life != LIVE || ring_uses_stream(w, stream->it) ||
        (used && !(w->software && w->alone)))
        return false;
    judge(w, gr_tensor_collect(GR_WAIT_FOREVER), 0);
    int before = w->cuda;
    use_cuda(w, stream->cuda);
    need_cuda(w, w->cu->StreamDestroy(stream->it), "cuStreamDestroy");
    use_cuda(w, before);
    stream->life = ENDED;
    for (int i = 0; i < RESOURCES; i++)
        stream_is_gone(&w->resources[i], stream->it);
    for (int i = 0; used && i < BUFFERS; i++)
        if (w->buffers[i].stream == stream->it)
            w->buffers[i].stream_ended = true;
    return true;
}

/* ---- OpenGL ---------------------------------------------------------------------------------- */

/* Picks an object that OpenGL may use now: its context is current. */
static struct object *with_gl(struct world *w, int place)
{
    struct object *o = object_at(w, place);
    return o && o->context == w->gl && !o->mapped && !o->deleted ? o : NULL;
}

bool run_gl_fill(struct world *w, const int *a)
{
    struct object *o = with_gl(w, a[0]);
    if (o)
        fill_gl(w, o, a[1]);
    return o;
}

bool run_gl_check(struct world *w, const int *a)
{
    struct object *o = with_gl(w, a[0]);
    if (o)
        compare_gl(w, o);
    return o;
}

bool run_gl_fill_image(struct world *w, const int *a)
{
    return run_gl_fill(w, a);
}

bool run_gl_check_image(struct world *w, const int *a)
{
    return run_gl_check(w, a);
}

/* The OpenGL object of a resource, also if grinterop owns the object. */
static struct object *object_of(struct world *w, int place)
{
    struct resource *r = resource_at(w, place);
    if (!r || r->life != LIVE || r->closed)
        return NULL;
    struct object *o = r->object;
    return !o->mapped && !o->deleted && !o->lost && o->context == w->gl ? o : NULL;
}

bool run_gl_fill_of(struct world *w, const int *a)
{
    struct object *o = object_of(w, a[0]);
    if (o)
        fill_gl(w, o, a[1]);
    return o;
}

bool run_gl_check_of(struct world *w, const int *a)
{
    struct object *o = object_of(w, a[0]);
    if (o)
        compare_gl(w, o);
    return o;
}

/*
 * Gives a buffer new storage. The size changes each time, so that existing resources no longer
 * match the object.
 */
bool run_gl_storage(struct world *w, const int *a)
{
    struct object *o = with_gl(w, a[0]);
    if (!o || o->size + 4 > MOST_BYTES)
        return false;
    glBindBuffer(GL_ARRAY_BUFFER, o->name);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)o->size + 4, NULL, GL_DYNAMIC_COPY);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    o->size += 4;
    bytes_are(o, 0, o->size, UNKNOWN);
    return true;
}

/*
 * Deletes a buffer object. The next sequence uses another name, as long as unused names are left.
 */
bool run_gl_delete(struct world *w, const int *a)
{
    struct object *o = with_gl(w, a[0]);
    if (!o || w->names_used + OBJECTS > NAMES)
        return false;
    GLuint reserved; /* no new object of grinterop gets the name */
    glDeleteBuffers(1, &o->name);
    glGenBuffers(1, &reserved);
    o->deleted = true;
    return true;
}

/* Whether the model knows what becomes of a resource whose object is deleted. */
static bool can_be_deleted(const struct world *w, const struct resource *r)
{
    return !r->mapped || (!r->follows && !r->later && !r->kept && !tensors_of(w, r));
}

/*
 * Deletes an object and creates another one of its name, which OpenGL returns at once: NVIDIA's,
 * and Mesa's by run-test. Resources that follow have the new object; others keep the old one, as
 * deleted.
 */
bool run_gl_recreate(struct world *w, const int *a)
{
    struct object *o = object_at(w, a[0]);
    if (!o || o->context != w->gl || o->deleted || o->ringed || w->names_used + OBJECTS > NAMES)
        return false;
    for (int i = 0; i < RESOURCES; i++)
        if (w->resources[i].used && w->resources[i].object == o &&
            !can_be_deleted(w, &w->resources[i]))
            return false;
    for (int i = 0; i < RESOURCES; i++) {
        struct resource *r = &w->resources[i];
        if (!r->used || r->object != o || r->follows)
            continue;
        r->own = *o;
        r->own.deleted = true;
        r->own.mapped = r->mapped != NULL;
        r->object = &r->own;
    }
    renew_object(o, a[0] + 1);
    return true;
}

bool run_gl_recreate_image(struct world *w, const int *a)
{
    return run_gl_recreate(w, a);
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* Picks a mapped buffer that CUDA may access by work on the stream of its map. */
static struct buffer *with_cuda(struct world *w, int place)
{
    struct buffer *b = buffer_at(w, place);
    if (!b || b->life != LIVE || b->resource->mapped != b || b->resource->gone || b->stream_ended)
        return NULL;
    return !b->resource->image || b->linear_image ? b : NULL;
}

bool run_cuda_fill(struct world *w, const int *a)
{
    struct buffer *b = with_cuda(w, a[0]);
    if (!b || b->resource->flags & GR_READ_ONLY)
        return false;
    int before = w->cuda;
    use_cuda(w, b->resource->cuda);
    need_cuda(w,
              w->cu->MemsetD8Async(gr_buffer_ptr(b->it), (unsigned char)a[1], b->size, b->stream),
              "cuMemsetD8Async");
    use_cuda(w, before);
    struct object *o = b->resource->object;
    if (o->of) /* the library does not know of this use of the tensor */
        finish_stream(w, 0, b->stream);
    bytes_are(o, b->offset, b->linear_image ? o->size : b->size,
              o->disputed ? UNKNOWN : a[1] & 255);
    return true;
}

/* Removes the padding between the rows of an image. */
static void close_gaps(unsigned char *bytes, const struct buffer *b)
{
    const size_t row = 16;
    for (size_t y = 1; b->linear_image && y * row < b->resource->object->size; y++)
        memmove(bytes + y * row, bytes + y * gr_buffer_get_info(b->it)->pitch, row);
}

bool run_cuda_check(struct world *w, const int *a)
{
    unsigned char bytes[8192];
    struct buffer *b = with_cuda(w, a[0]);
    if (!b)
        return false;
    must(w, b->size <= sizeof(bytes));
    int before = w->cuda;
    use_cuda(w, b->resource->cuda);
    need_cuda(w, w->cu->MemcpyDtoHAsync(bytes, gr_buffer_ptr(b->it), b->size, b->stream),
              "cuMemcpyDtoHAsync");
    need_cuda(w, w->cu->StreamSynchronize(b->stream), "cuStreamSynchronize");
    use_cuda(w, before);
    close_gaps(bytes, b);
    compare(w, b->resource->object, bytes, b->offset,
            b->linear_image ? b->resource->object->size : b->size);
    return true;
}
