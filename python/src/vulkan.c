/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * VulkanDevice: wraps the Vulkan device of a program, given by integer handles, or creates a
 * headless device. It creates buffers and images shared with CUDA, and submits command buffers.
 */
#include "tensor.h"

#include <grinterop/vk.h>

typedef struct vulkan_object {
    OBJECT_HEAD
    gr_vk_headless *headless;   /* NULL if the program owns the device. */
    gr_vk_device *device;       /* NULL: closed */
    gr_vk_headless_info vulkan; /* The handles, also of a device of the program. */
} vulkan_object;

static PyTypeObject *vulkan_type;

/* ---- Lifetime -------------------------------------------------------------------------------- */

static vulkan_object *open_of(PyObject *object)
{
    vulkan_object *self = (vulkan_object *)object;
    return open_or_fail(self->device, "VulkanDevice") ? self : NULL;
}

/*
 * Closes the device. Resources of a headless VkDevice hold a reference to this object, so the
 * VkDevice outlives them.
 */
static void let_go(vulkan_object *self)
{
    gr_vk_device *device = self->device;
    self->device = NULL;
    ENDING(gr_vk_device_free(device));
}

static void end(PyObject *object)
{
    vulkan_object *self = (vulkan_object *)object;
    hide_object(object);
    let_go(self);
    ENDING(gr_vk_headless_free(self->headless));
    end_object(object);
}

/* Makes the Python object. Takes ownership of `headless`, even on failure. */
static PyObject *wrap(PyTypeObject *type, gr_vk_headless *headless,
                      const gr_vk_headless_info *vulkan, unsigned transports)
{
    gr_vk_device *device;
    const gr_vk_device_desc desc =
        GR_INIT(gr_vk_device_desc, .get_instance_proc_addr = vulkan->get_instance_proc_addr,
                .instance = vulkan->instance, .physical_device = vulkan->physical_device,
                .device = vulkan->device, .queue = vulkan->graphics,
                .queue_family = vulkan->graphics_family,
                .synchronization2 = vulkan->synchronization2, .transports = transports);
    WITHOUT_GIL(device = headless ? gr_vk_device_from_headless(headless, transports)
                                  : gr_vk_device_from_vk(&desc));
    vulkan_object *self = device ? new_object(type) : NULL;
    if (self) {
        self->headless = headless;
        self->device = device;
        self->vulkan = *vulkan;
        return (PyObject *)self;
    }
    if (!device)
        fail();
    gr_vk_device_free(device);
    gr_vk_headless_free(headless);
    return NULL;
}

static const struct named transport_names[] = {{"without copy", 0},
                                               {"copy", GR_TRANSPORT_COPY},
                                               {"peer", GR_TRANSPORT_PEER},
                                               {"any", GR_TRANSPORT_ANY},
                                               {0}};

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *transport = NULL;
    uint64_t instance, physical_device, device, queue, function = 0;
    unsigned family, transports;
    bool synchronization2 = false;
    if (!PARSE("O&O&O&O&O&|$O&O&O:VulkanDevice",
               NAMES("instance", "physical_device", "device", "queue", "queue_family",
                     "get_instance_proc_addr", "synchronization2", "transports"),
               UINT64(&instance), UINT64(&physical_device), UINT64(&device), UINT64(&queue),
               UNSIGNED(&family), UINT64(&function), TRUTH(&synchronization2), &transport) ||
        !value_of(transport, "transport", transport_names, &transports))
        return NULL;
    const gr_vk_headless_info vulkan = {
        .instance = (VkInstance)(uintptr_t)instance,
        .physical_device = (VkPhysicalDevice)(uintptr_t)physical_device,
        .device = (VkDevice)(uintptr_t)device,
        .graphics = (VkQueue)(uintptr_t)queue,
        .graphics_family = family,
        .synchronization2 = synchronization2,
        .get_instance_proc_addr = (PFN_vkGetInstanceProcAddr)(uintptr_t)function};
    return wrap(type, NULL, &vulkan, transports);
}

static PyObject *make_headless(PyObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *transport = NULL;
    unsigned transports;
    gr_vk_headless_options options = GR_INIT(gr_vk_headless_options);
    gr_vk_headless *headless;
    if (!PARSE("|O&$O&O:headless", NAMES("cuda_device", "validation", "transports"),
               INT(&options.cuda_device), TRUTH(&options.validation), &transport) ||
        !value_of(transport, "transport", transport_names, &transports))
        return NULL;
    WITHOUT_GIL(headless = gr_vk_headless_create(&options));
    if (!headless)
        return fail();
    return wrap((PyTypeObject *)type, headless, gr_vk_headless_get_info(headless), transports);
}

CALL_CLOSE()

/* ---- Resources ------------------------------------------------------------------------------- */

/*
 * Makes the GraphicsResource, which holds a reference to the device, since the device must outlive
 * the resource.
 */
