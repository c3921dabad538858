/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of other frameworks: DLPack, versioned first, then the CUDA array interface. */
#include "tensor.h"

#include <string.h>

/* ---- Capsules -------------------------------------------------------------------------------- */

/* It is ours once it has the name of what was taken: its destructor leaves it alone then. */
static PyObject *take_capsule(PyObject *capsule, CUstream ready_on, PyObject *stream)
{
    static const char *const names[] = {"dltensor_versioned", "dltensor"};
    static const char *const taken[] = {"used_dltensor_versioned", "used_dltensor"};
    bool legacy = PyCapsule_IsValid(capsule, names[1]);
    if (!legacy && !PyCapsule_IsValid(capsule, names[0])) {
        const char *name = PyCapsule_GetName(capsule);
        PyErr_Clear();
        PyErr_Format(PyExc_BufferError,
                     "a capsule named \"%s\" is none of DLPack's that can be taken: each is taken "
                     "once, and called \"used_...\" then",
                     name ? name : "");
        return NULL;
    }
    void *managed = PyCapsule_GetPointer(capsule, names[legacy]);
    gr_tensor *tensor = legacy ? gr_tensor_from_dlpack_legacy(managed, ready_on)
                               : gr_tensor_from_dlpack(managed, ready_on);
    if (!tensor)
        return fail_as_buffer_error();
    PyCapsule_SetName(capsule, taken[legacy]);
    return tensor_new(tensor, stream);
}

/* ---- __dlpack__() ---------------------------------------------------------------------------- */

/* Whether the producer's memory is the CPU's, which has no streams. -1: an exception. */
static int on_cpu(PyObject *object)
{
    PyObject *device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    PyObject *type = device ? PySequence_GetItem(device, 0) : NULL;
    PyObject *number = type ? PyNumber_Long(type) : NULL;
    long value = number ? PyLong_AsLong(number) : -1;
    Py_XDECREF(device);
    Py_XDECREF(type);
    Py_XDECREF(number);
    if (PyErr_Occurred())
        return -1;
    return value == 1 || value == 3;
}

static PyObject *call_dlpack(PyObject *method, PyObject *stream, bool versioned)
{
    PyObject *keywords = PyDict_New(), *none = PyTuple_New(0), *capsule = NULL;
    PyObject *version = versioned ? Py_BuildValue("(ii)", 1, 3) : NULL;
    if (keywords && none && (!versioned || version) &&
        (!stream || !PyDict_SetItemString(keywords, "stream", stream)) &&
        (!versioned || !PyDict_SetItemString(keywords, "max_version", version)))
        capsule = PyObject_Call(method, none, keywords);
    Py_XDECREF(keywords);
    Py_XDECREF(none);
    Py_XDECREF(version);
    return capsule;
}

/* Versioned first. Producers of before know no max_version. */
static PyObject *ask_capsule(PyObject *method, PyObject *stream)
{
    PyObject *capsule = call_dlpack(method, stream, true);
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = call_dlpack(method, stream, false);
    }
    return capsule;
}

static PyObject *from_dlpack(PyObject *object, PyObject *method, PyObject *stream)
{
    int cpu = on_cpu(object);
    bool named = stream && !Py_IsNone(stream);
    CUstream ready_on = CU_STREAM_LEGACY;
    PyObject *number = NULL, *tensor = NULL;
    if (cpu < 0 || (named && !stream_of(stream, &ready_on)))
        return NULL;
    if (cpu)
        ready_on = GR_STREAM_NONE;
    else if (!(number = PyLong_FromVoidPtr(ready_on)))
        return NULL;
    PyObject *capsule = ask_capsule(method, number);
    if (capsule && !PyCapsule_CheckExact(capsule))
        PyErr_Format(PyExc_TypeError, "__dlpack__() gave %R, not a capsule",
                     (PyObject *)Py_TYPE(capsule));
    else if (capsule)
        tensor = take_capsule(capsule, ready_on, named && !cpu ? stream : NULL);
    Py_XDECREF(capsule);
    Py_XDECREF(number);
    return tensor;
}

/* ---- __cuda_array_interface__ ---------------------------------------------------------------- */

/* An entry of the interface. NULL, without an exception, if it has none or None. Borrowed. */
static PyObject *entry(PyObject *interface, const char *name)
{
    PyObject *value = PyDict_GetItemString(interface, name);
    return value && !Py_IsNone(value) ? value : NULL;
}

static bool data_of(PyObject *interface, uint64_t *pointer, bool *read_only)
{
    PyObject *data = entry(interface, "data");
    if (!data || !PyTuple_Check(data) || PyTuple_Size(data) != 2) {
        PyErr_SetString(PyExc_TypeError,
                        "__cuda_array_interface__ has no `data` of two, which are a pointer and "
                        "whether it is read-only");
        return false;
    }
    int truth = PyObject_IsTrue(PyTuple_GetItem(data, 1));
    *read_only = truth == 1;
    return truth >= 0 && address_of(PyTuple_GetItem(data, 0), pointer);
}

