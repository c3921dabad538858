/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Class methods of GraphicsResource for memory that another API or process exported. */
#include "resource.h"

#include <grinterop/external.h>

/* ---- Descriptions ---------------------------------------------------------------------------- */

/* The description of external memory, with everything that it points to. */
struct external {
    gr_external_memory_desc memory;
    gr_external_part_desc part;
    gr_external_image_desc image;
    PyObject *name; /* The `bytes` that hold a Win32 name, or NULL. */
    unsigned flags;
};

/* The Python arguments that all these methods accept. */
struct given {
    PyObject *image, *flags;
    size_t offset, length;
};

const struct named formats[] = {{"u8", GR_FORMAT_UNSIGNED_INT8},
                                {"u16", GR_FORMAT_UNSIGNED_INT16},
                                {"u32", GR_FORMAT_UNSIGNED_INT32},
                                {"i8", GR_FORMAT_SIGNED_INT8},
                                {"i16", GR_FORMAT_SIGNED_INT16},
                                {"i32", GR_FORMAT_SIGNED_INT32},
                                {"f16", GR_FORMAT_HALF},
                                {"f32", GR_FORMAT_FLOAT},
                                {"unorm_int_101010_2", GR_FORMAT_UNORM_INT_101010_2},
                                {"bc1_unorm", GR_FORMAT_BC1_UNORM},
                                {"bc1_unorm_srgb", GR_FORMAT_BC1_UNORM_SRGB},
                                {"bc2_unorm", GR_FORMAT_BC2_UNORM},
                                {"bc2_unorm_srgb", GR_FORMAT_BC2_UNORM_SRGB},
                                {"bc3_unorm", GR_FORMAT_BC3_UNORM},
                                {"bc3_unorm_srgb", GR_FORMAT_BC3_UNORM_SRGB},
                                {"bc4_unorm", GR_FORMAT_BC4_UNORM},
                                {"bc4_snorm", GR_FORMAT_BC4_SNORM},
                                {"bc5_unorm", GR_FORMAT_BC5_UNORM},
                                {"bc5_snorm", GR_FORMAT_BC5_SNORM},
                                {"bc6h_uf16", GR_FORMAT_BC6H_UF16},
                                {"bc6h_sf16", GR_FORMAT_BC6H_SF16},
                                {"bc7_unorm", GR_FORMAT_BC7_UNORM},
                                {"bc7_unorm_srgb", GR_FORMAT_BC7_UNORM_SRGB},
                                {"a2b10g10r10", GR_FORMAT_A2B10G10R10},
                                {"a2r10g10b10", GR_FORMAT_A2R10G10B10},
                                {"b10g11r11", GR_FORMAT_B10G11R11},
                                {"e5b9g9r9", GR_FORMAT_E5B9G9R9},
                                {"r5g6b5", GR_FORMAT_R5G6B5},
                                {"b5g6r5", GR_FORMAT_B5G6R5},
                                {0}};
_Static_assert(sizeof(formats) / sizeof(*formats) <= MOST_NAMES, "value_of() takes it");

static bool read_image(PyObject *none, PyObject *given, gr_external_image_desc *image)
{
    static char *names[] = {"width",         "height", "depth",      "levels",   "placed_levels",
                            "layers",        "cube",   "format",     "channels", "color_attachment",
                            "depth_texture", "srgb",   "normalized", NULL};
    PyObject *format = NULL;
    *image = GR_INIT(gr_external_image_desc);
    if (!parse(none, given, NULL, "|$O&O&O&O&O&O&O&OO&O&O&O&O&:image", names, SIZE(&image->width),
               SIZE(&image->height), SIZE(&image->depth), UNSIGNED(&image->levels),
               UNSIGNED(&image->placed_levels), UNSIGNED(&image->layers), TRUTH(&image->cube),
               &format, UNSIGNED(&image->channels), TRUTH(&image->color_attachment),
               TRUTH(&image->depth_texture), TRUTH(&image->srgb), TRUTH(&image->normalized)) ||
        !value_of(format, "format", formats, &image->format))
        return false;
    if (!format) {
        PyErr_SetString(PyExc_ValueError, "image has no format, such as \"u8\" or \"f32\"");
        return false;
    }
    return true;
}

/* Reads a dict whose keys are the members of gr_external_image_desc. */
static bool image_of(PyObject *given, gr_external_image_desc *image)
{
    if (!PyDict_Check(given))
        return wrong_type("image must be a dict", given);
    /* A copy, as a number of the dict may change it when it is read. */
    PyObject *none = PyTuple_New(0), *copy = PyDict_Copy(given);
    bool is_image = none && copy && read_image(none, copy, image);
    Py_XDECREF(none);
    Py_XDECREF(copy);
    return is_image;
}

static bool part_of(const struct given *given, struct external *external)
{
    external->part = GR_INIT(gr_external_part_desc, .offset = given->offset, .size = given->length);
    external->memory.part = &external->part;
    if (!read_as("flags", given->flags, FLAGS(&external->flags)))
        return false;
    if (!is_given(given->image))
        return true;
    external->part.image = &external->image;
    return image_of(given->image, &external->image);
}

bool win32_of(PyObject *object, void **handle, PyObject **bytes)
{
    uint64_t number = 0;
    *bytes = NULL;
    if (!PyUnicode_Check(object)) {
        bool is_handle = read_as("handle", object, ADDRESS(&number));
        *handle = (void *)(uintptr_t)number;
        return is_handle;
    }
    if (!plain_text(object)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "the name of a handle contains a null character");
        return false;
    }
    PyObject *end = PyUnicode_FromStringAndSize("", 1);
    PyObject *text = end ? PyUnicode_Concat(object, end) : NULL;
    *bytes = text ? PyUnicode_AsEncodedString(text, "utf-16-le", "strict") : NULL;
    Py_XDECREF(end);
    Py_XDECREF(text);
    return *bytes;
}

