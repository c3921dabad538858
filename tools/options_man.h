/* SPDX-License-Identifier: Apache-2.0 */
/* The manual's page, of what --help prints: the build writes it by the hidden --man. */
#ifndef TOOLS_OPTIONS_MAN_H
#define TOOLS_OPTIONS_MAN_H

#include <stdio.h>

#include "tools/options.h"

/* Prints it as roff, by the macros of man(7). */
void options_print_man(FILE *stream, const struct option_page *page);

#endif