static PyObject *resource_from(vulkan_object *self, gr_resource *resource)
{
    PyObject *made = resource_new(resource_type, resource);
    if (made)
        ((resource_object *)made)->owner = Py_NewRef((PyObject *)self);
    return made;
}

static PyObject *create_vk_buffer(PyObject *object, PyObject *args, PyObject *keywords)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    unsigned flags = GR_READ_WRITE;
    gr_resource *resource;
    vulkan_object *self = open_of(object);
    if (!self || !PARSE("O&O&|$O&:create_vk_buffer", NAMES("size", "usage", "flags"),
                        UINT64(&info.size), UNSIGNED(&info.usage), FLAGS(&flags)))
        return NULL;
    WITHOUT_GIL(resource = gr_create_vk_buffer(self->device, &info, flags));
    return resource_from(self, resource);
}

static PyObject *create_vk_buffer_of(PyObject *object, PyObject *args, PyObject *keywords)
{
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    PyObject *given, *made = NULL;
    unsigned flags = GR_READ_WRITE;
    gr_resource *resource;
    vulkan_object *self = open_of(object);
    if (!self || !PARSE("OO&|$O&:create_vk_buffer_of", NAMES("tensor", "usage", "flags"), &given,
                        UNSIGNED(&info.usage), FLAGS(&flags)))
        return NULL;
    PyObject *tensor = import_one(given, NULL);
    gr_tensor *memory = tensor ? tensor_of(tensor) : NULL;
    if (memory && call_begin(tensor)) {
        WITHOUT_GIL(resource = gr_create_vk_buffer_of(self->device, &info, memory, flags));
        call_end(tensor);
        made = resource_in_memory(resource_from(self, resource), tensor);
    }
    Py_XDECREF(tensor);
    return made;
}

/* The VkImageCreateInfo and flags from the arguments that several methods share. */
static VkImageCreateInfo image_info(unsigned format, unsigned width, unsigned height,
                                    unsigned depth, unsigned usage, unsigned levels,
                                    unsigned layers)
{
    return (VkImageCreateInfo){.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                               .imageType = depth > 1 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D,
                               .format = (VkFormat)format,
                               .extent = {width, height, depth},
                               .mipLevels = levels,
                               .arrayLayers = layers,
                               .samples = VK_SAMPLE_COUNT_1_BIT,
                               .usage = usage};
}

static PyObject *create_vk_image(PyObject *object, PyObject *args, PyObject *keywords)
{
    unsigned format, width, height, usage, depth = 1, levels = 1, layers = 1, flags = GR_READ_WRITE;
    gr_resource *resource;
    vulkan_object *self = open_of(object);
    if (!self ||
        !PARSE("O&O&O&O&|$O&O&O&O&:create_vk_image",
               NAMES("format", "width", "height", "usage", "depth", "levels", "layers", "flags"),
               UNSIGNED(&format), UNSIGNED(&width), UNSIGNED(&height), UNSIGNED(&usage),
               UNSIGNED(&depth), UNSIGNED(&levels), UNSIGNED(&layers), FLAGS(&flags)))
        return NULL;
    VkImageCreateInfo info = image_info(format, width, height, depth, usage, levels, layers);
    WITHOUT_GIL(resource = gr_create_vk_image(self->device, &info, flags));
    return resource_from(self, resource);
}

static PyObject *from_vk_buffer(PyObject *object, PyObject *args, PyObject *keywords)
{
    uint64_t buffer, memory, memory_size, size, offset = 0;
    bool dedicated = false;
    unsigned flags = GR_READ_WRITE, in_flight = 0;
    gr_resource *resource;
    vulkan_object *self = open_of(object);
    if (!self || !PARSE("O&O&O&O&|$O&O&O&O&:from_vk_buffer",
                        NAMES("buffer", "memory", "memory_size", "size", "offset", "dedicated",
                              "flags", "in_flight"),
                        UINT64(&buffer), UINT64(&memory), UINT64(&memory_size), UINT64(&size),
                        UINT64(&offset), TRUTH(&dedicated), FLAGS(&flags), UNSIGNED(&in_flight)))
        return NULL;
    gr_vk_buffer_desc desc =
        GR_INIT(gr_vk_buffer_desc, .buffer = (VkBuffer)(uintptr_t)buffer,
                .memory = (VkDeviceMemory)(uintptr_t)memory, .memory_size = memory_size,
                .offset = offset, .size = size, .dedicated = dedicated, .in_flight = in_flight);
    WITHOUT_GIL(resource = gr_from_vk_buffer(self->device, &desc, flags));
    return resource_from(self, resource);
}

