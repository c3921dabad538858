/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* OpenGL: class methods of GraphicsResource, and EglContext, a context without a window. */
#include "tensor.h"

#include <grinterop/egl.h>
#include <grinterop/gl.h>

static const struct named transports[] = {
    {"without copy", 0}, GL_TRANSPORTS, {"any", GR_TRANSPORT_ANY}, {0}};

#define TRANSPORT "transport (several: a list of names)"

/* Returns the bits of one name or of several; 0 for None. */
static bool transports_of(PyObject *object, unsigned *bits)
{
    *bits = 0;
    if (!is_given(object) || PyUnicode_Check(object))
        return value_of(object, TRANSPORT, transports, bits);
    PyObject *names = items_of(object, "transports: expected a name, or several");
    bool are_names = names && PyTuple_Size(names) > 0;
    if (names && !are_names)
        PyErr_SetString(PyExc_ValueError, "transports is empty: name those that are allowed");
    for (Py_ssize_t i = 0; are_names && i < PyTuple_Size(names); i++) {
        unsigned one;
        PyObject *name = PyTuple_GetItem(names, i);
        are_names = value_of(is_given(name) ? name : names, TRANSPORT, transports, &one);
        *bits |= one ? one : GR_TRANSPORT_INTEROP | GR_TRANSPORT_SHARED;
    }
    Py_XDECREF(names);
    return are_names;
}

static PyObject *from_gl_buffer(PyObject *type, PyObject *args, PyObject *keywords)
{
    ENTER();
    PyObject *stream = NULL, *transport = NULL;
    gr_gl_options options = GR_INIT(gr_gl_options);
    unsigned gl_name, flags = GR_READ_WRITE;
    CUstream checked;
    gr_resource *resource;
    if (!PARSE("O&|$O&OOO&O&O&:from_gl_buffer",
               NAMES("gl_buffer", "flags", "stream", "transports", "share_group", "follow_storage",
                     "in_flight"),
               GL_NAME(&gl_name), FLAGS(&flags), &stream, &transport, TRUTH(&options.share_group),
               TRUTH(&options.follow_storage), UNSIGNED(&options.in_flight)) ||
        !stream_or(stream, NULL, &checked) || !transports_of(transport, &options.transports))
        return NULL;
    WITHOUT_GIL(resource = gr_from_gl_buffer_with(gl_name, flags, &options));
    PyObject *self = resource_new((PyTypeObject *)type, resource);
    if (self && is_given(stream))
        ((resource_object *)self)->stream = Py_NewRef(stream);
    return self;
}

static PyObject *from_gl_image(PyObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *transport = NULL;
    gr_gl_options options = GR_INIT(gr_gl_options);
    unsigned gl_name, gl_target, flags = GR_READ_WRITE;
    gr_resource *resource;
    if (!PARSE("O&O&|$O&OO&O&O&:from_gl_image",
               NAMES("image", "target", "flags", "transports", "share_group", "follow_storage",
                     "in_flight"),
               GL_NAME(&gl_name), UNSIGNED(&gl_target), FLAGS(&flags), &transport,
               TRUTH(&options.share_group), TRUTH(&options.follow_storage),
               UNSIGNED(&options.in_flight)) ||
        !transports_of(transport, &options.transports))
        return NULL;
    WITHOUT_GIL(resource = gr_from_gl_image_with(gl_name, gl_target, flags, &options));
    return resource_new((PyTypeObject *)type, resource);
}

static PyObject *create_gl_buffer(PyObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *transport = NULL;
    gr_gl_options options = GR_INIT(gr_gl_options);
    size_t size;
    unsigned flags = GR_READ_WRITE;
    gr_resource *resource;
    if (!PARSE("O&|$O&OO&O&:create_gl_buffer",
               NAMES("size", "flags", "transports", "packed", "in_flight"), SIZE(&size),
               FLAGS(&flags), &transport, TRUTH(&options.packed), UNSIGNED(&options.in_flight)) ||
        !transports_of(transport, &options.transports))
        return NULL;
    WITHOUT_GIL(resource = gr_create_gl_buffer(size, flags, &options));
    return resource_new((PyTypeObject *)type, resource);
}

static PyObject *create_gl_image(PyObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *transport = NULL;
    gr_gl_image_desc desc = GR_INIT(gr_gl_image_desc);
    gr_gl_options options = GR_INIT(gr_gl_options);
    unsigned flags = GR_READ_WRITE;
    gr_resource *resource;
    if (!PARSE("O&O&O&O&|O&O&$O&OO&:create_gl_image",
               NAMES("target", "internal_format", "width", "height", "depth", "levels", "flags",
                     "transports", "in_flight"),
               UNSIGNED(&desc.target), UNSIGNED(&desc.internal_format), UNSIGNED(&desc.width),
               UNSIGNED(&desc.height), UNSIGNED(&desc.depth), UNSIGNED(&desc.levels), FLAGS(&flags),
               &transport, UNSIGNED(&options.in_flight)) ||
        !transports_of(transport, &options.transports))
        return NULL;
    WITHOUT_GIL(resource = gr_create_gl_image(&desc, flags, &options));
    return resource_new((PyTypeObject *)type, resource);
}

/* Makes the buffer of a Tensor. */
static PyObject *buffer_of(PyObject *type, PyObject *tensor, unsigned flags)
{
    gr_tensor *memory = tensor_of(tensor);
    gr_resource *resource;
    if (!memory || !call_begin(tensor))
        return NULL;
    WITHOUT_GIL(resource = gr_create_gl_buffer_of(memory, flags, NULL));
    call_end(tensor);
    return resource_new((PyTypeObject *)type, resource);
}

