/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs that a program gives: each begins with its size in that program, which may have been
 * compiled with an older or a newer header than the library.
 */
#ifndef GR_LIB_STRUCT_SIZE_H
#define GR_LIB_STRUCT_SIZE_H

#include <grinterop/gr.h>

/*
 * Copies `given` into `own`, of `size` bytes; what an older program's struct lacks is 0. A NULL
 * leaves all 0. Refuses a size of 0, and a newer program's field that is set and not known here.
 */
gr_status gr_take_struct(void *own, size_t size, const void *given, const char *type,
                         const char *call);

/*
 * Likewise element i of an array, whose first struct_size says how far apart the program's elements
 * are. All say the same.
 */
gr_status gr_take_element(void *own, size_t size, const void *array, size_t i, const char *type,
                          const char *call);

#define GR_TAKE(type, own, given, call) gr_take_struct(own, sizeof(type), given, #type, call)
#define GR_TAKE_AT(type, own, array, i, call)                                                      \
    gr_take_element(own, sizeof(type), array, i, #type, call)

#endif
