/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Tensor: memory with a type and a shape. */
#include "tensor.h"

#include <string.h>

#include "lib/cuda/driver_outside.h"

PyTypeObject *tensor_type;

/* ---- Lifetime -------------------------------------------------------------------------------- */

void tensor_free(gr_tensor *tensor)
{
    if (!tensor)
        return;
    ENDING(gr_tensor_free(tensor));
    kept_release();
}

PyObject *tensor_new(gr_tensor *tensor, PyObject *stream)
{
    if (!tensor)
        return fail();
    PyObject *kept = is_given(stream) ? Py_NewRef(stream) : NULL; /* allocations run finalizers */
    tensor_object *self = new_object(tensor_type);
    if (!self) {
        Py_XDECREF(kept);
        tensor_free(tensor);
        return NULL;
    }
    self->tensor = tensor;
    self->stream = kept;
    return (PyObject *)self;
}

gr_tensor *mapping_tensor(gr_buffer *buffer, const gr_tensor_desc *desc)
{
    gr_tensor *tensor;
    WITHOUT_GIL(tensor = gr_buffer_tensor(buffer, desc));
    return tensor;
}

PyObject *tensor_of_mapping(gr_tensor *tensor, PyObject *mapping)
{
    PyObject *kept = Py_NewRef(mapping);
    PyObject *made = tensor_new(tensor, ((buffer_object *)mapping)->stream);
    if (!made) {
        Py_DECREF(kept);
        return NULL;
    }
    ((tensor_object *)made)->mapping = kept;
    ((tensor_object *)made)->use.whole = kept;
    return made;
}

PyObject *tensor_view_of(tensor_object *from, gr_tensor *view)
{
    if (from->mapping)
        return tensor_of_mapping(view, from->mapping);
    PyObject *made = tensor_new(view, from->stream);
    if (made)
        kept_share(((tensor_object *)made)->kept = from->kept);
    return made;
}

PyObject *tensor_same(PyObject *object, gr_layout layout)
{
    const gr_tensor_info *info = tensor_info_of(object);
    tensor_object *self = (tensor_object *)object;
    struct desc desc;
    if (!info)
        return NULL;
    desc_of_info(&desc, info);
    desc.desc.layout = layout;
    return tensor_view_of(self, gr_tensor_view(self->tensor, &desc.desc));
}

PyObject *tensor_wrap(const struct desc *desc, uint64_t address, CUstream ready_on,
                      PyObject *stream, PyObject *owner, PyObject *(*failed)(void))
{
    struct kept *kept = keep(owner);
    if (!kept)
        return NULL;
    gr_tensor *tensor =
        gr_tensor_from_memory(&desc->desc, (void *)(uintptr_t)address, ready_on, kept_end, kept);
    PyObject *made = tensor ? tensor_new(tensor, stream) : failed();
    if (made)
        kept_share(((tensor_object *)made)->kept = kept);
    else if (!tensor)
        kept_end(kept);
    kept_release();
    return made;
}

gr_tensor *tensor_of(PyObject *object)
{
    return open_or_fail(((tensor_object *)object)->tensor, "Tensor");
}

/* ---- Planes ---------------------------------------------------------------------------------- */

bool planes_begin(PyObject *tensor, struct planes *planes)
{
    const tensor_object *self = (tensor_object *)tensor;
    PyObject *const all[] = {tensor, self->chroma, self->chroma_v};
    planes->count = 0;
    for (int i = 0; i < 3 && all[i]; i++) {
        planes->objects[i] = all[i];
        planes->tensors[i] = tensor_of(all[i]);
        if (!planes->tensors[i] || !call_begin(all[i])) {
            planes_end(planes);
            return false;
        }
        planes->count++;
    }
    return true;
}

void planes_end(struct planes *planes)
{
    while (planes->count > 0)
        call_end(planes->objects[--planes->count]);
}

bool is_one_plane(PyObject *tensor, PyObject *exception)
{
    if (!((tensor_object *)tensor)->chroma)
        return true;
    PyErr_SetString(exception, "the tensor has several planes: pass each of Tensor.planes");
    return false;
}

/* The Tensor of new planes. Steals them; NULL, with an exception, if one is NULL. */
static PyObject *joined(PyObject *made[3], int count)
{
    bool good = true;
    for (int i = 0; i < count; i++)
        good = good && made[i];
    for (int i = good; i < count; i++)
        if (!good)
            Py_XDECREF(made[i]);
    if (!good)
        return NULL;
    ((tensor_object *)made[0])->chroma = count > 1 ? made[1] : NULL;
    ((tensor_object *)made[0])->chroma_v = count > 2 ? made[2] : NULL;
    return made[0];
}

