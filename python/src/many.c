/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls on several resources: _map_many(), _release_many(), and a part of Ring and Submit. */
#include "resource.h"

#include <grinterop/tensor.h>

#define RESOURCES "resources: expected a sequence of GraphicsResources"

/* ---- Resources of a sequence ----------------------------------------------------------------- */

static void free_resources(struct resources *given)
{
    PyMem_Free(given->objects);
    PyMem_Free(given->resources);
    Py_XDECREF(given->tuple);
}

static bool fill_resources(struct resources *given)
{
    given->objects = PyMem_Calloc(given->count + 1, sizeof(*given->objects));
    given->resources = PyMem_Calloc(given->count + 1, sizeof(*given->resources));
    if (!given->objects || !given->resources)
        return PyErr_NoMemory();
    for (size_t i = 0; i < given->count; i++) {
        given->objects[i] = PyTuple_GetItem(given->tuple, (Py_ssize_t)i);
        resource_object *one = resource_of(given->objects[i]);
        if (!one)
            return false;
        given->resources[i] = one->resource;
    }
    return exclusive_begin_all(given->objects, given->count);
}

bool resources_begin(struct resources *given, PyObject *sequence)
{
    *given = (struct resources){.tuple = items_of(sequence, RESOURCES)};
    given->count = given->tuple ? (size_t)PyTuple_Size(given->tuple) : 0;
    if (given->tuple && fill_resources(given))
        return true;
    free_resources(given);
    return false;
}

void resources_end(struct resources *given)
{
    exclusive_end_all(given->objects, given->count);
    free_resources(given);
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* The objects of one call. Zero-initialised. */
struct batch {
    size_t count;
    PyObject **objects; /* strong references */
    void **pointers;    /* gr_resource * or gr_buffer * */
};

static void end(struct batch *batch)
{
    for (size_t i = 0; batch->objects && i < batch->count; i++)
        Py_XDECREF(batch->objects[i]);
    PyMem_Free(batch->objects);
    PyMem_Free(batch->pointers);
}

static bool fill(struct batch *batch, PyObject *items)
{
    const size_t count = (size_t)PyTuple_Size(items);
    batch->objects = PyMem_Calloc(count + 1, sizeof(*batch->objects));
    batch->pointers = PyMem_Calloc(count + 1, sizeof(*batch->pointers));
    if (!batch->objects || !batch->pointers)
        return PyErr_NoMemory();
    for (size_t i = 0; i < count; i++)
        batch->objects[i] = Py_NewRef(core_own(PyTuple_GetItem(items, (Py_ssize_t)i)));
    batch->count = count;
    return true;
}

/* Reads the objects of a sequence. false, with an exception, if there is no sequence. */
static bool begin(PyObject *sequence, const char *expected, struct batch *batch)
{
    PyObject *items = items_of(sequence, expected);
    const bool is_filled = items && fill(batch, items);
    Py_XDECREF(items);
    return is_filled;
}

/* ---- Mapping --------------------------------------------------------------------------------- */

static bool take_resources(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        resource_object *resource = resource_of(batch->objects[i]);
        if (!resource)
            return false;
        if (resource_is_mapped(resource)) {
            PyErr_Format(
                PyExc_RuntimeError,
                "GraphicsResource %zu is already mapped: close its Buffer or call unmap() first",
                i);
            return false;
        }
        batch->pointers[i] = resource->resource;
    }
    return true;
}

/*
 * The mapped buffers as a list. On failure, gr_buffer_release_later() releases the mappings that
 * have no Buffer object yet.
 */
