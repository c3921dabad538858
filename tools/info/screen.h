/* SPDX-License-Identifier: Apache-2.0 */
/* The report for people. */
#ifndef INFO_SCREEN_H
#define INFO_SCREEN_H

#include "tools/info/collect.h"

/* A screenful; `verbose`: all that was found. */
void screen_print(const struct report *report, bool verbose);

#endif
