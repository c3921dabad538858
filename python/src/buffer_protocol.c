/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Python's buffer protocol, for memoryview and others, of a Tensor in host memory. */
#include "tensor.h"

/* Requests of consumers, as in PyBUF_WRITABLE. */
#define WRITABLE     0x01
#define FORMAT       0x04
#define SHAPE        0x08
#define STRIDES      0x18
#define C_CONTIGUOUS 0x38
#define F_CONTIGUOUS 0x58
#define CONTIGUOUS   0x98

_Static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "views have the shape of the tensor");

static const char *const codes[] = {
    [GR_DTYPE_U8] = "B",   [GR_DTYPE_U16] = "H",  [GR_DTYPE_U32] = "I", [GR_DTYPE_U64] = "Q",
    [GR_DTYPE_I8] = "b",   [GR_DTYPE_I16] = "h",  [GR_DTYPE_I32] = "i", [GR_DTYPE_I64] = "q",
    [GR_DTYPE_F16] = "e",  [GR_DTYPE_F32] = "f",  [GR_DTYPE_F64] = "d", [GR_DTYPE_BOOL] = "?",
    [GR_DTYPE_C64] = "Zf", [GR_DTYPE_C128] = "Zd"};

static const char *format_of(const gr_tensor_info *info)
{
    return (size_t)info->dtype < sizeof(codes) / sizeof(codes[0]) ? codes[info->dtype] : NULL;
}

static bool has(int flags, int request)
{
    return (flags & request) == request;
}

/* Whether the first dimension is the fastest, without gaps. */
static bool is_fortran(const gr_tensor_info *info)
{
    int64_t next = (int64_t)gr_dtype_get_info(info->dtype)->size;
    for (unsigned i = 0; i < info->ndim; i++) {
        if (info->shape[i] != 1 && info->strides[i] != next)
            return false;
        next *= info->shape[i];
    }
    return true;
}

static const char *refusal(const gr_tensor_info *info, int flags)
{
    if (info->memory == GR_MEMORY_DEVICE || info->memory == GR_MEMORY_ARRAY)
        return "the CPU can't read GPU memory: copy it with Tensor.clone(\"host\", stream=stream)";
    if (!format_of(info))
        return "the buffer protocol has no format for this dtype: use a view of the bits, such as "
               "Tensor.view(dtype=\"uint16\")";
    if (has(flags, WRITABLE) && info->read_only)
        return "the tensor is read-only";
    const bool fortran = is_fortran(info);
    if (has(flags, C_CONTIGUOUS) || !has(flags, STRIDES) ? !info->compact
        : has(flags, F_CONTIGUOUS)                       ? !fortran
                                   : has(flags, CONTIGUOUS) && !info->compact && !fortran)
        return "the elements are not contiguous in the requested order";
    return NULL;
}

static void fill(struct view *view, const gr_tensor_info *info, int flags)
{
    view->buf = info->bytes ? info->data : (void *)"";
    view->len = (Py_ssize_t)info->bytes;
    view->itemsize = (Py_ssize_t)gr_dtype_get_info(info->dtype)->size;
    view->readonly = info->read_only;
    view->ndim = (int)info->ndim;
    view->format = has(flags, FORMAT) ? format_of(info) : NULL;
    view->shape = has(flags, SHAPE) ? info->shape : NULL;
    view->strides = has(flags, STRIDES) ? info->strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
}

/*
 * Blocks until the bytes are ready. DLPack exports of memory that the CPU reads wait for them, and
 * a view without elements can always be exported.
 */
static bool await_bytes(gr_tensor *tensor)
{
    const int64_t none = 0;
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = &none);
    void *export = NULL;
    Py_BEGIN_ALLOW_THREADS
    gr_tensor *view = gr_tensor_view(tensor, &desc);
    export = view ? gr_tensor_to_dlpack(view, GR_DLPACK_VERSIONED, GR_STREAM_LEGACY) : NULL;
    gr_tensor_free(view);
    if (export)
        export_end(export);
    Py_END_ALLOW_THREADS
    return export || fail_as_buffer_error();
}

/* A new Tensor for the same memory, which lives as long as the view. */
static PyObject *exporter_of(PyObject *object, int flags)
{
    const gr_tensor_info *info = tensor_info_of(object);
    const char *why = info ? refusal(info, flags) : NULL;
    if (why)
        PyErr_SetString(PyExc_BufferError, why);
    return info && !why && is_one_plane(object, PyExc_BufferError) && await_bytes(tensor_of(object))
               ? tensor_same(object, info->layout)
               : NULL;
}

int view_get(PyObject *object, struct view *view, int flags)
{
    ENTER();
    view->obj = NULL;
    if (!call_begin(object))
        return -1;
    PyObject *exporter = exporter_of(object, flags);
    call_end(object);
    /* The call ends with the view, so that nobody closes memoryview.obj. */
    if (exporter && call_hold(exporter)) {
        ((tensor_object *)exporter)->viewed = true;
        fill(view, gr_tensor_get_info(((tensor_object *)exporter)->tensor), flags);
        view->obj = exporter;
        return 0;
    }
    Py_XDECREF(exporter);
    return -1;
}

void view_release(PyObject *exporter, struct view *Py_UNUSED(view))
{
    ENTER();
    call_let_go(exporter);
}
