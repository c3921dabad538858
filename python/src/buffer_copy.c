/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies and fills of a mapped buffer, with the same methods as the Buffer of cuda.core. */
#include "resource.h"

#include <string.h>

#include "lib/cuda/driver_outside.h"

/* The mapping, which must have a pointer: an image has none. `call` is for the message. */
static gr_buffer *mapping_to_use(buffer_object *self, bool to_write, const char *call)
{
    if (!buffer_usable(self))
        return NULL;
    if (to_write && self->read_only) {
        PyErr_SetString(PyExc_RuntimeError, "the resource was registered or mapped read_only");
        return NULL;
    }
    if (!gr_buffer_ptr(self->buffer)) {
        fail_with("gr_buffer_ptr", call);
        return NULL;
    }
    return self->buffer;
}

/*
 * Reads the pointer and size of a grinterop or cuda.core Buffer. Other objects have a `handle` and
 * a `size` as well, such as a GraphicsResource.
 */
static bool place_of(PyObject *object, uint64_t *pointer, uint64_t *size)
{
    if (!PyObject_HasAttrString((PyObject *)Py_TYPE(object), "is_device_accessible"))
        return wrong_type("expected a Buffer", object);
    PyObject *handle = PyObject_GetAttrString(object, "handle");
    PyObject *bytes = handle ? PyObject_GetAttrString(object, "size") : NULL;
    bool is_buffer = bytes && address_of(handle, pointer) && address_of(bytes, size);
    Py_XDECREF(handle);
    Py_XDECREF(bytes);
    return is_buffer;
}

/* A fill, or a copy if there is no pattern. */
struct work {
    CUdeviceptr to, from;
    unsigned pattern;
    size_t pattern_size, size;
    CUstream stream;
};

static int run(void *user)
{
    const struct work *work = user;
    const struct gr_driver_api *cuda = gr_driver_functions();
    if (work->pattern_size == 0)
        return cuda->MemcpyAsync(work->to, work->from, work->size, work->stream);
    const size_t count = work->size / work->pattern_size;
    if (work->pattern_size == 1)
        return cuda->MemsetD8Async(work->to, (unsigned char)work->pattern, count, work->stream);
    if (work->pattern_size == 2)
        return cuda->MemsetD16Async(work->to, (unsigned short)work->pattern, count, work->stream);
    return cuda->MemsetD32Async(work->to, work->pattern, count, work->stream);
}

/* Runs the work in the CUDA context of the resource. */
static PyObject *run_in_context(gr_buffer *buffer, struct work *work)
{
    int result;
    const CUcontext context = gr_buffer_get_info(buffer)->context; /* which writes the info */
    WITHOUT_GIL(result = in_context(context, run, work));
    return result == CUDA_SUCCESS
               ? Py_NewRef(Py_None)
               : driver_fail(result, work->pattern_size ? "cuMemsetD8Async" : "cuMemcpyAsync");
}

static PyObject *copy(buffer_object *self, PyObject *other, CUstream stream, bool to_other)
{
    uint64_t pointer, size;
    gr_buffer *buffer =
        mapping_to_use(self, !to_other, to_other ? "Buffer.copy_to" : "Buffer.copy_from");
    if (!buffer || !place_of(other, &pointer, &size))
        return NULL;
    size_t own = gr_buffer_size(buffer);
    if (size != own) {
        PyErr_Format(PyExc_ValueError,
                     "buffer sizes mismatch: this one has %zu bytes, the other "
                     "%llu",
                     own, (unsigned long long)size);
        return NULL;
    }
    const CUdeviceptr here = gr_buffer_ptr(buffer);
    struct work work = {.to = to_other ? pointer : here,
                        .from = to_other ? here : pointer,
                        .size = own,
                        .stream = stream};
    return run_in_context(buffer, &work);
}

