/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imports tensors of other frameworks: versioned DLPack, DLPack, then the CUDA array interface. */
#include "tensor.h"

#include <string.h>

/* ---- Capsules -------------------------------------------------------------------------------- */

/* The first fields of a DLManagedTensorVersioned. */
struct managed {
    uint32_t version[2];
    void *context;
    void (*deleter)(struct managed *managed);
    uint64_t flags;
    void *data;
    int32_t device[2], ndim;
    uint8_t type_code;
};

/* The first fields of a DLManagedTensor. */
struct legacy {
    void *data;
    int32_t device[2];
};

/* Whether the DLPack device is kDLCPU or kDLCUDAHost, whose memory has no streams. */
static bool is_host(long device)
{
    return device == 1 || device == 3;
}

/*
 * Takes the tensor out of the capsule and renames the capsule, so that its destructor does nothing.
 * If `ordered` is false, host memory is ready without a wait for the stream.
 */
static PyObject *take_capsule(PyObject *capsule, CUstream ready_on, PyObject *stream, bool ordered)
{
    static const char *const names[] = {"dltensor_versioned", "dltensor"};
    static const char *const taken[] = {"used_dltensor_versioned", "used_dltensor"};
    bool legacy = PyCapsule_IsValid(capsule, names[1]);
    if (!legacy && !PyCapsule_IsValid(capsule, names[0])) {
        const char *name = PyCapsule_GetName(capsule);
        PyErr_Clear();
        PyErr_Format(PyExc_BufferError,
                     "a capsule named \"%s\" is not an unused DLPack capsule: each can be imported "
                     "once and is then named \"used_...\"",
                     name ? name : "");
        return NULL;
    }
    void *managed = PyCapsule_GetPointer(capsule, names[legacy]);
    PyCapsule_SetName(capsule, taken[legacy]);
    if (!ordered && is_host(legacy ? ((struct legacy *)managed)->device[0]
                                   : ((struct managed *)managed)->device[0])) {
        ready_on = GR_STREAM_NONE;
        stream = NULL;
    }
    gr_tensor *tensor =
        gr_tensor_from_dlpack(managed, legacy ? GR_DLPACK_LEGACY : GR_DLPACK_VERSIONED, ready_on);
    if (tensor)
        return tensor_new(tensor, stream);
    PyCapsule_SetName(capsule, names[legacy]);
    return fail_as_buffer_error();
}

/* ---- __dlpack__() ---------------------------------------------------------------------------- */

static PyObject *name_dlpack, *name_stream, *name_version, *name_exchange, *name_grad;
static PyObject *no_arguments, *newest;

bool import_ready(void)
{
    name_dlpack = PyUnicode_InternFromString("__dlpack__");
    name_stream = PyUnicode_InternFromString("stream");
    name_version = PyUnicode_InternFromString("max_version");
    name_exchange = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
    name_grad = PyUnicode_InternFromString("requires_grad");
    no_arguments = PyTuple_New(0);
    newest = Py_BuildValue("(ii)", 1, 3);
    return name_dlpack && name_stream && name_version && name_exchange && name_grad &&
           no_arguments && newest;
}

/*
 * Whether the producer's memory is host memory, which has no streams. -1, with an exception, on
 * failure.
 */
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
    return is_host(value);
}

static PyObject *call_dlpack(PyObject *method, PyObject *stream, bool versioned)
{
    PyObject *keywords = PyDict_New(), *capsule = NULL;
    if (keywords && (!stream || !PyDict_SetItem(keywords, name_stream, stream)) &&
        (!versioned || !PyDict_SetItem(keywords, name_version, newest)))
        capsule = PyObject_Call(method, no_arguments, keywords);
    Py_XDECREF(keywords);
    return capsule;
}

/*
 * The type of the last tensor, which is kept alive; its C functions, or NULL; and whether its last
 * __dlpack__() accepted a stream and max_version.
 */
static struct last {
    PyObject *type;
    const struct exchange *functions;
    bool takes_stream;
} last;

/*
 * Requests a versioned capsule. Older producers do not accept max_version. __dlpack_device__(),
 * which may be slow, is called only if the last tensor of the type was in host memory, or if the
 * producer refuses the stream.
 */
static PyObject *ask_capsule(PyObject *object, PyObject *method, PyObject *stream)
{
    PyObject *capsule = NULL, *type = (PyObject *)Py_TYPE(object);
    if (last.type == type && last.takes_stream) {
        capsule = call_dlpack(method, stream, true);
        if (capsule || !PyErr_ExceptionMatches(PyExc_Exception))
            return capsule;
        PyErr_Clear();
    }
    int cpu = on_cpu(object);
    if (cpu < 0)
        return NULL;
    stream = cpu ? NULL : stream;
    capsule = call_dlpack(method, stream, true);
    if (last.type == type)
        last.takes_stream = capsule && stream;
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        capsule = call_dlpack(method, stream, false);
    }
    return capsule;
}

