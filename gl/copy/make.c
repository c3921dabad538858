/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Creates resources of the copy transport. All CUDA objects that maps need are created here, so
 * that maps do not allocate.
 */
#include "gl/copy/copy.h"

#include <stdlib.h>

#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "lib/base/error.h"
#include "lib/base/machine.h"

static gr_status make_host_memory(const struct gl_resource *r, struct gl_copy *copy, unsigned flags,
                                  const char *call)
{
    void *memory = NULL;
    copy->turns = flags & GR_READ_ONLY ? 2 : 1;
    const size_t size = (copy->turns - 1) * copy->stride + copy->size;
    GR_TRY_CUDA(gr_driver()->MemAllocHost(&memory, size), "cuMemAllocHost",
                "%s: %zu byte%s of pinned host memory for the copy of %s could not be allocated.",
                call, size, gr_s(size), gl_object_text(&r->base).text);
    copy->host = memory;
    return GR_OK;
}

/* For images, the arrays are the memory. */
static gr_status make_device_memory(const struct gl_resource *r, struct gl_copy *copy,
                                    const char *call)
{
    const size_t size = copy->size;
    if (r->base.is_image)
        return GR_OK;
    GR_TRY_CUDA(gr_driver()->MemAlloc(&copy->ptr, size), "cuMemAlloc",
                "%s: %zu byte%s of device memory for the copy of %s could not be allocated.", call,
                size, gr_s(size), gl_object_text(&r->base).text);
    return GR_OK;
}

static gr_status allocate(struct gl_resource *r, struct gl_copy *copy, unsigned flags,
                          const char *call)
{
    GR_TRY(gr_event_create(&r->base.sync.work.event));
    GR_TRY(gr_event_create(&copy->passed[0]));
    if (flags & GR_READ_ONLY)
        GR_TRY(gr_event_create(&copy->passed[1]));
    gl_staging_make(r, copy, flags);
    GR_TRY(gl_pieces_make_events(copy));
    if (!copy->staging)
        GR_TRY(make_host_memory(r, copy, flags, call));
    return make_device_memory(r, copy, call);
}

/* Rounds up to whole pages, so that no other allocation shares a registered page. */
static size_t whole_pages(size_t size)
{
    size_t page = gr_machine_page();
    return (size + page - 1) / page * page;
}

static struct gl_copy *begin_copy(const struct gl_resource *r, const char *call)
{
    struct gl_copy *copy = gr_check_memory(calloc(1, sizeof(*copy)), call);
    if (!copy)
        return NULL;
    copy->turns = 1;
    copy->scratch = gl_names_make(&r->context, call);
    if (copy->scratch)
        return copy;
    free(copy);
    return NULL;
}

static gr_status make_parts(struct gl_resource *r, struct gl_copy *copy, unsigned flags,
                            const char *call)
{
    if (r->base.is_image) {
        copy->arrays = gl_arrays_make(r, flags, call);
        if (!copy->arrays)
            return gr_last_error()->status;
    }
    copy->size = copy->arrays ? copy->arrays->size : r->base.size;
    copy->stride = whole_pages(copy->size);
    return allocate(r, copy, flags, call);
}

static gr_status make_side(struct gl_resource *r, unsigned flags, void **handle, const char *call)
{
    struct gl_copy *copy = begin_copy(r, call);
    if (!copy)
        return GR_ERR_NO_MEMORY;
    gr_status status = make_parts(r, copy, flags, call);
    if (status == GR_OK) {
        *handle = r->copy = copy;
        r->arrays = copy->arrays;
        r->way = copy->way;
        return GR_OK;
    }
    gr_work_end(&r->base.sync.work, true);
    gl_copy_end(&copy->ending, true);
    return status;
}

/* With staging memory a shader may copy the image. */
static void prepare(struct gl_resource *r)
{
    if (r->base.is_image && r->copy->staging)
        gl_arrays_prepare(r);
}

const struct gl_maker gl_copy_maker = {.buffers = &gl_copy,
                                       .images = &gl_copy,
                                       .find_device = gl_find_nearest_device,
                                       .make_side = make_side,
                                       .prepare = prepare};
