/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module grinterop._grinterop. It keeps its types in variables, so that a map looks nothing up;
 * a second interpreter in the process is refused by Python itself.
 */
#include "module.h"

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "grinterop._grinterop",
    .m_doc = "The part of grinterop that calls the C library.",
    .m_size = -1,
};

static bool add_functions(PyObject *module)
{
    PyMethodDef *const tables[] = {argument_functions, bench_functions, driver_functions,
                                   error_functions,    many_functions,  publish_functions,
                                   tensor_functions,   core_functions};
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        if (PyModule_AddFunctions(module, tables[i]))
            return false;
    }
    return true;
}

PyMODINIT_FUNC PyInit__grinterop(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && arguments_ready() && add_functions(module) && add_resource(module) &&
        add_buffer(module) && add_egl(module) && add_cuda_context(module) && add_tensor(module) &&
        add_ring(module) && add_vulkan(module))
        return module;
    Py_XDECREF(module);
    return NULL;
}
