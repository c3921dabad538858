/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensor: memory with a type and a shape, and its exchange with other frameworks. */
#ifndef PYTHON_TENSOR_H
#define PYTHON_TENSOR_H

#include "resource.h"

#include <grinterop/tensor.h>

typedef struct tensor_object {
    OBJECT_HEAD /* A Tensor is part of the Buffer whose memory it uses. */

    /* NULL: closed. */
    gr_tensor *tensor;

    /* The stream, which must outlive the tensor; or NULL. */
    PyObject *stream;

    /* The owner of wrapped memory, which the tensor shares with its views; or NULL. */
    struct kept *kept;

    /* The chroma planes that the producer exports separately, otherwise NULL. */
    PyObject *chroma, *chroma_v;

    /* The Buffer whose memory the tensor uses (a strong reference), or NULL. */
    PyObject *mapping;

    /* Whether a view of the buffer protocol refers to this Tensor, which is in a call until then.
     */
    bool viewed;

    /* The owner of the memory if the collector ended the tensor before its view, or NULL. */
    PyObject *owner;
} tensor_object;

extern PyTypeObject *tensor_type;
struct desc;

/* Wraps a gr_tensor. Takes ownership, even on failure; NULL counts as a failure. */
PyObject *tensor_new(gr_tensor *tensor, PyObject *stream);

/* gr_buffer_tensor() without the GIL, since ending deferred tensors and resources may block. */
gr_tensor *mapping_tensor(gr_buffer *buffer, const gr_tensor_desc *desc);

/*
 * Like tensor_new(), for a tensor in the memory of the Buffer `mapping`. Keeps the stream of that
 * Buffer.
 */
PyObject *tensor_of_mapping(gr_tensor *tensor, PyObject *mapping);

/* Like tensor_new(), for a view of `from`. */
PyObject *tensor_view_of(tensor_object *from, gr_tensor *view);

/* A new Tensor of the same elements, without the chroma planes. */
PyObject *tensor_same(PyObject *object, gr_layout layout);

/*
 * Wraps memory that `owner` owns, whose bytes are ready after the work in `ready_on`. On failure of
 * the library returns failed().
 */
PyObject *tensor_wrap(const struct desc *desc, uint64_t address, CUstream ready_on,
                      PyObject *stream, PyObject *owner, PyObject *(*failed)(void));

/* The gr_tensor of the object. NULL, with an exception, if it is closed. */
gr_tensor *tensor_of(PyObject *object);

/* The properties of the tensor (desc.c). NULL, with an exception, if it is closed. */
const gr_tensor_info *tensor_info_of(PyObject *self);
extern PyGetSetDef tensor_properties[];
PyObject *tensor_represent(PyObject *object);

/* The planes of an image during a call: the Tensor and its chroma planes. */
struct planes {
    PyObject *objects[3];
    gr_tensor *tensors[3];
    int count;
};

/* Begins a call on each plane. false, with an exception, if one is closed. */
bool planes_begin(PyObject *tensor, struct planes *planes);
void planes_end(struct planes *planes);

/* Whether the Tensor has a single plane. If not, sets an exception of that type. */
bool is_one_plane(PyObject *tensor, PyObject *exception);

/* Frees a tensor, which may wait for the driver. */
void tensor_free(gr_tensor *tensor);

/* ---- Descriptions (desc.c) ------------------------------------------------------------------- */

/* A description and the arrays that it points to. */
struct desc {
    gr_tensor_desc desc;
    int64_t shape[GR_TENSOR_DIMS], strides[GR_TENSOR_DIMS];
};

/*
 * Reads a description from Python. NULL or None leaves a field 0; a dtype of None is u8. A shape is
 * a sequence of numbers, or one number.
 */
bool desc_of(struct desc *desc, PyObject *shape, PyObject *dtype, PyObject *strides,
             PyObject *layout, PyObject *memory);

/* Fills in the description of an existing tensor, as a starting point. */
void desc_of_info(struct desc *desc, const gr_tensor_info *info);