static PyObject *from_vk_image(PyObject *object, PyObject *args, PyObject *keywords)
{
    uint64_t image, memory, memory_size, offset = 0;
    unsigned format, width, height, usage, depth = 1, levels = 1, layers = 1, flags = GR_READ_WRITE,
                                           in_flight = 0;
    bool dedicated = false;
    gr_resource *resource;
    vulkan_object *self = open_of(object);
    if (!self ||
        !PARSE("O&O&O&O&O&O&O&|$O&O&O&O&O&O&O&:from_vk_image",
               NAMES("image", "memory", "memory_size", "format", "width", "height", "usage",
                     "depth", "levels", "layers", "offset", "dedicated", "flags", "in_flight"),
               UINT64(&image), UINT64(&memory), UINT64(&memory_size), UNSIGNED(&format),
               UNSIGNED(&width), UNSIGNED(&height), UNSIGNED(&usage), UNSIGNED(&depth),
               UNSIGNED(&levels), UNSIGNED(&layers), UINT64(&offset), TRUTH(&dedicated),
               FLAGS(&flags), UNSIGNED(&in_flight)))
        return NULL;
    VkImageCreateInfo info = image_info(format, width, height, depth, usage, levels, layers);
    gr_vk_image_desc desc =
        GR_INIT(gr_vk_image_desc, .create_info = &info, .image = (VkImage)(uintptr_t)image,
                .memory = (VkDeviceMemory)(uintptr_t)memory, .memory_size = memory_size,
                .offset = offset, .dedicated = dedicated, .in_flight = in_flight);
    WITHOUT_GIL(resource = gr_from_vk_image(self->device, &desc, flags));
    return resource_from(self, resource);
}

static PyObject *submit(PyObject *object, PyObject *args, PyObject *keywords)
{
    return open_of(object) ? vulkan_submit(object, args, keywords) : NULL;
}

/* ---- Properties ------------------------------------------------------------------------------ */

static const gr_vk_device_info *info_of(PyObject *object)
{
    const vulkan_object *self = open_of(object);
    const gr_vk_device_info *info = self ? gr_vk_device_get_info(self->device) : NULL;
    if (self && !info)
        fail();
    return info;
}

static PyObject *cuda_of(const gr_vk_device_info *info)
{
    return info ? PyLong_FromLong(info->cuda_device) : NULL;
}

#define SELF ((vulkan_object *)self)

PROPERTY(instance, PyLong_FromVoidPtr(SELF->vulkan.instance))
PROPERTY(physical_device, PyLong_FromVoidPtr(SELF->vulkan.physical_device))
PROPERTY(device, PyLong_FromVoidPtr(SELF->vulkan.device))
PROPERTY(queue, PyLong_FromVoidPtr(SELF->vulkan.graphics))
PROPERTY(queue_family, PyLong_FromUnsignedLong(SELF->vulkan.graphics_family))
PROPERTY(loader, PyLong_FromUnsignedLongLong((uintptr_t)SELF->vulkan.get_instance_proc_addr))
PROPERTY(cuda_device, cuda_of(info_of(self)))
PROPERTY(is_closed, PyBool_FromLong(!SELF->device))

static PyObject *describe(PyObject *object, PyObject *Py_UNUSED(none))
{
    const gr_vk_device_info *info = info_of(object);
    return info ? text_in_python(info->description) : NULL;
}

/* ---- The type -------------------------------------------------------------------------------- */

GUARDED(create_vk_buffer)
GUARDED(create_vk_image)
GUARDED(from_vk_buffer)
GUARDED(from_vk_image)
GUARDED(create_vk_buffer_of)
GUARDED(submit)
GUARDED_ONE(describe)
REPRESENT("VulkanDevice", describe)

static PyMethodDef methods[] = {
    {"headless", METHOD(make_headless), KEYWORDS | METH_CLASS, NULL},
    {"create_vk_buffer", METHOD(guarded_create_vk_buffer), KEYWORDS, NULL},
    {"create_vk_image", METHOD(guarded_create_vk_image), KEYWORDS, NULL},
    {"from_vk_buffer", METHOD(guarded_from_vk_buffer), KEYWORDS, NULL},
    {"from_vk_image", METHOD(guarded_from_vk_image), KEYWORDS, NULL},
    {"create_vk_buffer_of", METHOD(guarded_create_vk_buffer_of), KEYWORDS, NULL},
    {"submit", METHOD(guarded_submit), KEYWORDS, NULL},
    {"describe", guarded_describe, METH_NOARGS, NULL},
    {"close", call_close, METH_NOARGS, NULL},
    CLOSE_BY_WITH,
    {0},
};

static PyGetSetDef properties[] = {
    {"instance", instance, NULL, NULL, NULL},
    {"physical_device", physical_device, NULL, NULL, NULL},
    {"device", device, NULL, NULL, NULL},
    {"queue", queue, NULL, NULL, NULL},
    {"queue_family", queue_family, NULL, NULL, NULL},
    {"get_instance_proc_addr", loader, NULL, NULL, NULL},
    {"cuda_device", cuda_device, NULL, NULL, NULL},
    {"is_closed", is_closed, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)make}, {Py_tp_dealloc, (void *)end}, {Py_tp_repr, (void *)represent},
    {Py_tp_methods, methods},  {Py_tp_getset, properties},   {0},
};

ADD_TYPE(add_vulkan, vulkan_type, "grinterop.VulkanDevice", vulkan_object, 0)
