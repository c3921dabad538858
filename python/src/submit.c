/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Submit: the semaphores that a graphics submit must wait for and signal when it uses imported
 * memory. VulkanDevice.submit() does it alone.
 */
#include "resource.h"

#include <grinterop/submit.h>
#include <grinterop/vk.h>

typedef struct submit_object {
    OBJECT_HEAD
    gr_submit *submit; /* NULL: closed */
    bool committed;
} submit_object;

/* ---- Lifetime -------------------------------------------------------------------------------- */

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    ENTER();
    PyObject *given;
    struct resources resources;
    if (!PARSE("O:Submit", NAMES("resources"), &given))
        return NULL;
    if (!resources_begin(&resources, given))
        return NULL;
    submit_object *self = new_object(type);
    if (self) {
        WITHOUT_GIL(self->submit = gr_submit_begin(resources.resources, resources.count));
        if (!self->submit) {
            fail();
            Py_CLEAR(self);
        }
    }
    resources_end(&resources);
    return (PyObject *)self;
}

static void let_go(submit_object *self)
{
    gr_submit *submit = self->submit;
    self->submit = NULL;
    ENDING(gr_submit_free(submit));
}

END()
CALL_CLOSE()
OPEN_OF(gr_submit, submit_object, submit, "Submit")

static PyObject *commit(PyObject *object, PyObject *Py_UNUSED(none))
{
    ENTER();
    gr_submit *submit = open_of(object);
    gr_status status;
    if (!submit || !exclusive_begin(object))
        return NULL;
    WITHOUT_GIL(status = gr_submit_commit(submit));
    ((submit_object *)object)->committed |= status == GR_OK;
    exclusive_end(object);
    return none_or_fail(status);
}

static PyObject *leave(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    ENTER();
    submit_object *self = (submit_object *)object;
    if (count && Py_IsNone(args[0]) && self->submit && !self->committed) {
        PyObject *none = commit(object, NULL);
        if (!none)
            return NULL;
        Py_DECREF(none);
    }
    PyObject *none = call_close(object, NULL);
    Py_XDECREF(none);
    return none ? Py_NewRef(Py_False) : NULL;
}

/* ---- Contents -------------------------------------------------------------------------------- */

/* A list of pairs: a CUexternalSemaphore and a value. */
static PyObject *points(size_t count, gr_semaphore *const *semaphores, const uint64_t *values)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count; i++) {
        const gr_semaphore_info *info = gr_semaphore_get_info(semaphores[i]);
        PyObject *pair = info ? Py_BuildValue("(NK)", PyLong_FromVoidPtr(info->external),
                                              (unsigned long long)values[i])
                              : fail();
        if (!pair || PyList_Append(list, pair))
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *waits_of(const gr_submit *submit)
{
    return submit ? points(submit->wait_count, submit->waits, submit->wait_values) : NULL;
}

static PyObject *signals_of(const gr_submit *submit)
{
    return submit ? points(submit->signal_count, submit->signals, submit->signal_values) : NULL;
}

static PyObject *text_of_submit(PyObject *self, PyObject *Py_UNUSED(none))
{
    const gr_submit *submit = open_of(self);
    return submit ? PyUnicode_FromFormat("waits=%zu signals=%zu%s", submit->wait_count,
                                         submit->signal_count,
                                         ((submit_object *)self)->committed ? " committed" : "")
                  : NULL;
}

REPRESENT("Submit", text_of_submit)
PROPERTY_IN_CALL(waits, waits_of(open_of(self)))
PROPERTY_IN_CALL(signals, signals_of(open_of(self)))
PROPERTY(is_closed, PyBool_FromLong(!((submit_object *)self)->submit))

static PyMethodDef methods[] = {
    {"commit", commit, METH_NOARGS, NULL},
    {"close", call_close, METH_NOARGS, NULL},
    {"__enter__", enter_self, METH_NOARGS, NULL},
    {"__exit__", METHOD(leave), METH_FASTCALL, NULL},
    {0},
};

static PyGetSetDef properties[] = {
    {"waits", guarded_waits, NULL, NULL, NULL},
    {"signals", guarded_signals, NULL, NULL, NULL},
    {"is_closed", is_closed, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)make}, {Py_tp_dealloc, (void *)end}, {Py_tp_repr, (void *)represent},
    {Py_tp_methods, methods},  {Py_tp_getset, properties},   {0},
};

