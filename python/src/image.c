/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Methods for mapped images: arrays, surfaces, textures and copies of a Buffer; surfaces and
 * textures of a GraphicsResource.
 */
#include "resource.h"

#include <grinterop/image.h>

static PyObject *handle_or_fail(uint64_t handle)
{
    return handle ? PyLong_FromUnsignedLongLong(handle) : fail();
}

static bool place_of(PyObject *args, PyObject *keywords, const char *call, unsigned *level,
                     unsigned *layer)
{
    *level = *layer = 0;
    return PARSE_IN(call, "|O&O&", NAMES("level", "layer"), UNSIGNED(level), UNSIGNED(layer));
}

static PyObject *array(PyObject *self, PyObject *args, PyObject *keywords)
{
    unsigned level, layer;
    gr_buffer *buffer = mapping_of(self);
    if (!buffer || !place_of(args, keywords, "array", &level, &layer))
        return NULL;
    return handle_or_fail((uintptr_t)gr_buffer_array(buffer, level, layer));
}

static PyObject *mipmapped_array(PyObject *self, PyObject *Py_UNUSED(none))
{
    gr_buffer *buffer = mapping_of(self);
    return buffer ? handle_or_fail((uintptr_t)gr_buffer_mipmapped_array(buffer)) : NULL;
}

static PyObject *surface(PyObject *self, PyObject *args, PyObject *keywords)
{
    unsigned level, layer;
    gr_buffer *buffer = mapping_of(self);
    if (!buffer || !place_of(args, keywords, "surface", &level, &layer))
        return NULL;
    return handle_or_fail(gr_buffer_surface(buffer, level, layer));
}

static PyObject *resource_surface(PyObject *object, PyObject *args, PyObject *keywords)
{
    ENTER();
    resource_object *self = (resource_object *)object;
    unsigned level, layer;
    if (!place_of(args, keywords, "surface", &level, &layer) || !resource_usable(self) ||
        !exclusive_begin(object))
        return NULL;
    PyObject *handle = handle_or_fail(gr_resource_surface(self->resource, level, layer));
    exclusive_end(object);
    return handle;
}

/* ---- Textures -------------------------------------------------------------------------------- */

static bool address_mode_of(PyObject *object, gr_address *mode)
{
    static const char *const names[] = {"clamp", "border", "wrap", "mirror", NULL};
    int choice;
    bool is_mode = choice_of(object, "address mode", names, &choice);
    *mode = (gr_address)choice;
    return is_mode;
}

/* Reads one address mode for all axes, or a sequence of three. */
static bool address_modes_of(PyObject *object, gr_address modes[3])
{
    if (!is_given(object) || PyUnicode_Check(object)) {
        if (!address_mode_of(object, &modes[0]))
            return false;
        modes[1] = modes[2] = modes[0];
        return true;
    }
    PyObject *items = items_of(object, "address: expected a mode, or three of them");
    bool are_modes = items && (PyTuple_Size(items) == 3 ||
                               wrong_value("address: %R is not a mode, nor three of them", object));
    for (int i = 0; are_modes && i < 3; i++)
        are_modes = address_mode_of(PyTuple_GetItem(items, i), &modes[i]);
    Py_XDECREF(items);
    return are_modes;
}

static bool filter_of(PyObject *object, gr_filter *filter)
{
    static const char *const names[] = {"point", "linear", NULL};
    int choice;
    bool is_filter = choice_of(object, "filter", names, &choice);
    *filter = (gr_filter)choice;
    return is_filter;
}

static bool border_of(PyObject *object, float border[4])
{
    if (!is_given(object))
        return true;
    PyObject *items = items_of(object, "border: expected four numbers");
    bool are_numbers = items && (PyTuple_Size(items) == 4 ||
                                 wrong_value("border: %R are not four numbers", object));
    for (int i = 0; are_numbers && i < 4; i++)
        are_numbers = read_as("border", PyTuple_GetItem(items, i), FLOAT(&border[i]));
    Py_XDECREF(items);
    return are_numbers;
}

/* Reads a bool. None is GR_CHOICE_DEFAULT. */
static bool yes_or_no(PyObject *object, gr_choice *choice)
{
    bool yes;
    *choice = GR_CHOICE_DEFAULT;
    if (!is_given(object))
        return true;
    if (!truth_of(object, &yes))
        return false;
    *choice = yes ? GR_CHOICE_YES : GR_CHOICE_NO;
    return true;
}

static bool texture_options_of(PyObject *args, PyObject *keywords, gr_texture_options *options)
{
    PyObject *address = NULL, *filter = NULL, *normalized = NULL, *as_float = NULL, *srgb = NULL;
    PyObject *border = NULL, *mip_filter = NULL;
    return PARSE("|O&O&$OOOOOOO&OO&O&O&O&:texture",
                 NAMES("level", "layer", "address", "filter", "normalized", "as_float", "srgb",
                       "border", "whole", "mip_filter", "mip_bias", "min_level", "level_count",
                       "anisotropy"),
                 UNSIGNED(&options->level), UNSIGNED(&options->layer), &address, &filter,
                 &normalized, &as_float, &srgb, &border, TRUTH(&options->whole), &mip_filter,
                 FLOAT(&options->mip_bias), FLOAT(&options->min_level),
                 UNSIGNED(&options->level_count), UNSIGNED(&options->anisotropy)) &&
           border_of(border, options->border) && address_modes_of(address, options->address) &&
           filter_of(filter, &options->filter) &&
           yes_or_no(normalized, &options->normalized_coordinates) &&
           yes_or_no(as_float, &options->as_float) && yes_or_no(srgb, &options->srgb) &&
           filter_of(mip_filter, &options->mip_filter);
}