/* ---- The end --------------------------------------------------------------------------------- */

static void let_go(PyObject *object)
{
    tensor_object *self = (tensor_object *)object;
    PyObject *parts[] = {self->mapping, self->chroma, self->chroma_v, self->stream, self->owner};
    gr_tensor *tensor = self->tensor;
    struct kept *kept = self->kept;
    self->tensor = NULL;
    self->kept = NULL;
    self->use.whole = NULL;
    self->mapping = self->chroma = self->chroma_v = self->stream = self->owner = NULL;
    /* The rest may run code of the program. */
    kept_leave(kept);
    tensor_free(tensor);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        Py_XDECREF(parts[i]);
}

/* The program may call it, too, as a method. */
static void finalize(PyObject *object)
{
    ENTER();
    tensor_object *self = (tensor_object *)object;
    if (!self->use.calls) {
        let_go(object);
    } else if (self->viewed && self->use.calls == 1 && self->kept) {
        /* The owner stays until the streams are done, and as long as the program has the view. */
        PyObject *owner = Py_NewRef(kept_object(self->kept));
        let_go(object);
        self->owner = owner;
    }
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    tensor_object *self = (tensor_object *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(kept_object(self->kept));
    Py_VISIT(self->mapping);
    Py_VISIT(self->chroma);
    Py_VISIT(self->chroma_v);
    Py_VISIT(self->stream);
    Py_VISIT(self->owner);
    return 0;
}

static void end(PyObject *object)
{
    untrack(object);
    ENTER();
    hide_object(object);
    let_go(object);
    end_object(object);
}

CALL_CLOSE()

/* ---- Constructors ---------------------------------------------------------------------------- */

static PyObject *call_create(PyObject *Py_UNUSED(type), PyObject *args, PyObject *keywords)
{
    ENTER();
    PyObject *shape, *dtype = NULL, *given = NULL, *memory = NULL, *layout = NULL, *strides = NULL;
    bool exportable = false;
    struct desc desc;
    CUstream stream;
    gr_tensor *tensor;
    if (!PARSE("O|O$OOOOO&:create",
               NAMES("shape", "dtype", "stream", "memory", "layout", "strides", "exportable"),
               &shape, &dtype, &given, &memory, &layout, &strides, TRUTH(&exportable)) ||
        !desc_of(&desc, shape, dtype, strides, layout, memory) ||
        !stream_or(given, GR_STREAM_NONE, &stream))
        return NULL;
    desc.desc.exportable = exportable;
    WITHOUT_GIL(tensor = gr_tensor_create(&desc.desc, stream));
    return tensor_new(tensor, given);
}

static PyObject *wrap_failed(void)
{
    return fail_with("`data` is NULL", "`pointer` is 0");
}

static PyObject *call_from_memory(PyObject *Py_UNUSED(type), PyObject *args, PyObject *keywords)
{
    ENTER();
    PyObject *shape, *dtype = NULL, *strides = NULL, *layout = NULL, *memory = NULL;
    PyObject *given = NULL, *owner = Py_None;
    bool read_only = false, negative_strides = false;
    struct desc desc;
    uint64_t address;
    CUstream ready_on;
    if (!PARSE("O&O|O$OOOOOO&O&:from_memory",
               NAMES("pointer", "shape", "dtype", "strides", "layout", "memory", "stream", "owner",
                     "read_only", "negative_strides"),
               WRAPPED(&address), &shape, &dtype, &strides, &layout, &memory, &given, &owner,
               TRUTH(&read_only), TRUTH(&negative_strides)) ||
        !desc_of(&desc, shape, dtype, strides, layout, memory) ||
        !stream_or(given, GR_STREAM_NONE, &ready_on))
        return NULL;
    desc.desc.read_only = read_only;
    desc.desc.negative_strides = negative_strides;
    return tensor_wrap(&desc, address, ready_on, given, owner, wrap_failed);
}

/* The planes: records that the stream uses them, or makes it wait until they are ready. */
static bool order(PyObject *tensor, PyObject *given, bool used)
{
    gr_status status = GR_OK;
    struct planes planes;
    CUstream stream;
    if (!stream_of(given, &stream) || !planes_begin(tensor, &planes)) /* the first may close it */
        return false;
    for (int i = 0; i < planes.count && status == GR_OK; i++)
        status = used ? gr_tensor_used_on(planes.tensors[i], stream)
                      : gr_tensor_wait(planes.tensors[i], stream);
    if (status != GR_OK)
        fail();
    planes_end(&planes);
    return status == GR_OK;
}

static PyObject *call_from_dlpack(PyObject *Py_UNUSED(type), PyObject *args, PyObject *keywords)
{
    ENTER();
    PyObject *object, *given = NULL, *name = NULL;
    gr_layout layout;
    if (!PARSE("O|$OO:from_dlpack", NAMES("object", "stream", "layout"), &object, &given, &name) ||
        !layout_of(name, &layout))
        return NULL;
    PyObject *tensor = import_any(object, given, layout);
    if (tensor && is_given(given) && !order(tensor, given, false))
        Py_CLEAR(tensor);
    return tensor;
}

/* The arguments of view(): what differs from the tensor. */
struct change {
    PyObject *shape, *dtype, *strides, *layout;
    size_t offset;
    bool read_only, negative_strides;
};

/* Describes the view by a changed copy of the tensor's own description. */
static bool describe_view(struct desc *desc, const gr_tensor_info *info, const struct change *to)
{
    struct desc old;
    PyObject *shape = to->shape, *dtype = to->dtype, *strides = to->strides, *layout = to->layout;
    PyObject *sizes = is_given(shape) ? Py_NewRef(shape) : numbers(info->shape, info->ndim);
    bool is_desc = sizes && desc_of(desc, sizes, dtype, strides, layout, NULL);
    Py_XDECREF(sizes);
    if (!is_desc)
        return false;
    desc_of_info(&old, info);
    if (!is_given(shape) && !is_given(strides)) {
        memcpy(desc->strides, old.strides, sizeof(desc->strides));
        desc->desc.strides = desc->strides;
        desc->desc.offset = old.desc.offset;
    }
    if (!is_given(dtype))
        desc->desc.dtype = info->dtype;
    if (!is_given(layout) && !is_given(shape))
        desc->desc.layout = info->layout;
    desc->desc.offset += to->offset;
    desc->desc.read_only = to->read_only || info->read_only;
    desc->desc.negative_strides = to->negative_strides;
    return true;
}

static PyObject *view_plane(PyObject *object, const struct change *change)
{
    const gr_tensor_info *info = tensor_info_of(object);
    tensor_object *self = (tensor_object *)object;
    struct desc desc;
    return info && describe_view(&desc, info, change)
               ? tensor_view_of(self, gr_tensor_view(self->tensor, &desc.desc))
               : NULL;
}

static PyObject *view_planes(const struct planes *planes, struct change *change)
{
    PyObject *made[3] = {view_plane(planes->objects[0], change)};
    change->layout = NULL; /* the first plane has that of the image */
    for (int i = 1; i < planes->count && made[i - 1]; i++)
        made[i] = view_plane(planes->objects[i], change);
    return joined(made, planes->count);
}

static PyObject *call_view(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct change change = {0};
    struct planes planes;
    if (!tensor_of(self) ||
        !PARSE(
            "|OOOO&$OO&O&:view",
            NAMES("shape", "dtype", "strides", "offset", "layout", "read_only", "negative_strides"),
            &change.shape, &change.dtype, &change.strides, SIZE(&change.offset), &change.layout,
            TRUTH(&change.read_only), TRUTH(&change.negative_strides)))
        return NULL;
    if ((is_given(change.shape) || is_given(change.dtype) || is_given(change.strides) ||
         change.offset) &&
        !is_one_plane(self, PyExc_ValueError))
        return NULL;
    if (!planes_begin(self, &planes))
        return NULL;
    PyObject *made = view_planes(&planes, &change);
    planes_end(&planes);
    return made;
}

static PyObject *call_clone(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *memory = NULL, *given = NULL, *made[3] = {NULL};
    struct planes planes;
    CUstream stream;
    int kind;
    if (!tensor_of(self) || !PARSE("|O$O:clone", NAMES("memory", "stream"), &memory, &given) ||
        !choice_of(memory, "kind of memory", memory_names, &kind) ||
        !stream_or(given, GR_STREAM_LEGACY, &stream) || !planes_begin(self, &planes))
        return NULL;
    for (int i = 0; i < planes.count && (i == 0 || made[i - 1]); i++) {
        gr_tensor *clone;
        WITHOUT_GIL(clone = gr_tensor_clone(planes.tensors[i], (gr_memory)kind, stream));
        made[i] = tensor_new(clone, given);
    }
    PyObject *tensor = joined(made, planes.count);
    planes_end(&planes);
    return tensor;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static bool is_same(gr_tensor *to, gr_tensor *from)
{
    const gr_tensor_info *one = gr_tensor_get_info(to), *other = gr_tensor_get_info(from);
    return one && other && one->dtype == other->dtype && one->ndim == other->ndim &&
           !memcmp(one->shape, other->shape, one->ndim * sizeof(*one->shape)) && !one->read_only;
}

/* Copies a pair of planes that does not match first, so that the failed call changes nothing. */
static gr_status copy_planes(const struct planes *to, const struct planes *from, CUstream stream)
{
    gr_status status = GR_OK;
    for (int i = 0; i < to->count && status == GR_OK; i++)
        if (!is_same(to->tensors[i], from->tensors[i]))
            status = gr_tensor_copy(to->tensors[i], from->tensors[i], stream);
    for (int i = 0; i < to->count && status == GR_OK; i++)
        status = gr_tensor_copy(to->tensors[i], from->tensors[i], stream);
    return status;
}

/* `call` is for the message. */
static PyObject *copy_between(const struct planes *to, const struct planes *from, PyObject *given,
                              const char *call)
{
    CUstream stream;
    gr_status status;
    if (to->count != from->count) {
        PyErr_Format(PyExc_ValueError,
                     "the destination has %d plane%s, but the source has %d: pass a sequence of as "
                     "many planes",
                     to->count, to->count == 1 ? "" : "s", from->count);
        return NULL;
    }
    if (!stream_or(given, GR_STREAM_LEGACY, &stream))
        return NULL;
    WITHOUT_GIL(status = copy_planes(to, from, stream));
    return status == GR_OK ? Py_NewRef(Py_None) : fail_with("gr_tensor_copy", call);
}

static PyObject *call_copy(PyObject *self, PyObject *args, PyObject *keywords, bool from)
{
    PyObject *object, *given = NULL;
    struct planes own, others;
    if (!tensor_of(self) || !PARSE_IN(from ? "copy_from" : "copy_to", "O|$O",
                                      NAMES("other", "stream"), &object, &given))
        return NULL;
    PyObject *other = import_any(object, given, GR_LAYOUT_SHAPE);
    if (!other)
        return NULL;
    PyObject *done = NULL;
    if (planes_begin(self, &own)) {
        if (planes_begin(other, &others)) {
            done = from ? copy_between(&own, &others, given, "Tensor.copy_from")
                        : copy_between(&others, &own, given, "Tensor.copy_to");
            planes_end(&others);
        }
        planes_end(&own);
    }
    Py_DECREF(other);
    return done;
}

static int await(void *stream)
{
    return gr_driver_functions()->StreamSynchronize(stream);
}

/* The size of all planes. false, with an exception, if one is revoked. */
static bool size_of_planes(const struct planes *planes, size_t sizes[3], size_t *sum)
{
    *sum = 0;
    for (int i = 0; i < planes->count; i++) {
        const gr_tensor_info *info = tensor_info_of(planes->objects[i]);
        if (!info)
            return false;
        sizes[i] = info->bytes;
        *sum += info->bytes;
    }
    return true;
}

/* Copies, and waits in the context of the tensor, to which a default stream belongs. */
static int copied_out(const struct planes *planes, const size_t sizes[3], char *to, CUstream stream,
                      gr_status *status)
{
    int result = CUDA_SUCCESS;
    *status = GR_OK;
    for (int i = 0; i < planes->count && *status == GR_OK && result == CUDA_SUCCESS; i++) {
        gr_tensor *tensor = planes->tensors[i];
        if (!sizes[i])
            continue;
        *status = gr_tensor_copy_to_host(tensor, to, sizes[i], stream);
        if (*status == GR_OK)
            result = in_context(gr_tensor_get_info(tensor)->context, await, stream);
        to += sizes[i];
    }
    return result;
}

static PyObject *bytes_of_planes(const struct planes *planes, CUstream stream)
{
    size_t sizes[3], sum;
    int result;
    gr_status status;
    if (!size_of_planes(planes, sizes, &sum))
        return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)sum);
    char *to = bytes ? PyBytes_AsString(bytes) : NULL;
    if (!to)
        return NULL;
    WITHOUT_GIL(result = copied_out(planes, sizes, to, stream, &status));
    if (status == GR_OK && result == CUDA_SUCCESS)
        return bytes;
    Py_DECREF(bytes);
    return status == GR_OK ? driver_fail(result, "cuStreamSynchronize") : fail();
}

