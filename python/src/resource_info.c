/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The properties and the repr of a GraphicsResource. */
#include "resource.h"

#include <grinterop/gl.h>
#include <grinterop/vk.h>

static gr_resource *own(PyObject *self)
{
    return ((resource_object *)self)->resource;
}

static const gr_resource_info *info_of(PyObject *self)
{
    return gr_resource_get_info(own(self));
}

static const char *kind_name(const gr_resource_info *info)
{
    return info->kind == GR_KIND_IMAGE ? "image" : "buffer";
}

/* The handle of the CUDA resource. 0 for closed or copied resources. */
static uintptr_t handle_of(const gr_resource_info *info)
{
    return info->graphics ? (uintptr_t)info->graphics : (uintptr_t)info->external_memory;
}

static PyObject *api_name(const gr_resource_info *info)
{
    static const char *const names[] = {"", "opengl", "vulkan", "external"};
    return PyUnicode_FromString(names[info->api & 3]);
}

static const char *transport_name(const gr_resource_info *info)
{
    static const struct named names[] = {GL_TRANSPORTS, {"external", GR_TRANSPORT_EXTERNAL}, {0}};
    return name_of(names, info->transport);
}

/* An OpenGL name or target. None for a resource of another API. */
static PyObject *gl_value(PyObject *self, const gr_resource_info *info,
                          unsigned int (*ask)(const gr_resource *))
{
    return info->api == GR_GRAPHICS_OPENGL ? PyLong_FromUnsignedLong(ask(own(self)))
                                           : Py_NewRef(Py_None);
}

/* A Vulkan handle, which is a pointer in C. 0 for a resource of another API. */
#define VK_HANDLE(ask) (info->api == GR_GRAPHICS_VULKAN ? (uint64_t)(uintptr_t)ask(own(self)) : 0)

static PyObject *or_none(uint64_t handle)
{
    return handle ? PyLong_FromUnsignedLongLong(handle) : Py_NewRef(Py_None);
}

/* Defines a property getter that evaluates `value` with the resource's `info`. */
#define INFO(name, value)                                                                          \
    static PyObject *name##_of_info(PyObject *self)                                                \
    {                                                                                              \
        const gr_resource_info *info = info_of(self);                                              \
        return info ? (value) : fail();                                                            \
    }                                                                                              \
    PROPERTY_IN_CALL(name, name##_of_info(self))

INFO(handle, PyLong_FromUnsignedLongLong(handle_of(info)))
PROPERTY(is_mapped, PyBool_FromLong(resource_is_mapped((resource_object *)self)))
PROPERTY(is_closed, PyBool_FromLong(((resource_object *)self)->closed))
INFO(size, PyLong_FromSize_t(info->size))
INFO(flags, PyLong_FromUnsignedLong(info->flags))
INFO(kind, PyUnicode_FromString(kind_name(info)))
INFO(api, api_name(info))
INFO(transport, PyUnicode_FromString(transport_name(info)))
INFO(gl_name, gl_value(self, info, gr_gl_name))
INFO(gl_target, gl_value(self, info, gr_gl_target))
INFO(vk_buffer, or_none(VK_HANDLE(gr_vk_buffer)))
INFO(vk_image, or_none(VK_HANDLE(gr_vk_image)))
INFO(vk_memory, or_none(VK_HANDLE(gr_vk_memory)))

/* For numpy.from_dlpack() and others, which get the attribute. */
static PyObject *refuse_export(void)
{
    PyErr_SetString(PyExc_AttributeError, RESOURCE_IS_NO_TENSOR);
    return NULL;
}

PROPERTY(dlpack, refuse_export())

static PyObject *text_of_resource(PyObject *self)
{
    const gr_resource_info *info = info_of(self);
    if (!info) /* in a forked child */
        return PyUnicode_FromString("<GraphicsResource unusable>");
    uintptr_t handle = handle_of(info);
    char size_text[32] = "", handle_text[32] = "";
    if (info->kind == GR_KIND_BUFFER)
        snprintf(size_text, sizeof(size_text), " size=%zu", info->size);
    if (handle)
        snprintf(handle_text, sizeof(handle_text), " handle=0x%llx", (unsigned long long)handle);
    return PyUnicode_FromFormat("<GraphicsResource %s%s transport=%s%s%s>", kind_name(info),
                                size_text, transport_name(info), handle_text,
                                ((resource_object *)self)->closed             ? " closed"
                                : resource_is_mapped((resource_object *)self) ? " mapped"
                                                                              : " not mapped");
}

/* The repr of a resource. While another thread closes the resource, the repr says only "closed". */
PyObject *resource_represent(PyObject *object)
{
    ENTER();
    if (!call_begin(object)) {
        PyErr_Clear();
        return PyUnicode_FromString("<GraphicsResource closed>");
    }
    PyObject *text = text_of_resource(object);
    call_end(object);
    return text;
}

PyObject *resource_describe(PyObject *object, PyObject *Py_UNUSED(none))
{
    ENTER();
    char line[1200];
    if (!exclusive_begin(object))
        return NULL;
    gr_resource_describe(own(object), line, sizeof(line));
    exclusive_end(object);
    return text_in_python(line);
}

PyGetSetDef resource_properties[] = {
    {"handle", guarded_handle, NULL, NULL, NULL},
    {"resource_handle", guarded_handle, NULL, NULL, NULL},
    {"is_mapped", is_mapped, NULL, NULL, NULL},
    {"is_closed", is_closed, NULL, NULL, NULL},
    {"size", guarded_size, NULL, NULL, NULL},
    {"flags", guarded_flags, NULL, NULL, NULL},
    {"kind", guarded_kind, NULL, NULL, NULL},
    {"api", guarded_api, NULL, NULL, NULL},
    {"transport", guarded_transport, NULL, NULL, NULL},
    {"gl_name", guarded_gl_name, NULL, NULL, NULL},
    {"gl_target", guarded_gl_target, NULL, NULL, NULL},
    {"vk_buffer", guarded_vk_buffer, NULL, NULL, NULL},
    {"vk_image", guarded_vk_image, NULL, NULL, NULL},
    {"vk_memory", guarded_vk_memory, NULL, NULL, NULL},
    {"__dlpack__", dlpack, NULL, NULL, NULL},
    {0},
};
