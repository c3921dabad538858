/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* VulkanDevice.submit(). */
#include "resource.h"

#include <grinterop/submit.h>
#include <grinterop/vk.h>

/* The maximum number of resources, and of command buffers, in one submit. */
#define MOST 64u

struct batch {
    PyObject *objects[MOST]; /* The objects of the resources; strong references. */
    gr_resource *resources[MOST];
    VkCommandBufferSubmitInfo commands[MOST];
    unsigned resource_count, command_count;
};

/* Calls `add` for each item of the sequence. */
static bool each(PyObject *items, const char *what, struct batch *batch, unsigned *count,
                 bool (*add)(struct batch *, PyObject *))
{
    PyObject *item, *iterator = items ? PyObject_GetIter(items) : NULL;
    bool good = iterator;
    while (good && (item = PyIter_Next(iterator))) {
        good = *count < MOST;
        if (!good)
            PyErr_Format(PyExc_ValueError, "a submit takes up to %u %s", MOST, what);
        good = good && add(batch, item);
        *count += good;
        Py_DECREF(item);
    }
    Py_XDECREF(iterator);
    return good && !PyErr_Occurred();
}

static bool add_one(struct batch *batch, PyObject *item)
{
    resource_object *resource = resource_of(item);
    if (resource) {
        batch->objects[batch->resource_count] = Py_NewRef(item);
        batch->resources[batch->resource_count] = resource->resource;
    }
    return resource;
}

/*
 * Begins a call on each resource. Called after all arguments are read, since reading them may run
 * Python code that closes a resource.
 */
static bool begin_batch(struct batch *batch)
{
    for (unsigned i = 0; i < batch->resource_count; i++) {
        if (!resource_of(batch->objects[i]))
            return false;
    }
    return exclusive_begin_all(batch->objects, batch->resource_count);
}

static void drop_batch(struct batch *batch)
{
    for (unsigned i = 0; i < batch->resource_count; i++)
        Py_DECREF(batch->objects[i]);
}

static bool add_commands(struct batch *batch, PyObject *item)
{
    uint64_t handle;
    if (!address_of(item, &handle))
        return false;
    batch->commands[batch->command_count] =
        (VkCommandBufferSubmitInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                    .commandBuffer = (VkCommandBuffer)(uintptr_t)handle};
    return true;
}

static gr_status submit_batch(const struct batch *batch, const gr_vk_submit_desc *desc)
{
    gr_submit *submit = gr_submit_begin(batch->resources, batch->resource_count);
    gr_status status = submit ? gr_vk_submit(submit, desc) : gr_last_error()->status;
    gr_submit_free(submit);
    return status;
}

static PyObject *run_batch(struct batch *batch, const gr_vk_submit_desc *desc)
{
    gr_status status;
    if (!begin_batch(batch))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = submit_batch(batch, desc);
    Py_END_ALLOW_THREADS
    PyObject *none = none_or_fail(status);
    exclusive_end_all(batch->objects, batch->resource_count);
    return none;
}

PyObject *vulkan_submit(PyObject *object, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"resources", "commands", "stages", "access", "layout",
                            "first",     "last",     "fence",  "queue",  NULL};
    struct batch batch = {0};
    PyObject *resources, *commands = NULL;
    unsigned long long fence = 0, queue = 0;
    gr_vk_use use = GR_INIT(gr_vk_use);
    unsigned long long stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    unsigned long long access = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    unsigned layout = VK_IMAGE_LAYOUT_GENERAL;
    int first = -1, last = 1;
    PyObject *none = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$KKIppKK:submit", names, &resources,
                                     &commands, &stages, &access, &layout, &first, &last, &fence,
                                     &queue))
        return NULL;
    bool read = each(resources, "resources", &batch, &batch.resource_count, add_one) &&
                (!commands ||
                 each(commands, "command buffers", &batch, &batch.command_count, add_commands));
    use.stages = stages;
    use.access = access;
    use.layout = (VkImageLayout)layout;
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .commandBufferInfoCount = batch.command_count,
                                .pCommandBufferInfos = batch.commands};
    bool takes_back = first == -1 ? batch.command_count > 0 : first;
    const gr_vk_submit_desc desc =
        GR_INIT(gr_vk_submit_desc, .queue = (VkQueue)(uintptr_t)queue, .info = &info,
                .fence = (VkFence)(uintptr_t)fence, .first = takes_back ? &use : NULL,
                .last = last ? &use : NULL);
    /* Only one thread at a time may use a VkQueue. */
    if (read && exclusive_begin(object)) {
        none = run_batch(&batch, &desc);
        exclusive_end(object);
    }
    drop_batch(&batch);
    return none;
}
