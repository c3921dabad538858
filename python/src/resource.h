/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* GraphicsResource and Buffer: a gr_resource and one mapping of it. */
#ifndef PYTHON_RESOURCE_H
#define PYTHON_RESOURCE_H

#include "module.h"

typedef struct buffer_object buffer_object;

typedef struct resource_object {
    OBJECT_HEAD
    gr_resource *resource;
    unsigned long thread; /* The thread that created the resource. */

    /* Whether close() ended the registration. May be read while another thread is in a call. */
    bool closed;

    /*
     * The current mapping. The reference is held until the mapping is closed, even if the program
     * drops its own reference.
     */
    buffer_object *mapped;

    /* The core_wrap() object of the mapping, held as long as `mapped`; or NULL. */
    PyObject *shown;

    /* The stream on which the `with` statement maps. If NULL, `with` does not map. */
    PyObject *stream;

    /* The VulkanDevice, which must outlive the resource; or NULL. */
    PyObject *owner;

    /*
     * A Tensor of the memory of create_gl_buffer_of(), which the library keeps, for the garbage
     * collector: its owner may refer to the resource. NULL for other resources.
     */
    PyObject *memory;

    /* The cached result of __dlpack_device__() of a mapping. */
    PyObject *dl_device;
} resource_object;

struct buffer_object {
    OBJECT_HEAD /* A Buffer is part of its GraphicsResource or Slots. */

    /* NULL once the mapping has ended. */
    gr_buffer *buffer;

    /* The stream of the map, which must outlive the mapping. */
    PyObject *stream;

    /* The CUstream of `stream` if map() recorded it, otherwise NULL. */
    CUstream cuda_stream;

    /* The core_wrap() object of this Buffer, a borrowed reference; or NULL. */
    PyObject *shown;

    /* Whether the mapping belongs to a slot of a ring. The ring then ends it. */
    bool of_ring;

    bool read_only, is_image;

    /* Whether its bytes were exported: an export may outlive this object. */
    bool exported;
};

extern PyTypeObject *resource_type, *buffer_type;

#define RESOURCE_IS_NO_TENSOR                                                                      \
    "a GraphicsResource has no bytes until it is mapped: pass the Buffer that map() returns, or "  \
    "its tensor()"

/* Wraps a gr_resource in an object of `type`. Takes ownership, even on failure. */
PyObject *resource_new(PyTypeObject *type, gr_resource *resource);

/* The resource `self`, or NULL, of create_gl_buffer_of(): adds its `memory`. Steals `self`. */
PyObject *resource_in_memory(PyObject *self, PyObject *tensor);

/* Casts the object to a resource. NULL, with an exception, if it is closed, in use by another
 * thread or of another type. */
resource_object *resource_of(PyObject *object);
bool resource_usable(resource_object *self);

bool resource_is_mapped(const resource_object *self);

/* The resources of a sequence, after exclusive_begin_all() on their objects (many.c). */
struct resources {
    PyObject *tuple, **objects;
    gr_resource **resources;
    size_t count;
};
bool resources_begin(struct resources *given, PyObject *sequence);
void resources_end(struct resources *given);

/* Submits command buffers to the open VulkanDevice `object` (submit.c). */
PyObject *vulkan_submit(PyObject *object, PyObject *args, PyObject *keywords);

/* The methods of GraphicsResource for OpenGL (gl.c), external memory (external.c), semaphores
 * (semaphore.c) and other processes (share.c), and its properties (resource_info.c). */
extern PyMethodDef gl_methods[], external_methods[], order_methods[], share_methods[],
    resource_image_methods[];
extern PyGetSetDef resource_properties[];
PyObject *resource_represent(PyObject *object);
PyObject *resource_describe(PyObject *object, PyObject *none);

/*
 * Reads a Windows handle: a number, or a name, which is returned as UTF-16 in new `bytes`. `bytes`
 * is NULL for a number.
 */
bool win32_of(PyObject *object, void **handle, PyObject **bytes);

/* The mapped resource, without a reference. NULL for a slot of a ring, and once it is gone. */
resource_object *buffer_resource(const buffer_object *self);

/* Wraps a new mapping. Takes ownership of `buffer`, even on failure. `resource` may be NULL. */
PyObject *buffer_new(resource_object *resource, gr_buffer *buffer, PyObject *stream);

/*
 * Whether the mapping is open. If not, sets an exception. mapping_of() returns the mapping, or
 * NULL.
 */
bool buffer_usable(buffer_object *self);
gr_buffer *mapping_of(PyObject *object);

/*
 * Releases the mapping on `stream` and counts the revoked tensors. false, with an exception, on
 * failure; after a PartialError the mapping has ended, too. Does nothing if it is already released.
 */
bool buffer_release(buffer_object *self, CUstream stream, unsigned *tensors);

/* The number of tensors of a mapping, which may be NULL. 0 in a forked child, too. */
unsigned mapping_tensors(const gr_buffer *buffer);

/* Warns of tensors that outlived their mapping. false if the warning became an exception. */
bool buffer_warn(unsigned tensors);

/* Calls buffer_release() and buffer_warn(). */
bool buffer_close(buffer_object *self, CUstream stream);

/* Records that the mapping has ended. Runs code of the program only when all is recorded. */
void buffer_ended(buffer_object *self);

/*
 * The object that the program gets for a mapping (core.c): `own` or, if cuda.core is loaded and the
 * mapping has a pointer, an object derived from cuda.core's Buffer. Steals `own`, which may be
 * NULL.
 */
PyObject *core_wrap(PyObject *own);

/*
 * Returns the Buffer inside a core_wrap() object, or any other object itself. The reference is
 * borrowed. Each method and property of a Buffer calls this, since the core_wrap() objects share
 * them.
 */
PyObject *core_own(PyObject *object);

/*
 * core_take() separates the Buffer from its core_wrap() object, which it returns; NULL if there is
 * none. core_ended() clears the pointer of that object and releases it.
 */
PyObject *core_take(buffer_object *self);
void core_ended(PyObject *shown);

/* Methods of Buffer: copies (buffer_copy.c), images (image.c), tensors (mapping_tensor.c). */
extern PyMethodDef buffer_copy_methods[], image_methods[], mapping_tensor_methods[];

/* All methods and properties of Buffer, and its representation. */
extern PyMethodDef buffer_methods[];
extern PyGetSetDef buffer_properties[];
PyObject *buffer_represent(PyObject *object);

PyObject *buffer_array_interface(PyObject *self, void *closure);
PyObject *buffer_device_id(PyObject *self, void *closure);

#endif
