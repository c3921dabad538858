/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Functions of compat.h that map and unmap lists of resources, all or none, and that return the
 * pointer or the arrays of a mapped resource.
 */
#include "gl/compat/compat.h"

#include <stdlib.h>

#include <grinterop/image.h>

#include "lib/base/error.h"

/*
 * The number of resources for which the arguments of a call need no heap memory. Most programs map
 * few resources at once.
 */
#define FEW 16

struct list {
    size_t count;
    const char *call;
    CUgraphicsResource *handles;
    gr_resource **resources;
    gr_buffer **buffers;
    void *few[2 * FEW];
    void *many;
};

static struct compat_handle *handle_at(const struct list *list, size_t i)
{
    return (struct compat_handle *)list->handles[i];
}

/*
 * Checks that a default stream belongs to the CUDA context of the resources. grinterop checks all
 * other streams.
 */
static CUresult check_context(const struct list *list, CUstream stream)
{
    CUcontext current;
    if (stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD)
        return CUDA_SUCCESS;
    COMPAT_TRY(compat_current(&current, list->call));
    for (size_t i = 0; i < list->count; i++)
        if (handle_at(list, i)->context != current)
            return COMPAT_REFUSE(
                CUDA_ERROR_INVALID_HANDLE, list->call,
                "A default stream of the current CUDA context was passed, but the resource was "
                "registered in another context: make the resource's context current.");
    return CUDA_SUCCESS;
}

/* Checks that each resource occurs once, and is mapped or unmapped as the call requires. */
static CUresult check_states(const struct list *list, bool mapped)
{
    size_t fine = 0;
    for (; fine < list->count; fine++) {
        struct compat_handle *handle = handle_at(list, fine);
        if (handle->listed || mapped != (handle->buffer != NULL))
            break;
        handle->listed = true;
    }
    bool twice = fine < list->count && handle_at(list, fine)->listed;
    for (size_t i = 0; i < fine; i++)
        handle_at(list, i)->listed = false;
    if (fine == list->count)
        return CUDA_SUCCESS;
    return COMPAT_REFUSE(mapped ? CUDA_ERROR_NOT_MAPPED : CUDA_ERROR_ALREADY_MAPPED, list->call,
                         "Resource %zu of the list %s; the others are unchanged.", fine,
                         twice    ? "occurs twice"
                         : mapped ? "is not mapped"
                                  : "is mapped already: unmap it first");
}

/* Makes room for the arguments, and checks them. */
static CUresult check(struct list *list, CUstream stream, bool mapped)
{
    void **room = list->few;
    if (list->count > FEW)
        room = list->many = calloc(list->count, 2 * sizeof(void *));
    if (!room)
        return compat_no_memory(list->call);
    list->resources = (gr_resource **)room;
    list->buffers = (gr_buffer **)(room + list->count);
    for (size_t i = 0; i < list->count; i++)
        COMPAT_TRY(compat_handle_check(list->handles[i], list->call));
    COMPAT_TRY(check_context(list, stream));
    return check_states(list, mapped);
}

static gr_status map_all(struct list *list, CUstream stream)
{
    for (size_t i = 0; i < list->count; i++) {
        GR_TRY(compat_widen(handle_at(list, i), list->call));
        list->resources[i] = handle_at(list, i)->resource;
    }
    return gr_map_many(list->resources, list->count, stream, NULL, list->buffers);
}

static CUresult map(struct list *list, CUstream stream)
{
    gr_error_call_begin(list->call);
    gr_status status = map_all(list, stream);
    gr_error_call_end();
    if (status != GR_OK)
        return compat_code();
    for (size_t i = 0; i < list->count; i++)
        handle_at(list, i)->buffer = list->buffers[i];
    return CUDA_SUCCESS;
}

/* Unmaps the resources. Resources that could not be released stay mapped. */
static CUresult unmap(struct list *list, CUstream stream)
{
    for (size_t i = 0; i < list->count; i++)
        list->buffers[i] = handle_at(list, i)->buffer;
    gr_error_call_begin(list->call);
    gr_status status = gr_buffer_release_many(list->buffers, list->count, stream, NULL);
    gr_error_call_end();
    for (size_t i = 0; i < list->count; i++)
        handle_at(list, i)->buffer = list->buffers[i];
    return status == GR_OK ? CUDA_SUCCESS : compat_code();
}

static CUresult map_or_unmap(unsigned int count, CUgraphicsResource *resources, CUstream stream,
                             bool unmaps)
{
    struct list list = {.count = count,
                        .handles = resources,
                        .call = unmaps ? "cuGraphicsUnmapResources" : "cuGraphicsMapResources"};
    COMPAT_TRY(compat_begin());
    if (count == 0 || !resources || !stream)
        return COMPAT_REFUSE(CUDA_ERROR_INVALID_VALUE, list.call, "%s.",
                             !stream      ? "The stream is NULL: pass CU_STREAM_LEGACY"
                             : !resources ? "The list is NULL"
                                          : "The list is empty: its length is 0");
    unsigned int of_cuda = 0;
    while (of_cuda < count && compat_handle_is_cudas(resources[of_cuda]))
        of_cuda++;
    if (of_cuda == count) /* CUDA itself registered all of the resources */
        return unmaps ? compat_cuda()->GraphicsUnmapResources(count, resources, stream)
                      : compat_cuda()->GraphicsMapResources(count, resources, stream);
    CUresult code = check(&list, stream, unmaps);
    if (code == CUDA_SUCCESS)
        code = unmaps ? unmap(&list, stream) : map(&list, stream);
    free(list.many);
    return code;
}

