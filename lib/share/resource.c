/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource to and from another process: its memory and semaphores exported, and imported there.
 */
#define _GNU_SOURCE
#include "lib/share/share.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/backend.h"
#include "lib/device_text.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "lib/external/make.h"
#include "lib/log.h"
#include "lib/resource/resource.h"
#include "lib/sync/semaphore_rules.h"

/* The descriptors of a resource's message: the memory, then those of its semaphores that it has. */
#define MEMORY_FD 0

/* ---- Which CUDA device ----------------------------------------------------------------------- */

static gr_status get_uuid(CUdevice device, CUuuid *uuid)
{
    CUresult result = gr_driver()->cuDeviceGetUuid(uuid, device);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuDeviceGetUuid", "The CUDA device does not say which one it is.");
}

/* Of the current context's device. */
static gr_status get_own_uuid(CUuuid *uuid)
{
    CUdevice device;
    CUresult result = gr_driver()->cuCtxGetDevice(&device);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuCtxGetDevice", "The CUDA context has no device.");
    return get_uuid(device, uuid);
}

static void note_uuid(struct gr_description *d, const CUuuid *uuid)
{
    d->uuid_low = gr_unpack((const unsigned char *)uuid->bytes, 8);
    d->uuid_high = gr_unpack((const unsigned char *)uuid->bytes + 8, 8);
}

static bool has_uuid(const struct gr_description *d, const CUuuid *uuid)
{
    struct gr_description other;
    note_uuid(&other, uuid);
    return d->uuid_low == other.uuid_low && d->uuid_high == other.uuid_high;
}

static gr_status fail_no_device(const struct gr_description *d, int count, const char *call)
{
    unsigned char uuid[16];
    char text[GR_UUID_TEXT_SIZE];
    gr_pack(uuid, d->uuid_low, 8);
    gr_pack(uuid + 8, d->uuid_high, 8);
    gr_uuid_text(uuid, text);
    return gr_fail(GR_ERR_UNSUPPORTED, call,
                   "The memory belongs to the CUDA device %s, which is none of the %d that this "
                   "process sees with the driver %s: use the same driver in both, and look at "
                   "CUDA_VISIBLE_DEVICES.",
                   text, count, gr_cuda_driver_path());
}

static gr_status find_device(const struct gr_description *d, CUdevice *device, const char *call)
{
    const gr_cuda_api *cu = gr_driver();
    int count = 0;
    CUresult result = cu->cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuDeviceGetCount", "The CUDA devices could not be counted.");
    for (int i = 0; i < count; i++) {
        CUuuid uuid;
        if (cu->cuDeviceGet(device, i) == CUDA_SUCCESS &&
            cu->cuDeviceGetUuid(&uuid, *device) == CUDA_SUCCESS && has_uuid(d, &uuid))
            return GR_OK;
    }
    return fail_no_device(d, count, call);
}

gr_status gr_share_context(const struct gr_description *d, struct gr_context *context,
                           const char *call)
{
    CUuuid uuid;
    CUdevice device;
    *context = (struct gr_context){.primary_of = -1};
    if (!gr_cuda())
        return gr_last_error(NULL);
    const gr_cuda_api *cu = gr_driver();
    if (cu->cuCtxGetCurrent(&context->handle) == CUDA_SUCCESS && context->handle) {
        if (get_own_uuid(&uuid) == GR_OK && has_uuid(d, &uuid))
            return GR_OK;
    }
    gr_status status = find_device(d, &device, call);
    if (status != GR_OK)
        return status;
    CUresult result = cu->cuDevicePrimaryCtxRetain(&context->handle, device);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuDevicePrimaryCtxRetain",
                            "%s: the primary context of CUDA device %d could not be had.", call,
                            device);
    context->primary_of = device;
    return GR_OK;
}

/* ---- Export ---------------------------------------------------------------------------------- */

static const struct gr_external_kind *kind_of(const gr_resource *resource)
{
    const struct gr_external *external = gr_external_of(resource);
    return external ? external->kind : NULL;
}