/* ---- The C exchange API ---------------------------------------------------------------------- */

/* The DLPackExchangeAPI of DLPack 1.3, without the types of the functions that are not used. */
struct exchange {
    uint32_t major, minor;
    const struct exchange *older;
    void (*allocate)(void);
    int (*from_object)(PyObject *object, struct managed **managed);
    void (*to_object)(void), (*view_of_object)(void);
    int (*current_stream)(int32_t type, int32_t device, CUstream *stream);
};

/*
 * The functions of the object's type, which remain valid. NULL if it has none, or with an
 * exception.
 */
static const struct exchange *exchange_of(PyObject *object)
{
    PyObject *type = (PyObject *)Py_TYPE(object);
    if (type == last.type)
        return last.functions;
    Py_INCREF(type); /* the metaclass may give the object another type */
    PyObject *capsule = PyObject_GetAttr(type, name_exchange);
    if (!capsule && !is_absent(PyExc_AttributeError)) {
        Py_DECREF(type);
        return NULL;
    }
    const struct exchange *functions =
        capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    PyErr_Clear();
    Py_XDECREF(capsule);
    while (functions && functions->major != 1)
        functions = functions->older;
    PyObject *before = last.type;
    last = (struct last){type, functions, false};
    Py_XDECREF(before);
    return functions;
}

/*
 * Whether __dlpack__() may refuse the object: PyTorch's functions do not check requires_grad. -1,
 * with an exception, on failure.
 */
static int needs_grad(PyObject *object)
{
    PyObject *grad = PyObject_GetAttr(object, name_grad);
    if (!grad)
        return is_absent(PyExc_AttributeError) ? 0 : -1;
    Py_DECREF(grad);
    return grad != Py_False;
}

/*
 * Imports without Python calls, if the work of the producer is queued on `stream`, or the memory is
 * host memory. NULL, without an exception, if __dlpack__() must be called.
 */
static PyObject *from_exchange(PyObject *object, PyObject *stream)
{
    const struct exchange *functions = exchange_of(object);
    struct managed *managed = NULL;
    CUstream current = NULL, ready_on;
    if (!functions || !stream_or(stream, GR_STREAM_LEGACY, &ready_on) || needs_grad(object))
        return NULL;
    if (functions->from_object(object, &managed)) {
        is_absent(PyExc_Exception);
        return NULL;
    }
    bool cpu = is_host(managed->device[0]);
    bool ordered =
        cpu || (!functions->current_stream(managed->device[0], managed->device[1], &current) &&
                (current ? current : GR_STREAM_LEGACY) == ready_on);
    gr_tensor *tensor = NULL;
    /* PyTorch's functions do not check the conjugate bit of complex tensors either. */
    if (ordered && managed->type_code != 5 /* kDLComplex */)
        tensor =
            gr_tensor_from_dlpack(managed, GR_DLPACK_VERSIONED, cpu ? GR_STREAM_NONE : ready_on);
    PyErr_Clear();
    if (!tensor)
        managed->deleter(managed);
    return tensor ? tensor_new(tensor, cpu ? NULL : stream) : NULL;
}

static PyObject *from_dlpack(PyObject *object, PyObject *method, PyObject *stream)
{
    CUstream ready_on;
    PyObject *tensor = NULL;
    if (!stream_or(stream, GR_STREAM_LEGACY, &ready_on))
        return NULL;
    PyObject *number = PyLong_FromVoidPtr(ready_on);
    PyObject *capsule = number ? ask_capsule(object, method, number) : NULL;
    if (capsule && !PyCapsule_CheckExact(capsule))
        PyErr_Format(PyExc_TypeError, "__dlpack__() returned %R, not a capsule",
                     (PyObject *)Py_TYPE(capsule));
    else if (capsule)
        tensor = take_capsule(capsule, ready_on, stream, false);
    Py_XDECREF(capsule);
    Py_XDECREF(number);
    return tensor;
}

/* ---- The array interfaces of CUDA and NumPy ---------------------------------------------------
 */

/* The entries of an array interface. The references are strong, since reading an entry may run code
 * that changes the dict. */
struct entries {
    PyObject *shape, *typestr, *strides, *data, *stream, *mask;
};

static struct entries entries_of(PyObject *interface)
{
    return (struct entries){item_of(interface, "shape"),   item_of(interface, "typestr"),
                            item_of(interface, "strides"), item_of(interface, "data"),
                            item_of(interface, "stream"),  item_of(interface, "mask")};
}

