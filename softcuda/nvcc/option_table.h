/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* All options, in one table. */
#ifndef GR_SOFTCUDA_NVCC_OPTION_TABLE_H
#define GR_SOFTCUDA_NVCC_OPTION_TABLE_H

#include "softcuda/nvcc/invocation.h"

enum takes {
    TAKES_NOTHING,
    TAKES_VALUE,  /* -o x, -o=x */
    TAKES_JOINED, /* the same, and -Ix */
};

typedef struct option {
    const char *name;      /* with one dash */
    const char *long_name; /* with two dashes */
    enum takes takes;
    void (*act)(options *o, const struct option *option, const char *value);
    size_t member;    /* the offset in options of what act sets */
    const char *word; /* for act */
    const char *help; /* NULL: accepted without effect */
} option;

/* Ended by an option without a name. */
extern const option option_table[];

#endif
