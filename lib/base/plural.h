/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Counted nouns in messages: "1 slot", "2 slots". */
#ifndef GR_LIB_BASE_PLURAL_H
#define GR_LIB_BASE_PLURAL_H

/* The plural suffix: `"%zu slot%s", n, gr_s(n)`. */
static inline const char *gr_s(unsigned long long n)
{
    return n == 1 ? "" : "s";
}

#endif
