/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Class methods of GraphicsResource for OpenGL. */
#include "resource.h"

#include <grinterop/gl.h>

/* Reads an OpenGL name or constant. PyOpenGL returns NumPy integers. */
static bool gl_number(PyObject *object, unsigned *number)
{
    if (!PyIndex_Check(object))
        return wrong_type("an OpenGL name must be an integer", object);
    PyObject *integer = PyNumber_Index(object);
    if (!integer)
        return false;
    unsigned long value = PyLong_AsUnsignedLong(integer);
    Py_DECREF(integer);
    if (PyErr_Occurred())
        return false;
    if (value > UINT32_MAX) {
        PyErr_Format(PyExc_OverflowError, "%R does not fit into the 32 bits of an OpenGL name",
                     object);
        return false;
    }
    *number = (unsigned)value;
    return true;
}

static const struct named transports[] = {{"without copy", 0},
                                          {"interop", GR_TRANSPORT_INTEROP},
                                          {"shared", GR_TRANSPORT_SHARED},
                                          {"copy", GR_TRANSPORT_COPY},
                                          {"peer", GR_TRANSPORT_PEER},
                                          {"any", GR_TRANSPORT_ANY},
                                          {0}};

static PyObject *from_gl_buffer(PyObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"gl_buffer", "flags", "stream", "transports", NULL};
    PyObject *name, *flag = NULL, *stream = NULL, *transport = NULL;
    gr_gl_options options = GR_INIT(gr_gl_options);
    unsigned gl_name, flags;
    CUstream checked;
    gr_resource *resource;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OOO:from_gl_buffer", names, &name, &flag,
                                     &stream, &transport) ||
        !gl_number(name, &gl_name) || !flags_of(flag, &flags) ||
        !stream_or(stream, NULL, &checked) ||
        !value_of(transport, "transport", transports, &options.transports))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    resource = gr_from_gl_buffer_with(gl_name, flags, &options);
    Py_END_ALLOW_THREADS
    PyObject *self = resource_new((PyTypeObject *)type, resource);
    if (self && is_given(stream))
        ((resource_object *)self)->stream = Py_NewRef(stream);
    return self;
}

static PyObject *from_gl_image(PyObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"image", "target", "flags", "transports", NULL};
    PyObject *name, *target, *flag = NULL, *transport = NULL;
    gr_gl_options options = GR_INIT(gr_gl_options);
    unsigned gl_name, gl_target, flags;
    gr_resource *resource;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$OO:from_gl_image", names, &name, &target,
                                     &flag, &transport) ||
        !gl_number(name, &gl_name) || !gl_number(target, &gl_target) || !flags_of(flag, &flags) ||
        !value_of(transport, "transport", transports, &options.transports))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    resource = gr_from_gl_image_with(gl_name, gl_target, flags, &options);
    Py_END_ALLOW_THREADS
    return resource_new((PyTypeObject *)type, resource);
}

static PyObject *create_gl_buffer(PyObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"size", "flags", "transports", "packed", NULL};
    PyObject *flag = NULL, *transport = NULL;
    gr_gl_options options = GR_INIT(gr_gl_options);
    Py_ssize_t size;
    unsigned flags;
    int packed = 0;
    gr_resource *resource;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "n|$OOp:create_gl_buffer", names, &size, &flag,
                                     &transport, &packed) ||
        !flags_of(flag, &flags) ||
        !value_of(transport, "transport", transports, &options.transports))
        return NULL;
    options.packed = packed;
    Py_BEGIN_ALLOW_THREADS
    resource = gr_gl_buffer_create(size < 0 ? 0 : (size_t)size, flags, &options);
    Py_END_ALLOW_THREADS
    return resource_new((PyTypeObject *)type, resource);
}

static PyObject *create_gl_image(PyObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"target", "internal_format", "width",      "height", "depth",
                            "levels", "flags",           "transports", NULL};
    PyObject *flag = NULL, *transport = NULL;
    gr_gl_image_desc desc = GR_INIT(gr_gl_image_desc);
    gr_gl_options options = GR_INIT(gr_gl_options);
    unsigned flags;
    gr_resource *resource;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "IIII|II$OO:create_gl_image", names,
                                     &desc.target, &desc.internal_format, &desc.width, &desc.height,
                                     &desc.depth, &desc.levels, &flag, &transport) ||
        !flags_of(flag, &flags) ||
        !value_of(transport, "transport", transports, &options.transports))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    resource = gr_gl_image_create(&desc, flags, &options);
    Py_END_ALLOW_THREADS
    return resource_new((PyTypeObject *)type, resource);
}

PyMethodDef gl_methods[] = {
    {"from_gl_buffer", METHOD(from_gl_buffer), KEYWORDS | METH_CLASS,
     "from_gl_buffer($type, gl_buffer, *, flags=None, stream=None, transports=None)\n--\n\n"
     "Shares an existing OpenGL buffer of the current context with CUDA.\n\n"
     "As a context manager, the resource maps on entry if it has a stream, and closes on exit\n"
     "otherwise. transports: None or 'without copy', 'interop', 'shared',\n"
     "'peer', 'copy' or 'any'."},
    {"from_gl_image", METHOD(from_gl_image), KEYWORDS | METH_CLASS,
     "from_gl_image($type, image, target, *, flags=None, transports=None)\n--\n\n"
     "Shares an existing OpenGL texture or renderbuffer with CUDA. target: GL_TEXTURE_2D etc., as\n"
     "a number. flags: with 'surface_load_store', kernels and publish() write to it without an\n"
     "extra copy."},
    {"create_gl_buffer", METHOD(create_gl_buffer), KEYWORDS | METH_CLASS,
     "create_gl_buffer($type, size, *, flags=None, transports=None, packed=False)\n--\n\n"
     "Creates an OpenGL buffer in shared memory; its name is gl_name. packed: places many small\n"
     "buffers in common blocks. Otherwise each takes at least 2 MiB of GPU memory."},
    {"create_gl_image", METHOD(create_gl_image), KEYWORDS | METH_CLASS,
     "create_gl_image($type, target, internal_format, width, height, depth=0, levels=0, *,\n"
     "                flags=None, transports=None)\n--\n\n"
     "Creates an OpenGL texture in shared memory; its name is gl_name."},
    {0},
};
