/* SPDX-License-Identifier: Apache-2.0 */
/* Help, a manual page and sentences on a terminal. */
#ifndef TOOLS_OPTIONS_PRINT_H
#define TOOLS_OPTIONS_PRINT_H

#include <stdio.h>

#include "tools/options.h"

/* What every program has. */
extern const struct option_row options_help_row, options_version_row;

/* What --help prints. */
void options_print_help(FILE *stream, const struct option_page *page);

/* The same as a manual page, by the macros of man(7): the build writes it by the hidden --man. */
void options_print_man(FILE *stream, const struct option_page *page);

/*
 * Prints the text in lines that are not too long and begin at the column `indent`, where the first
 * one is already.
 */
void words_print(FILE *stream, const char *text, int indent);

#endif
