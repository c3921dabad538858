/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * CUDA arrays: checks of descriptors, and the lifetime of arrays with their own memory and of
 * arrays over memory of the caller (soft_array_wrap()).
 */
#include "softcuda/driver/image/array.h"

#include "softcuda/driver/memory/device_memory.h"

#include <stdatomic.h>
#include <stdlib.h>

#define ROW_ALIGNMENT 64

#define WIDTH_1D         131072
#define WIDTH_2D         131072
#define HEIGHT_2D        65536
#define EXTENT_3D        16384
#define EXTENT_LAYERED   32768
#define EXTENT_GATHER    32768
#define MAX_LAYERS       2048
#define MAX_CUBEMAP_SIDE 32768

/* ---- Formats --------------------------------------------------------------------------------- */

/* The first and the last compressed format: BC1, and BC7 with sRGB colours. */
#define FIRST_BLOCK 0x91u
#define LAST_BLOCK  0x9eu

/*
 * The supported formats. The packed format and the compressed formats are those of CUDA 12.8, which
 * older headers lack.
 */
static const struct {
    unsigned format;
    unsigned channels; /* 0: 1, 2 or 4 */
    unsigned bytes;    /* of a channel if `channels` is 0; otherwise of a texel or a block */
} formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 0, 1},
    {CU_AD_FORMAT_SIGNED_INT8, 0, 1},
    {CU_AD_FORMAT_UNSIGNED_INT16, 0, 2},
    {CU_AD_FORMAT_SIGNED_INT16, 0, 2},
    {CU_AD_FORMAT_HALF, 0, 2},
    {CU_AD_FORMAT_UNSIGNED_INT32, 0, 4},
    {CU_AD_FORMAT_SIGNED_INT32, 0, 4},
    {CU_AD_FORMAT_FLOAT, 0, 4},
    {(unsigned)SOFT_UNORM_INT_101010_2, 4, 4},
    {0x91, 4, 8}, /* BC1, and with sRGB colours */
    {0x92, 4, 8},
    {0x93, 4, 16}, /* BC2 */
    {0x94, 4, 16},
    {0x95, 4, 16}, /* BC3 */
    {0x96, 4, 16},
    {0x97, 1, 8}, /* BC4, unsigned and signed */
    {0x98, 1, 8},
    {0x99, 2, 16}, /* BC5 */
    {0x9a, 2, 16},
    {0x9b, 3, 16}, /* BC6H */
    {0x9c, 3, 16},
    {0x9d, 4, 16}, /* BC7 */
    {0x9e, 4, 16},
};

unsigned soft_array_side(CUarray_format format)
{
    return (unsigned)format >= FIRST_BLOCK && (unsigned)format <= LAST_BLOCK ? 4 : 1;
}

unsigned soft_array_element(CUarray_format format, unsigned channels)
{
    const bool plain = channels == 1 || channels == 2 || channels == 4;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (formats[i].format != (unsigned)format)
            continue;
        if (formats[i].channels)
            return formats[i].channels == channels ? formats[i].bytes : 0;
        return plain ? formats[i].bytes * channels : 0;
    }
    return 0;
}

/* Formats of cuda.h that this device does not support. */
static bool is_other_format(CUarray_format format)
{
    unsigned number = (unsigned)format;
    return number > LAST_BLOCK && number <= 0xcb;
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static bool fits(const CUDA_ARRAY3D_DESCRIPTOR *d, size_t width, size_t height, size_t depth)
{
    return d->Width <= width && d->Height <= height && d->Depth <= depth;
}

static bool cubemap_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    bool layered = d->Flags & CUDA_ARRAY3D_LAYERED;
    bool faces = layered ? d->Depth > 0 && d->Depth % 6 == 0 : d->Depth == 6;
    return faces && d->Width == d->Height &&
           fits(d, MAX_CUBEMAP_SIDE, MAX_CUBEMAP_SIDE, MAX_LAYERS);
}

static bool extents_are_valid(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    if (d->Width == 0)
        return false;
    if (d->Flags & CUDA_ARRAY3D_CUBEMAP)
        return cubemap_is_valid(d);
    if (d->Flags & CUDA_ARRAY3D_LAYERED)
        return d->Depth > 0 && fits(d, EXTENT_LAYERED, EXTENT_LAYERED, MAX_LAYERS);
    if (d->Depth > 0)
        return d->Height > 0 && fits(d, EXTENT_3D, EXTENT_3D, EXTENT_3D);
    return d->Height > 0 ? fits(d, WIDTH_2D, HEIGHT_2D, 0) : d->Width <= WIDTH_1D;
}