bool add_submit(PyObject *module)
{
    static PyTypeObject *type;
    return add_type(module, &type, "grinterop.Submit", sizeof(submit_object), 0, slots);
}

/* ---- VulkanDevice.submit() ------------------------------------------------------------------- */

/* The command buffers as an array, which the caller frees. NULL, with an exception, on failure. */
static VkCommandBufferSubmitInfo *read_commands(PyObject *items, size_t count)
{
    VkCommandBufferSubmitInfo *commands = PyMem_Calloc(count + 1, sizeof(*commands));
    if (!commands)
        PyErr_NoMemory();
    for (size_t i = 0; commands && i < count; i++) {
        uint64_t handle;
        if (!read_as("commands", PyTuple_GetItem(items, (Py_ssize_t)i), ADDRESS(&handle))) {
            PyMem_Free(commands);
            return NULL;
        }
        commands[i] =
            (VkCommandBufferSubmitInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                        .commandBuffer = (VkCommandBuffer)(uintptr_t)handle};
    }
    return commands;
}

/* Reads a sequence of command buffers into `info`, whose array the caller frees. */
static bool commands_of(PyObject *given, VkSubmitInfo2 *info)
{
    PyObject *items = items_of(given, "commands: expected a sequence of command buffers");
    info->commandBufferInfoCount = items ? (uint32_t)PyTuple_Size(items) : 0;
    info->pCommandBufferInfos = items ? read_commands(items, info->commandBufferInfoCount) : NULL;
    Py_XDECREF(items);
    return info->pCommandBufferInfos;
}

static gr_status submit_all(const struct resources *given, const gr_vk_submit_desc *desc)
{
    gr_submit *submit = gr_submit_begin(given->resources, given->count);
    gr_status status = submit ? gr_vk_submit(submit, desc) : gr_last_error()->status;
    gr_submit_free(submit);
    return status;
}

/* Only one thread at a time may use a VkQueue. */
static PyObject *submit_begun(PyObject *object, const struct resources *given,
                              const gr_vk_submit_desc *desc)
{
    gr_status status;
    if (!exclusive_begin(object))
        return NULL;
    WITHOUT_GIL(status = submit_all(given, desc));
    PyObject *none = none_or_fail(status);
    exclusive_end(object);
    return none;
}

PyObject *vulkan_submit(PyObject *object, PyObject *args, PyObject *keywords)
{
    VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    struct resources given;
    PyObject *resources, *commands = NULL;
    uint64_t fence = 0, queue = 0;
    gr_vk_use use = GR_INIT(gr_vk_use);
    uint64_t stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    uint64_t access = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    unsigned layout = VK_IMAGE_LAYOUT_GENERAL;
    bool first = true, last = true, own_barriers = false;
    if (!PARSE("O|O$O&O&O&O&O&O&O&O&:submit",
               NAMES("resources", "commands", "stages", "access", "layout", "first", "last",
                     "own_barriers", "fence", "queue"),
               &resources, &commands, UINT64(&stages), UINT64(&access), UNSIGNED(&layout),
               TRUTH(&first), TRUTH(&last), TRUTH(&own_barriers), UINT64(&fence), UINT64(&queue)))
        return NULL;
    if (commands && !commands_of(commands, &info))
        return NULL;
    use.stages = stages;
    use.access = access;
    use.layout = (VkImageLayout)layout;
    const gr_vk_submit_desc desc =
        GR_INIT(gr_vk_submit_desc, .queue = (VkQueue)(uintptr_t)queue, .info = &info,
                .fence = (VkFence)(uintptr_t)fence, .first = first ? &use : NULL,
                .last = last ? &use : NULL, .own_barriers = own_barriers);
    PyObject *none = NULL;
    if (resources_begin(&given, resources)) {
        none = submit_begun(object, &given, &desc);
        resources_end(&given);
    }
    PyMem_Free((void *)info.pCommandBufferInfos);
    return none;
}
