/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor: memory with a type and a shape; and what other frameworks give and take. */
#ifndef PYTHON_TENSOR_H
#define PYTHON_TENSOR_H

#include "resource.h"

#include <grinterop/tensor.h>

typedef struct tensor_object {
    OBJECT_HEAD /* the whole: the Buffer whose memory it is */
    PyObject *weak;

    /* NULL: it was closed. */
    gr_tensor *tensor;

    /* The tensor's own stream, which has to live as long; NULL if it has none. */
    PyObject *stream;

    /* The plane of colours, where a producer handed out two; else NULL. */
    PyObject *chroma;

    /* The Buffer whose memory it is, counted; else NULL. */
    PyObject *mapping;
} tensor_object;

extern PyTypeObject *tensor_type;

/* A tensor of the library's as an object. Takes it, also when it fails; NULL is a failure. */
PyObject *tensor_new(gr_tensor *tensor, PyObject *stream);

/* Likewise one of the memory of a Buffer, `mapping`, whose stream it keeps. */
PyObject *tensor_of_mapping(gr_tensor *tensor, PyObject *mapping);

/* Likewise a view of `from`. */
PyObject *tensor_view_of(tensor_object *from, gr_tensor *view);

/* The library's tensor. NULL, with an exception, if it was closed. */
gr_tensor *tensor_of(PyObject *object);

/* What it is (tensor_info.c). NULL, with an exception, if it was closed. */
const gr_tensor_info *tensor_info_of(PyObject *self);
extern PyGetSetDef tensor_properties[];
PyObject *tensor_represent(PyObject *object);

/* Ends a tensor, which may wait for the driver. */
void tensor_free(gr_tensor *tensor);

/* ---- Descriptions (desc.c) ------------------------------------------------------------------- */

/* A description with the room for what it points to. */
struct desc {
    gr_tensor_desc desc;
    int64_t shape[GR_TENSOR_DIMS], strides[GR_TENSOR_DIMS];
};

/*
 * What Python says of a tensor. Each may be NULL or None: then the field is 0, a dtype u8. A shape
 * is a sequence of numbers, or a number.
 */
bool desc_of(struct desc *desc, PyObject *shape, PyObject *dtype, PyObject *strides,
             PyObject *layout, PyObject *memory);

/* Those of a tensor that exists, to change them. */
void desc_of_info(struct desc *desc, const gr_tensor_info *info);

/* One of gr_layout; None is the shape's. */
bool layout_of(PyObject *object, gr_layout *layout);

/* A tuple of n numbers. */
PyObject *numbers(const int64_t *values, unsigned n);

extern const char *const layout_names[], *const memory_names[];

/* ---- Other frameworks ------------------------------------------------------------------------ */

/* The arguments of __dlpack__(). */
struct export
{
    PyObject *stream, *max_version, *dl_device, *copy;
};

/* The methods of what has dlpack() and dlpack_device(). */
/* clang-format off */
#define EXPORT_METHODS \
    {"__dlpack__", METHOD(guarded_dlpack), METH_FASTCALL | METH_KEYWORDS, \
     "__dlpack__($self, stream=None, *, max_version=None, dl_device=None, copy=None)\n--\n\n" \
     "A capsule for another framework's from_dlpack()."}, \
    {"__array__", METHOD(as_numpy), KEYWORDS, \
     "__array__($self, dtype=None, copy=None)\n--\n\n" \
     "For numpy.asarray(): the memory, if the CPU can read it; else a TypeError."}, \
    {"__dlpack_device__", guarded_dlpack_device, METH_NOARGS, "__dlpack_device__($self)\n--\n\n"}
/* clang-format on */

/* Makes the names that are looked for. */
bool export_ready(void);

bool export_of(struct export *wanted, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* A capsule of the tensor; `stream` is its own, or NULL (export.c). */
PyObject *export_capsule(gr_tensor *tensor, const struct export *wanted, PyObject *stream);

/* A capsule of a mapping's bytes; `own` is the map's stream, or NULL if it isn't known. */
PyObject *export_mapping(gr_buffer *buffer, CUstream own, const struct export *wanted);

/* Ends an export of the versioned form. */
void export_end(void *managed);

/* What __dlpack_device__() and __cuda_array_interface__ give. */
PyObject *export_device(const gr_tensor_info *info);
PyObject *export_interface(gr_tensor *tensor);

/*
 * A Tensor of any object that has one: a Tensor, a Buffer, a DLPack capsule, __dlpack__(),
 * __cuda_array_interface__, or a sequence of two of them, which are the planes of a picture
 * (import.c). What its producer has begun comes before later work of `stream`, which may be None.
 */
PyObject *import_any(PyObject *object, PyObject *stream, gr_layout layout);

/* Objects that are let go of when a tensor ends, by whatever thread (drop.c). */
struct kept;

/* A note to keep `object` until kept_end(). NULL: no memory. */
struct kept *keep(PyObject *object);

/* For gr_tensor_wrap(): any thread, with the GIL or without. */
void kept_end(void *kept);

/* Lets go of what was ended. With the GIL. */
void kept_drop(void);

#endif
