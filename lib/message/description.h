/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The descriptions in messages: numbers in a fixed order. */
#ifndef GR_LIB_MESSAGE_DESCRIPTION_H
#define GR_LIB_MESSAGE_DESCRIPTION_H

#include "lib/message/socket.h"

/*
 * X(member, bytes): the part of the description whose members are named as in
 * gr_external_image_desc.
 */
#define GR_DESCRIPTION_IMAGE_FIELDS(X)                                                             \
    X(width, 8)                                                                                    \
    X(height, 8)                                                                                   \
    X(depth, 8)                                                                                    \
    X(levels, 4)                                                                                   \
    X(layers, 4)                                                                                   \
    X(cube, 4)                                                                                     \
    X(format, 4)                                                                                   \
    X(channels, 4)                                                                                 \
    X(color_attachment, 4)                                                                         \
    X(depth_texture, 4)                                                                            \
    X(srgb, 4)                                                                                     \
    X(normalized, 4)

/*
 * X(member, bytes): the description of a resource, in this order. Booleans and enums are numbers,
 * because the peer controls their values.
 */
#define GR_DESCRIPTION_FIELDS(X)                                                                   \
    X(uuid_low, 8)                                                                                 \
    X(uuid_high, 8)                                                                                \
    X(vmm, 4)                                                                                      \
    X(dedicated, 4)                                                                                \
    X(memory_size, 8)                                                                              \
    X(offset, 8)                                                                                   \
    X(size, 8)                                                                                     \
    X(flags, 4)                                                                                    \
    X(is_image, 4)                                                                                 \
    GR_DESCRIPTION_IMAGE_FIELDS(X)                                                                 \
    X(has_acquire, 4)                                                                              \
    X(acquire_timeline, 4)                                                                         \
    X(acquire_value, 8)                                                                            \
    X(has_release, 4)                                                                              \
    X(release_timeline, 4)                                                                         \
    X(release_value, 8)

/* The maximum start value of a semaphore, because the receiver counts up from it. */
#define GR_SHARE_MOST_VALUE (UINT64_MAX / 2)

/* The descriptors of a resource message: the memory, then each semaphore that the resource has. */
enum { GR_MEMORY_FD };

#define GR_SHARE_MEMBER(name, bytes) uint64_t name;
struct gr_description {
    GR_DESCRIPTION_FIELDS(GR_SHARE_MEMBER)
};

/* A field of a description: the offset of its uint64_t, and its bytes in a message. */
struct gr_field {
    size_t at;
    unsigned bytes;
};

/*
 * These functions write a description to a message, and read it from a message. Reading fails with
 * GR_ERR_INVALID_VALUE if the size of the message differs.
 */
void gr_fields_write(const struct gr_field fields[], size_t n, const void *from,
                     struct gr_message *message);
gr_status gr_fields_read(const struct gr_field fields[], size_t n, const struct gr_message *message,
                         void *to);
void gr_description_write(const struct gr_description *description, struct gr_message *message);
gr_status gr_description_read(const struct gr_message *message, struct gr_description *description);

/* Refuses semaphore values that are too large. */
gr_status gr_share_check_value(uint64_t value);

/*
 * Refuses values that grinterop never sends, such as booleans above 1 or image fields of a buffer.
 */
gr_status gr_description_check(const struct gr_description *description);

/*
 * Whether a device other than the owner can import the memory: only if one buffer has the memory
 * for itself.
 */
bool gr_description_is_peer(const struct gr_description *description);

#endif