/* ---- Importing ------------------------------------------------------------------------------- */

static PyObject *import(PyObject *type, const struct external *external, const char *call)
{
    gr_resource *resource;
    WITHOUT_GIL(resource = gr_from_external_memory(&external->memory, external->flags));
    return resource ? resource_new((PyTypeObject *)type, resource)
                    : fail_with("gr_from_external_memory", call);
}

static PyObject *from_fd(PyObject *type, PyObject *args, PyObject *keywords)
{
    static const struct named kinds[] = {
        {"opaque", GR_EXTERNAL_MEMORY_OPAQUE_FD}, {"dma-buf", GR_EXTERNAL_MEMORY_DMABUF_FD}, {0}};
    struct external external = {.memory = GR_INIT(gr_external_memory_desc)};
    struct given given = {0};
    PyObject *kind = NULL;
    if (!PARSE("O&O&|$OO&O&O&OO:from_fd",
               NAMES("fd", "size", "kind", "dedicated", "offset", "length", "image", "flags"),
               INT(&external.memory.fd), SIZE(&external.memory.size), &kind,
               TRUTH(&external.memory.dedicated), SIZE(&given.offset), SIZE(&given.length),
               &given.image, &given.flags) ||
        !value_of(kind, "kind of descriptor", kinds, &external.memory.type) ||
        !part_of(&given, &external))
        return NULL;
    return import(type, &external, "GraphicsResource.from_fd");
}

static PyObject *from_win32(PyObject *type, PyObject *args, PyObject *keywords)
{
    static const struct named kinds[] = {
        {"opaque", GR_EXTERNAL_MEMORY_OPAQUE_WIN32},
        {"opaque-kmt", GR_EXTERNAL_MEMORY_OPAQUE_WIN32_KMT},
        {"d3d12-heap", GR_EXTERNAL_MEMORY_D3D12_HEAP},
        {"d3d12-resource", GR_EXTERNAL_MEMORY_D3D12_RESOURCE},
        {"d3d11-resource", GR_EXTERNAL_MEMORY_D3D11_RESOURCE},
        {"d3d11-resource-kmt", GR_EXTERNAL_MEMORY_D3D11_RESOURCE_KMT},
        {0}};
    struct external external = {.memory = GR_INIT(gr_external_memory_desc)};
    struct given given = {0};
    PyObject *handle, *name, *kind = NULL;
    if (!PARSE("OO&|$OO&O&O&OO:from_win32",
               NAMES("handle", "size", "kind", "dedicated", "offset", "length", "image", "flags"),
               &handle, SIZE(&external.memory.size), &kind, TRUTH(&external.memory.dedicated),
               SIZE(&given.offset), SIZE(&given.length), &given.image, &given.flags) ||
        !value_of(kind, "kind of handle", kinds, &external.memory.type) ||
        !part_of(&given, &external) || !win32_of(handle, &external.memory.win32_handle, &name))
        return NULL;
    external.memory.win32_name = name ? PyBytes_AsString(name) : NULL;
    PyObject *self = import(type, &external, "GraphicsResource.from_win32");
    Py_XDECREF(name);
    return self;
}

static PyObject *from_nvscibuf(PyObject *type, PyObject *args, PyObject *keywords)
{
    struct external external = {.memory = GR_INIT(gr_external_memory_desc)};
    struct given given = {0};
    uint64_t address;
    if (!PARSE("O&O&|$O&O&O&OO:from_nvscibuf",
               NAMES("object", "size", "dedicated", "offset", "length", "image", "flags"),
               ADDRESS(&address), SIZE(&external.memory.size), TRUTH(&external.memory.dedicated),
               SIZE(&given.offset), SIZE(&given.length), &given.image, &given.flags) ||
        !part_of(&given, &external))
        return NULL;
    external.memory.type = GR_EXTERNAL_MEMORY_NVSCIBUF;
    external.memory.nvscibuf = (const void *)(uintptr_t)address;
    return import(type, &external, "GraphicsResource.from_nvscibuf");
}

static PyObject *from_same_memory(PyObject *type, PyObject *args, PyObject *keywords)
{
    ENTER();
    struct external external = {.memory = GR_INIT(gr_external_memory_desc)};
    struct given given = {0};
    PyObject *object;
    gr_resource *resource;
    if (!PARSE("O|$O&O&OO:from_same_memory",
               NAMES("resource", "offset", "length", "image", "flags"), &object,
               SIZE(&given.offset), SIZE(&given.length), &given.image, &given.flags) ||
        !part_of(&given, &external))
        return NULL;
    resource_object *other = resource_of(object);
    if (!other || !exclusive_begin(object))
        return NULL;
    WITHOUT_GIL(resource = gr_from_same_memory(other->resource, &external.part, external.flags));
    PyObject *self = resource_new((PyTypeObject *)type, resource);
    exclusive_end(object);
    return self;
}

PyMethodDef external_methods[] = {
    {"from_fd", METHOD(from_fd), KEYWORDS | METH_CLASS, NULL},
    {"from_win32", METHOD(from_win32), KEYWORDS | METH_CLASS, NULL},
    {"from_nvscibuf", METHOD(from_nvscibuf), KEYWORDS | METH_CLASS, NULL},
    {"from_same_memory", METHOD(from_same_memory), KEYWORDS | METH_CLASS, NULL},
    {0},
};