gr_status gr_share_check(const gr_resource *resource, const char *call)
{
    gr_status status = gr_resource_check_open(resource, call);
    if (status != GR_OK)
        return status;
    if (resource->mapped)
        return gr_fail(GR_ERR_STATE, call,
                       "The resource is mapped: release its buffer before it is sent.");
    const struct gr_external_kind *kind = kind_of(resource);
    if (kind && kind->export_memory)
        return GR_OK;
    char text[160];
    resource->backend->describe(resource, text, sizeof(text));
    return gr_fail(
        GR_ERR_UNSUPPORTED, call,
        "%s, shared by the transport %s, is in memory that grinterop cannot export. Make it "
        "by gr_gl_buffer_create() or gr_gl_image_create() with GR_TRANSPORT_SHARED, by "
        "gr_vk_buffer_create() or gr_vk_image_create(), or from a Vulkan object whose "
        "memory can be exported.",
        text, resource->backend->name);
}

static void note_memory(struct gr_description *d, const gr_resource *resource,
                        const struct gr_memory_export *memory)
{
    d->vmm = memory->vmm;
    d->dedicated = memory->dedicated;
    d->memory_size = memory->size;
    d->offset = memory->part.offset;
    d->flags = resource->flags;
    d->is_image = resource->is_image;
    d->size = resource->is_image ? 0 : resource->size;
}

static void note_image(struct gr_description *d, const gr_external_image *image)
{
    d->width = image->width;
    d->height = image->height;
    d->depth = image->depth;
    d->levels = image->levels;
    d->layers = image->layers;
    d->cube = image->cube;
    d->format = image->format;
    d->channels = image->channels;
    d->color_attachment = image->color_attachment;
    d->depth_texture = image->depth_texture;
    d->srgb = image->srgb;
    d->normalized = image->normalized;
}

gr_status gr_share_describe(const gr_resource *resource, struct gr_description *d,
                            struct gr_message *message, const char *call)
{
    CUuuid uuid;
    bool pushed;
    struct gr_memory_export memory = {.fd = -1};
    *d = (struct gr_description){0};
    message->fd_count = 0;
    gr_status status = gr_context_enter(&resource->context, &pushed, call);
    if (status != GR_OK)
        return status;
    status = get_own_uuid(&uuid);
    if (status == GR_OK)
        status = kind_of(resource)->export_memory(resource, &memory);
    gr_context_leave(pushed);
    if (status != GR_OK)
        return status;
    note_uuid(d, &uuid);
    note_memory(d, resource, &memory);
    if (resource->is_image)
        note_image(d, &memory.image);
    message->fds[MEMORY_FD] = memory.fd;
    message->fd_count = 1;
    gr_description_write(d, message);
    return GR_OK;
}

gr_status gr_share_export(const gr_resource *resource, gr_semaphore *semaphore,
                          gr_semaphore_info *info, const char *call)
{
    const struct gr_external_kind *kind = kind_of(resource);
    char text[160];
    *info = (gr_semaphore_info){.fd = -1};
    if (kind->export_semaphore && semaphore->handle) {
        gr_status status = kind->export_semaphore(semaphore, info);
        pthread_mutex_lock(&semaphore->lock);
        info->value = semaphore->timeline ? semaphore->signalled : 0;
        pthread_mutex_unlock(&semaphore->lock);
        return status;
    }
    gr_semaphore_describe(semaphore, text, sizeof(text));
    return gr_fail(
        GR_ERR_UNSUPPORTED, call,
        "The resource's semaphore cannot be exported: %s. Send a ring, of which grinterop "
        "passes the signals on, or take the semaphores away by "
        "gr_resource_set_sync(resource, NULL, NULL) and let the two processes wait.",
        text);
}

static gr_status add_semaphore(const gr_resource *resource, gr_semaphore *semaphore,
                               struct gr_message *message, uint64_t *has, uint64_t *timeline,
                               uint64_t *value, const char *call)
{
    gr_semaphore_info info;
    if (!semaphore)
        return GR_OK;
    gr_status status = gr_share_export(resource, semaphore, &info, call);
    if (status != GR_OK)
        return status;
    message->fds[message->fd_count++] = info.fd;
    *has = 1;
    *timeline = gr_semaphore_type_counts(info.type);
    *value = info.value;
    return GR_OK;
}

