/* SPDX-License-Identifier: Apache-2.0 */
/* GraphicsResource and Buffer: a resource of the library's, and one mapping of it. */
#ifndef PYTHON_RESOURCE_H
#define PYTHON_RESOURCE_H

#include "module.h"

typedef struct buffer_object buffer_object;

typedef struct resource_object {
    OBJECT_HEAD
    PyObject *weak;
    gr_resource *resource;
    unsigned long thread; /* which made it */

    /* The mapping, which stays until it is closed, whoever forgets it. */
    buffer_object *mapped;

    /* What core_shown() made of the mapping, which stays as long. Or NULL. */
    PyObject *shown;

    /* What `with` maps on. NULL: it doesn't map. */
    PyObject *stream;

    /* What has to outlive it: the VulkanDevice. Or NULL. */
    PyObject *owner;

    /* What __dlpack_device__() of a mapping gives, once it was asked. */
    PyObject *dl_device;
} resource_object;

struct buffer_object {
    OBJECT_HEAD /* the whole: its GraphicsResource, or its Slots */
    PyObject *weak;

    /* NULL: the mapping has ended. */
    gr_buffer *buffer;

    /* Whose mapping it is. It is not counted: NULL once the object is gone. */
    resource_object *resource;

    /* The stream of the map, which has to live as long. */
    PyObject *stream;

    /* The same as the library has it, where map() noted it; else NULL. */
    CUstream cuda_stream;

    /* A weak reference to what core_shown() made of it, or NULL. */
    PyObject *shown;

    /* It is a ring's slot's, and the ring ends it. */
    bool of_ring;

    bool read_only, is_image;
};

extern PyTypeObject *resource_type, *buffer_type;

/* A resource that the library made, as an object of `type`. Takes it, also when it fails. */
PyObject *resource_new(PyTypeObject *type, gr_resource *resource);

/* The resource of an object that is one, open and in no other thread's hands; else an exception. */
resource_object *resource_of(PyObject *object);
bool resource_usable(resource_object *self);

bool resource_is_mapped(const resource_object *self);

/* What it is (resource_info.c). */
extern PyGetSetDef resource_properties[];
PyObject *resource_represent(PyObject *object);
PyObject *resource_describe(PyObject *object, PyObject *none);

/* A new mapping as an object. Takes `buffer`, also when it fails. `resource` may be NULL. */
PyObject *buffer_new(resource_object *resource, gr_buffer *buffer, PyObject *stream);

/* Whether the mapping lives; else an exception. */
bool buffer_usable(buffer_object *self);

/*
 * Releases it on `stream`, and tells how many tensors were revoked. false, with an exception, if it
 * could not be; twice is fine.
 */
bool buffer_release(buffer_object *self, CUstream stream, unsigned *tensors);

/* Warns of tensors that a mapping still had as it ended. false: the warning is an exception. */
bool buffer_warn(unsigned tensors);

/* Both. */
bool buffer_close(buffer_object *self, CUstream stream);

/* Notes that the mapping is over. */
void buffer_ended(buffer_object *self);

/*
 * What the program gets for a mapping (core.c): `own` itself or, where cuda.core is loaded and the
 * mapping has a pointer, an object that is cuda.core's Buffer, too. Takes `own`, which may be NULL.
 */
PyObject *core_shown(PyObject *own);

/* The Buffer behind such an object; any other object as it is. Borrowed from `object`. */
PyObject *core_own(PyObject *object);

/* Takes the pointer out of what core_shown() made. */
void core_ended(buffer_object *self);

/* Its methods for copies (buffer_copy.c), images (image.c), and as a tensor (mapping_tensor.c). */
extern PyMethodDef buffer_copy_methods[], image_methods[], mapping_tensor_methods[];
PyObject *buffer_array_interface(PyObject *self, void *closure);
PyObject *buffer_device_id(PyObject *self, void *closure);

#endif
