/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts Python arguments to streams, events, flags, addresses, times and names. */
#include "module.h"

#include <math.h>
#include <string.h>

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Interns the first name last, which shows that all are interned. */
static bool intern(struct parameters *parameters)
{
    size_t i = 0;
    while (parameters->names[i])
        i++;
    while (i-- > 0) {
        if (!parameters->interned[i])
            parameters->interned[i] = PyUnicode_InternFromString(parameters->names[i]);
        if (!parameters->interned[i])
            return false;
    }
    return true;
}

/* The index of a name, or -1. The names of calls are usually interned. */
static Py_ssize_t place_of(const struct parameters *parameters, PyObject *name)
{
    for (Py_ssize_t i = 0; parameters->names[i]; i++) {
        if (name == parameters->interned[i])
            return i;
    }
    for (Py_ssize_t i = 0; parameters->names[i]; i++) {
        if (PyUnicode_Compare(name, parameters->interned[i]) == 0)
            return i;
    }
    return -1;
}

static bool take_keywords(const char *call, const struct parameters *parameters,
                          PyObject *const *args, PyObject *keywords, PyObject **values)
{
    Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(keywords, i);
        Py_ssize_t place = place_of(parameters, name);
        if (place < 0 || values[place]) {
            PyErr_Format(PyExc_TypeError, "%s() got %s keyword argument %R", call,
                         place < 0 ? "an unexpected" : "a second value for", name);
            return false;
        }
        values[place] = args[i];
    }
    return true;
}

bool arguments_of(const char *call, struct parameters *parameters, PyObject *const *args,
                  Py_ssize_t count, PyObject *keywords, PyObject **values)
{
    if (!parameters->interned[0] && !intern(parameters))
        return false;
    if (count > parameters->positional) {
        const char *next = parameters->names[parameters->positional];
        PyErr_Format(PyExc_TypeError, "%s() takes at most %zd positional arguments, not %zd%s%s%s",
                     call, parameters->positional, count, next ? ": " : "", next ? next : "",
                     next ? " is a keyword-only argument" : "");
        return false;
    }
    for (Py_ssize_t i = 0; parameters->names[i]; i++)
        values[i] = i < count ? args[i] : NULL;
    if (!take_keywords(call, parameters, args + count, keywords, values))
        return false;
    for (Py_ssize_t i = 0; i < parameters->required; i++) {
        if (values[i])
            continue;
        PyErr_Format(PyExc_TypeError, "%s() needs the %sargument %s", call,
                     i < parameters->positional ? "" : "keyword-only ", parameters->names[i]);
        return false;
    }
    return true;
}

bool is_given(PyObject *object)
{
    return object && !Py_IsNone(object);
}

PyObject *item_of(PyObject *dict, const char *name)
{
    PyObject *key = PyUnicode_FromString(name);
    PyObject *item = key ? PyObject_GetItem(dict, key) : NULL;
    Py_XDECREF(key);
    PyErr_Clear();
    if (is_given(item))
        return item;
    Py_XDECREF(item);
    return NULL;
}

/* What a converter refused last, and with which type of exception; NULL: InvalidValueError. */
static _Thread_local struct {
    const void *place;
    PyObject *type;
} refused;

static bool refuse(const void *place, PyObject *type, const char *format, PyObject *value,
                   unsigned bits)
{
    if (type)
        PyErr_Format(type, format, value, bits);
    else
        wrong_value(format, value);
    refused.place = place;
    refused.type = type;
    return false;
}

/* If the value for this place was refused, puts the name before the message. */
static void name_refused(const char *name, const void *place)
{
    PyObject *type, *error, *traceback;
    if (place != refused.place)
        return;
    PyErr_Fetch(&type, &error, &traceback);
    PyObject *text = PyUnicode_FromFormat("%s: %S", name, error);
    if (text)
        refuse(NULL, refused.type, "%U", text, 0);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
}

bool read_as(const char *name, PyObject *object, converter *read, void *place)
{
    refused.place = NULL;
    if (!object || read(object, place))
        return true;
    if (refused.place)
        name_refused(name, place);
    return false;
}

