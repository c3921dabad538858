/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What OpenGL drew becomes a tensor: an extension that setup.py builds. */
#include <Python.h>
#include <grinterop/framebuffer.h>

static PyObject *read_framebuffer(PyObject *self, PyObject *arguments)
{
    unsigned name;
    long long height, width;
    unsigned long long address, stream;
    if (!PyArg_ParseTuple(arguments, "ILLKK", &name, &height, &width, &address, &stream))
        return NULL;
    int64_t shape[] = {height, width, 3};
    gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 3, .shape = shape);
    CUstream cuda = (CUstream)(uintptr_t)stream;
    gr_tensor *tensor = gr_tensor_from_memory(&desc, (void *)(uintptr_t)address, cuda, NULL, NULL);
    bool done = tensor && gr_fetch_framebuffer(name, tensor, NULL, cuda) == GR_OK;
    if (!done)
        PyErr_SetString(PyExc_RuntimeError, gr_last_error()->message);
    gr_tensor_free(tensor);
    return done ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef functions[] = {
    {"read", read_framebuffer, METH_VARARGS, "read(framebuffer, height, width, address, stream)"},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "rasterizer", .m_methods = functions};

PyMODINIT_FUNC PyInit_rasterizer(void)
{
    return PyModule_Create(&module);
}
