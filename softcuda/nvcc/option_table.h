/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The table of all options. */
#ifndef GR_SOFTCUDA_NVCC_OPTION_TABLE_H
#define GR_SOFTCUDA_NVCC_OPTION_TABLE_H

#include "softcuda/nvcc/invocation.h"

enum takes {
    TAKES_NOTHING,
    TAKES_VALUE,  /* -o x, -o=x */
    TAKES_JOINED, /* like TAKES_VALUE, and also -Ix */
};

typedef struct option {
    const char *name;      /* the name after one dash */
    const char *long_name; /* the name after two dashes */
    enum takes takes;
    void (*act)(options *o, const struct option *option, const char *value);
    size_t member;    /* the offset in `options` of the member that act() sets */
    const char *word; /* an argument for act() */
    const char *help; /* NULL if the option is accepted without an effect */
} option;

/* The table ends with an option that has no name. */
extern const option option_table[];

#endif