/* Puts the name of the argument that was refused before the message: finds its place by `format`.
 */
static void name_argument(const char *format, char **names, va_list places)
{
    for (size_t i = 0; refused.place && names[i]; i++) {
        format += strspn(format, "|$");
        if (format[1] == '&') {
            (void)va_arg(places, converter *);
            name_refused(names[i], va_arg(places, void *));
        } else {
            (void)va_arg(places, void *);
            if (format[1] == '#')
                (void)va_arg(places, void *);
        }
        format += 1 + strspn(format + 1, "&#");
    }
}

bool parse(PyObject *args, PyObject *keywords, const char *call, const char *format, char **names,
           ...)
{
    char full[64];
    va_list places, again;
    va_start(places, names);
    va_copy(again, places);
    if (call)
        PyOS_snprintf(full, sizeof(full), "%s:%s", format, call);
    refused.place = NULL;
    bool parsed =
        PyArg_VaParseTupleAndKeywords(args, keywords, call ? full : format, names, places);
    if (!parsed)
        name_argument(format, names, again);
    va_end(again);
    va_end(places);
    return parsed;
}

PyObject *items_of(PyObject *object, const char *expected)
{
    if (PyType_GetSlot(Py_TYPE(object), Py_tp_iter) || PySequence_Check(object))
        return PySequence_Tuple(object);
    wrong_type(expected, object);
    return NULL;
}

