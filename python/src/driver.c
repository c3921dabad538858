/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Loading the CUDA driver, probing OpenGL transports, and the log. */
#include "module.h"

#include <grinterop/driver.h>
#include <grinterop/gl.h>

static PyObject *load(PyObject *module, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"allow_software", NULL};
    int allow_software = 0;
    gr_status status;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|p:load", names, &allow_software))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = gr_cuda_load(allow_software);
    Py_END_ALLOW_THREADS
    return none_or_fail(status);
}

FUNCTION(is_software, PyBool_FromLong(gr_cuda_is_software()))
FUNCTION(driver_path, text_of(gr_cuda_driver_path()))
FUNCTION(library_version, text_of(gr_library_version()))

static PyObject *gl_cuda_device(PyObject *module, PyObject *none)
{
    int device;
    gr_status status;
    (void)module;
    (void)none;
    Py_BEGIN_ALLOW_THREADS
    status = gr_gl_cuda_device(&device);
    Py_END_ALLOW_THREADS
    return status == GR_OK ? PyLong_FromLong(device) : fail();
}

static PyObject *probe(PyObject *module, PyObject *object)
{
    static const struct named transports[] = {{"interop", GR_TRANSPORT_INTEROP},
                                              {"shared", GR_TRANSPORT_SHARED},
                                              {"copy", GR_TRANSPORT_COPY},
                                              {"peer", GR_TRANSPORT_PEER},
                                              {0}};
    const gr_transport_info *info;
    unsigned transport;
    (void)module;
    if (!value_of(object, "transport to probe", transports, &transport))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    info = gr_gl_probe((gr_transport)transport);
    Py_END_ALLOW_THREADS
    if (!info)
        return fail();
    return Py_BuildValue("(ON)", info->usable ? Py_True : Py_False, text_of(info->reason));
}

static PyObject *set_log(PyObject *module, PyObject *object)
{
    static const char *const names[] = {"none", "error", "warning", "info", "debug", NULL};
    int level;
    (void)module;
    if (!choice_of(object, "log level", names, &level))
        return NULL;
    gr_log_set((gr_log_level)level, NULL, NULL);
    return Py_NewRef(Py_None);
}

PyMethodDef driver_functions[] = {
    {"load", METHOD(load), KEYWORDS,
     "load(allow_software=False)\n--\n\n"
     "Loads the CUDA driver. If none starts and allow_software is set, loads the software driver."},
    {"is_software", is_software, METH_NOARGS,
     "is_software()\n--\n\nWhether the loaded driver is the software one."},
    {"driver_path", driver_path, METH_NOARGS,
     "driver_path()\n--\n\nThe path of the loaded driver; '' if none is loaded."},
    {"library_version", library_version, METH_NOARGS,
     "library_version()\n--\n\nThe version of libgrinterop."},
    {"gl_cuda_device", gl_cuda_device, METH_NOARGS,
     "gl_cuda_device()\n--\n\nThe CUDA device that draws for the current OpenGL context."},
    {"_probe", probe, METH_O, NULL},
    {"set_log", set_log, METH_O,
     "set_log(level, /)\n--\n\n"
     "Sets what is logged to stderr: none, error, warning, info or debug."},
    {0},
};
