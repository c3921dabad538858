/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Prints the help, the man page and wrapped text. */
#ifndef TOOLS_OPTIONS_PRINT_H
#define TOOLS_OPTIONS_PRINT_H

#include <stdio.h>

#include "tools/options.h"

/* The options of every program. */
extern const struct option_row options_help_row, options_version_row;

/* Prints the output of --help. */
void options_print_help(FILE *stream, const struct option_page *page);

/* Prints the man page with the macros of man(7), for the hidden option --man of the build. */
void options_print_man(FILE *stream, const struct option_page *page);

/*
 * Prints the text and wraps its lines. All lines, also the current one, begin at column `indent`.
 */
void words_print(FILE *stream, const char *text, int indent);

#endif
