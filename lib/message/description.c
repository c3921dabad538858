/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes and reads the descriptions in messages, and checks those of resources. */
#include "lib/message/description.h"

#include "lib/base/error.h"
#include "lib/base/flags.h"

/* The maximum size of memory in bytes, which is more than the address range of any GPU. */
#define MOST_BYTES ((uint64_t)1 << 48)

#define FIELD(name, bytes) {offsetof(struct gr_description, name), bytes},

static const struct gr_field resource_fields[] = {GR_DESCRIPTION_FIELDS(FIELD)};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void gr_fields_write(const struct gr_field fields[], size_t n, const void *from,
                     struct gr_message *message)
{
    message->size = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t value = *(const uint64_t *)((const char *)from + fields[i].at);
        gr_pack(message->bytes + message->size, value, fields[i].bytes);
        message->size += fields[i].bytes;
    }
}

gr_status gr_fields_read(const struct gr_field fields[], size_t n, const struct gr_message *message,
                         void *to)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += fields[i].bytes;
    GR_REFUSE_IF(
        message->size != size,
        "The message has %zu byte%s, but messages of its kind have %zu: grinterop did not send it.",
        message->size, gr_s(message->size), size);
    const unsigned char *at = message->bytes;
    for (size_t i = 0; i < n; i++) {
        *(uint64_t *)((char *)to + fields[i].at) = gr_unpack(at, fields[i].bytes);
        at += fields[i].bytes;
    }
    return GR_OK;
}

void gr_description_write(const struct gr_description *description, struct gr_message *message)
{
    gr_fields_write(resource_fields, COUNT(resource_fields), description, message);
}

gr_status gr_description_read(const struct gr_message *message, struct gr_description *description)
{
    return gr_fields_read(resource_fields, COUNT(resource_fields), message, description);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static gr_status refuse_description(const char *what, uint64_t value)
{
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The message contradicts itself: %s (%llu). grinterop did not send it.", what,
                   (unsigned long long)value);
}

static gr_status check_booleans(const struct gr_description *d)
{
    const uint64_t truth[] = {
        d->vmm,        d->dedicated,        d->is_image,         d->cube,
        d->srgb,       d->color_attachment, d->has_acquire,      d->has_release,
        d->normalized, d->depth_texture,    d->acquire_timeline, d->release_timeline};
    for (size_t i = 0; i < COUNT(truth); i++)
        if (truth[i] > 1)
            return refuse_description("a boolean is neither 0 nor 1", truth[i]);
    return GR_OK;
}

/*
 * Refuses image fields in the description of a buffer, and values of semaphores that are missing.
 */
static gr_status check_absent(const struct gr_description *d)
{
#define OR_FIELD(name, bytes) | d->name
    uint64_t of_image = 0 GR_DESCRIPTION_IMAGE_FIELDS(OR_FIELD);
#undef OR_FIELD
    if (!d->is_image && of_image)
        return refuse_description("a buffer is described as an image", of_image);
    if (!d->has_acquire && (d->acquire_timeline | d->acquire_value))
        return refuse_description("the message describes a semaphore that was not sent with it",
                                  d->acquire_value);
    if (!d->has_release && (d->release_timeline | d->release_value))
        return refuse_description("the message describes a semaphore that was not sent with it",
                                  d->release_value);
    return GR_OK;
}

static gr_status check_sizes(const struct gr_description *d)
{
    const uint64_t sizes[] = {d->memory_size, d->offset, d->size, d->width, d->height, d->depth};
    for (size_t i = 0; i < COUNT(sizes); i++)
        if (sizes[i] > MOST_BYTES)
            return refuse_description("a size or an offset is larger than any memory", sizes[i]);
    if (d->memory_size == 0 || d->offset >= d->memory_size)
        return refuse_description("the offset is outside the memory", d->offset);
    if (d->is_image)
        return d->size ? refuse_description("an image has a size in bytes", d->size) : GR_OK;
    if (d->size == 0 || d->size > d->memory_size - d->offset)
        return refuse_description("the buffer is not inside the memory", d->size);
    return GR_OK;
}

gr_status gr_share_check_value(uint64_t value)
{
    if (value <= GR_SHARE_MOST_VALUE)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The message has a semaphore whose value, %llu, is too large to increase "
                   "further: start the semaphore below 2^63.",
                   (unsigned long long)value);
}

gr_status gr_description_check(const struct gr_description *d)
{
    GR_TRY(check_booleans(d));
    GR_TRY(check_absent(d));
    GR_TRY(check_sizes(d));
    if (d->vmm && (d->is_image || d->offset || !d->dedicated))
        return refuse_description("memory allocated by CUDA must hold one buffer, at its start",
                                  d->offset);
    if (d->dedicated && d->offset)
        return refuse_description("dedicated memory has an offset", d->offset);
    GR_TRY(gr_share_check_value(d->acquire_value));
    GR_TRY(gr_share_check_value(d->release_value));
    return gr_flags_check((unsigned)d->flags, d->is_image);
}

bool gr_description_is_peer(const struct gr_description *d)
{
    return !d->is_image && (d->vmm || d->dedicated);
}
