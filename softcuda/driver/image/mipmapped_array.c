/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Mipmapped arrays. Their levels are arrays. If a mipmapped array has its own memory, all its
 * levels are in one block.
 */
#include "softcuda/driver/image/array.h"

#include <stdatomic.h>
#include <stdlib.h>

SOFT_OWNED_LIST(own, SOFT_KIND_MIPMAP, end_with_context)

static size_t halved(size_t extent, unsigned times)
{
    size_t half = extent >> times;
    return extent && !half ? 1 : half;
}

CUDA_ARRAY3D_DESCRIPTOR soft_array_level_descriptor(const CUDA_ARRAY3D_DESCRIPTOR *base,
                                                    unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor = *base;
    descriptor.Width = halved(base->Width, level);
    descriptor.Height = halved(base->Height, level);
    if (!(base->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        descriptor.Depth = halved(base->Depth, level);
    return descriptor;
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

soft_mipmap *soft_mipmap_get(CUmipmappedArray handle)
{
    return soft_handle_get(SOFT_KIND_MIPMAP, handle);
}

void soft_mipmap_set_mapped(soft_mipmap *mipmap, bool mapped)
{
    for (unsigned i = 0; i < mipmap->level_count; i++)
        soft_array_set_mapped(mipmap->levels[i], mapped);
}

void soft_mipmap_unwrap(soft_mipmap *mipmap)
{
    if (!mipmap)
        return;
    soft_handle_drop(SOFT_KIND_MIPMAP, mipmap->owned.handle);
    for (unsigned i = 0; i < mipmap->level_count; i++)
        soft_array_unwrap(mipmap->levels[i]);
    free(mipmap);
}

static bool add_levels(soft_mipmap *mipmap, unsigned count, const soft_array_place *places,
                       const char *what)
{
    for (unsigned i = 0; i < count; i++) {
        const CUDA_ARRAY3D_DESCRIPTOR level = soft_array_level_descriptor(&mipmap->descriptor, i);
        mipmap->levels[i] = soft_array_new(mipmap->owned.context, &level, &places[i], what);
        if (!mipmap->levels[i])
            return false;
        mipmap->levels[i]->mipmap = mipmap;
        mipmap->level_count++;
    }
    return true;
}

CUresult soft_mipmap_wrap(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                          unsigned level_count, const soft_array_place *places, const char *what,
                          soft_mipmap **mipmap)
{
    SOFT_FAIL_IF(level_count == 0 || level_count > SOFT_MAX_LEVELS ||
                     !soft_array_element(descriptor->Format, descriptor->NumChannels),
                 CUDA_ERROR_INVALID_VALUE);
    soft_mipmap *m = calloc(1, sizeof(*m));
    SOFT_FAIL_IF(!m, CUDA_ERROR_OUT_OF_MEMORY);
    m->owned.context = context;
    m->descriptor = *descriptor;
    m->owned.handle = soft_handle_new(SOFT_KIND_MIPMAP, m);
    if (!m->owned.handle || !add_levels(m, level_count, places, what)) {
        soft_mipmap_unwrap(m);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *mipmap = m;
    return CUDA_SUCCESS;
}

/* ---- Mipmapped arrays with their own memory -------------------------------------------------- */

/* The number of levels down to one element. Layers and faces are not halved. */
static unsigned full_chain(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    size_t largest = d->Width > d->Height ? d->Width : d->Height;
    bool is_3d = !(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP));
    if (is_3d && d->Depth > largest)
        largest = d->Depth;
    unsigned levels = 0;
    for (; largest; largest >>= 1)
        levels++;
    return levels;
}

unsigned soft_mipmap_levels(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned wanted)
{
    unsigned chain = full_chain(descriptor);
    unsigned count = wanted < chain ? wanted : chain;
    return count <= SOFT_MAX_LEVELS ? count : 0;
}

/*
 * Places the levels one after the other. Their addresses are relative to NULL until the memory is
 * allocated.
 */
static bool lay_out(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned count,
                    soft_array_place *places, size_t *offsets, size_t *size)
{
    *size = 0;
    for (unsigned i = 0; i < count; i++) {
        const CUDA_ARRAY3D_DESCRIPTOR level = soft_array_level_descriptor(descriptor, i);
        size_t bytes;
        offsets[i] = *size;
        if (!soft_array_lay_out(&level, &places[i], &bytes) ||
            __builtin_add_overflow(*size, bytes, size))
            return false;
    }
    return true;
}

static void free_own(soft_mipmap *mipmap, const char *what)
{
    soft_owned_remove(&own, &mipmap->owned);
    soft_array_pages_free(mipmap->pages, what);
    soft_mipmap_unwrap(mipmap);
}

static void end_with_context(void *mipmap)
{
    free_own(mipmap, "a CUDA mipmapped array of a destroyed context");
}

CUmipmappedArray soft_mipmap_adopt(soft_mipmap *mipmap, unsigned char *pages, const size_t *offsets)
{
    mipmap->pages = pages;
    for (unsigned i = 0; i < mipmap->level_count; i++)
        mipmap->levels[i]->place.base = pages + offsets[i];
    soft_mipmap_set_mapped(mipmap, true);
    soft_owned_add(&own, &mipmap->owned);
    return mipmap->owned.handle;
}

static CUresult create_own(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           unsigned count, CUmipmappedArray *handle)
{
    soft_array_place places[SOFT_MAX_LEVELS] = {{0}};
    size_t offsets[SOFT_MAX_LEVELS], size;
    soft_mipmap *mipmap;
    SOFT_FAIL_IF(!lay_out(descriptor, count, places, offsets, &size), CUDA_ERROR_OUT_OF_MEMORY);
    SOFT_TRY(
        soft_mipmap_wrap(context, descriptor, count, places, "a CUDA mipmapped array", &mipmap));
    unsigned char *pages;
    CUresult result = soft_array_pages_new(context, mipmap, size, "a CUDA mipmapped array", &pages);
    if (result != CUDA_SUCCESS) {
        soft_mipmap_unwrap(mipmap);
        return result;
    }
    *handle = soft_mipmap_adopt(mipmap, pages, offsets);
    return CUDA_SUCCESS;
}

/* ---- Entry points ---------------------------------------------------------------------------- */

/* A number of levels beyond the whole chain is reduced to the whole chain. */
SOFT_API cuMipmappedArrayCreate(CUmipmappedArray *pHandle,
                                const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                unsigned int numMipmapLevels)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!pHandle || !pMipmappedArrayDesc || numMipmapLevels == 0,
                 CUDA_ERROR_INVALID_VALUE);
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = *pMipmappedArrayDesc;
    SOFT_TRY(soft_array_check(&descriptor));
    unsigned count = soft_mipmap_levels(&descriptor, numMipmapLevels);
    return count ? create_own(context, &descriptor, count, pHandle) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult find(CUmipmappedArray handle, soft_mipmap **mipmap)
{
    SOFT_TRY(soft_check_context(NULL));
    *mipmap = soft_mipmap_get(handle);
    return *mipmap ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SOFT_API cuMipmappedArrayGetLevel(CUarray *pLevelArray, CUmipmappedArray hMipmappedArray,
                                  unsigned int level)
{
    SOFT_GET(soft_mipmap *, mipmap, find(hMipmappedArray, &mipmap));
    SOFT_FAIL_IF(!pLevelArray || level >= mipmap->level_count, CUDA_ERROR_INVALID_VALUE);
    *pLevelArray = mipmap->levels[level]->owned.handle;
    return CUDA_SUCCESS;
}

/* Like cuArrayDestroy, waits for work that may still use the memory. */
SOFT_API cuMipmappedArrayDestroy(CUmipmappedArray hMipmappedArray)
{
    SOFT_GET(soft_mipmap *, mipmap, find(hMipmappedArray, &mipmap));
    if (!mipmap->pages)
        return atomic_load(&mipmap->levels[0]->mapped) ? CUDA_ERROR_ARRAY_IS_MAPPED
                                                       : CUDA_ERROR_INVALID_HANDLE;
    SOFT_FAIL_IF(!soft_handle_drop(SOFT_KIND_MIPMAP, hMipmappedArray), CUDA_ERROR_INVALID_HANDLE);
    CUresult result = soft_context_wait(mipmap->owned.context);
    free_own(mipmap, "a CUDA mipmapped array after cuMipmappedArrayDestroy");
    return result;
}
