/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Imports memory and semaphores from another process, after checking that the process cannot revoke
 * them.
 */
#define _GNU_SOURCE
#include "lib/message/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/error.h"
#include "lib/cuda/end_after_event.h"
#include "lib/external/external.h"

/*
 * Checks the memory of CPU drivers, which is a file with a size. The file must be sealed, because
 * the peer could otherwise shrink it later. The seals are checked before the size: without seals
 * the size can change at any time.
 */
static gr_status check_file(const struct gr_description *d, int fd)
{
    struct stat file;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0)
        return GR_OK; /* GPU drivers check descriptors that they exported */
    if (fstat(fd, &file) != 0)
        return gr_fail_errno(errno, "Cannot stat the descriptor received for the memory");
    GR_REFUSE_IF(!(seals & F_SEAL_SHRINK),
                 "The memory's file is not sealed against shrinking, so its pages could be "
                 "removed: grinterop did not send this file.");
    if ((uint64_t)file.st_size >= d->memory_size)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The message says that the memory has %llu byte%s, but its file has %llu: "
                   "grinterop did not send it.",
                   (unsigned long long)d->memory_size, gr_s(d->memory_size),
                   (unsigned long long)file.st_size);
}

static gr_status import_opaque(struct gr_external *r, const struct gr_description *d,
                               struct gr_message *message, const struct gr_context *context)
{
    gr_external_image_desc image = GR_INIT(gr_external_image_desc);
#define TAKE_FIELD(name, bytes) image.name = d->name;
    GR_DESCRIPTION_IMAGE_FIELDS(TAKE_FIELD)
#undef TAKE_FIELD
    const gr_external_part_desc part =
        GR_INIT(gr_external_part_desc, .offset = (size_t)d->offset, .size = (size_t)d->size,
                .image = d->is_image ? &image : NULL);
    const gr_external_memory_desc info =
        GR_INIT(gr_external_memory_desc, .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                .fd = message->fds[GR_MEMORY_FD], .size = (size_t)d->memory_size,
                .dedicated = d->dedicated, .part = &part);
    GR_TRY(gr_external_check_all(&info, (unsigned)d->flags));
    GR_TRY(gr_external_make(r, context, &info, (unsigned)d->flags));
    gr_message_take_fd(message, GR_MEMORY_FD);
    return GR_OK;
}

static gr_status import_vmm(struct gr_external *r, const struct gr_description *d,
                            const struct gr_message *message, const struct gr_context *context)
{
    CUdevice device;
    GR_TRY(gr_share_find_device(d, &device));
    gr_endings_collect();
    GR_ENTER(context);
    struct gr_import *memory =
        gr_import_vmm(device, message->fds[GR_MEMORY_FD], (size_t)d->memory_size);
    if (!memory)
        return gr_last_error()->status;
    gr_external_make_buffer(r, context, memory, (size_t)d->size, (unsigned)d->flags);
    return GR_OK;
}

gr_resource *gr_share_import(const struct gr_description *d, struct gr_message *message,
                             const struct gr_context *context)
{
    struct gr_context held;
    if (check_file(d, message->fds[GR_MEMORY_FD]) != GR_OK ||
        gr_context_hold(context, &held) != GR_OK)
        return NULL;
    struct gr_external *r = gr_external_new();
    if (r &&
        (d->vmm ? import_vmm(r, d, message, &held) : import_opaque(r, d, message, &held)) == GR_OK)
        return &r->base;
    free(r);
    gr_context_drop(&held);
    return NULL;
}

gr_semaphore *gr_share_import_semaphore(struct gr_message *message, unsigned i, bool timeline,
                                        uint64_t value, const struct gr_context *context)
{
    struct gr_context held;
    const gr_semaphore_desc info =
        GR_INIT(gr_semaphore_desc,
                .type = timeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
                                 : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
                .fd = message->fds[i], .value = value);
    if (gr_context_hold(context, &held) != GR_OK)
        return NULL;
    gr_semaphore *semaphore = gr_check_memory(calloc(1, sizeof(*semaphore)));
    if (!semaphore || gr_semaphore_make(semaphore, &held, &info, NULL) != GR_OK)
        goto fail;
    gr_message_take_fd(message, i);
    return semaphore;
fail:
    free(semaphore);
    gr_context_drop(&held);
    return NULL;
}
