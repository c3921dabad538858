/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers for a table that people read.
 */
#define _GNU_SOURCE
#include <math.h>

#include "bench/bench.h"

/* Four digits that mean something, without exponents. */
static int decimals(double value)
{
    if (value >= 1000)
        return 0;
    return value >= 100 ? 1 : value >= 10 ? 2 : 3;
}

const char *bench_number(char text[32], double value)
{
    if (isnan(value))
        return "-";
    snprintf(text, 32, "%.*f", decimals(value), value);
    return text;
}

const char *bench_spread_text(char text[128], struct bench_spread value)
{
    if (isnan(value.median))
        return "-";
    int digits = decimals(value.median);
    snprintf(text, 128, "%.*f [%.*f %.*f]", digits, value.median, digits, value.q1, digits,
             value.q3);
    return text;
}
