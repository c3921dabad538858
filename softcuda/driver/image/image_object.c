/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The table of texture and surface objects. Kernels read it without a lock: a record never moves
 * and is never freed, and the handle in a record shows whether the record still describes the same
 * object.
 */
#include "softcuda/driver/image/image_object.h"
#include "softcuda/driver/memory/peer_access.h"
#include "softcuda/driver/stream/scheduler.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gr_cuhost_images images;
static uint32_t generations[GR_CUHOST_SLOTS];
/* The next slot in one of the two lists below; 0 ends a list. */
static uint32_t next_slot[GR_CUHOST_SLOTS];
static uint32_t first_free;
static _Atomic uint32_t first_destroyed; /* sorted by last_task */
static uint32_t last_destroyed;
static uint32_t used = 1;

const gr_cuhost_images *soft_images(void)
{
    return &images;
}

CUresult soft_image_check_reach(const soft_context *context, const soft_array *array)
{
    return soft_peer_enabled(context, array->owned.context) ? CUDA_SUCCESS
                                                            : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

static soft_image *record_of(uint32_t slot)
{
    return (soft_image *)(uintptr_t)images.slots[slot];
}

static uint32_t take_slot(void)
{
    if (first_free) {
        uint32_t slot = first_free;
        first_free = next_slot[slot];
        return slot;
    }
    if (used == GR_CUHOST_SLOTS)
        return 0;
    soft_image *record = calloc(1, sizeof(*record));
    if (!record)
        return 0;
    __atomic_store_n(&images.slots[used], &record->image, __ATOMIC_RELEASE);
    return used++;
}

CUresult soft_image_new(const soft_image *image, enum gr_cuhost_kind kind, unsigned long long *made)
{
    SOFT_LOCK(&lock);
    uint32_t slot = take_slot();
    if (slot) {
        soft_image *record = record_of(slot);
        uint64_t handle = (uint64_t)kind << GR_CUHOST_KIND_SHIFT |
                          (uint64_t)++generations[slot] << GR_CUHOST_SLOT_BITS | slot;
        /*
         * Kernels with an old handle of this slot may read the first member now, so it is written
         * last.
         */
        const size_t first = sizeof(record->image.handle);
        memcpy((char *)record + first, (const char *)image + first, sizeof(*record) - first);
        __atomic_store_n(&record->image.handle, handle, __ATOMIC_RELEASE);
        *made = handle;
    }
    return slot ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The slot of a handle that kernels can use, or 0. */
static uint32_t find_usable(uint64_t handle, enum gr_cuhost_kind kind)
{
    uint32_t slot = (uint32_t)handle & (GR_CUHOST_SLOTS - 1);
    bool is_usable = handle >> GR_CUHOST_KIND_SHIFT == (uint64_t)kind && slot && slot < used &&
                     record_of(slot)->image.handle == handle;
    return is_usable ? slot : 0;
}

/* The slot of a live handle, or 0. */
static uint32_t find(uint64_t handle, enum gr_cuhost_kind kind)
{
    uint32_t slot = find_usable(handle, kind);
    return slot && !record_of(slot)->is_destroyed ? slot : 0;
}

CUresult soft_image_query(uint64_t handle, enum gr_cuhost_kind kind, const void *answer,
                          soft_image *image)
{
    SOFT_TRY(soft_check_context(NULL));
    SOFT_LOCK(&lock);
    uint32_t slot = find(handle, kind);
    if (slot)
        *image = *record_of(slot);
    return slot && answer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult soft_image_resource(uint64_t handle, enum gr_cuhost_kind kind,
                             CUDA_RESOURCE_DESC *resource)
{
    SOFT_GET(soft_image, object, soft_image_query(handle, kind, resource, &object));
    *resource = object.resource;
    return CUDA_SUCCESS;
}

/* ---- Destruction ----------------------------------------------------------------------------- */

static void destroy_locked(uint32_t slot)
{
    soft_image *record = record_of(slot);
    record->is_destroyed = true;
    record->last_task = soft_newest_task();
    next_slot[slot] = 0;
    if (first_destroyed)
        next_slot[last_destroyed] = slot;
    else
        first_destroyed = slot;
    last_destroyed = slot;
}

static void end_locked(uint32_t slot)
{
    __atomic_store_n(&record_of(slot)->image.handle, 0, __ATOMIC_RELEASE);
    next_slot[slot] = first_free;
    first_free = slot;
}

/* Frees the objects that were destroyed before the task with this number was queued. */
static void end_before_locked(uint64_t task)
{
    for (uint32_t slot; (slot = first_destroyed) != 0 && record_of(slot)->last_task < task;) {
        first_destroyed = next_slot[slot];
        end_locked(slot);
    }
}

void soft_images_end_unused(void)
{
    if (!first_destroyed)
        return;
    SOFT_LOCK(&lock);
    end_before_locked(soft_oldest_task());
}

CUresult soft_image_destroy(uint64_t handle, enum gr_cuhost_kind kind, const char *call,
                            const char *what)
{
    SOFT_TRY(soft_check_context(NULL));
    pthread_mutex_lock(&lock);
    uint32_t slot = find(handle, kind);
    if (slot)
        destroy_locked(slot);
    end_before_locked(soft_oldest_task());
    pthread_mutex_unlock(&lock);
    if (!slot)
        soft_log(SOFT_WARN, "%s of 0x%llx, which is not %s", call, (unsigned long long)handle,
                 what);
    return CUDA_SUCCESS;
}

soft_context *soft_image_context(uint64_t handle)
{
    SOFT_LOCK(&lock);
    uint32_t slot = find_usable(handle, GR_CUHOST_TEXTURE);
    if (!slot)
        slot = find_usable(handle, GR_CUHOST_SURFACE);
    return slot ? record_of(slot)->context : NULL;
}

/* Objects are destroyed with their context. */
static void end_images(soft_context *context)
{
    SOFT_LOCK(&lock);
    for (uint32_t slot = 1; slot < used; slot++) {
        const soft_image *record = record_of(slot);
        if (record->context == context && record->image.handle && !record->is_destroyed)
            destroy_locked(slot);
    }
    end_before_locked(soft_oldest_task());
}
SOFT_AT_CONTEXT_END(end_images)

/* ---- Contents -------------------------------------------------------------------------------- */

bool soft_image_set_format(gr_cuhost_image *image, CUarray_format format, unsigned channels)
{
    static const struct {
        CUarray_format format;
        enum gr_cuhost_component component;
    } formats[] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, GR_CUHOST_UINT8},
        {CU_AD_FORMAT_UNSIGNED_INT16, GR_CUHOST_UINT16},
        {CU_AD_FORMAT_UNSIGNED_INT32, GR_CUHOST_UINT32},
        {CU_AD_FORMAT_SIGNED_INT8, GR_CUHOST_SINT8},
        {CU_AD_FORMAT_SIGNED_INT16, GR_CUHOST_SINT16},
        {CU_AD_FORMAT_SIGNED_INT32, GR_CUHOST_SINT32},
        {CU_AD_FORMAT_HALF, GR_CUHOST_HALF},
        {CU_AD_FORMAT_FLOAT, GR_CUHOST_FLOAT},
        {SOFT_UNORM_INT_101010_2, GR_CUHOST_UNORM10},
    };
    bool is_known = false;
    image->element = soft_array_element(format, channels);
    image->channels = channels;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats) && !is_known; i++) {
        is_known = formats[i].format == format;
        image->component = formats[i].component;
    }
    return is_known && image->element != 0;
}

