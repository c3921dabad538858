/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences on a terminal. */
#ifndef TOOLS_WORDS_H
#define TOOLS_WORDS_H

#include <stdio.h>

/*
 * Prints the text in lines that are not too long and begin at the column `indent`, where the first
 * one is already.
 */
void words_print(FILE *stream, const char *text, int indent);

#endif
