/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Structs of the program. Each begins with its size in that program, which may have been compiled
 * with an older or newer header than the library.
 */
#ifndef GR_LIB_BASE_STRUCT_SIZE_H
#define GR_LIB_BASE_STRUCT_SIZE_H

#include <grinterop/gr.h>

/*
 * Copies the struct `given` into `own`, which has `size` bytes. Fields that an older program lacks
 * become 0. If `given` is NULL, all fields become 0. Refuses a struct_size of 0, and a field of a
 * newer program that is unknown here and not 0.
 */
gr_status gr_take_struct(void *own, size_t size, const void *given, const char *type);

/*
 * Like gr_take_struct(), for element i of an array. The struct_size of the first element is the
 * distance between elements, and all elements must have the same struct_size.
 */
gr_status gr_take_element(void *own, size_t size, const void *array, size_t i, const char *type);

#define GR_TAKE(type, own, given)       gr_take_struct(own, sizeof(type), given, #type)
#define GR_TAKE_AT(type, own, array, i) gr_take_element(own, sizeof(type), array, i, #type)

#endif
