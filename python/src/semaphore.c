/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Semaphore: an imported semaphore of another API, which CUDA streams wait for and signal. */
#include "resource.h"

#include <grinterop/submit.h>

typedef struct semaphore_object {
    OBJECT_HEAD
    gr_semaphore *semaphore; /* NULL: closed */
} semaphore_object;

static PyTypeObject *semaphore_type;

/* ---- Lifetime -------------------------------------------------------------------------------- */

/* Imports a semaphore. A successful import takes the descriptor, so nothing may fail later. */
static PyObject *import(PyObject *type, const gr_semaphore_desc *desc, const char *call)
{
    semaphore_object *self = new_object((PyTypeObject *)type);
    if (!self)
        return NULL;
    WITHOUT_GIL(self->semaphore = gr_semaphore_from_handle(desc));
    if (!self->semaphore) {
        fail_with("gr_semaphore_from_handle", call);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static PyObject *from_fd(PyObject *type, PyObject *args, PyObject *keywords)
{
    static const struct named kinds[] = {{"timeline", GR_EXTERNAL_SEMAPHORE_TIMELINE_SEMAPHORE_FD},
                                         {"binary", GR_EXTERNAL_SEMAPHORE_OPAQUE_FD},
                                         {0}};
    gr_semaphore_desc desc = GR_INIT(gr_semaphore_desc);
    PyObject *kind = NULL;
    if (!PARSE("O&|$OO&:from_fd", NAMES("fd", "kind", "value"), INT(&desc.fd), &kind,
               UINT64(&desc.value)) ||
        !value_of(kind, "kind of semaphore", kinds, &desc.type))
        return NULL;
    return import(type, &desc, "Semaphore.from_fd");
}

static PyObject *from_win32(PyObject *type, PyObject *args, PyObject *keywords)
{
    static const struct named kinds[] = {
        {"timeline", GR_EXTERNAL_SEMAPHORE_TIMELINE_SEMAPHORE_WIN32},
        {"binary", GR_EXTERNAL_SEMAPHORE_OPAQUE_WIN32},
        {"binary-kmt", GR_EXTERNAL_SEMAPHORE_OPAQUE_WIN32_KMT},
        {"d3d12-fence", GR_EXTERNAL_SEMAPHORE_D3D12_FENCE},
        {"d3d11-fence", GR_EXTERNAL_SEMAPHORE_D3D11_FENCE},
        {"keyed-mutex", GR_EXTERNAL_SEMAPHORE_D3D11_KEYED_MUTEX},
        {"keyed-mutex-kmt", GR_EXTERNAL_SEMAPHORE_D3D11_KEYED_MUTEX_KMT},
        {0}};
    gr_semaphore_desc desc = GR_INIT(gr_semaphore_desc);
    PyObject *handle, *name, *kind = NULL;
    if (!PARSE("O|$OO&:from_win32", NAMES("handle", "kind", "value"), &handle, &kind,
               UINT64(&desc.value)) ||
        !value_of(kind, "kind of semaphore", kinds, &desc.type) ||
        !win32_of(handle, &desc.win32_handle, &name))
        return NULL;
    desc.win32_name = name ? PyBytes_AsString(name) : NULL;
    PyObject *self = import(type, &desc, "Semaphore.from_win32");
    Py_XDECREF(name);
    return self;
}

static PyObject *from_nvscisync(PyObject *type, PyObject *object)
{
    uint64_t address;
    if (!read_as("object", object, ADDRESS(&address)))
        return NULL;
    const gr_semaphore_desc desc =
        GR_INIT(gr_semaphore_desc, .type = GR_EXTERNAL_SEMAPHORE_NVSCISYNC,
                .nvscisync = (const void *)(uintptr_t)address);
    return import(type, &desc, "Semaphore.from_nvscisync");
}

static void let_go(semaphore_object *self)
{
    gr_semaphore *semaphore = self->semaphore;
    self->semaphore = NULL;
    ENDING(gr_semaphore_free(semaphore));
}

END()
CALL_CLOSE()
OPEN_OF(gr_semaphore, semaphore_object, semaphore, "Semaphore")

/* ---- Waits and signals ----------------------------------------------------------------------- */

typedef gr_status point_call(const gr_semaphore_point[], size_t, CUstream);

struct given {
    PyObject *stream;
    uint64_t value, key, fence;
    unsigned timeout_ms;
    bool skip;
};

static PyObject *run(point_call *call, PyObject *self, const struct given *given)
{
    gr_status status;
    CUstream stream;
    gr_semaphore *semaphore;
    if (!stream_of(given->stream, &stream) || !(semaphore = open_of(self)))
        return NULL;
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = given->value,
                .key = given->key, .timeout_ms = given->timeout_ms,
                .nvsci_fence = (void *)(uintptr_t)given->fence, .skip_nvscibuf = given->skip);
    WITHOUT_GIL(status = call(&point, 1, stream));
    return none_or_fail(status);
}

static PyObject *wait(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct given given = {0};
    PyObject *timeout = NULL;
    if (!PARSE("O|O&$O&OO&O&:wait",
               NAMES("stream", "value", "key", "timeout", "fence", "skip_nvscibuf"), &given.stream,
               UINT64(&given.value), UINT64(&given.key), &timeout, UINT64(&given.fence),
               TRUTH(&given.skip)) ||
        (timeout && !timeout_of(timeout, &given.timeout_ms)))
        return NULL;
    return run(gr_semaphore_wait, self, &given);
}

static PyObject *signal(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct given given = {0};
    if (!PARSE("O|O&$O&O&O&:signal", NAMES("stream", "value", "key", "fence", "skip_nvscibuf"),
               &given.stream, UINT64(&given.value), UINT64(&given.key), UINT64(&given.fence),
               TRUTH(&given.skip)))
        return NULL;
    return run(gr_semaphore_signal, self, &given);
}

/* ---- Semaphores of resources ----------------------------------------------------------------- */

/* Reads a Semaphore. None is GR_SEMAPHORE_NONE. */
static gr_semaphore *semaphore_of(PyObject *object)
{
    if (Py_IsNone(object))
        return GR_SEMAPHORE_NONE;
    if (Py_TYPE(object) == semaphore_type)
        return open_of(object);
    wrong_type("expected a Semaphore or None", object);
    return NULL;
}

/* Begins a call on a Semaphore or None. Can't fail: no Semaphore method uses ending_begin(). */
static void hold(PyObject *object)
{
    if (!Py_IsNone(object))
        call_begin(object);
}

static void let_be(PyObject *object)
{
    if (!Py_IsNone(object))
        call_end(object);
}

static PyObject *set_sync(PyObject *self, PyObject *args, PyObject *keywords)
{
    ENTER();
    PyObject *first, *second;
    gr_semaphore *acquire, *release;
    gr_status status;
    if (!PARSE("OO:set_sync", NAMES("acquire", "release"), &first, &second) ||
        !(acquire = semaphore_of(first)) || !(release = semaphore_of(second)) ||
        !resource_usable((resource_object *)self) || !exclusive_begin(self))
        return NULL;
    hold(first);
    hold(second);
    WITHOUT_GIL(status =
                    gr_resource_set_sync(((resource_object *)self)->resource, acquire, release));
    PyObject *none = none_or_fail(status);
    let_be(second);
    let_be(first);
    exclusive_end(self);
    return none;
}

PyMethodDef order_methods[] = {
    {"set_sync", METHOD(set_sync), KEYWORDS, NULL},
    {0},
};

/* ---- The type -------------------------------------------------------------------------------- */

static const gr_semaphore_info *info_of(PyObject *self)
{
    gr_semaphore *semaphore = open_of(self);
    const gr_semaphore_info *info = semaphore ? gr_semaphore_get_info(semaphore) : NULL;
    if (semaphore && !info)
        fail();
    return info;
}

static PyObject *handle_of(const gr_semaphore_info *info)
{
    return info ? PyLong_FromVoidPtr(info->external) : NULL;
}

static PyObject *timeline_of(const gr_semaphore_info *info)
{
    return info ? PyBool_FromLong(info->timeline) : NULL;
}

static PyObject *describe(PyObject *self, PyObject *Py_UNUSED(none))
{
    char line[256];
    gr_semaphore *semaphore = open_of(self);
    if (!semaphore)
        return NULL;
    gr_semaphore_describe(semaphore, line, sizeof(line));
    return text_in_python(line);
}

PROPERTY_IN_CALL(handle, handle_of(info_of(self)))
PROPERTY_IN_CALL(is_timeline, timeline_of(info_of(self)))
PROPERTY(is_closed, PyBool_FromLong(!((semaphore_object *)self)->semaphore))

GUARDED(wait)
GUARDED(signal)
GUARDED_ONE(describe)
REPRESENT("Semaphore", describe)

static PyMethodDef methods[] = {
    {"from_fd", METHOD(from_fd), KEYWORDS | METH_CLASS, NULL},
    {"from_win32", METHOD(from_win32), KEYWORDS | METH_CLASS, NULL},
    {"from_nvscisync", from_nvscisync, METH_O | METH_CLASS, NULL},
    {"wait", METHOD(guarded_wait), KEYWORDS, NULL},
    {"signal", METHOD(guarded_signal), KEYWORDS, NULL},
    {"describe", guarded_describe, METH_NOARGS, NULL},
    {"close", call_close, METH_NOARGS, NULL},
    CLOSE_BY_WITH,
    {0},
};

static PyGetSetDef properties[] = {
    {"handle", guarded_handle, NULL, NULL, NULL},
    {"is_timeline", guarded_is_timeline, NULL, NULL, NULL},
    {"is_closed", is_closed, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)refuse_new}, {Py_tp_dealloc, (void *)end}, {Py_tp_repr, (void *)represent},
    {Py_tp_methods, methods},        {Py_tp_getset, properties},   {0},
};

ADD_TYPE(add_semaphore, semaphore_type, "grinterop.Semaphore", semaphore_object, 0)
