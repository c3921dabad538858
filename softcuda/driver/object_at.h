/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the object at an address, for the messages of fault.c. */
#ifndef GR_SOFTCUDA_DRIVER_OBJECT_AT_H
#define GR_SOFTCUDA_DRIVER_OBJECT_AT_H

#include <stdbool.h>
#include <stddef.h>

/* The object that a fault message names. */
typedef struct {
    const unsigned char *base;
    size_t size;
    const char *what;
} soft_object;

/*
 * The signal handler calls soft_pages_find() and soft_range_near(), so these functions neither
 * block nor allocate. They return false if no object is within `distance` of the address.
 */

/*
 * Finds the smallest object in inaccessible pages. The result may be wrong if another thread
 * changes the table meanwhile. (pages.c)
 */
bool soft_pages_find(const unsigned char *address, size_t distance, soft_object *object);

/* Whether inaccessible pages contain the address. Takes a lock. (pages.c) */
bool soft_pages_have(const unsigned char *address);

/*
 * For a call that refuses the address: logs the object, if any, whose inaccessible pages contain
 * the address, such as an OpenGL buffer that is not mapped. `use` is what the call does. (pages.c)
 */
void soft_pages_log(const char *use, const void *address);

/* Finds the nearest known range. (memory_range.c) */
bool soft_range_near(const unsigned char *address, size_t distance, soft_object *object);

#endif
