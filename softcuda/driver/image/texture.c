/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* cuTexObject...: texture objects over arrays, mipmapped arrays and plain memory. */
#include "softcuda/driver/image/image_object.h"
#include "softcuda/driver/object_at.h"

#include <string.h>

#define MEMORY_ALIGNMENT 512 /* CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT */
#define PITCH_ALIGNMENT  32  /* CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT */
#define MAX_LINEAR_WIDTH (1u << 28)
#define MAX_PITCH_WIDTH  131072
#define MAX_PITCH_HEIGHT 65000

#define KNOWN_FLAGS                                                                                \
    (CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |                     \
     CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP)

/* ---- The resource ---------------------------------------------------------------------------- */

static CUresult refuse_format(CUarray_format format)
{
    static int logged;
    return soft_array_side(format) > 1 ? soft_unsupported(&logged, "a texture of compressed blocks")
                                       : CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_array(soft_image *object, CUarray handle)
{
    SOFT_FAIL_IF(!handle, CUDA_ERROR_INVALID_VALUE);
    const soft_array *array = soft_array_get(handle);
    SOFT_FAIL_IF(!array, CUDA_ERROR_INVALID_HANDLE);
    if (!soft_image_set_array(&object->image, array))
        return refuse_format(array->descriptor.Format);
    return soft_image_check_reach(object->context, array);
}

static CUresult set_mipmap(soft_image *object, CUmipmappedArray handle)
{
    SOFT_FAIL_IF(!handle, CUDA_ERROR_INVALID_VALUE);
    const soft_mipmap *mipmap = soft_mipmap_get(handle);
    SOFT_FAIL_IF(!mipmap, CUDA_ERROR_INVALID_HANDLE);
    if (!soft_image_set_mipmap(&object->image, mipmap))
        return refuse_format(mipmap->descriptor.Format);
    return soft_image_check_reach(object->context, mipmap->levels[0]);
}

/* Treats plain memory as an array of one level, if all of it is in a known range. */
static CUresult set_memory(gr_cuhost_image *image, CUdeviceptr pointer, size_t width, size_t height,
                           size_t pitch)
{
    unsigned char *base = (unsigned char *)(uintptr_t)pointer;
    size_t bytes = (height - 1) * pitch + width * image->element;
    if (!pointer || pointer % MEMORY_ALIGNMENT != 0 || !soft_range_holds(base, bytes)) {
        soft_pages_log("a texture object", base);
        return CUDA_ERROR_INVALID_VALUE;
    }
    image->what = "linear memory";
    image->level_count = 1;
    image->levels[0] = (gr_cuhost_level){
        .base = base,
        .row_pitch = pitch,
        .width = (uint32_t)width,
        .height = (uint32_t)height,
        .depth = 1,
    };
    return CUDA_SUCCESS;
}

static CUresult set_linear(gr_cuhost_image *image, const CUDA_RESOURCE_DESC *resource)
{
    SOFT_FAIL_IF(!soft_image_set_format(image, resource->res.linear.format,
                                        resource->res.linear.numChannels),
                 CUDA_ERROR_INVALID_VALUE);
    size_t width = resource->res.linear.sizeInBytes / image->element;
    SOFT_FAIL_IF(width == 0 || width > MAX_LINEAR_WIDTH, CUDA_ERROR_INVALID_VALUE);
    return set_memory(image, resource->res.linear.devPtr, width, 1, width * image->element);
}

static CUresult set_pitch(gr_cuhost_image *image, const CUDA_RESOURCE_DESC *resource)
{
    SOFT_FAIL_IF(!soft_image_set_format(image, resource->res.pitch2D.format,
                                        resource->res.pitch2D.numChannels),
                 CUDA_ERROR_INVALID_VALUE);
    size_t width = resource->res.pitch2D.width, height = resource->res.pitch2D.height;
    size_t pitch = resource->res.pitch2D.pitchInBytes;
    SOFT_FAIL_IF(width == 0 || width > MAX_PITCH_WIDTH || height == 0 ||
                     height > MAX_PITCH_HEIGHT || pitch % PITCH_ALIGNMENT != 0 ||
                     pitch < width * image->element || pitch > INT32_MAX,
                 CUDA_ERROR_INVALID_VALUE);
    return set_memory(image, resource->res.pitch2D.devPtr, width, height, pitch);
}

static CUresult set_resource(soft_image *object)
{
    const CUDA_RESOURCE_DESC *resource = &object->resource;
    SOFT_FAIL_IF(resource->flags != 0, CUDA_ERROR_INVALID_VALUE);
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        return set_array(object, resource->res.array.hArray);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return set_mipmap(object, resource->res.mipmap.hMipmappedArray);
    case CU_RESOURCE_TYPE_LINEAR:
        return set_linear(&object->image, resource);
    case CU_RESOURCE_TYPE_PITCH2D:
        return set_pitch(&object->image, resource);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* ---- The view -------------------------------------------------------------------------------- */

/* The values of formats are in groups of three: for 1, 2 and 4 channels. */
static bool set_view_format(gr_cuhost_image *image, unsigned format)
{
    static const CUarray_format formats[] = {
        CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8,    CU_AD_FORMAT_UNSIGNED_INT16,
        CU_AD_FORMAT_SIGNED_INT16,  CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
        CU_AD_FORMAT_HALF,          CU_AD_FORMAT_FLOAT,
    };
    static int logged;
    unsigned element = image->element;
    if (format == CU_RES_VIEW_FORMAT_NONE)
        return true;
    if (format > CU_RES_VIEW_FORMAT_FLOAT_4X32) {
        soft_unsupported(&logged, "a resource view of a compressed format");
        return false;
    }
    soft_image_set_format(image, formats[(format - 1) / 3], 1u << (format - 1) % 3);
    return image->element == element;
}

static bool set_view(gr_cuhost_image *image, const CUDA_RESOURCE_VIEW_DESC *view,
                     const CUDA_ARRAY3D_DESCRIPTOR *array)
{
    uint32_t layers =
        image->flags & (GR_CUHOST_LAYERS | GR_CUHOST_CUBE) ? image->levels[0].depth : 1;
    if (!set_view_format(image, (unsigned)view->format) || view->width != array->Width ||
        view->height != array->Height || view->depth != array->Depth ||
        view->firstMipmapLevel > view->lastMipmapLevel ||
        view->lastMipmapLevel >= image->level_count || view->firstLayer > view->lastLayer ||
        view->lastLayer >= layers)
        return false;
    image->level_count = view->lastMipmapLevel - view->firstMipmapLevel + 1;
    memmove(image->levels, image->levels + view->firstMipmapLevel,
            image->level_count * sizeof(*image->levels));
    for (uint32_t i = 0; i < image->level_count && layers > 1 && view->lastLayer > 0; i++) {
        image->levels[i].base += view->firstLayer * image->levels[i].slice_pitch;
        image->levels[i].depth = view->lastLayer - view->firstLayer + 1;
    }
    return true;
}

/*
 * Applies a view, which is only valid for an array or mipmapped array and must match its
 * descriptor.
 */
static CUresult apply_view(gr_cuhost_image *image, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_RESOURCE_VIEW_DESC *view)
{
    const soft_array *array = NULL;
    const soft_mipmap *mipmap = NULL;
    if (resource->resType == CU_RESOURCE_TYPE_ARRAY)
        array = soft_array_get(resource->res.array.hArray);
    else if (resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        mipmap = soft_mipmap_get(resource->res.mipmap.hMipmappedArray);
    SOFT_FAIL_IF(!array && !mipmap, CUDA_ERROR_INVALID_VALUE);
    const CUDA_ARRAY3D_DESCRIPTOR *descriptor = array ? &array->descriptor : &mipmap->descriptor;
    return set_view(image, view, descriptor) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Sampling -------------------------------------------------------------------------------- */

static bool modes_are_valid(const CUDA_TEXTURE_DESC *t)
{
    for (int i = 0; i < 3; i++)
        if ((unsigned)t->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return false;
    return (unsigned)t->filterMode <= CU_TR_FILTER_MODE_LINEAR &&
           (unsigned)t->mipmapFilterMode <= CU_TR_FILTER_MODE_LINEAR && !(t->flags & ~KNOWN_FLAGS);
}

static bool is_small_integer(const gr_cuhost_image *image)
{
    return image->component == GR_CUHOST_UINT8 || image->component == GR_CUHOST_UINT16 ||
           image->component == GR_CUHOST_SINT8 || image->component == GR_CUHOST_SINT16;
}

/* Rounds the value to a value that an element of the array can have: a multiple of 1/highest. */
static float nearest_step(float value, float lowest, float highest)
{
    float clamped = !(value > lowest) ? lowest : value > 1 ? 1 : value; /* a NaN becomes `lowest` */
    /*
     * `+ highest` makes the number positive. The conversion then rounds like floor(), so halves are
     * rounded up.
     */
    return (float)((int32_t)(clamped * highest + highest + 0.5f) - (int32_t)highest) / highest;
}

/*
 * Converts a component of the border colour to the format of the array. An integer component has
 * the lowest bits of the application's value.
 */
static uint32_t border_component(const gr_cuhost_image *image, float value)
{
    static const struct {
        float lowest, highest;
        unsigned unused_bits;
        bool is_signed;
    } formats[] = {
        [GR_CUHOST_UINT8] = {0, UINT8_MAX, 24, false},
        [GR_CUHOST_UINT16] = {0, UINT16_MAX, 16, false},
        [GR_CUHOST_SINT8] = {-1, INT8_MAX, 24, true},
        [GR_CUHOST_SINT16] = {-1, INT16_MAX, 16, true},
    };
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if (!is_small_integer(image))
        return bits;
    if (image->flags & GR_CUHOST_NORMALISED_READ) {
        float low = formats[image->component].lowest, high = formats[image->component].highest;
        value = nearest_step(value, low, high);
        memcpy(&bits, &value, sizeof(bits));
        return bits;
    }
    unsigned shift = formats[image->component].unused_bits;
    bits <<= shift;
    return formats[image->component].is_signed ? (uint32_t)((int32_t)bits >> shift) : bits >> shift;
}

/*
 * Sets the border colour in the channels that the array has. The other channels are 0, as when an
 * element is read.
 */
static void set_border(gr_cuhost_image *image, const float *colour)
{
    for (uint32_t i = 0; i < image->channels; i++)
        image->border[i] = border_component(image, colour[i]);
}

static CUresult set_reading(gr_cuhost_image *image, const CUDA_TEXTURE_DESC *t, bool mipmapped)
{
    SOFT_FAIL_IF(!modes_are_valid(t), CUDA_ERROR_INVALID_VALUE);
    bool is_wide = image->component == GR_CUHOST_UINT32 || image->component == GR_CUHOST_SINT32;
    bool reads_integer =
        is_wide || (is_small_integer(image) && (t->flags & CU_TRSF_READ_AS_INTEGER));
    bool normalised = t->flags & CU_TRSF_NORMALIZED_COORDINATES;
    bool linear = t->filterMode == CU_TR_FILTER_MODE_LINEAR;
    SOFT_FAIL_IF(mipmapped && !normalised, CUDA_ERROR_INVALID_VALUE);

    image->flags |=
        (is_small_integer(image) && !reads_integer ? GR_CUHOST_NORMALISED_READ : 0) |
        (t->flags & CU_TRSF_SRGB ? GR_CUHOST_SRGB : 0) |
        (normalised ? GR_CUHOST_NORMALISED_AT : 0) | (linear ? GR_CUHOST_LINEAR : 0) |
        (t->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR ? GR_CUHOST_LINEAR_LEVELS : 0) |
        (t->flags & CU_TRSF_SEAMLESS_CUBEMAP ? GR_CUHOST_SEAMLESS : 0);
    for (int i = 0; i < 3; i++)
        image->address[i] = (uint32_t)t->addressMode[i];
    image->level_bias = t->mipmapLevelBias;
    image->level_min = t->minMipmapLevelClamp;
    image->level_max = t->maxMipmapLevelClamp;
    set_border(image, t->borderColor);
    return CUDA_SUCCESS;
}

/* ---- Entry points ---------------------------------------------------------------------------- */

static CUresult describe(soft_image *object)
{
    SOFT_TRY(set_resource(object));
    if (object->has_view)
        SOFT_TRY(apply_view(&object->image, &object->resource, &object->view));
    return set_reading(&object->image, &object->texture,
                       object->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
}

SOFT_API cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                           const CUDA_TEXTURE_DESC *pTexDesc,
                           const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    soft_image object;
    memset(&object, 0, sizeof(object));
    SOFT_TRY(soft_check_context(&object.context));
    SOFT_FAIL_IF(!pTexObject || !pResDesc || !pTexDesc, CUDA_ERROR_INVALID_VALUE);
    object.resource = *pResDesc;
    object.texture = *pTexDesc;
    object.has_view = pResViewDesc;
    if (pResViewDesc)
        object.view = *pResViewDesc;
    SOFT_TRY(describe(&object));
    return soft_image_new(&object, GR_CUHOST_TEXTURE, pTexObject);
}

SOFT_FORWARD(cuTexObjectDestroy, (CUtexObject texObject),
             soft_image_destroy(texObject, GR_CUHOST_TEXTURE, "cuTexObjectDestroy",
                                "a texture object"))
SOFT_FORWARD(cuTexObjectGetResourceDesc, (CUDA_RESOURCE_DESC * pResDesc, CUtexObject texObject),
             soft_image_resource(texObject, GR_CUHOST_TEXTURE, pResDesc))

SOFT_API cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject)
{
    SOFT_GET(soft_image, object, soft_image_query(texObject, GR_CUHOST_TEXTURE, pTexDesc, &object));
    *pTexDesc = object.texture;
    return CUDA_SUCCESS;
}

/* Fails for an object that was created without a view. */
SOFT_API cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc,
                                        CUtexObject texObject)
{
    soft_image object;
    SOFT_TRY(soft_image_query(texObject, GR_CUHOST_TEXTURE, pResViewDesc, &object));
    SOFT_FAIL_IF(!object.has_view, CUDA_ERROR_INVALID_VALUE);
    *pResViewDesc = object.view;
    return CUDA_SUCCESS;
}
