/* SPDX-License-Identifier: Apache-2.0 */
/* GR_PRINTF: for functions that take a format, so that the compiler checks it. */
#ifndef GR_LIB_PRINTF_H
#define GR_LIB_PRINTF_H

/* For MinGW printf is Windows's own, which C11 programs there do not get. */
#ifdef __MINGW32__
#define GR_PRINTF(text, first) __attribute__((format(gnu_printf, text, first), cold))
#else
#define GR_PRINTF(text, first) __attribute__((format(printf, text, first), cold))
#endif

#endif
