/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* GR_PRINTF: lets the compiler check format arguments. */
#ifndef GR_LIB_BASE_PRINTF_H
#define GR_LIB_BASE_PRINTF_H

/* In MinGW, `printf` selects the format rules of Windows, which C11 programs do not use. */
#ifdef __MINGW32__
#define GR_PRINTF(text, first) __attribute__((format(gnu_printf, text, first), cold))
#else
#define GR_PRINTF(text, first) __attribute__((format(printf, text, first), cold))
#endif

#endif
