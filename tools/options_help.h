/* SPDX-License-Identifier: Apache-2.0 */
/* The help that --help prints. */
#ifndef TOOLS_OPTIONS_HELP_H
#define TOOLS_OPTIONS_HELP_H

#include <stdio.h>

#include "tools/options.h"

/* What every program has. */
extern const struct option_row options_help_row, options_version_row;

/* Writes what the table knows of the values that the option takes: " (2 to 2048, default 512)". */
void options_describe_value(const struct option_row *row, char *text, size_t size);

void options_print_help(FILE *stream, const struct option_page *page);

#endif
