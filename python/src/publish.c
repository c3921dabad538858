/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* publish(), fetch() and fetch_framebuffer(): copy tensors to graphics memory and back. */
#include "ring.h"
#include "tensor.h"

#include <grinterop/framebuffer.h>
#include <grinterop/publish.h>

/* ---- Options --------------------------------------------------------------------------------- */

/* The options of one call, and the arrays that they point to. */
struct options {
    gr_publish_options options;
    double scale[4], bias[4], alpha;
    struct desc target;
};

/* The Python arguments of one call, in the order of its parameters. */
struct given {
    PyObject *target, *tensor, *stream, *layout, *bgr, *flip, *scale, *bias, *alpha, *srgb;
    PyObject *matrix, *full_range, *bits, *level, *layer, *offset, *shape, *dtype, *strides;
    PyObject *wait_event, *timeout, *x, *y, *width, *height, *high_bits, *chroma_position;
    PyObject *columns, *z, *depth, *layers;
};

/*
 * Reads a number for all channels, or a sequence for up to four. Channels without a value are left
 * unchanged.
 */
static bool channels_of(PyObject *object, const char *what, double values[4])
{
    Py_ssize_t count = PySequence_Check(object) ? PySequence_Size(object) : -1;
    if (count < 0 && PyErr_Occurred() && !is_absent(PyExc_TypeError)) /* of an array without axes */
        return false;
    if (count < 0) {
        double value;
        if (!read_as(what, object, DOUBLE(&value)))
            return false;
        for (int i = 0; i < 4; i++)
            values[i] = value;
        return true;
    }
    if (count > 4)
        PyErr_Format(PyExc_ValueError, "%s has %zd numbers; an image has 4 channels", what, count);
    for (Py_ssize_t i = 0; i < count && !PyErr_Occurred(); i++) {
        PyObject *number = PySequence_GetItem(object, i);
        if (number)
            read_as(what, number, DOUBLE(&values[i]));
        Py_XDECREF(number);
    }
    return !PyErr_Occurred();
}

static bool numbers_of_options(const struct given *given, struct options *to)
{
    for (int i = 0; i < 4; i++) {
        to->scale[i] = 1;
        to->bias[i] = 0;
    }
    if (is_given(given->scale)) {
        if (!channels_of(given->scale, "scale", to->scale))
            return false;
        to->options.scale_f64 = to->scale;
    }
    if (is_given(given->bias)) {
        if (!channels_of(given->bias, "bias", to->bias))
            return false;
        to->options.bias_f64 = to->bias;
    }
    if (is_given(given->alpha)) {
        if (!read_as("alpha", given->alpha, DOUBLE(&to->alpha)))
            return false;
        to->options.alpha_f64 = &to->alpha;
    }
    return true;
}

/* Reads a number or "all". */
static bool layer_of(PyObject *object, unsigned *layer)
{
    static const struct named layers[] = {{"all", GR_ALL_LAYERS}, {0}};
    if (!object || !PyUnicode_Check(object))
        return read_as("layer", object, UNSIGNED(layer));
    return value_of(object, "layer", layers, layer);
}

static bool flags_of_options(const struct given *given, gr_publish_options *to)
{
    return read_as("level", given->level, UNSIGNED(&to->level)) &&
           layer_of(given->layer, &to->layer) &&
           read_as("offset", given->offset, SIZE(&to->offset)) &&
           read_as("x", given->x, UNSIGNED(&to->x)) && read_as("y", given->y, UNSIGNED(&to->y)) &&
           read_as("width", given->width, UNSIGNED(&to->width)) &&
           read_as("height", given->height, UNSIGNED(&to->height)) &&
           read_as("columns", given->columns, UNSIGNED(&to->columns)) &&
           read_as("z", given->z, UNSIGNED(&to->z)) &&
           read_as("depth", given->depth, UNSIGNED(&to->depth)) &&
           read_as("layers", given->layers, UNSIGNED(&to->layers)) &&
           read_as("bgr", given->bgr, TRUTH(&to->bgr)) &&
           read_as("flip", given->flip, TRUTH(&to->flip)) &&
           read_as("srgb", given->srgb, TRUTH(&to->srgb)) &&
           read_as("full_range", given->full_range, TRUTH(&to->full_range)) &&
           read_as("bits", given->bits, UNSIGNED(&to->bits)) &&
           read_as("high_bits", given->high_bits, TRUTH(&to->high_bits));
}

