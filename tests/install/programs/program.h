/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the programs of users. Each program ends at the first error. */
#include <stdio.h>
#include <stdlib.h>

#include <grinterop/cuda.h>

static void check(bool good, const char *what)
{
    if (good)
        return;
    gr_error_print(stderr, what);
    exit(EXIT_FAILURE);
}

/* Checks that each of `bytes` equals wanted(index of the byte). */
static inline void check_bytes(const unsigned char *bytes, size_t size,
                               unsigned char (*wanted)(size_t place))
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != wanted(i)) {
            fprintf(stderr, "byte %zu is %d, not %d\n", i, bytes[i], wanted(i));
            exit(EXIT_FAILURE);
        }
}