static bool gather_is_valid(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    bool is_2d = d->Height > 0 && (d->Depth == 0 || (d->Flags & CUDA_ARRAY3D_LAYERED));
    return !(d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER) ||
           (is_2d && d->Width <= EXTENT_GATHER && d->Height <= EXTENT_GATHER);
}

CUresult soft_array_check(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    const unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                           CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_COLOR_ATTACHMENT |
                           CUDA_ARRAY3D_DEPTH_TEXTURE;
    const unsigned other = CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING |
                           0x100; /* 0x100 is the VIDEO flag of CUDA 12.9 */
    static int logged_format, logged_flag, logged_surface;
    SOFT_FAIL_IF(d->Flags & ~(known | other), CUDA_ERROR_INVALID_VALUE);
    if (is_other_format(d->Format))
        return soft_unsupported(&logged_format, "an array of a planar or video format");
    if (soft_array_side(d->Format) > 1 && (d->Flags & CUDA_ARRAY3D_SURFACE_LDST))
        return soft_unsupported(&logged_surface, "a surface of compressed blocks");
    SOFT_FAIL_IF(!soft_array_element(d->Format, d->NumChannels) || !extents_are_valid(d) ||
                     !gather_is_valid(d),
                 CUDA_ERROR_INVALID_VALUE);
    if (d->Flags & other)
        return soft_unsupported(&logged_flag, "a sparse, deferred or video array");
    return CUDA_SUCCESS;
}

/* ---- Records --------------------------------------------------------------------------------- */

soft_array *soft_array_new(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           const soft_array_place *place, const char *what)
{
    soft_array *array = calloc(1, sizeof(*array));
    if (!array)
        return NULL;
    array->owned.context = context;
    array->descriptor = *descriptor;
    array->element = soft_array_element(descriptor->Format, descriptor->NumChannels);
    array->width = soft_array_elements(descriptor->Format, descriptor->Width);
    array->height =
        descriptor->Height ? soft_array_elements(descriptor->Format, descriptor->Height) : 1;
    array->depth = descriptor->Depth ? descriptor->Depth : 1;
    array->place = *place;
    array->what = what;
    array->owned.handle = soft_handle_new(SOFT_KIND_ARRAY, array);
    if (!array->owned.handle) {
        free(array);
        return NULL;
    }
    return array;
}

void soft_array_unwrap(soft_array *array)
{
    if (!array)
        return;
    soft_handle_drop(SOFT_KIND_ARRAY, array->owned.handle);
    free(array);
}

soft_array *soft_array_get(CUarray handle)
{
    return soft_handle_get(SOFT_KIND_ARRAY, handle);
}

CUresult soft_array_wrap(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                         const soft_array_place *place, const char *what, soft_array **array)
{
    SOFT_FAIL_IF(!soft_array_element(descriptor->Format, descriptor->NumChannels),
                 CUDA_ERROR_INVALID_VALUE);
    *array = soft_array_new(context, descriptor, place, what);
    return *array ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

void soft_array_set_mapped(soft_array *array, bool mapped)
{
    atomic_store(&array->mapped, mapped);
}

/* ---- Arrays in the driver's own memory ------------------------------------------------------- */

SOFT_OWNED_LIST(own, SOFT_KIND_ARRAY, end_with_context)

bool soft_array_lay_out(const CUDA_ARRAY3D_DESCRIPTOR *d, soft_array_place *place, size_t *size)
{
    size_t height = d->Height ? soft_array_elements(d->Format, d->Height) : 1;
    size_t depth = d->Depth ? d->Depth : 1;
    size_t row =
        soft_array_elements(d->Format, d->Width) * soft_array_element(d->Format, d->NumChannels);
    place->row_pitch = (row + ROW_ALIGNMENT - 1) & ~(size_t)(ROW_ALIGNMENT - 1);
    return !__builtin_mul_overflow(place->row_pitch, height, &place->slice_pitch) &&
           !__builtin_mul_overflow(place->slice_pitch, depth, size);
}

CUresult soft_array_pages_new(soft_context *context, void *owner, size_t size, const char *what,
                              unsigned char **pages)
{
    soft_range range = {
        .size = size, .kind = SOFT_MEMORY_DEVICE, .what = what, .context = context, .owner = owner};
    CUresult result = soft_device_memory_new(&range);
    *pages = range.base;
    return result;
}

void soft_array_pages_free(unsigned char *pages, const char *what)
{
    soft_range range;
    if (soft_range_remove(pages, 0, &range))
        soft_device_memory_free(&range, what);
}

static void free_own(soft_array *array, const char *what)
{
    soft_owned_remove(&own, &array->owned);
    soft_array_pages_free(array->place.base, what);
    free(array);
}

static void end_with_context(void *array)
{
    free_own(array, "a CUDA array of a destroyed context");
}

static CUresult create_own(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           CUarray *handle)
{
    soft_array_place place = {0};
    size_t size;
    SOFT_FAIL_IF(!soft_array_lay_out(descriptor, &place, &size), CUDA_ERROR_OUT_OF_MEMORY);
    soft_array *array = soft_array_new(context, descriptor, &place, "a CUDA array");
    SOFT_FAIL_IF(!array, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = soft_array_pages_new(context, array, size, array->what, &array->place.base);
    if (result != CUDA_SUCCESS) {
        soft_array_unwrap(array);
        return result;
    }
    array->size = size;
    soft_array_set_mapped(array, true);
    *handle = array->owned.handle;
    soft_owned_add(&own, &array->owned);
    return CUDA_SUCCESS;
}

/* ---- Entry points ---------------------------------------------------------------------------- */

SOFT_API cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!pHandle || !pAllocateArray, CUDA_ERROR_INVALID_VALUE);
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = *pAllocateArray;
    SOFT_TRY(soft_array_check(&descriptor));
    return create_own(context, &descriptor, pHandle);
}