static bool names_of_options(const struct given *given, struct options *to)
{
    static const char *const matrices[] = {"bt709", "bt601", "bt2020", NULL};
    static const char *const positions[] = {"center", "left", "top_left", NULL};
    int matrix, position;
    if (!layout_of(given->layout, &to->options.layout) ||
        !choice_of(given->matrix, "YUV matrix", matrices, &matrix) ||
        !choice_of(given->chroma_position, "chroma position", positions, &position) ||
        !event_of(given->wait_event, &to->options.wait_event))
        return false;
    to->options.matrix = (gr_yuv_matrix)matrix;
    to->options.chroma_position = (gr_chroma_position)position;
    return true;
}

/*
 * Reads the layout of a target buffer. If no shape is given, the buffer has the shape of the
 * tensor.
 */
static bool target_of_options(const struct given *given, PyObject *tensor, struct options *to)
{
    if (!is_given(given->shape) && !is_given(given->dtype) && !is_given(given->strides))
        return true;
    const gr_tensor_info *info = gr_tensor_get_info(((tensor_object *)tensor)->tensor);
    if (!info)
        return fail();
    PyObject *shape =
        is_given(given->shape) ? Py_NewRef(given->shape) : numbers(info->shape, info->ndim);
    bool is_desc = shape && desc_of(&to->target, shape, given->dtype, given->strides, NULL, NULL);
    Py_XDECREF(shape);
    if (is_desc && !is_given(given->dtype))
        to->target.desc.dtype = info->dtype;
    to->options.target = &to->target.desc;
    return is_desc;
}

/* ---- The calls ------------------------------------------------------------------------------- */

struct work {
    gr_tensor *tensor;
    struct options options;
    CUstream stream;
    unsigned timeout_ms;
    bool fetch;
    PyObject *target; /* the Ring, if the target is one */
};

/* Runs `work` on the resource, or on the buffer, of a Python object that no other thread may use.
 */
static PyObject *run_on(PyObject *object, gr_resource *resource, gr_buffer *buffer,
                        const struct work *work)
{
    gr_status status;
    const gr_publish_options *options = &work->options.options;
    if (!exclusive_begin(object))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    if (resource)
        status = work->fetch ? gr_fetch(resource, work->tensor, options, work->stream)
                             : gr_publish(resource, work->tensor, options, work->stream);
    else
        status = work->fetch ? gr_buffer_fetch(buffer, work->tensor, options, work->stream)
                             : gr_buffer_publish(buffer, work->tensor, options, work->stream);
    Py_END_ALLOW_THREADS
    PyObject *none = none_or_fail(status);
    exclusive_end(object);
    return none;
}

static PyObject *into_resource(resource_object *resource, const struct work *work)
{
    if (!resource_usable(resource))
        return NULL;
    if (!resource->mapped || !resource->mapped->buffer)
        return run_on((PyObject *)resource, resource->resource, NULL, work);
    PyErr_SetString(PyExc_RuntimeError,
                    "GraphicsResource is already mapped: pass its Buffer instead");
    return NULL;
}

static PyObject *into_buffer(buffer_object *buffer, const struct work *work)
{
    return buffer_usable(buffer) ? run_on((PyObject *)buffer, NULL, buffer->buffer, work) : NULL;
}

static gr_status into_slot(void *user, unsigned timeout_ms)
{
    struct work *work = user;
    gr_publish_options *options = &work->options.options;
    gr_status status;
    options->timeout_ms = timeout_ms;
    ring_cancel_dropped(work->target, !work->fetch);
    WITHOUT_GIL(status = work->fetch ? gr_fetch(NULL, work->tensor, options, work->stream)
                                     : gr_publish(NULL, work->tensor, options, work->stream));
    return status;
}