PyObject *bytes_of(PyObject *object, const char *expected)
{
    PyObject *view = PyMemoryView_FromObject(object);
    if (!view && PyErr_ExceptionMatches(PyExc_TypeError))
        wrong_type(expected, object);
    PyObject *bytes = view ? PyObject_CallMethod(view, "tobytes", NULL) : NULL;
    Py_XDECREF(view);
    return bytes;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static bool integer_of(PyObject *object, unsigned bits, bool with_sign, const void *place,
                       uint64_t *value)
{
    int overflow;
    if (!PyIndex_Check(object))
        return refuse(place, PyExc_TypeError, "expected an integer, not %R",
                      (PyObject *)Py_TYPE(object), 0);
    PyObject *number = PyNumber_Index(object);
    if (!number && PySequence_Check(object) && is_absent(PyExc_TypeError)) /* an array */
        return refuse(place, PyExc_TypeError, "expected an integer, not %R",
                      (PyObject *)Py_TYPE(object), 0);
    if (!number)
        return false;
    const long long low = PyLong_AsLongLongAndOverflow(number, &overflow);
    *value = overflow > 0 ? PyLong_AsUnsignedLongLong(number) : (uint64_t)low;
    const bool is_huge = overflow < 0 || PyErr_Occurred();
    const bool is_negative = overflow ? overflow < 0 : low < 0;
    const uint64_t magnitude = is_negative ? ~*value : *value;
    PyErr_Clear();
    if (is_negative && !with_sign)
        refuse(place, NULL, "%R is negative, but must be 0 or more", number, 0);
    else if (is_huge || magnitude > UINT64_MAX >> (64 - bits + with_sign))
        refuse(place, PyExc_OverflowError, "%R does not fit into %u bits", number, bits);
    Py_DECREF(number);
    return !PyErr_Occurred();
}

#define INTEGER(name, type, bits, with_sign)                                                       \
    int name(PyObject *object, void *place)                                                        \
    {                                                                                              \
        uint64_t value;                                                                            \
        if (!integer_of(object, bits, with_sign, place, &value))                                   \
            return false;                                                                          \
        *(type *)place = (type)value;                                                              \
        return true;                                                                               \
    }

INTEGER(int_of, int, 32, true)
INTEGER(int64_of, int64_t, 64, true)
INTEGER(unsigned_of, unsigned, 32, false)
INTEGER(size_of, size_t, 63, false)
INTEGER(uint64_of, uint64_t, 64, false)

int gl_name_of(PyObject *object, void *place)
{
    return PyIndex_Check(object)
               ? unsigned_of(object, place)
               : refuse(place, PyExc_TypeError,
                        "expected the name of an OpenGL object, an integer (moderngl: .glo, "
                        "pyglet: .id), not %R",
                        (PyObject *)Py_TYPE(object), 0);
}

int wrapped_of(PyObject *object, void *place)
{
    return PyObject_HasAttrString((PyObject *)Py_TYPE(object), "__dlpack__")
               ? refuse(place, PyExc_TypeError,
                        "expected an address, an integer, not %R: Tensor.from_dlpack() takes the "
                        "array itself",
                        (PyObject *)Py_TYPE(object), 0)
               : address_of(object, place);
}

int truth_of(PyObject *object, void *place)
{
    if (!PyType_GetSlot(Py_TYPE(object), Py_nb_bool))
        return refuse(place, PyExc_TypeError, "expected True or False, not %R",
                      (PyObject *)Py_TYPE(object), 0);
    const int truth = PyObject_IsTrue(object);
    *(bool *)place = truth == 1;
    return truth >= 0;
}

/* Whether the object is a handle of cuda.bindings, for example: an integer without __index__. */
static bool is_handle(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    return !PyIndex_Check(object) && PyType_GetSlot(type, Py_nb_int) &&
           !PyType_GetSlot(type, Py_nb_float);
}

int address_of(PyObject *object, void *place)
{
    PyObject *number = is_handle(object) ? PyNumber_Long(object) : Py_NewRef(object);
    bool is_address = number && uint64_of(number, place);
    Py_XDECREF(number);
    return is_address;
}

static bool read_double(PyObject *object, const void *place, double *number)
{
    if (!PyIndex_Check(object) && !PyType_GetSlot(Py_TYPE(object), Py_nb_float))
        return refuse(place, PyExc_TypeError, "expected a number, not %R",
                      (PyObject *)Py_TYPE(object), 0);
    *number = PyFloat_AsDouble(object);
    return !PyErr_Occurred();
}

int double_of(PyObject *object, void *place)
{
    return read_double(object, place, place);
}

int float_of(PyObject *object, void *place)
{
    double number = 0;
    const bool is_number = read_double(object, place, &number);
    *(float *)place = (float)number;
    return is_number;
}

/* The largest timeout below GR_WAIT_FOREVER, in milliseconds. */
#define MOST_MILLISECONDS ((double)(GR_WAIT_FOREVER - 1))

bool timeout_of(PyObject *object, unsigned *timeout_ms)
{
    *timeout_ms = GR_WAIT_FOREVER;
    if (!is_given(object))
        return true;
    double seconds = 0;
    if (!read_as("timeout", object, DOUBLE(&seconds)))
        return false;
    if (!(seconds >= 0)) {
        PyErr_Format(PyExc_ValueError,
                     "a timeout must be None or a number of seconds, 0 or more, but is %R", object);
        return false;
    }
    double milliseconds = ceil(seconds * 1000);
    if (milliseconds <= MOST_MILLISECONDS)
        *timeout_ms = (unsigned)milliseconds;
    return true;
}

/* ---- Streams and events ---------------------------------------------------------------------- */

static bool stream_from_number(PyObject *number, CUstream *stream)
{
    uint64_t value = 0;
    bool is_number = address_of(number, &value);
    CUstream handle = (CUstream)(uintptr_t)value;
    if (!is_number && !PyErr_ExceptionMatches(PyExc_OverflowError) &&
        !PyErr_ExceptionMatches(PyExc_ValueError))
        return false;
    if (!is_number || handle == GR_STREAM_OF_MAP || handle == GR_STREAM_NONE) {
        PyErr_Format(PyExc_ValueError, "%R is not the handle of a CUDA stream", number);
        return false;
    }
    *stream = value == 0 ? GR_STREAM_LEGACY : handle;
    return true;
}

/*
 * Reads the result of __cuda_stream__(): the version, which is 0, and the handle. cuda.core, too,
 * accepts any sequence and any kind of integer.
 */
static bool stream_from_pair(PyObject *pair, CUstream *stream)
{
    PyObject *items = PySequence_Check(pair) ? PySequence_Tuple(pair) : PyTuple_New(0);
    PyObject *version = items && PyTuple_Size(items) == 2 ? PyTuple_GetItem(items, 0) : NULL;
    PyObject *handle = version ? PyTuple_GetItem(items, 1) : NULL;
    int number = 1;
    bool is_stream = false;
    if (version && PyIndex_Check(version) && int_of(version, &number) && number == 0 &&
        (PyIndex_Check(handle) || is_handle(handle)))
        is_stream = stream_from_number(handle, stream);
    else if (!PyErr_Occurred())
        PyErr_Format(PyExc_RuntimeError, "__cuda_stream__ returned %R, expected (0, handle)", pair);
    Py_XDECREF(items);
    return is_stream;
}

/* The attribute. NULL if there is none, or, with an exception, if reading it failed. */
static PyObject *attribute_of(PyObject *object, const char *name)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value)
        is_absent(PyExc_AttributeError);
    return value;
}