static void end_entries(struct entries *entries)
{
    Py_XDECREF(entries->shape);
    Py_XDECREF(entries->typestr);
    Py_XDECREF(entries->strides);
    Py_XDECREF(entries->data);
    Py_XDECREF(entries->stream);
    Py_XDECREF(entries->mask);
}

static bool data_of(PyObject *data, uint64_t *pointer, bool *read_only)
{
    if (!data || !PyTuple_Check(data) || PyTuple_Size(data) != 2) {
        PyErr_SetString(PyExc_TypeError,
                        "__cuda_array_interface__ has no valid `data`, a tuple of a pointer and a "
                        "read-only flag");
        return false;
    }
    int truth = PyObject_IsTrue(PyTuple_GetItem(data, 1));
    *read_only = truth == 1;
    return truth >= 0 && address_of(PyTuple_GetItem(data, 0), pointer);
}

static bool check_entries(const struct entries *entries)
{
    if (entries->mask)
        PyErr_SetString(PyExc_BufferError, "__cuda_array_interface__ has a mask, which is not "
                                           "supported");
    else if (!entries->shape || !entries->typestr)
        PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ has no `shape` or no `typestr`");
    else
        return true;
    return false;
}

/* Refuses structs and raw bytes: bfloat16 is "<V2", and a struct of 2 bytes "|V2". */
static bool check_typestr(PyObject *typestr)
{
    const char *text = plain_text(typestr);
    if (PyErr_Occurred())
        return false;
    if (!text || text[0] != '|' || text[1] != 'V')
        return true;
    PyErr_Format(
        PyExc_BufferError,
        "the elements are structs or raw bytes (typestr %R), which no dtype here describes: "
        "pass a view of numbers, such as array.view(\"uint16\")",
        typestr);
    return false;
}

/* Reads the stream entry. Without one the data is ready. */
static bool ready_of(PyObject *entry, CUstream *stream)
{
    if (!stream_or(entry, GR_STREAM_NONE, stream))
        return false;
    if (*stream != GR_STREAM_LEGACY || PyObject_IsTrue(entry) > 0)
        return true;
    PyErr_SetString(PyExc_ValueError, "__cuda_array_interface__ has stream 0, which is ambiguous "
                                      "and forbidden: the producer must give None, 1 for the "
                                      "legacy or 2 for the per-thread default stream");
    return false;
}

static PyObject *wrap_entries(const struct entries *entries, gr_memory memory, PyObject *owner)
{
    struct desc desc;
    uint64_t pointer = 0;
    bool read_only = false;
    CUstream ready_on;
    if (!check_entries(entries) || !check_typestr(entries->typestr) ||
        !desc_of(&desc, entries->shape, entries->typestr, entries->strides, NULL, NULL) ||
        !data_of(entries->data, &pointer, &read_only) || !ready_of(entries->stream, &ready_on))
        return NULL;
    desc.desc.memory = memory;
    desc.desc.read_only = read_only;
    return tensor_wrap(&desc, pointer, ready_on, NULL, owner, fail_as_buffer_error);
}

static PyObject *wrap_interface(PyObject *interface, gr_memory memory, PyObject *owner)
{
    struct entries entries = entries_of(interface);
    PyObject *tensor = wrap_entries(&entries, memory, owner);
    end_entries(&entries);
    return tensor;
}

static PyObject *from_interface(PyObject *object)
{
    PyObject *interface = PyObject_GetAttrString(object, "__cuda_array_interface__");
    PyObject *tensor = NULL;
    if (!interface && is_absent(PyExc_AttributeError))
        PyErr_Format(PyExc_TypeError,
                     "not a tensor: %R has neither __dlpack__() nor __cuda_array_interface__",
                     (PyObject *)Py_TYPE(object));
    else if (interface && PyDict_Check(interface))
        tensor = wrap_interface(interface, GR_MEMORY_DEVICE, object);
    else if (interface)
        PyErr_SetString(PyExc_TypeError, "__cuda_array_interface__ is not a dict");
    Py_XDECREF(interface);
    return tensor;
}

/*
 * After __dlpack__() has failed: before NumPy 2.1 it refuses read-only arrays. Its exception stays
 * if the array interface fails, too.
 */
static PyObject *from_numpy(PyObject *object)
{
    PyObject *type, *value, *traceback;
    if (!PyErr_ExceptionMatches(PyExc_BufferError) && !PyErr_ExceptionMatches(PyExc_TypeError))
        return NULL;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *interface = PyObject_GetAttrString(object, "__array_interface__");
    PyObject *tensor = interface && PyDict_Check(interface)
                           ? wrap_interface(interface, GR_MEMORY_HOST, object)
                           : NULL;
    Py_XDECREF(interface);
    if (tensor || (PyErr_Occurred() && !is_absent(PyExc_Exception))) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    } else {
        PyErr_Restore(type, value, traceback);
    }
    return tensor;
}

