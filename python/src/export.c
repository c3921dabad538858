/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Exports tensors to other frameworks: DLPack, the CUDA array interface and NumPy. */
#include "tensor.h"

#include <stdlib.h>

#include <grinterop/driver.h>

/* DLPack device types, which Python sees as numbers. */
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };

#define VERSIONED "dltensor_versioned"
#define LEGACY    "dltensor"

/* ---- Arguments ------------------------------------------------------------------------------- */

bool export_of(struct export *wanted, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    static struct parameters parameters = {.positional = 1,
                                           .names = {"stream", "max_version", "dl_device", "copy"}};
    return arguments_of("__dlpack__", &parameters, args, count, names, &wanted->stream);
}

/* Reads a pair of small integers. false, with an exception, for anything else. */
static bool pair_of(PyObject *object, const char *what, long pair[2])
{
    if (!PyTuple_Check(object) || PyTuple_Size(object) != 2) {
        PyErr_Format(PyExc_TypeError, "%s must be a tuple of two numbers, not %R", what, object);
        return false;
    }
    for (int i = 0; i < 2; i++) {
        pair[i] = PyLong_AsLong(PyTuple_GetItem(object, i));
        if (pair[i] == -1 && PyErr_Occurred())
            return false;
    }
    return true;
}

static bool wants_versioned(PyObject *max_version, bool *versioned)
{
    long version[2];
    *versioned = false;
    if (!is_given(max_version))
        return true;
    if (!pair_of(max_version, "max_version", version))
        return false;
    *versioned = version[0] >= 1;
    return true;
}

/* ---- Streams --------------------------------------------------------------------------------- */

/*
 * Reads the consumer's `stream`: None is the legacy default stream, -1 requests no ordering, 0 is
 * refused as ambiguous.
 */
static bool consumer_of(PyObject *object, CUstream *stream)
{
    *stream = GR_STREAM_LEGACY;
    if (!is_given(object))
        return true;
    if (PyLong_Check(object)) {
        long long number = PyLong_AsLongLong(object);
        if (number > 0 || (number == -1 && !PyErr_Occurred())) {
            *stream = number > 0 ? (CUstream)(uintptr_t)number : GR_STREAM_NONE;
            return true;
        }
        PyErr_Clear();
        if (number == 0) {
            PyErr_SetString(PyExc_BufferError,
                            "stream=0 is ambiguous: pass 1 for the legacy default stream or 2 for "
                            "the per-thread default stream");
            return false;
        }
    }
    return stream_of(object, stream);
}

/* ---- Capsules -------------------------------------------------------------------------------- */

/*
 * The position, in pointers, of the deleter in the two DLPack structs. In the versioned struct it
 * follows a version and a context, in the legacy struct a DLTensor and a context. A capsule
 * destructor receives only a pointer to the struct.
 */
#define VERSIONED_DELETER 2
#define LEGACY_DELETER    7

_Static_assert(sizeof(void *) == 8, "the places are those of 64 bits");

static void end_export(void *managed, size_t place)
{
    void (*deleter)(void *) = ((void (**)(void *))managed)[place];
    ENDING(deleter(managed));
    kept_release();
}

void export_end(void *managed)
{
    void (*deleter)(void *) = ((void (**)(void *))managed)[VERSIONED_DELETER];
    deleter(managed);
}

/* What an export keeps alive, and its original context and deleter. */
struct keeping {
    struct kept *kept;
    void *context;
    void (*deleter)(void *);
};

/* Runs without the GIL, on any thread. The context is before the deleter in both structs. */
static void end_keeping(void **managed, size_t place)
{
    struct keeping keeping = *(struct keeping *)managed[place - 1];
    free(managed[place - 1]);
    managed[place - 1] = keeping.context;
    keeping.deleter(managed);
    kept_end(keeping.kept);
}

static void end_keeping_versioned(void *managed)
{
    end_keeping(managed, VERSIONED_DELETER);
}

static void end_keeping_legacy(void *managed)
{
    end_keeping(managed, LEGACY_DELETER);
}

/* Makes the export keep the object. false, with an exception, if memory runs out. */
static bool keep_for(void *managed, bool versioned, PyObject *needs)
{
    size_t place = versioned ? VERSIONED_DELETER : LEGACY_DELETER;
    void (**deleter)(void *) = &((void (**)(void *))managed)[place];
    void **context = &((void **)managed)[place - 1];
    struct keeping *keeping = malloc(sizeof(*keeping));
    struct kept *kept = keeping ? keep(needs) : NULL;
    if (!kept) {
        free(keeping);
        PyErr_NoMemory();
        return false;
    }
    *keeping = (struct keeping){kept, *context, *deleter};
    *context = keeping;
    *deleter = versioned ? end_keeping_versioned : end_keeping_legacy;
    return true;
}

