/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The inline functions as another language calls them: this file includes no header of grinterop,
 * so the calls reach the symbols of the library.
 */
#include <stdint.h>
#include <string.h>

#include <check.h>

#include "headers.h"

void gr_init_struct(void *object, size_t size);
void *gr_stream_or_default(void *stream);
void gr_error_print(FILE *file, const char *what);

void check_inline_symbols(FILE *file)
{
    struct {
        size_t struct_size;
        unsigned char bytes[24];
        uint64_t after;
    } made;
    memset(&made, 7, sizeof(made));
    const size_t size = sizeof(size_t) + sizeof(made.bytes);
    gr_init_struct(&made, size);
    ck_assert_uint_eq(made.struct_size, size);
    for (size_t i = 0; i < sizeof(made.bytes); i++)
        ck_assert_uint_eq(made.bytes[i], 0);
    ck_assert_uint_eq(made.after, 0x0707070707070707);
    gr_init_struct(NULL, size);
    gr_init_struct(&made.after, sizeof(size_t) - 1);
    ck_assert_uint_eq(made.after, 0x0707070707070707);

    ck_assert_uint_eq((uintptr_t)gr_stream_or_default(NULL), 1);
    ck_assert_ptr_eq(gr_stream_or_default(&made), &made);
    gr_error_print(file, "elsewhere");
}