/* ---- Any object ------------------------------------------------------------------------------ */

/* A tensor of the same memory with that layout. Steals `object`. */
static PyObject *with_layout(PyObject *object, gr_layout layout)
{
    gr_tensor *tensor = tensor_of(object);
    const gr_tensor_info *info = tensor ? gr_tensor_get_info(tensor) : NULL;
    if (info && info->layout == layout)
        return object;
    PyObject *view = tensor_same(object, layout);
    if (view) {
        ((tensor_object *)view)->chroma = Py_XNewRef(((tensor_object *)object)->chroma);
        ((tensor_object *)view)->chroma_v = Py_XNewRef(((tensor_object *)object)->chroma_v);
    }
    Py_DECREF(object);
    return view;
}

static PyObject *tensor_of_buffer(PyObject *object)
{
    buffer_object *buffer = (buffer_object *)object;
    if (!buffer_usable(buffer) || !call_begin(object))
        return NULL;
    PyObject *tensor = tensor_of_mapping(mapping_tensor(buffer->buffer, NULL), object);
    call_end(object);
    return tensor;
}

static PyObject *one_plane(PyObject *object, PyObject *stream)
{
    object = core_own(object);
    if (Py_TYPE(object) == tensor_type)
        return tensor_of(object) ? Py_NewRef(object) : NULL;
    if (Py_TYPE(object) == buffer_type)
        return tensor_of_buffer(object);
    if (PyCapsule_CheckExact(object)) {
        CUstream ready_on;
        return stream_or(stream, GR_STREAM_NONE, &ready_on)
                   ? take_capsule(object, ready_on, stream, true)
                   : NULL;
    }
    if (PyObject_TypeCheck(object, resource_type)) {
        PyErr_SetString(PyExc_TypeError, RESOURCE_IS_NO_TENSOR);
        return NULL;
    }
    PyObject *tensor = from_exchange(object, stream);
    if (tensor || PyErr_Occurred())
        return tensor;
    PyObject *method = PyObject_GetAttr(object, name_dlpack);
    if (!method)
        return is_absent(PyExc_AttributeError) ? from_interface(object) : NULL;
    tensor = from_dlpack(object, method, stream);
    Py_DECREF(method);
    return tensor ? tensor : from_numpy(object);
}

static PyObject *plane_at(PyObject *planes, Py_ssize_t index, PyObject *stream)
{
    PyObject *object = PySequence_GetItem(planes, index);
    PyObject *plane = object ? one_plane(object, stream) : NULL;
    Py_XDECREF(object);
    if (plane && !is_one_plane(plane, PyExc_ValueError))
        Py_CLEAR(plane);
    return plane;
}

static PyObject *several_planes(PyObject *planes, Py_ssize_t count, PyObject *stream)
{
    PyObject *luma = plane_at(planes, 0, stream), *chroma[2] = {NULL, NULL};
    bool good = luma != NULL;
    for (Py_ssize_t i = 1; i < count && good; i++) {
        chroma[i - 1] = plane_at(planes, i, stream);
        good = chroma[i - 1] != NULL;
    }
    /* The chroma planes are added to a view, so that the caller's tensor does not change. */
    const gr_tensor_info *info = good ? tensor_info_of(luma) : NULL;
    PyObject *view = info ? tensor_same(luma, info->layout) : NULL;
    Py_XDECREF(luma);
    if (view) {
        ((tensor_object *)view)->chroma = Py_NewRef(chroma[0]);
        ((tensor_object *)view)->chroma_v = Py_XNewRef(chroma[1]);
    }
    Py_XDECREF(chroma[0]);
    Py_XDECREF(chroma[1]);
    return view;
}

PyObject *import_any(PyObject *object, PyObject *stream, gr_layout layout)
{
    Py_ssize_t count = PyTuple_Check(object) || PyList_Check(object) ? PySequence_Size(object) : 0;
    PyObject *on = stream ? stream : Py_None;
    PyObject *tensor =
        count == 2 || count == 3 ? several_planes(object, count, on) : one_plane(object, on);
    kept_release();
    return tensor && layout ? with_layout(tensor, layout) : tensor;
}

PyObject *import_one(PyObject *object, PyObject *stream)
{
    PyObject *tensor = import_any(object, stream, GR_LAYOUT_SHAPE);
    if (tensor && !is_one_plane(tensor, PyExc_ValueError))
        Py_CLEAR(tensor);
    return tensor;
}