static PyObject *into_ring(PyObject *object, struct work *work)
{
    work->target = object;
    work->options.options.ring = ring_begin(object, !work->fetch);
    if (!work->options.options.ring)
        return NULL;
    bool done = wait_in_slices(into_slot, work, work->timeout_ms);
    ring_end(object, !work->fetch);
    return done ? Py_NewRef(Py_None) : NULL;
}

static bool is_target(PyObject *target)
{
    return PyObject_TypeCheck(target, resource_type) || Py_TYPE(target) == buffer_type ||
           Py_TYPE(target) == ring_type ||
           wrong_type("expected a GraphicsResource, Buffer or Ring", target);
}

static PyObject *dispatch(PyObject *target, struct work *work)
{
    if (Py_TYPE(target) == buffer_type)
        return into_buffer((buffer_object *)target, work);
    if (Py_TYPE(target) == ring_type)
        return into_ring(target, work);
    return into_resource((resource_object *)target, work);
}

/* Reads the stream. It may be omitted, or None, if the target is a Buffer, which has a stream. */
static bool stream_of_work(PyObject *target, PyObject *given, const char *call, CUstream *stream)
{
    if (is_given(given) || Py_TYPE(target) != buffer_type)
        return stream_given(given, call, stream);
    *stream = GR_STREAM_OF_MAP;
    return true;
}

static void tensor_end(PyObject *tensor)
{
    const tensor_object *self = (tensor_object *)tensor;
    PyObject *u = self->chroma, *v = self->chroma_v;
    if (v)
        call_end(v);
    if (u)
        call_end(u);
    call_end(tensor);
}

/*
 * Begins a call on a tensor and its chroma planes, which become those of the options. false, with
 * an exception, if one is closed.
 */
static bool tensor_begin(PyObject *tensor, gr_tensor **luma, gr_publish_options *options)
{
    PyObject *u = ((tensor_object *)tensor)->chroma, *v = ((tensor_object *)tensor)->chroma_v;
    *luma = tensor_of(tensor);
    if (!*luma || (u && !(options->chroma = tensor_of(u))) ||
        (v && !(options->chroma_v = tensor_of(v))) || !call_begin(tensor))
        return false;
    if (!u || call_begin(u)) {
        if (!v || call_begin(v))
            return true;
        call_end(u);
    }
    call_end(tensor);
    return false;
}

/* The object as a tensor. The stream waits for the work that the producer has queued. */
static PyObject *tensor_for(PyObject *target, PyObject *object, PyObject *stream)
{
    bool mapped = Py_TYPE(target) == buffer_type && !is_given(stream);
    PyObject *on = Py_XNewRef(mapped ? ((buffer_object *)target)->stream : stream);
    PyObject *tensor = import_any(object, on, GR_LAYOUT_SHAPE);
    Py_XDECREF(on);
    return tensor;
}

static PyObject *run(struct work *work, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    ENTER();
    static struct parameters parameters = {
        .positional = 2,
        .required = 2,
        .names = {"target",  "tensor",     "stream",          "layout",  "bgr",    "flip",
                  "scale",   "bias",       "alpha",           "srgb",    "matrix", "full_range",
                  "bits",    "level",      "layer",           "offset",  "shape",  "dtype",
                  "strides", "wait_event", "timeout",         "x",       "y",      "width",
                  "height",  "high_bits",  "chroma_position", "columns", "z",      "depth",
                  "layers"}};
    struct given given;
    PyObject *tensor, *result = NULL;
    work->options.options = GR_INIT(gr_publish_options);
    const char *call = work->fetch ? "fetch" : "publish";
    if (!arguments_of(call, &parameters, args, count, keywords, &given.target) ||
        !is_target(given.target = core_own(given.target)) ||
        !stream_of_work(given.target, given.stream, call, &work->stream) ||
        !flags_of_options(&given, &work->options.options) ||
        !names_of_options(&given, &work->options) || !numbers_of_options(&given, &work->options) ||
        !timeout_of(given.timeout, &work->timeout_ms) ||
        !(tensor = tensor_for(given.target, given.tensor, given.stream)))
        return NULL;
    if (tensor_begin(tensor, &work->tensor, &work->options.options)) {
        if (target_of_options(&given, tensor, &work->options))
            result = dispatch(given.target, work);
        tensor_end(tensor);
    }
    Py_DECREF(tensor);
    return result;
}