/*
 * Destructor of a capsule: frees the export if no consumer took it. Consumers rename the capsule.
 */
static void end_quick(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, VERSIONED))
        export_end(PyCapsule_GetPointer(capsule, VERSIONED));
    kept_release();
}

static void end_versioned(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, VERSIONED))
        end_export(PyCapsule_GetPointer(capsule, VERSIONED), VERSIONED_DELETER);
}

static void end_legacy(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, LEGACY))
        end_export(PyCapsule_GetPointer(capsule, LEGACY), LEGACY_DELETER);
}

static void *export_as(gr_tensor *tensor, bool versioned, CUstream consumer)
{
    return gr_tensor_to_dlpack(tensor, versioned ? GR_DLPACK_VERSIONED : GR_DLPACK_LEGACY,
                               consumer);
}

static PyCapsule_Destructor end_of(bool versioned)
{
    return versioned ? end_versioned : end_legacy;
}

/* Makes a capsule of an export, which keeps `needs`. A `managed` of NULL raises the last error. */
static PyObject *capsule_of(void *managed, bool versioned, PyCapsule_Destructor end,
                            PyObject *needs)
{
    if (!managed)
        return fail_as_buffer_error();
    /* The handle of a stream needs no reference. */
    bool needless = Py_IsNone(needs) || PyLong_Check(needs);
    PyObject *capsule = needless || keep_for(managed, versioned, needs)
                            ? PyCapsule_New(managed, versioned ? VERSIONED : LEGACY, end)
                            : NULL;
    if (!capsule)
        end_export(managed, versioned ? VERSIONED_DELETER : LEGACY_DELETER);
    return capsule;
}

static PyObject *capsule_for(gr_tensor *tensor, bool versioned, CUstream consumer, PyObject *needs)
{
    void *managed;
    WITHOUT_GIL(managed = export_as(tensor, versioned, consumer));
    return capsule_of(managed, versioned, end_of(versioned), needs);
}

/* Exports a copy in memory of that kind. The copy is queued on `stream`. */
static PyObject *copy_of(gr_tensor *tensor, gr_memory memory, bool versioned, CUstream stream)
{
    gr_tensor *copy;
    CUstream on = stream == GR_STREAM_NONE ? GR_STREAM_LEGACY : stream;
    WITHOUT_GIL(copy = gr_tensor_clone(tensor, memory, on));
    if (!copy)
        return fail_as_buffer_error();
    PyObject *capsule = capsule_for(copy, versioned, on, Py_None);
    tensor_free(copy);
    return capsule;
}

/* ---- The results of __dlpack__() ------------------------------------------------------------- */

static void device_of(const gr_tensor_info *info, long device[2])
{
    bool software = gr_cuda_is_software();
    device[0] = info->memory == GR_MEMORY_HOST      ? DL_CPU
                : info->memory == GR_MEMORY_PINNED  ? DL_CUDA_HOST
                : info->memory == GR_MEMORY_MANAGED ? DL_CUDA_MANAGED
                : info->memory == GR_MEMORY_ARRAY   ? DL_CUDA
                : software                          ? DL_CPU
                                                    : DL_CUDA;
    device[1] = device[0] == DL_CUDA ? info->device : 0;
}

/* Whether the consumer wants a copy in host memory. */
static bool elsewhere(PyObject *dl_device, const gr_tensor_info *info, bool *on_cpu)
{
    long own[2], wanted[2];
    *on_cpu = false;
    if (!is_given(dl_device))
        return true;
    if (!pair_of(dl_device, "dl_device", wanted))
        return false;
    device_of(info, own);
    if (wanted[0] == own[0] && wanted[1] == own[1])
        return true;
    *on_cpu = wanted[0] == DL_CPU;
    if (!*on_cpu)
        PyErr_Format(PyExc_BufferError,
                     "the tensor is on DLPack device (%ld, %ld), but dl_device is (%ld, %ld), "
                     "which is neither that device nor the CPU: copy the tensor first",
                     own[0], own[1], wanted[0], wanted[1]);
    return *on_cpu;
}

PyObject *export_capsule(gr_tensor *tensor, const struct export *wanted, PyObject *needs)
{
    const gr_tensor_info *info = gr_tensor_get_info(tensor);
    CUstream consumer;
    bool versioned, on_cpu;
    bool copy = false;
    if (!info)
        return fail_as_buffer_error();
    if ((is_given(wanted->copy) && !truth_of(wanted->copy, &copy)) ||
        !consumer_of(wanted->stream, &consumer) ||
        !wants_versioned(wanted->max_version, &versioned) ||
        !elsewhere(wanted->dl_device, info, &on_cpu))
        return NULL;
    if (on_cpu && is_given(wanted->copy) && !copy) {
        PyErr_SetString(PyExc_BufferError,
                        "a GPU tensor can't be exported to the CPU without a copy");
        return NULL;
    }
    if (on_cpu)
        return copy_of(tensor, GR_MEMORY_HOST, versioned, GR_STREAM_NONE);
    if (copy)
        return copy_of(tensor, info->memory, versioned, consumer);
    return capsule_for(tensor, versioned, consumer, needs);
}