static PyObject *call_to_bytes(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *given = NULL;
    struct planes planes;
    CUstream stream;
    if (!tensor_of(self) || !PARSE("|$O:tobytes", NAMES("stream"), &given) ||
        !stream_or(given, GR_STREAM_LEGACY, &stream) || !planes_begin(self, &planes))
        return NULL;
    PyObject *bytes = bytes_of_planes(&planes, stream);
    planes_end(&planes);
    return bytes;
}

/* ---- Ordering -------------------------------------------------------------------------------- */

static PyObject *on_stream(PyObject *self, PyObject *given, bool used)
{
    return tensor_of(self) && order(self, given, used) ? Py_NewRef(Py_None) : NULL;
}

/* ---- Exchange -------------------------------------------------------------------------------- */

/* What the memory of the tensor needs: its mapping, or its stream and the owner. */
static PyObject *needs_of(const tensor_object *self)
{
    PyObject *owner = kept_object(self->kept);
    if (self->mapping)
        return Py_NewRef(self->mapping);
    if (owner && self->stream)
        return PyTuple_Pack(2, owner, self->stream);
    return Py_NewRef(owner ? owner : self->stream ? self->stream : Py_None);
}

static PyObject *dlpack(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    struct export wanted;
    gr_tensor *tensor = tensor_of(self);
    PyObject *needs =
        tensor && is_one_plane(self, PyExc_BufferError) && export_of(&wanted, args, count, names)
            ? needs_of((tensor_object *)self)
            : NULL;
    PyObject *capsule = needs ? export_capsule(tensor, &wanted, needs) : NULL;
    Py_XDECREF(needs);
    return capsule;
}