static PyObject *publish(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count,
                         PyObject *keywords)
{
    struct work work = {.fetch = false};
    return run(&work, args, count, keywords);
}

static PyObject *fetch(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count,
                       PyObject *keywords)
{
    struct work work = {.fetch = true};
    return run(&work, args, count, keywords);
}

/* ---- Framebuffers ---------------------------------------------------------------------------- */

/* GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT and GL_STENCIL_ATTACHMENT */
#define COLOR   0x8CE0
#define DEPTH   0x8D00
#define STENCIL 0x8D20

/*
 * Reads an attachment: "depth", "stencil", "color1" or the OpenGL constant. None selects the
 * current read buffer (glReadBuffer).
 */
static bool attachment_of(PyObject *object, unsigned *attachment)
{
    static const char *const names[] = {
        "depth",   "stencil", "color",   "color0",  "color1",  "color2",  "color3",  "color4",
        "color5",  "color6",  "color7",  "color8",  "color9",  "color10", "color11", "color12",
        "color13", "color14", "color15", "color16", "color17", "color18", "color19", "color20",
        "color21", "color22", "color23", "color24", "color25", "color26", "color27", "color28",
        "color29", "color30", "color31", NULL};
    int choice;
    if (!is_given(object))
        return true;
    if (PyIndex_Check(object))
        return unsigned_of(object, attachment);
    if (!choice_of(object, "attachment", names, &choice))
        return false;
    *attachment = choice == 0   ? DEPTH
                  : choice == 1 ? STENCIL
                                : COLOR + (unsigned)(choice > 2 ? choice - 3 : 0);
    return true;
}

/* Reads a rectangle as grinterop 0.2.0 takes it: (x, y, width, height). */
static bool rectangle_of(PyObject *object, gr_framebuffer_options *to)
{
    if (!is_given(object))
        return true;
    if (to->x || to->y || to->width || to->height)
        return wrong_value("rectangle: %R, but x, y, width or height is given, too", object);
    PyObject *tuple = items_of(object, "rectangle: expected (x, y, width, height)");
    bool good = tuple && parse(tuple, NULL, NULL, "O&O&O&O&:rectangle",
                               NAMES("x", "y", "width", "height"), UNSIGNED(&to->x),
                               UNSIGNED(&to->y), UNSIGNED(&to->width), UNSIGNED(&to->height));
    Py_XDECREF(tuple);
    return good;
}

static bool staging_of(PyObject *object, gr_resource **staging)
{
    if (!is_given(object))
        return true;
    if (!PyObject_TypeCheck(object, resource_type))
        return wrong_type("staging: expected a GraphicsResource", object);
    resource_object *resource = (resource_object *)object;
    if (!resource_usable(resource) || !exclusive_begin(object))
        return false;
    *staging = resource->resource;
    return true;
}

/* One attachment to read. */
struct read {
    PyObject *tensor; /* with a call begun; owned */
    gr_framebuffer_options options;
    gr_publish_options conversion;
};

/* The attachments of one call, and the arguments of gr_fetch_framebuffer_many(). */
struct reads {
    size_t count;
    struct read *of;
    gr_tensor **to;
    const gr_framebuffer_options **options;
};

/* The options of one attachment of several: distances are for depth, the rest for colours. */
static void narrow(gr_framebuffer_options *options, gr_publish_options *conversion)
{
    if (options->attachment != DEPTH) {
        options->z_near = options->z_far = 0;
        options->reverse_z = false;
    }
    if (options->attachment == DEPTH || options->attachment == STENCIL) {
        conversion->layout = GR_LAYOUT_SHAPE;
        conversion->bgr = conversion->srgb = conversion->high_bits = false;
        conversion->bits = 0;
        conversion->chroma_position = GR_CHROMA_CENTER;
        conversion->alpha_f64 = NULL;
    }
}

