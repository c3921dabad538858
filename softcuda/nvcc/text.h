/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows, lists of words, and the one way out of the program when something fails. */
#ifndef GR_SOFTCUDA_NVCC_TEXT_H
#define GR_SOFTCUDA_NVCC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Prints "grinterop-nvcc: " with the sentence, and ends the program with status 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory that is freed at exit; never NULL. */
void *keep(size_t size);

/* The text, printed into memory that is kept. */
char *keep_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *keep_bytes(const char *bytes, size_t length);

/* A list of words that a NULL ends, as exec takes it. Begins as {0}. */
typedef struct words {
    const char **items;
    size_t count;
    size_t room;
} words;

void words_add(words *list, const char *word);
void words_add_all(words *list, const words *more);

/* Each part of the text between commas; a backslash before a comma keeps it. */
void words_add_parts(words *list, const char *text);

/* Words between blanks; quotes and backslashes as a shell has them. */
void words_add_shell(words *list, const char *text);

/* Options for another program. nvcc makes a line for the shell of them, which this does as well: a
 * backslash keeps what is behind it and goes, any other comma becomes a blank, in quotes, too. */
void words_add_options(words *list, const char *text);

bool ends_with(const char *text, const char *end);
bool begins_with(const char *text, const char *begin);

/* The part behind the last slash. */
const char *base_name(const char *path);

/* `path` without its folders and without what follows its last dot, then `ending`. */
char *renamed(const char *path, const char *ending);

#endif