static PyObject *list_of(struct batch *batch, gr_buffer *buffers[], PyObject *stream)
{
    PyObject *list = PyList_New((Py_ssize_t)batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        resource_object *resource = (resource_object *)batch->objects[i];
        PyObject *buffer = list ? buffer_new(resource, buffers[i], stream) : NULL;
        if (!list)
            gr_buffer_release_later(buffers[i]);
        else if ((buffer = core_wrap(buffer)))
            PyList_SetItem(list, (Py_ssize_t)i, buffer);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *map_batch(struct batch *batch, PyObject *given, CUstream stream,
                           const gr_map_options *options)
{
    gr_status status;
    gr_buffer **buffers = PyMem_Calloc(batch->count + 1, sizeof(gr_buffer *));
    if (!buffers)
        return PyErr_NoMemory();
    if (!exclusive_begin_all(batch->objects, batch->count)) {
        PyMem_Free(buffers);
        return NULL;
    }
    WITHOUT_GIL(status = gr_map_many((gr_resource *const *)batch->pointers, batch->count, stream,
                                     options, buffers));
    PyObject *list = status == GR_OK ? list_of(batch, buffers, given) : fail();
    exclusive_end_all(batch->objects, batch->count);
    PyMem_Free(buffers);
    return list;
}

#define PARTS "parts: expected an (offset, size) for each resource"

/* Reads a part for each resource, which the caller frees. None: NULL. */
static bool parts_of(PyObject *given, size_t count, gr_map_part **parts)
{
    if (!is_given(given))
        return true;
    PyObject *items = items_of(given, PARTS);
    bool good = items && (size_t)PyTuple_Size(items) == count;
    if (items && !good)
        PyErr_Format(PyExc_ValueError, PARTS ", of which there are %zu, not %zd", count,
                     PyTuple_Size(items));
    *parts = PyMem_Calloc(count + 1, sizeof(**parts));
    for (size_t i = 0; good && *parts && i < count; i++)
        good = PyArg_Parse(PyTuple_GetItem(items, (Py_ssize_t)i), "(O&O&);" PARTS,
                           SIZE(&(*parts)[i].offset), SIZE(&(*parts)[i].size));
    Py_XDECREF(items);
    return good && (*parts || PyErr_NoMemory());
}

static PyObject *map_many(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    ENTER();
    gr_map_options options = GR_INIT(gr_map_options);
    PyObject *resources, *given, *wait = NULL, *ready = NULL, *each = NULL, *list = NULL;
    gr_map_part *parts = NULL;
    struct batch batch = {0};
    CUstream stream;
    if (!PARSE("OO|OOO&O&O:map_many",
               NAMES("resources", "stream", "wait_event", "ready_event", "offset", "size", "parts"),
               &resources, &given, &wait, &ready, SIZE(&options.offset), SIZE(&options.size),
               &each) ||
        !stream_of(given, &stream) || !event_of(wait, &options.wait_event) ||
        !event_of(ready, &options.ready_event))
        return NULL;
    if (begin(resources, RESOURCES, &batch) && parts_of(each, batch.count, &parts) &&
        take_resources(&batch)) {
        options.parts = parts;
        list = map_batch(&batch, given, stream, &options);
    }
    PyMem_Free(parts);
    end(&batch);
    return list;
}

/* ---- Releasing ------------------------------------------------------------------------------- */

/*
 * Calls ending_begin() for the Buffer at `place`. If the mapping has already ended, clears *place
 * instead.
 */
static bool take_buffer(PyObject **place, void **pointer)
{
    PyObject *object = *place;
    buffer_object *buffer = (buffer_object *)object;
    if (Py_TYPE(object) != buffer_type)
        return wrong_type("expected a Buffer", object);
    if (!buffer->buffer) {
        Py_CLEAR(*place);
        return true;
    }
    if (buffer->of_ring) {
        PyErr_SetString(PyExc_RuntimeError,
                        "a Buffer belongs to a ring: publish or give back its slot instead");
        return false;
    }
    if (!ending_begin(object))
        return false;
    *pointer = buffer->buffer;
    return true;
}

/*
 * Undoes take_buffer() for the first `count` buffers. If `released`, the library has set the
 * pointer of each released buffer to NULL.
 */
static void end_taken(struct batch *batch, size_t count, bool released)
{
    for (size_t i = 0; i < count; i++) {
        buffer_object *buffer = (buffer_object *)batch->objects[i];
        if (!buffer)
            continue;
        bool ended = released && !batch->pointers[i];
        if (ended)
            buffer->buffer = NULL;
        ending_end((PyObject *)buffer);
        if (ended)
            buffer_ended(buffer);
    }
}

/* Marks each buffer as ending, so a buffer that is listed twice is refused. */
static bool take_buffers(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (!take_buffer(&batch->objects[i], &batch->pointers[i])) {
            end_taken(batch, i, false);
            return false;
        }
    }
    return true;
}

static PyObject *release_batch(struct batch *batch, CUstream stream,
                               const gr_release_options *options)
{
    gr_status status;
    unsigned tensors = 0;
    for (size_t i = 0; i < batch->count; i++)
        tensors += mapping_tensors(batch->pointers[i]);
    WITHOUT_GIL(status = gr_buffer_release_many((gr_buffer **)batch->pointers, batch->count, stream,
                                                options));
    bool released = status == GR_OK || fail();
    end_taken(batch, batch->count, true);
    return released && buffer_warn(tensors) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *release_many(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    ENTER();
    gr_release_options options = GR_INIT(gr_release_options);
    PyObject *buffers, *given = NULL, *wait = NULL, *result = NULL;
    struct batch batch = {0};
    CUstream stream;
    if (!PARSE("O|OO:release_many", NAMES("buffers", "stream", "wait_event"), &buffers, &given,
               &wait) ||
        !stream_or(given, GR_STREAM_OF_MAP, &stream) || !event_of(wait, &options.wait_event))
        return NULL;
    if (begin(buffers, "buffers: expected a sequence of Buffers", &batch) && take_buffers(&batch))
        result = batch.count ? release_batch(&batch, stream, &options) : Py_NewRef(Py_None);
    end(&batch);
    return result;
}

PyMethodDef many_functions[] = {
    {"_map_many", METHOD(map_many), KEYWORDS, NULL},
    {"_release_many", METHOD(release_many), KEYWORDS, NULL},
    {0},
};