/*
 * Frameworks whose streams or events have no protocol: the attribute with the handle, and a member
 * that only these classes have, since many other objects have a `handle` or a `ptr`.
 */
struct framework {
    const char *handle, *member;
};
static const struct framework of_streams[] = {{"cuda_stream", "wait_event"},  /* PyTorch, Warp */
                                              {"ptr", "wait_event"},          /* CuPy */
                                              {"handle", "auto_synchronize"}, /* Numba */
                                              {"handle", "wait_for_event"},   /* PyCUDA */
                                              {0}};
static const struct framework of_events[] = {{"cuda_event", "elapsed_time"},   /* PyTorch */
                                             {"cuda_event", "is_complete"},    /* Warp */
                                             {"handle", "is_timing_enabled"},  /* cuda.core */
                                             {"handle", "is_timing_disabled"}, /* cuda.core 0 */
                                             {"handle", "elapsed_time"},       /* Numba */
                                             {"handle", "time_since"},         /* PyCUDA */
                                             {0}};

/* The handle of a stream or event. NULL, with an exception, if it is of none of the frameworks. */
static PyObject *handle_of(PyObject *object, const struct framework *one, const char *expected)
{
    PyObject *type = (PyObject *)Py_TYPE(object);
    for (; one->handle; one++) {
        PyObject *handle =
            PyObject_HasAttrString(type, one->member) ? attribute_of(object, one->handle) : NULL;
        if (handle || PyErr_Occurred())
            return handle;
    }
    wrong_type(expected, object);
    return NULL;
}

/* The result of __cuda_stream__(), which may also be an attribute. NULL if there is none. */
static PyObject *pair_of(PyObject *object)
{
    PyObject *pair = attribute_of(object, "__cuda_stream__");
    if (!pair || !PyCallable_Check(pair))
        return pair;
    PyObject *result = PyObject_CallNoArgs(pair);
    Py_DECREF(pair);
    return result;
}

/* For the messages about a stream that is none. */
#define STREAMS                                                                                    \
    "a CudaContext, an object with __cuda_stream__(), or a handle, where 0 is the legacy default " \
    "stream"

bool stream_of(PyObject *object, CUstream *stream)
{
    if (PyLong_Check(object))
        return stream_from_number(object, stream);
    if (Py_TYPE(object) == context_type)
        return context_stream(object, stream);
    if (Py_IsNone(object)) {
        PyErr_SetString(PyExc_TypeError, "None is not a CUDA stream: pass " STREAMS);
        return false;
    }
    PyObject *pair = pair_of(object), *handle = NULL;
    if (!pair && !PyErr_Occurred())
        handle = PyIndex_Check(object)
                     ? Py_NewRef(object)
                     : handle_of(object, of_streams, "expected a CUDA stream: " STREAMS);
    bool is_stream = pair     ? stream_from_pair(pair, stream)
                     : handle ? stream_from_number(handle, stream)
                              : false;
    Py_XDECREF(pair);
    Py_XDECREF(handle);
    return is_stream;
}

bool stream_given(PyObject *object, const char *call, CUstream *stream)
{
    if (object)
        return stream_of(object, stream);
    PyErr_Format(PyExc_TypeError, "%s() needs the keyword-only argument stream: pass " STREAMS,
                 call);
    return false;
}

