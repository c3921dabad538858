/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the object at an address, for fault.c. */
#ifndef GR_SOFTCUDA_DRIVER_OBJECT_AT_H
#define GR_SOFTCUDA_DRIVER_OBJECT_AT_H

#include <stdbool.h>
#include <stddef.h>

/* What a message says of an address. */
typedef struct {
    const unsigned char *base;
    size_t size;
    const char *what;
} soft_object;

/*
 * Called by the signal handler, so they neither block nor allocate. False if no object is within
 * the given distance of the address.
 */

/* The smallest of the inaccessible objects. A table that changes meanwhile costs the right answer.
 * (pages.c) */
bool soft_pages_find(const unsigned char *address, size_t distance, soft_object *object);

/* The nearest of the known ranges. (memory_range.c) */
bool soft_range_near(const unsigned char *address, size_t distance, soft_object *object);

#endif