/* No stream: the data is ready. PyNvVideoCodec says 0 where it means the legacy default stream. */
static bool producer_of(PyObject *interface, CUstream *stream)
{
    PyObject *value = entry(interface, "stream");
    return stream_or(value, GR_STREAM_NONE, stream);
}

static PyObject *wrap_interface(PyObject *interface, PyObject *owner)
{
    struct desc desc;
    uint64_t pointer = 0;
    bool read_only = false;
    CUstream ready_on;
    if (entry(interface, "mask")) {
        PyErr_SetString(PyExc_BufferError, "__cuda_array_interface__ has a mask, which tensors "
                                           "have not");
        return NULL;
    }
    if (!entry(interface, "shape") || !entry(interface, "typestr")) {
        PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ has no `shape` or no `typestr`");
        return NULL;
    }
    if (!desc_of(&desc, entry(interface, "shape"), entry(interface, "typestr"),
                 entry(interface, "strides"), NULL, NULL) ||
        !data_of(interface, &pointer, &read_only) || !producer_of(interface, &ready_on))
        return NULL;
    desc.desc.read_only = read_only;
    struct kept *kept = keep(owner);
    if (!kept)
        return NULL;
    gr_tensor *tensor =
        gr_tensor_wrap(&desc.desc, (void *)(uintptr_t)pointer, ready_on, kept_end, kept);
    if (!tensor)
        kept_end(kept);
    return tensor ? tensor_new(tensor, NULL) : fail_as_buffer_error();
}

static PyObject *from_interface(PyObject *object)
{
    PyObject *interface = PyObject_GetAttrString(object, "__cuda_array_interface__");
    PyObject *tensor = NULL;
    if (interface && PyDict_Check(interface))
        tensor = wrap_interface(interface, object);
    else if (interface)
        PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ is no dict");
    Py_XDECREF(interface);
    return tensor;
}

/* ---- Any object ------------------------------------------------------------------------------ */

/* The same memory with another layout. Takes `object`. */
static PyObject *with_layout(PyObject *object, gr_layout layout)
{
    tensor_object *self = (tensor_object *)object;
    const gr_tensor_info *info = gr_tensor_get_info(self->tensor);
    struct desc desc;
    PyObject *view = NULL;
    if (!info) {
        fail();
    } else if (info->layout == layout) {
        return object;
    } else {
        desc_of_info(&desc, info);
        desc.desc.layout = layout;
        gr_tensor *made = gr_tensor_view(self->tensor, &desc.desc);
        view = made ? tensor_new(made, self->stream) : fail();
    }
    if (view)
        ((tensor_object *)view)->chroma = Py_XNewRef(self->chroma);
    Py_DECREF(object);
    return view;
}

static PyObject *one_plane(PyObject *object, PyObject *stream)
{
    object = core_own(object);
    if (Py_TYPE(object) == tensor_type)
        return tensor_of(object) ? Py_NewRef(object) : NULL;
    if (Py_TYPE(object) == buffer_type) {
        buffer_object *buffer = (buffer_object *)object;
        return buffer_usable(buffer)
                   ? tensor_new(gr_buffer_tensor(buffer->buffer, NULL), buffer->stream)
                   : NULL;
    }
    if (PyCapsule_CheckExact(object)) {
        CUstream ready_on;
        return stream_or(stream, GR_STREAM_NONE, &ready_on)
                   ? take_capsule(object, ready_on, Py_IsNone(stream) ? NULL : stream)
                   : NULL;
    }
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__"), *tensor;
    if (method) {
        tensor = from_dlpack(object, method, stream);
        Py_DECREF(method);
        return tensor;
    }
    PyErr_Clear();
    tensor = from_interface(object);
    if (!tensor && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError,
                     "no tensor: %R has neither __dlpack__() nor __cuda_array_interface__",
                     (PyObject *)Py_TYPE(object));
    }
    return tensor;
}

static PyObject *two_planes(PyObject *pair, PyObject *stream)
{
    PyObject *first = PySequence_GetItem(pair, 0), *second = PySequence_GetItem(pair, 1);
    PyObject *luma = first && second ? one_plane(first, stream) : NULL;
    PyObject *chroma = luma ? one_plane(second, stream) : NULL;
    /* What is the caller's own stays as it is. */
    if (chroma && luma == first) {
        gr_tensor *tensor = ((tensor_object *)luma)->tensor;
        struct desc desc;
        desc_of_info(&desc, gr_tensor_get_info(tensor));
        gr_tensor *made = gr_tensor_view(tensor, &desc.desc);
        Py_DECREF(luma);
        luma = made ? tensor_new(made, ((tensor_object *)first)->stream) : fail();
    }
    if (luma && chroma)
        ((tensor_object *)luma)->chroma = Py_NewRef(chroma);
    else
        Py_CLEAR(luma);
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(chroma);
    return luma;
}

PyObject *import_any(PyObject *object, PyObject *stream, gr_layout layout)
{
    bool pair = (PyTuple_Check(object) || PyList_Check(object)) && PySequence_Size(object) == 2;
    PyObject *on = stream ? stream : Py_None;
    PyObject *tensor = pair ? two_planes(object, on) : one_plane(object, on);
    kept_drop();
    return tensor && layout ? with_layout(tensor, layout) : tensor;
}