bool stream_or(PyObject *object, CUstream absent, CUstream *stream)
{
    *stream = absent;
    return !is_given(object) || stream_of(object, stream);
}

bool event_of(PyObject *object, CUevent *event)
{
    uint64_t number = 0;
    if (is_given(object)) {
        PyObject *handle = PyIndex_Check(object)
                               ? Py_NewRef(object)
                               : handle_of(object, of_events,
                                           "expected a CUDA event: a handle or an event of "
                                           "cuda.core, PyTorch or Numba");
        bool is_event = handle && address_of(handle, &number);
        Py_XDECREF(handle);
        if (!is_event)
            return false;
    }
    *event = (CUevent)(uintptr_t)number;
    return true;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static bool flag_unknown(PyObject *name)
{
    PyErr_Format(
        PyExc_ValueError,
        "Unknown register flag %R. Valid flags: none, read_only, read_write, "
        "surface_load_store, texture_gather, write_discard. Join several by \"|\", or pass a "
        "list",
        name);
    return false;
}

const char *plain_text(PyObject *object)
{
    Py_ssize_t size;
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &size) : NULL;
    return text && strlen(text) == (size_t)size ? text : NULL;
}

static bool flags_from_text(PyObject *object, unsigned *flags)
{
    const char *text = plain_text(object);
    unsigned found;
    if (!text || !text[strspn(text, " \t\r\n")] || gr_flags_parse(text, &found) != GR_OK) {
        PyErr_Clear();
        return flag_unknown(object);
    }
    *flags |= found;
    return true;
}

int flags_of(PyObject *object, void *place)
{
    unsigned *flags = place;
    *flags = GR_READ_WRITE;
    if (!is_given(object))
        return true;
    if (PyUnicode_Check(object))
        return flags_from_text(object, flags);
    if (PyIndex_Check(object))
        return unsigned_of(object, flags);
    PyObject *names = items_of(object, "flags: expected names, in a str or several, or a number");
    bool are_flags = names;
    for (Py_ssize_t i = 0; are_flags && i < PyTuple_Size(names); i++)
        are_flags = flags_from_text(PyTuple_GetItem(names, i), flags);
    Py_XDECREF(names);
    return are_flags;
}

bool choice_of(PyObject *object, const char *what, const char *const names[], int *choice)
{
    *choice = 0;
    if (!is_given(object))
        return true;
    for (int i = 0; PyUnicode_Check(object) && names[i]; i++) {
        if (PyUnicode_CompareWithASCIIString(object, names[i]) == 0) {
            *choice = i;
            return true;
        }
    }
    PyObject *list = PyList_New(0);
    for (int i = 0; list && names[i]; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (!name || PyList_Append(list, name))
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    if (list)
        PyErr_Format(PyExc_ValueError, "%R is not a valid %s; choose one of %R", object, what,
                     list);
    Py_XDECREF(list);
    return false;
}

bool value_of(PyObject *object, const char *what, const struct named *table, unsigned *value)
{
    const char *names[MOST_NAMES];
    int choice, count = 0;
    do
        names[count] = table[count].name;
    while (names[count++]);
    if (!choice_of(object, what, names, &choice))
        return false;
    *value = table[choice].value;
    return true;
}

const char *name_of(const struct named *table, unsigned value)
{
    while (table->name && table->value != value)
        table++;
    return table->name ? table->name : "";
}

static PyObject *parse_flags(PyObject *Py_UNUSED(module), PyObject *object)
{
    unsigned flags;
    return flags_of(object, &flags) ? PyLong_FromUnsignedLong(flags) : NULL;
}

static PyObject *milliseconds(PyObject *Py_UNUSED(module), PyObject *seconds)
{
    unsigned timeout_ms;
    if (!timeout_of(seconds, &timeout_ms))
        return NULL;
    return timeout_ms == GR_WAIT_FOREVER ? Py_NewRef(Py_None) : PyLong_FromUnsignedLong(timeout_ms);
}

PyMethodDef argument_functions[] = {
    {"_milliseconds", milliseconds, METH_O, NULL},
    {"_parse_register_flags", parse_flags, METH_O, NULL},
    {0},
};