static gr_cuhost_level level_of(const soft_array *array)
{
    return (gr_cuhost_level){
        .base = array->place.base,
        .row_pitch = array->place.row_pitch,
        .slice_pitch = array->place.slice_pitch,
        .width = (uint32_t)array->width,
        .height = (uint32_t)array->height,
        .depth = (uint32_t)array->depth,
    };
}

bool soft_image_set_array(gr_cuhost_image *image, const soft_array *array)
{
    if (array->descriptor.Flags & CUDA_ARRAY3D_CUBEMAP)
        image->flags |= GR_CUHOST_CUBE;
    if (array->descriptor.Flags & CUDA_ARRAY3D_LAYERED)
        image->flags |= GR_CUHOST_LAYERS;
    image->what = array->what;
    image->levels[0] = level_of(array);
    image->level_count = 1;
    return soft_image_set_format(image, array->descriptor.Format, array->descriptor.NumChannels);
}

bool soft_image_set_mipmap(gr_cuhost_image *image, const soft_mipmap *mipmap)
{
    bool known = soft_image_set_array(image, mipmap->levels[0]);
    for (unsigned i = 1; i < mipmap->level_count; i++)
        image->levels[i] = level_of(mipmap->levels[i]);
    image->level_count = mipmap->level_count;
    return known;
}