static PyObject *texture(PyObject *self, PyObject *args, PyObject *keywords)
{
    gr_texture_options options = GR_INIT(gr_texture_options);
    gr_buffer *buffer = mapping_of(self);
    if (!buffer || !texture_options_of(args, keywords, &options))
        return NULL;
    return handle_or_fail(gr_buffer_texture(buffer, &options));
}

static PyObject *resource_texture(PyObject *object, PyObject *args, PyObject *keywords)
{
    ENTER();
    resource_object *self = (resource_object *)object;
    gr_texture_options options = GR_INIT(gr_texture_options);
    if (!texture_options_of(args, keywords, &options) || !resource_usable(self) ||
        !exclusive_begin(object))
        return NULL;
    PyObject *handle = handle_or_fail(gr_resource_texture(self->resource, &options));
    exclusive_end(object);
    return handle;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

typedef gr_status copy_call(gr_buffer *, unsigned, unsigned, const gr_linear_desc *, CUstream);

static PyObject *copy(PyObject *object, PyObject *args, PyObject *keywords, const char *name,
                      copy_call *call)
{
    buffer_object *self = (buffer_object *)object;
    gr_linear_desc linear = GR_INIT(gr_linear_desc);
    PyObject *given = NULL;
    unsigned level = 0, layer = 0;
    uint64_t pointer;
    CUstream stream;
    gr_status status;
    bool host = false;
    if (!PARSE_IN(name, "O&|O&O&$O&O&O&OO&O&O&O&O&O&O&",
                  NAMES("address", "level", "layer", "pitch", "slice", "host", "stream", "z",
                        "depth", "layers", "x", "y", "width", "height"),
                  ADDRESS(&pointer), UNSIGNED(&level), UNSIGNED(&layer), SIZE(&linear.pitch),
                  SIZE(&linear.slice), TRUTH(&host), &given, UNSIGNED(&linear.z),
                  UNSIGNED(&linear.depth), UNSIGNED(&linear.layers), UNSIGNED(&linear.x),
                  UNSIGNED(&linear.y), UNSIGNED(&linear.width), UNSIGNED(&linear.height)) ||
        !stream_or(given, GR_STREAM_OF_MAP, &stream) || !buffer_usable(self) ||
        !exclusive_begin(object))
        return NULL;
    linear.device = host ? 0 : pointer;
    linear.host = host ? (void *)(uintptr_t)pointer : NULL;
    WITHOUT_GIL(status = call(self->buffer, level, layer, &linear, stream));
    PyObject *none = none_or_fail(status);
    exclusive_end(object);
    return none;
}

/* ---- What it is ------------------------------------------------------------------------------ */

static PyObject *image_info(PyObject *self, PyObject *Py_UNUSED(none))
{
    gr_buffer *buffer = mapping_of(self);
    const gr_image_info *info = buffer ? gr_buffer_get_image_info(buffer) : NULL;
    if (!info)
        return buffer ? fail() : NULL;
    return Py_BuildValue(
        "{s:n,s:n,s:n,s:I,s:I,s:O,s:O,s:O,s:O,s:s,s:I,s:I}", "width", (Py_ssize_t)info->width,
        "height", (Py_ssize_t)info->height, "depth", (Py_ssize_t)info->depth, "levels",
        info->levels, "layers", info->layers, "cube", info->cube ? Py_True : Py_False, "layered",
        info->layered ? Py_True : Py_False, "srgb", info->srgb ? Py_True : Py_False, "normalized",
        info->normalized ? Py_True : Py_False, "format", name_of(formats, info->format), "channels",
        info->channels, "texel_bytes", info->texel_bytes);
}

GUARDED(array)
GUARDED_ONE(mipmapped_array)
GUARDED(surface)
GUARDED(texture)
GUARDED_WITH(copy_to_linear, copy(self, args, keywords, "copy_to_linear", gr_buffer_copy_to_linear))
GUARDED_WITH(copy_from_linear,
             copy(self, args, keywords, "copy_from_linear", gr_buffer_copy_from_linear))
GUARDED_ONE(image_info)

PyMethodDef resource_image_methods[] = {
    {"surface", METHOD(resource_surface), KEYWORDS, NULL},
    {"texture", METHOD(resource_texture), KEYWORDS, NULL},
    {0},
};

PyMethodDef image_methods[] = {
    {"array", METHOD(guarded_array), KEYWORDS, NULL},
    {"mipmapped_array", guarded_mipmapped_array, METH_NOARGS, NULL},
    {"surface", METHOD(guarded_surface), KEYWORDS, NULL},
    {"texture", METHOD(guarded_texture), KEYWORDS, NULL},
    {"copy_to_linear", METHOD(guarded_copy_to_linear), KEYWORDS, NULL},
    {"copy_from_linear", METHOD(guarded_copy_from_linear), KEYWORDS, NULL},
    {"image_info", guarded_image_info, METH_NOARGS, NULL},
    {0},
};