static gr_status describe_all(const gr_resource *resource, struct gr_message *message,
                              const char *call)
{
    struct gr_description d;
    const struct gr_sync *sync = &gr_external_of(resource)->sync;
    gr_status status = gr_share_describe(resource, &d, message, call);
    if (status == GR_OK)
        status = add_semaphore(resource, sync->acquire, message, &d.has_acquire,
                               &d.acquire_timeline, &d.acquire_value, call);
    if (status == GR_OK)
        status = add_semaphore(resource, sync->release, message, &d.has_release,
                               &d.release_timeline, &d.release_value, call);
    gr_description_write(&d, message);
    return status;
}

gr_status gr_send_resource(int socket, gr_resource *resource, unsigned timeout_ms)
{
    struct gr_message message = {.kind = GR_MESSAGE_RESOURCE};
    struct gr_deadline deadline = gr_deadline_in(timeout_ms);
    gr_status status = gr_socket_check(socket, __func__);
    if (status == GR_OK)
        status = gr_share_check(resource, __func__);
    if (status == GR_OK && resource->in_a_ring)
        status = gr_fail(GR_ERR_STATE, __func__,
                         "The resource is a slot of a ring: send the ring by gr_send_ring().");
    if (status == GR_OK)
        status = describe_all(resource, &message, __func__);
    if (status == GR_OK)
        status = gr_message_send(socket, &message, &deadline, __func__);
    gr_message_close_fds(&message);
    return status;
}

/* ---- Import ---------------------------------------------------------------------------------- */

/*
 * Memory of a CPU's drivers is a file, whose size can be asked. It has to be sealed: the peer could
 * else take pages away under our hands.
 */
static gr_status check_file(const struct gr_description *d, int fd, const char *call)
{
    struct stat file;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
        return S_ISSOCK(file.st_mode) || S_ISDIR(file.st_mode) || S_ISFIFO(file.st_mode)
                   ? gr_fail(GR_ERR_INVALID_VALUE, call,
                             "The descriptor that came for the memory is none of memory.")
                   : GR_OK;
    if ((uint64_t)file.st_size < d->memory_size)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The message says that the memory has %llu bytes, but its file has %llu.",
                       (unsigned long long)d->memory_size, (unsigned long long)file.st_size);
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The memory's file is not sealed against shrinking, so its pages could be "
                       "taken away.");
    return GR_OK;
}

static gr_external_image image_of(const struct gr_description *d)
{
    return (gr_external_image){
        .width = (size_t)d->width,
        .height = (size_t)d->height,
        .depth = (size_t)d->depth,
        .levels = (unsigned)d->levels,
        .layers = (unsigned)d->layers,
        .cube = d->cube,
        .format = (CUarray_format)d->format,
        .channels = (unsigned)d->channels,
        .color_attachment = d->color_attachment,
        .depth_texture = d->depth_texture,
        .srgb = d->srgb,
        .normalized = d->normalized,
    };
}

static gr_status import_opaque(struct gr_external *r, const struct gr_description *d,
                               struct gr_message *message, const struct gr_context *context,
                               const char *call)
{
    gr_external_image image = image_of(d);
    const gr_external_memory_info info = {
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
        .fd = message->fds[MEMORY_FD],
        .size = (size_t)d->memory_size,
        .dedicated = d->dedicated,
        .part = {.offset = (size_t)d->offset,
                 .size = (size_t)d->size,
                 .image = d->is_image ? &image : NULL},
    };
    gr_status status = gr_external_make(r, context, &info, (unsigned)d->flags, call);
    if (status == GR_OK)
        gr_message_take_fd(message, MEMORY_FD);
    return status;
}

static gr_status import_vmm(struct gr_external *r, const struct gr_description *d,
                            const struct gr_message *message, const struct gr_context *context,
                            const char *call)
{
    const struct gr_memory_export memory = {
        .fd = message->fds[MEMORY_FD], .vmm = true, .size = (size_t)d->memory_size};
    return gr_external_make_vmm(r, context, (size_t)d->size, &memory, (unsigned)d->flags, call);
}