/* Reads a gr_layout. None is GR_LAYOUT_NONE: the shape determines the layout. */
bool layout_of(PyObject *object, gr_layout *layout);

/* A tuple of n numbers. */
PyObject *numbers(const int64_t *values, unsigned n);

extern const char *const layout_names[], *const memory_names[];

/* ---- Other frameworks ------------------------------------------------------------------------ */

/* The arguments of __dlpack__(), in the order of its parameters. */
struct export
{
    PyObject *stream, *max_version, *dl_device, *copy;
};

/* The method table entries that every type with dlpack() and dlpack_device() includes. */
#define EXPORT_METHODS                                                                             \
    {"__dlpack__", METHOD(guarded_dlpack), METH_FASTCALL | METH_KEYWORDS, NULL},                   \
        {"__array__", METHOD(as_numpy), KEYWORDS, NULL},                                           \
    {                                                                                              \
        "__dlpack_device__", guarded_dlpack_device, METH_NOARGS, NULL                              \
    }

/* Creates the interned names. */
bool import_ready(void);

bool export_of(struct export *wanted, PyObject *const *args, Py_ssize_t count, PyObject *names);

/*
 * A capsule of the tensor (export.c). The export keeps `needs` alive: what the tensor needs, or
 * None.
 */
PyObject *export_capsule(gr_tensor *tensor, const struct export *wanted, PyObject *needs);

/*
 * A capsule of the bytes of a mapping. `own` is the stream of the map, or NULL if that is unknown.
 */
PyObject *export_mapping(gr_buffer *buffer, CUstream own, const struct export *wanted,
                         PyObject *needs);

/* Frees a versioned export. */
void export_end(void *managed);

/* The results of __dlpack_device__() and __cuda_array_interface__. */
PyObject *export_device(const gr_tensor_info *info);
PyObject *export_interface(gr_tensor *tensor);

/* Makes the exception that is set an AttributeError, as hasattr needs. Returns NULL. */
PyObject *as_attribute_error(void);

/*
 * Makes a Tensor from a Tensor, a Buffer, a DLPack capsule, an object with __dlpack__() or
 * __cuda_array_interface__, or a sequence of two or three of these, the planes of an image
 * (import.c). Work that is queued later on `stream` waits for the work that the producer has
 * queued. `stream` may be None.
 */
PyObject *import_any(PyObject *object, PyObject *stream, gr_layout layout);

/* Like import_any(), but refuses several planes: create_gl_buffer_of() makes a buffer of one
 * tensor. */
PyObject *import_one(PyObject *object, PyObject *stream);

/* ---- The buffer protocol (buffer_protocol.c) ------------------------------------------------- */

/* A Py_buffer, and the slots of a type. The limited API has them since Python 3.11. */
struct view {
    const void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    const char *format;
    const int64_t *shape, *strides;
    void *suboffsets, *internal;
};
#define SLOT_GET_BUFFER     1
#define SLOT_RELEASE_BUFFER 2

int view_get(PyObject *object, struct view *view, int flags);
void view_release(PyObject *exporter, struct view *view);

/* ---- Owners of wrapped memory ---------------------------------------------------------------- */

/* Python objects that are released when a tensor is freed, on any thread (drop.c). */
struct kept;

/* Holds a reference to `object` until kept_end(). NULL if memory runs out. */
struct kept *keep(PyObject *object);

/*
 * While Tensor objects share the kept object, they hold the references, where the garbage collector
 * sees them. The last one leaves its reference to kept_end(). All accept NULL.
 */
void kept_share(struct kept *kept);
void kept_leave(struct kept *kept);
PyObject *kept_object(const struct kept *kept);

/* The deleter for gr_tensor_from_memory(). Runs on any thread, with or without the GIL. */
void kept_end(void *kept);

/* Releases the objects whose kept_end() has run. Needs the GIL. Tensor.collect() does so, too. */
void kept_release(void);
PyObject *tensor_collect(PyObject *none, PyObject *args, PyObject *keywords);

#endif