SOFT_API cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray)
{
    if (!pAllocateArray)
        return cuArray3DCreate_v2(pHandle, NULL);
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = {.Width = pAllocateArray->Width,
                                                .Height = pAllocateArray->Height,
                                                .Format = pAllocateArray->Format,
                                                .NumChannels = pAllocateArray->NumChannels};
    return cuArray3DCreate_v2(pHandle, &descriptor);
}

/* Finds the array; CUDA_ERROR_INVALID_HANDLE for an invalid handle. */
static CUresult find(CUarray handle, soft_array **array)
{
    SOFT_TRY(soft_check_context(NULL));
    *array = soft_array_get(handle);
    return *array ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* Finds the array, and checks that the caller has passed memory for the result. */
static CUresult query(CUarray handle, const void *answer, soft_array **array)
{
    CUresult result = find(handle, array);
    return result == CUDA_SUCCESS && !answer ? CUDA_ERROR_INVALID_VALUE : result;
}

SOFT_API cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    SOFT_GET(soft_array *, array, query(hArray, pArrayDescriptor, &array));
    *pArrayDescriptor = array->descriptor;
    return CUDA_SUCCESS;
}

SOFT_API cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray)
{
    SOFT_GET(soft_array *, array, query(hArray, pArrayDescriptor, &array));
    *pArrayDescriptor = (CUDA_ARRAY_DESCRIPTOR){.Width = array->descriptor.Width,
                                                .Height = array->descriptor.Height,
                                                .Format = array->descriptor.Format,
                                                .NumChannels = array->descriptor.NumChannels};
    return CUDA_SUCCESS;
}

/*
 * Refuses wrapped arrays and levels of mipmapped arrays, because their memory belongs to other
 * objects. Like cuMemFree, waits for work that may still use the memory.
 */
SOFT_API cuArrayDestroy(CUarray hArray)
{
    SOFT_GET(soft_array *, array, find(hArray, &array));
    if (!array->size)
        return array->mipmap || !atomic_load(&array->mapped) ? CUDA_ERROR_INVALID_HANDLE
                                                             : CUDA_ERROR_ARRAY_IS_MAPPED;
    SOFT_FAIL_IF(!soft_handle_drop(SOFT_KIND_ARRAY, hArray), CUDA_ERROR_INVALID_HANDLE);
    CUresult result = soft_context_wait(array->owned.context);
    free_own(array, "a CUDA array after cuArrayDestroy");
    return result;
}

/* Only planar formats have planes. */
SOFT_API cuArrayGetPlane(CUarray *pPlaneArray, CUarray hArray, unsigned int planeIdx)
{
    (void)planeIdx;
    SOFT_GET(soft_array *, array, find(hArray, &array));
    (void)pPlaneArray;
    return CUDA_ERROR_INVALID_VALUE;
}