static bool add_read(struct reads *reads, PyObject *attachment, PyObject *object, PyObject *stream,
                     const gr_framebuffer_options *all, bool alone)
{
    struct read *one = &reads->of[reads->count];
    one->options = *all;
    one->conversion = *all->conversion;
    one->options.conversion = &one->conversion;
    reads->options[reads->count] = &one->options;
    if (!attachment_of(attachment, &one->options.attachment) ||
        !(one->tensor = import_any(object, stream, GR_LAYOUT_SHAPE)))
        return false;
    if (!alone)
        narrow(&one->options, &one->conversion);
    if (!tensor_begin(one->tensor, &reads->to[reads->count], &one->conversion)) {
        Py_DECREF(one->tensor);
        return false;
    }
    reads->count++;
    return true;
}

/* One more than `count`, since the first has the staging buffer. */
static bool make_room(struct reads *reads, Py_ssize_t count)
{
    reads->of = PyMem_Calloc((size_t)count + 1, sizeof(*reads->of));
    reads->to = PyMem_Calloc((size_t)count + 1, sizeof(*reads->to));
    reads->options = PyMem_Calloc((size_t)count + 1, sizeof(*reads->options));
    return (reads->of && reads->to && reads->options) || PyErr_NoMemory();
}

/* Reads {"color": tensor, "depth": tensor}. */
static bool add_reads(struct reads *reads, PyObject *tensors, PyObject *stream,
                      const gr_framebuffer_options *all)
{
    if (all->conversion->scale_f64 || all->conversion->bias_f64) {
        PyErr_SetString(PyExc_ValueError,
                        "scale and bias would apply to each attachment of the dict: read those "
                        "that need them in a call of their own");
        return false;
    }
    PyObject *items = PyDict_Items(tensors);
    bool good = items && make_room(reads, PyList_Size(items));
    for (Py_ssize_t i = 0; good && i < PyList_Size(items); i++) {
        PyObject *item = PyList_GetItem(items, i);
        good =
            add_read(reads, PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1), stream, all, false);
    }
    Py_XDECREF(items);
    return good;
}

static void end_reads(struct reads *reads)
{
    for (size_t i = 0; i < reads->count; i++) {
        tensor_end(reads->of[i].tensor);
        Py_DECREF(reads->of[i].tensor);
    }
    PyMem_Free(reads->of);
    PyMem_Free(reads->to);
    PyMem_Free(reads->options);
}

static PyObject *run_reads(unsigned framebuffer, struct reads *reads, CUstream on,
                           PyObject *staging)
{
    gr_status status;
    gr_resource **given = &reads->of[0].options.staging;
    if (!staging_of(staging, given))
        return NULL;
    if (reads->count == 1)
        WITHOUT_GIL(status =
                        gr_fetch_framebuffer(framebuffer, reads->to[0], reads->options[0], on));
    else
        WITHOUT_GIL(status = gr_fetch_framebuffer_many(framebuffer, reads->to, reads->options,
                                                       reads->count, on));
    PyObject *result = none_or_fail(status);
    if (*given)
        exclusive_end(staging);
    return result;
}

static PyObject *read_framebuffer(unsigned framebuffer, PyObject *object, PyObject *attachment,
                                  PyObject *stream, const gr_framebuffer_options *options,
                                  PyObject *staging)
{
    struct reads reads = {0};
    CUstream on;
    PyObject *result = NULL;
    if (!stream_given(stream, "fetch_framebuffer", &on))
        return NULL;
    if (PyDict_Check(object) && is_given(attachment)) {
        PyErr_SetString(PyExc_ValueError, "attachment: the keys of the dict name the attachments");
        return NULL;
    }
    if (PyDict_Check(object)
            ? add_reads(&reads, object, stream, options)
            : make_room(&reads, 1) && add_read(&reads, attachment, object, stream, options, true))
        result = run_reads(framebuffer, &reads, on, staging);
    end_reads(&reads);
    return result;
}

