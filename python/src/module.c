/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The module grinterop._grinterop. Its types are static variables, so that map() needs no lookups.
 * The module therefore supports only one interpreter per process, and requires the GIL.
 */
#include "module.h"

#include <string.h>

/* The module object of the first import, which later imports return. */
static PyObject *only;

static bool add_functions(PyObject *module)
{
    PyMethodDef *const tables[] = {argument_functions, bench_functions, driver_functions,
                                   error_functions,    many_functions,  publish_functions,
                                   tensor_functions};
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        if (PyModule_AddFunctions(module, tables[i]))
            return false;
    }
    return true;
}

static PyObject *create(PyObject *spec, PyModuleDef *definition)
{
    (void)definition;
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "grinterop can be imported only in the main "
                                           "interpreter of a process, not in a subinterpreter");
        return NULL;
    }
    if (only)
        return Py_NewRef(only);
    PyObject *name = PyObject_GetAttrString(spec, "name");
    PyObject *module = name ? PyModule_NewObject(name) : NULL;
    Py_XDECREF(name);
    return module;
}

static int fill(PyObject *module)
{
    if (module == only)
        return 0;
    if (!arguments_ready() || !add_functions(module) || !add_resource(module) ||
        !add_buffer(module) || !add_egl(module) || !add_cuda_context(module) ||
        !add_tensor(module) || !add_ring(module) || !add_semaphore(module) || !add_submit(module) ||
        !add_vulkan(module))
        return -1;
    only = Py_NewRef(module);
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_create, (void *)create},
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "grinterop._grinterop",
    .m_doc = "The part of grinterop that calls the C library.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__grinterop(void)
{
    /* In a free-threaded build all objects have another size, `definition` included. */
    if (strstr(Py_GetVersion(), "free-threading")) {
        PyErr_SetString(PyExc_ImportError, "grinterop does not support free-threaded Python: use "
                                           "the build of Python that has the GIL");
        return NULL;
    }
    return PyModuleDef_Init(&definition);
}
