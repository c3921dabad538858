/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the object at an address, for fault.c. */
#ifndef GR_SOFTCUDA_DRIVER_OBJECT_AT_H
#define GR_SOFTCUDA_DRIVER_OBJECT_AT_H

#include <stdbool.h>
#include <stddef.h>

/* The description of an address for a message. */
typedef struct {
    const unsigned char *base;
    size_t size;
    const char *what;
} soft_object;

/*
 * The signal handler calls these functions, so they neither block nor allocate. They return false
 * if no object is within the distance of the address.
 */

/*
 * The smallest of the inaccessible objects. May be wrong if the table changes meanwhile. (pages.c)
 */
bool soft_pages_find(const unsigned char *address, size_t distance, soft_object *object);

/* The nearest of the known ranges. (memory_range.c) */
bool soft_range_near(const unsigned char *address, size_t distance, soft_object *object);

#endif