/*
 * Exports a mapping. Releases the GIL only once, since a loop may call this for each frame. An
 * export to the stream of the map makes no blocking call, so the destructor of such an export keeps
 * the GIL.
 */
PyObject *export_mapping(gr_buffer *buffer, CUstream own, const struct export *wanted,
                         PyObject *needs)
{
    bool versioned, elsewhere = is_given(wanted->dl_device);
    bool copy = is_given(wanted->copy) && wanted->copy != Py_False;
    CUstream consumer;
    gr_tensor *tensor;
    void *managed = NULL;
    if (elsewhere || copy) {
        tensor = mapping_tensor(buffer, NULL);
        PyObject *capsule = tensor ? export_capsule(tensor, wanted, needs) : fail_as_buffer_error();
        tensor_free(tensor);
        return capsule;
    }
    if (!consumer_of(wanted->stream, &consumer) ||
        !wants_versioned(wanted->max_version, &versioned))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    tensor = gr_buffer_tensor(buffer, NULL);
    if (tensor)
        managed = export_as(tensor, versioned, consumer);
    gr_tensor_free(tensor);
    Py_END_ALLOW_THREADS
    bool quick = versioned && consumer == own && own != GR_STREAM_PER_THREAD;
    return capsule_of(managed, versioned, quick ? end_quick : end_of(versioned), needs);
}

PyObject *export_device(const gr_tensor_info *info)
{
    long device[2];
    device_of(info, device);
    return Py_BuildValue("(ll)", device[0], device[1]);
}

/* ---- The CUDA array interface ---------------------------------------------------------------- */

PyObject *as_attribute_error(void)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_Format(PyExc_AttributeError, "%S", error ? error : type);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    return NULL;
}

PyObject *export_interface(gr_tensor *tensor)
{
    const gr_array_interface *found = gr_tensor_array_interface(tensor, GR_STREAM_NONE);
    if (!found) {
        fail();
        return as_attribute_error();
    }
    return Py_BuildValue(
        "{s:N,s:s,s:(KO),s:N,s:N,s:I}", "shape", numbers(found->shape, found->ndim), "typestr",
        found->typestr, "data", (unsigned long long)found->data,
        found->read_only ? Py_True : Py_False, "strides",
        found->strides ? numbers(found->strides, found->ndim) : Py_NewRef(Py_None), "stream",
        found->stream ? PyLong_FromVoidPtr(found->stream) : Py_NewRef(Py_None), "version",
        found->version);
}

/* ---- NumPy ----------------------------------------------------------------------------------- */

/* Checks that NumPy can read the memory. */
static bool check_host(PyObject *object)
{
    PyObject *device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    PyObject *type = device && PyTuple_Check(device) ? PyTuple_GetItem(device, 0) : NULL;
    long number = type ? PyLong_AsLong(type) : -1;
    Py_XDECREF(device);
    if (PyErr_Occurred())
        return false;
    if (number == DL_CPU || number == DL_CUDA_HOST || number == DL_CUDA_MANAGED)
        return true;
    PyErr_SetString(PyExc_TypeError,
                    "NumPy can't read GPU memory: copy it with Tensor.tobytes(stream=stream) or "
                    "Tensor.clone(\"host\", stream=stream); buffer.tensor() makes a Tensor from a "
                    "Buffer");
    return false;
}

static PyObject *convert(PyObject *numpy, PyObject *array, PyObject *dtype, PyObject *copy)
{
    if (Py_IsNone(copy))
        return PyObject_CallMethod(numpy, "asarray", "OO", array, dtype);
    PyObject *function = PyObject_GetAttrString(numpy, "array"), *made = NULL;
    PyObject *args = PyTuple_Pack(1, array);
    PyObject *keywords = Py_BuildValue("{sOsO}", "dtype", dtype, "copy", copy);
    if (function && args && keywords)
        made = PyObject_Call(function, args, keywords);
    Py_XDECREF(function);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return made;
}

/*
 * __array__(), for numpy.asarray(). Without it, NumPy does not try DLPack in asarray() and creates
 * an array whose only element is the object.
 */
PyObject *as_numpy(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *dtype = Py_None, *copy = Py_None, *made = NULL;
    if (!PARSE("|OO:__array__", NAMES("dtype", "copy"), &dtype, &copy) || !check_host(self))
        return NULL;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "from_dlpack", "O", self) : NULL;
    if (array)
        made = convert(numpy, array, dtype, copy);
    Py_XDECREF(array);
    Py_XDECREF(numpy);
    return made;
}