static PyObject *fetch_framebuffer(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    ENTER();
    PyObject *object, *attachment = NULL, *rectangle = NULL, *staging = NULL;
    struct given given = {0};
    struct options conversion = {.options = GR_INIT(gr_publish_options)};
    gr_framebuffer_options options =
        GR_INIT(gr_framebuffer_options, .conversion = &conversion.options);
    unsigned framebuffer;
    if (!PARSE("O&O|$OOO&O&O&O&O&O&O&OO&O&OOOO&OOOOO&O&O&OO&O&:fetch_framebuffer",
               NAMES("framebuffer", "tensor", "stream", "attachment", "x", "y", "width", "height",
                     "near", "far", "reverse_z", "layout", "bgr", "flip", "scale", "bias", "alpha",
                     "srgb", "wait_event", "staging", "rectangle", "matrix", "full_range", "bits",
                     "high_bits", "chroma_position", "sample", "columns"),
               GL_NAME(&framebuffer), &object, &given.stream, &attachment, UNSIGNED(&options.x),
               UNSIGNED(&options.y), UNSIGNED(&options.width), UNSIGNED(&options.height),
               FLOAT(&options.z_near), FLOAT(&options.z_far), TRUTH(&options.reverse_z),
               &given.layout, TRUTH(&conversion.options.bgr), TRUTH(&conversion.options.flip),
               &given.scale, &given.bias, &given.alpha, TRUTH(&conversion.options.srgb),
               &given.wait_event, &staging, &rectangle, &given.matrix,
               TRUTH(&conversion.options.full_range), UNSIGNED(&conversion.options.bits),
               TRUTH(&conversion.options.high_bits), &given.chroma_position,
               UNSIGNED(&options.sample), UNSIGNED(&conversion.options.columns)) ||
        !rectangle_of(rectangle, &options) || !names_of_options(&given, &conversion) ||
        !numbers_of_options(&given, &conversion))
        return NULL;
    return read_framebuffer(framebuffer, object, attachment, given.stream, &options, staging);
}

static PyObject *copy_framebuffer(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    ENTER();
    PyObject *buffer, *attachment = NULL, *rectangle = NULL;
    gr_framebuffer_options options = GR_INIT(gr_framebuffer_options);
    gr_resource *resource = NULL;
    gr_status status;
    size_t offset = 0;
    unsigned framebuffer;
    if (!PARSE("O&O|$OO&O&O&O&O&OO&:copy_framebuffer",
               NAMES("framebuffer", "buffer", "attachment", "x", "y", "width", "height", "offset",
                     "rectangle", "sample"),
               GL_NAME(&framebuffer), &buffer, &attachment, UNSIGNED(&options.x),
               UNSIGNED(&options.y), UNSIGNED(&options.width), UNSIGNED(&options.height),
               SIZE(&offset), &rectangle, UNSIGNED(&options.sample)) ||
        !attachment_of(attachment, &options.attachment) || !rectangle_of(rectangle, &options))
        return NULL;
    if (!PyObject_TypeCheck(buffer, resource_type)) {
        wrong_type("buffer: expected a GraphicsResource", buffer);
        return NULL;
    }
    if (!staging_of(buffer, &resource))
        return NULL;
    WITHOUT_GIL(status = gr_copy_framebuffer(framebuffer, resource, offset, &options));
    exclusive_end(buffer);
    return none_or_fail(status);
}

PyMethodDef publish_functions[] = {
    {"publish", METHOD(publish), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"fetch", METHOD(fetch), METH_FASTCALL | METH_KEYWORDS, NULL},
    {"fetch_framebuffer", METHOD(fetch_framebuffer), KEYWORDS, NULL},
    {"copy_framebuffer", METHOD(copy_framebuffer), KEYWORDS, NULL},
    {0},
};