static PyObject *dlpack_device(PyObject *self, PyObject *Py_UNUSED(none))
{
    const gr_tensor_info *info = tensor_info_of(self);
    return info ? export_device(info) : NULL;
}

/* ---- The type -------------------------------------------------------------------------------- */

GUARDED(call_view)
GUARDED(call_clone)
GUARDED_WITH(copy_from, call_copy(self, args, keywords, true))
GUARDED_WITH(copy_to, call_copy(self, args, keywords, false))
GUARDED(call_to_bytes)
GUARDED_AS(wait, (PyObject * self, PyObject *stream), on_stream(self, stream, false))
GUARDED_AS(used_on, (PyObject * self, PyObject *stream), on_stream(self, stream, true))
GUARDED_FAST(dlpack)
GUARDED_ONE(dlpack_device)

static PyMethodDef methods[] = {
    {"create", METHOD(call_create), KEYWORDS | METH_CLASS, NULL},
    {"from_memory", METHOD(call_from_memory), KEYWORDS | METH_CLASS, NULL},
    {"collect", METHOD(tensor_collect), KEYWORDS | METH_STATIC, NULL},
    {"from_dlpack", METHOD(call_from_dlpack), KEYWORDS | METH_CLASS, NULL},
    {"view", METHOD(guarded_call_view), KEYWORDS, NULL},
    {"clone", METHOD(guarded_call_clone), KEYWORDS, NULL},
    {"copy_from", METHOD(guarded_copy_from), KEYWORDS, NULL},
    {"copy_to", METHOD(guarded_copy_to), KEYWORDS, NULL},
    {"tobytes", METHOD(guarded_call_to_bytes), KEYWORDS, NULL},
    {"wait", guarded_wait, METH_O, NULL},
    {"used_on", guarded_used_on, METH_O, NULL},
    {"close", call_close, METH_NOARGS, NULL},
    EXPORT_METHODS,
    CLOSE_BY_WITH,
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)refuse_new},
    {Py_tp_dealloc, (void *)end},
    {Py_tp_finalize, (void *)finalize},
    {Py_tp_traverse, (void *)traverse},
    {Py_tp_repr, (void *)tensor_represent},
    {Py_tp_methods, methods},
    {Py_tp_getset, tensor_properties},
    {SLOT_GET_BUFFER, (void *)view_get},
    {SLOT_RELEASE_BUFFER, (void *)view_release},
    {0},
};

bool add_tensor(PyObject *module)
{
    return add_type(module, &tensor_type, "grinterop.Tensor", sizeof(tensor_object),
                    Py_TPFLAGS_HAVE_GC, slots) &&
           import_ready();
}