gr_resource *gr_share_import(const struct gr_description *d, struct gr_message *message,
                             const struct gr_context *context, const char *call)
{
    struct gr_context held;
    if (check_file(d, message->fds[MEMORY_FD], call) != GR_OK ||
        gr_context_hold(context, &held, call) != GR_OK)
        return NULL;
    struct gr_external *r = calloc(1, sizeof(*r));
    gr_status status = r ? GR_OK : gr_fail_memory(call);
    if (status == GR_OK)
        status = d->vmm ? import_vmm(r, d, message, &held, call)
                        : import_opaque(r, d, message, &held, call);
    if (status == GR_OK)
        return &r->base;
    free(r);
    gr_context_drop(&held);
    return NULL;
}

gr_semaphore *gr_share_import_semaphore(struct gr_message *message, unsigned i, bool timeline,
                                        uint64_t value, const struct gr_context *context,
                                        const char *call)
{
    struct gr_context held;
    const gr_semaphore_info info = {
        .type = timeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
                         : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
        .fd = message->fds[i],
        .value = value,
    };
    if (gr_context_hold(context, &held, call) != GR_OK)
        return NULL;
    gr_semaphore *semaphore = calloc(1, sizeof(*semaphore));
    if (semaphore && gr_semaphore_make(semaphore, &held, &info, NULL, call) == GR_OK) {
        gr_message_take_fd(message, i);
        return semaphore;
    }
    if (!semaphore)
        gr_fail_memory(call);
    free(semaphore);
    gr_context_drop(&held);
    return NULL;
}

/* ---- Receiving ------------------------------------------------------------------------------- */

static gr_status import_semaphores(gr_resource *resource, const struct gr_description *d,
                                   struct gr_message *message, const struct gr_context *context,
                                   const char *call)
{
    gr_semaphore *acquire = NULL, *release = NULL;
    gr_status status = GR_OK;
    unsigned next = MEMORY_FD + 1;
    if (d->has_acquire) {
        acquire = gr_share_import_semaphore(message, next++, d->acquire_timeline, d->acquire_value,
                                            context, call);
        status = acquire ? GR_OK : gr_last_error(NULL);
    }
    if (status == GR_OK && d->has_release) {
        release = gr_share_import_semaphore(message, next, d->release_timeline, d->release_value,
                                            context, call);
        status = release ? GR_OK : gr_last_error(NULL);
    }
    if (status == GR_OK)
        status = gr_sync_set(resource, acquire, release, call);
    gr_semaphore_free(acquire);
    gr_semaphore_free(release);
    return status;
}

static gr_resource *import_all(const struct gr_description *d, struct gr_message *message,
                               const char *call)
{
    struct gr_context context;
    if (gr_share_context(d, &context, call) != GR_OK)
        return NULL;
    gr_resource *resource = gr_share_import(d, message, &context, call);
    if (resource && import_semaphores(resource, d, message, &context, call) != GR_OK) {
        gr_error cause;
        gr_error_save(&cause);
        gr_resource_free(resource);
        gr_error_restore(&cause);
        resource = NULL;
    }
    gr_context_drop(&context);
    return resource;
}

static gr_status receive(int socket, struct gr_description *d, struct gr_message *message,
                         unsigned timeout_ms, const char *call)
{
    struct gr_deadline deadline = gr_deadline_in(timeout_ms);
    gr_status status = gr_socket_check(socket, call);
    if (status != GR_OK)
        return status;
    status = gr_message_receive(socket, GR_MESSAGE_RESOURCE, message, &deadline, call);
    if (status == GR_OK)
        status = gr_description_read(message, d, call);
    if (status == GR_OK)
        status = gr_description_check(d, call);
    if (status == GR_OK && message->fd_count != 1 + d->has_acquire + d->has_release)
        status = gr_fail(GR_ERR_INVALID_VALUE, call,
                         "The message has %u descriptors, and describes another number.",
                         message->fd_count);
    return status;
}

gr_resource *gr_receive_resource(int socket, unsigned timeout_ms)
{
    struct gr_description d;
    struct gr_message message = {.fd_count = 0};
    gr_resource *resource = NULL;
    if (receive(socket, &d, &message, timeout_ms, __func__) == GR_OK)
        resource = import_all(&d, &message, __func__);
    gr_message_close_fds(&message);
    return resource;
}