/* Marks the other Buffer as in use, so that its mapping does not end during the copy. */
static PyObject *copy_used(buffer_object *self, PyObject *other, CUstream stream, bool to_other)
{
    PyObject *own = core_own(other);
    bool is_ours = Py_TYPE(own) == buffer_type;
    if (is_ours && !call_begin(own))
        return NULL;
    PyObject *none = copy(self, own, stream, to_other);
    if (is_ours)
        call_end(own);
    return none;
}

static PyObject *copy_to(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *other = NULL, *given = NULL;
    CUstream stream;
    if (!PARSE("|O$O:copy_to", NAMES("dst", "stream"), &other, &given) ||
        !stream_given(given, "copy_to", &stream))
        return NULL;
    if (!is_given(other)) {
        PyErr_SetString(PyExc_ValueError, "a destination buffer must be provided: a mapping has no "
                                          "memory resource to allocate one from");
        return NULL;
    }
    PyObject *none = copy_used((buffer_object *)self, other, stream, true);
    Py_XDECREF(none);
    return none ? Py_NewRef(other) : NULL;
}

static PyObject *copy_from(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *other, *given = NULL;
    CUstream stream;
    if (!PARSE("O|$O:copy_from", NAMES("src", "stream"), &other, &given) ||
        !stream_given(given, "copy_from", &stream))
        return NULL;
    return copy_used((buffer_object *)self, other, stream, false);
}

/* ---- Fills ----------------------------------------------------------------------------------- */

/*
 * Reads a pattern as cuda.core does: an int from 0 to 255 is one byte, and any other value, even a
 * NumPy integer, is the 1, 2 or 4 bytes of its buffer. Returns the size, 0 on failure.
 */
static size_t pattern_of(PyObject *value, unsigned *pattern)
{
    *pattern = 0;
    if (PyLong_Check(value)) {
        int overflow;
        long number = PyLong_AsLongAndOverflow(value, &overflow);
        *pattern = (unsigned)number;
        if (!overflow && number >= 0 && number < 256)
            return 1;
        PyErr_Format(PyExc_OverflowError, "a fill value must be from 0 to 255, not %R", value);
        return 0;
    }
    PyObject *bytes = bytes_of(value, "a fill value must be an int, or 1, 2 or 4 bytes");
    if (!bytes)
        return 0;
    size_t size = (size_t)PyBytes_Size(bytes);
    if (size == 1 || size == 2 || size == 4)
        memcpy(pattern, PyBytes_AsString(bytes), size);
    else
        PyErr_Format(PyExc_ValueError, "a fill pattern must be 1, 2 or 4 bytes, not %zu", size);
    Py_DECREF(bytes);
    return PyErr_Occurred() ? 0 : size;
}

static PyObject *fill(PyObject *object, PyObject *args, PyObject *keywords)
{
    PyObject *value, *given = NULL;
    unsigned pattern;
    size_t size;
    CUstream stream;
    if (!PARSE("O|$O:fill", NAMES("value", "stream"), &value, &given) ||
        !stream_given(given, "fill", &stream) || !(size = pattern_of(value, &pattern)))
        return NULL;
    gr_buffer *buffer = mapping_to_use((buffer_object *)object, true, "Buffer.fill");
    if (!buffer)
        return NULL;
    size_t own = gr_buffer_size(buffer);
    if (own % size) {
        PyErr_Format(PyExc_ValueError, "buffer size (%zu) must be divisible by %zu", own, size);
        return NULL;
    }
    struct work work = {.to = gr_buffer_ptr(buffer),
                        .pattern = pattern,
                        .pattern_size = size,
                        .size = own,
                        .stream = stream};
    return run_in_context(buffer, &work);
}

GUARDED(copy_to)
GUARDED(copy_from)
GUARDED(fill)

PyMethodDef buffer_copy_methods[] = {
    {"copy_to", METHOD(guarded_copy_to), KEYWORDS, NULL},
    {"copy_from", METHOD(guarded_copy_from), KEYWORDS, NULL},
    {"fill", METHOD(guarded_fill), KEYWORDS, NULL},
    {0},
};
