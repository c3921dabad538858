/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What GCC and clang, with clang-cl, add to C11. The library has it here only. */
#ifndef GR_LIB_BASE_COMPILER_H
#define GR_LIB_BASE_COMPILER_H

#include <stdlib.h>

/* Of a variable: calls the function with its address at the end of the block. */
#define GR_CLEANUP(function) __attribute__((cleanup(function), unused))

/* Of a function: rarely called; not inlined; not used by each file that includes it. */
#define GR_COLD     __attribute__((cold))
#define GR_NOINLINE __attribute__((noinline))
#define GR_UNUSED   __attribute__((unused))

/* Of a symbol of the assembler. */
#define GR_HIDDEN __attribute__((visibility("hidden")))

/*
 * Lets the compiler check format arguments. In MinGW, `printf` selects the format rules of Windows,
 * which C11 programs do not use.
 */
#ifdef __MINGW32__
#define GR_PRINTF(text, first) __attribute__((format(gnu_printf, text, first), cold))
#else
#define GR_PRINTF(text, first) __attribute__((format(printf, text, first), cold))
#endif

/* Before the definition of a static function: calls it when the library is loaded. */
#define GR_AT_LOAD __attribute__((constructor))

/*
 * GR_AT_UNLOAD(name) begins the definition of a function that is called when the library is
 * unloaded or the process exits. The C library of MSVC calls no destructors of C.
 */
#ifdef _MSC_VER
#define GR_AT_UNLOAD(name)                                                                         \
    static void name(void);                                                                        \
    GR_AT_LOAD static void name##_at_exit(void)                                                    \
    {                                                                                              \
        atexit(name);                                                                              \
    }                                                                                              \
    static void name(void)
#else
#define GR_AT_UNLOAD(name) __attribute__((destructor)) static void name(void)
#endif

/* Store a result, wrapped to its type, and return whether it overflowed. */
#define GR_ADD_OVERFLOWS(a, b, result) __builtin_add_overflow(a, b, result)
#define GR_SUB_OVERFLOWS(a, b, result) __builtin_sub_overflow(a, b, result)
#define GR_MUL_OVERFLOWS(a, b, result) __builtin_mul_overflow(a, b, result)

/* The number of the lowest bit of a 64-bit number that is not 0, and the number of its bits. */
#define GR_LOWEST_BIT(bits) ((unsigned)__builtin_ctzll(bits))
#define GR_COUNT_BITS(bits) ((unsigned)__builtin_popcountll(bits))

#endif