static PyObject *create_gl_buffer_of(PyObject *type, PyObject *args, PyObject *keywords)
{
    ENTER();
    PyObject *object, *stream = NULL;
    unsigned flags = GR_READ_WRITE;
    CUstream checked;
    if (!PARSE("O|$O&O:create_gl_buffer_of", NAMES("tensor", "flags", "stream"), &object,
               FLAGS(&flags), &stream) ||
        !stream_or(stream, NULL, &checked))
        return NULL;
    PyObject *tensor = import_one(object, stream);
    PyObject *self = tensor ? resource_in_memory(buffer_of(type, tensor, flags), tensor) : NULL;
    Py_XDECREF(tensor);
    if (self && is_given(stream))
        ((resource_object *)self)->stream = Py_NewRef(stream);
    return self;
}

PyMethodDef gl_methods[] = {
    {"from_gl_buffer", METHOD(from_gl_buffer), KEYWORDS | METH_CLASS, NULL},
    {"from_gl_image", METHOD(from_gl_image), KEYWORDS | METH_CLASS, NULL},
    {"create_gl_buffer", METHOD(create_gl_buffer), KEYWORDS | METH_CLASS, NULL},
    {"create_gl_image", METHOD(create_gl_image), KEYWORDS | METH_CLASS, NULL},
    {"create_gl_buffer_of", METHOD(create_gl_buffer_of), KEYWORDS | METH_CLASS, NULL},
    {0},
};

/* ---- EglContext ------------------------------------------------------------------------------ */

typedef struct egl_object {
    OBJECT_HEAD
    gr_egl *egl; /* NULL: closed */
    PyObject *share;
} egl_object;

static PyTypeObject *egl_type;

OPEN_OF(gr_egl, egl_object, egl, "EglContext")

/* Reads the EglContext that shares its objects, or None. Begins a call on that EglContext. */
static bool shared_of(PyObject *share, const gr_egl **egl)
{
    if (!is_given(share))
        return true;
    if (Py_TYPE(share) != egl_type)
        return wrong_type("share: expected an EglContext", share);
    *egl = open_of(share);
    return *egl && call_begin(share);
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    ENTER();
    gr_egl_options options = GR_INIT(gr_egl_options);
    PyObject *share = NULL;
    gr_egl *egl;
    if (!PARSE("|O&O&O&$O&O&OO&:EglContext",
               NAMES("cuda_device", "major", "minor", "compatibility", "debug", "share", "es"),
               INT(&options.cuda_device), INT(&options.major), INT(&options.minor),
               TRUTH(&options.compatibility), TRUTH(&options.debug), &share, TRUTH(&options.es)) ||
        !shared_of(share, &options.share))
        return NULL;
    WITHOUT_GIL(egl = gr_egl_create(&options));
    if (options.share)
        call_end(share);
    egl_object *self = egl ? new_object(type) : NULL;
    if (!egl)
        return fail();
    if (!self) {
        gr_egl_free(egl);
        return NULL;
    }
    self->egl = egl;
    self->share = options.share ? Py_NewRef(share) : NULL;
    return (PyObject *)self;
}

static void let_go(egl_object *self)
{
    gr_egl *egl = self->egl;
    self->egl = NULL;
    if (egl)
        ENDING(gr_egl_free(egl));
    Py_CLEAR(self->share);
}

/* Contexts form no cycle, as `share` does not change: no tp_clear is needed. */
static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((egl_object *)self)->share);
    return 0;
}

END()
CALL_CLOSE()

static PyObject *make_current(PyObject *self, PyObject *Py_UNUSED(none))
{
    gr_egl *egl = open_of(self);
    gr_status status;
    if (!egl)
        return NULL;
    WITHOUT_GIL(status = gr_egl_make_current(egl));
    return none_or_fail(status);
}

FUNCTION(release_current, none_or_fail(gr_egl_make_current(NULL)))

#define HANDLE(member)                                                                             \
    (open_of(self) ? PyLong_FromVoidPtr(((egl_object *)self)->egl->member) : NULL)

PROPERTY(display, HANDLE(display))
PROPERTY(config, HANDLE(config))
PROPERTY(context, HANDLE(context))
PROPERTY(is_closed, PyBool_FromLong(!((egl_object *)self)->egl))

static PyObject *describe(PyObject *self, PyObject *Py_UNUSED(none))
{
    gr_egl *egl = open_of(self);
    return egl ? text_of(egl->description) : NULL;
}

static PyObject *text_of_context(PyObject *self, PyObject *Py_UNUSED(none))
{
    const gr_egl *egl = open_of(self);
    return egl ? PyUnicode_FromFormat("context=%p %s", egl->context, egl->description) : NULL;
}

GUARDED_ONE(make_current)
REPRESENT("EglContext", text_of_context)

static PyMethodDef methods[] = {
    {"make_current", guarded_make_current, METH_NOARGS, NULL},
    {"release_current", release_current, METH_NOARGS | METH_STATIC, NULL},
    {"close", call_close, METH_NOARGS, NULL},
    {"describe", describe, METH_NOARGS, NULL},
    CLOSE_BY_WITH,
    {0},
};

static PyGetSetDef properties[] = {
    {"display", display, NULL, NULL, NULL},
    {"config", config, NULL, NULL, NULL},
    {"context", context, NULL, NULL, NULL},
    {"is_closed", is_closed, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)make},
    {Py_tp_dealloc, (void *)end},
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_repr, (void *)represent},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0},
};

ADD_TYPE(add_egl, egl_type, "grinterop.EglContext", egl_object, Py_TPFLAGS_HAVE_GC)