CUresult compat_map(unsigned int count, CUgraphicsResource *resources, CUstream stream)
{
    return map_or_unmap(count, resources, stream, false);
}

CUresult compat_unmap(unsigned int count, CUgraphicsResource *resources, CUstream stream)
{
    return map_or_unmap(count, resources, stream, true);
}

/* ---- Mapped resources ------------------------------------------------------------------------ */

static CUresult refuse_unmapped(const char *call)
{
    return COMPAT_REFUSE(CUDA_ERROR_NOT_MAPPED, call,
                         "The resource is not mapped: call cuGraphicsMapResources first.");
}

static CUresult check_pointer(const struct compat_handle *handle, const char *call)
{
    if (!handle->buffer)
        return refuse_unmapped(call);
    if (handle->is_image)
        return COMPAT_REFUSE(CUDA_ERROR_NOT_MAPPED_AS_POINTER, call,
                             "The resource is an image, which has arrays and no pointer: use "
                             "cuGraphicsSubResourceGetMappedArray.");
    return CUDA_SUCCESS;
}

/* Like the driver, this function writes zeros on failure. */
CUresult CUDAAPI compat_pointer(CUdeviceptr *pointer, size_t *size, CUgraphicsResource resource)
{
    static const char call[] = "cuGraphicsResourceGetMappedPointer";
    struct compat_handle *handle;
    CUresult code = compat_handle_begin(resource, call, &handle);
    if (code == CUDA_SUCCESS && !handle)
        return compat_cuda()->GraphicsResourceGetMappedPointer(pointer, size, resource);
    if (code == CUDA_SUCCESS)
        code = check_pointer(handle, call);
    if (pointer)
        *pointer = code == CUDA_SUCCESS ? gr_buffer_ptr(handle->buffer) : 0;
    if (size)
        *size = code == CUDA_SUCCESS ? gr_buffer_size(handle->buffer) : 0;
    return code;
}

/* Checks the handle of an image, and the output pointer. */
static CUresult check_image(const struct compat_handle *handle, const void *place, const char *call)
{
    if (!handle->buffer)
        return refuse_unmapped(call);
    if (!place)
        return COMPAT_REFUSE(CUDA_ERROR_INVALID_VALUE, call, "The pointer for the array is NULL.");
    if (!handle->is_image)
        return COMPAT_REFUSE(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, call,
                             "The resource is a buffer, which has a pointer and no arrays: use "
                             "cuGraphicsResourceGetMappedPointer.");
    return CUDA_SUCCESS;
}

/*
 * Returns the CUDA code for a failed gr_buffer_array(). There GR_ERR_INVALID_VALUE can only mean
 * the level or the layer.
 */
static CUresult code_of_array(void)
{
    return gr_last_error()->status == GR_ERR_INVALID_VALUE ? CUDA_ERROR_INVALID_VALUE
                                                           : compat_code();
}

/* Like the driver, which registers an array of layers as a 3D image if that is the target. */
static CUarray slices_of(gr_buffer *buffer, unsigned index, unsigned level, const char *call)
{
    CUarray array = NULL;
    if (index > 0) {
        gr_fail_code(GR_ERR_INVALID_VALUE, GR_DOMAIN_NONE, 0, NULL, call,
                     "Index %u does not exist: the texture was registered as GL_TEXTURE_3D, so its "
                     "layers are slices of the array of index 0.",
                     index);
        return NULL;
    }
    const CUmipmappedArray levels = gr_buffer_mipmapped_array(buffer);
    CUresult code =
        levels ? compat_cuda()->MipmappedArrayGetLevel(&array, levels, level) : CUDA_SUCCESS;
    if (code != CUDA_SUCCESS)
        gr_fail_cuda(code, call, "The driver returned no array of level %u.", level);
    return array;
}

CUresult CUDAAPI compat_array(CUarray *array, CUgraphicsResource resource, unsigned int index,
                              unsigned int level)
{
    static const char call[] = "cuGraphicsSubResourceGetMappedArray";
    struct compat_handle *handle;
    COMPAT_TRY(compat_handle_begin(resource, call, &handle));
    if (!handle)
        return compat_cuda()->GraphicsSubResourceGetMappedArray(array, resource, index, level);
    COMPAT_TRY(check_image(handle, array, call));
    gr_error_call_begin(call);
    CUarray found = gr_buffer_array(handle->buffer, level, handle->has_slices ? 0 : index);
    if (found && handle->has_slices)
        found = slices_of(handle->buffer, index, level, call);
    gr_error_call_end();
    if (!found)
        return code_of_array();
    *array = found;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI compat_mipmapped_array(CUmipmappedArray *array, CUgraphicsResource resource)
{
    static const char call[] = "cuGraphicsResourceGetMappedMipmappedArray";
    struct compat_handle *handle;
    COMPAT_TRY(compat_handle_begin(resource, call, &handle));
    if (!handle)
        return compat_cuda()->GraphicsResourceGetMappedMipmappedArray(array, resource);
    COMPAT_TRY(check_image(handle, array, call));
    gr_error_call_begin(call);
    CUmipmappedArray found = gr_buffer_mipmapped_array(handle->buffer);
    gr_error_call_end();
    if (!found)
        return code_of_array();
    *array = found;
    return CUDA_SUCCESS;
}
