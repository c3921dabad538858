/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Text, word lists, memory that is freed at exit, and die() for errors. */
#ifndef GR_SOFTCUDA_NVCC_TEXT_H
#define GR_SOFTCUDA_NVCC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Prints "grinterop-nvcc: " and the message, and exits with status 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory that is freed at exit; never NULL. */
void *keep(size_t size);

/* The formatted text, in memory from keep(). */
char *keep_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *keep_bytes(const char *bytes, size_t length);

/* A NULL-terminated list of words, as exec expects. Starts as {0}. */
typedef struct words {
    const char **items;
    size_t count;
    size_t room;
} words;

void words_add(words *list, const char *word);
void words_add_all(words *list, const words *more);

/* Adds each part between commas; a backslash before a comma keeps it. */
void words_add_parts(words *list, const char *text);

/* Adds the words between blanks; quotes and backslashes work as in a shell. */
void words_add_shell(words *list, const char *text);

/*
 * Adds options for another program, as nvcc does through a shell: a backslash is removed and keeps
 * the character after it, and any other comma becomes a blank, even in quotes.
 */
void words_add_options(words *list, const char *text);

bool ends_with(const char *text, const char *end);
bool begins_with(const char *text, const char *begin);

/* The part after the last slash. */
const char *base_name(const char *path);

/* `path` without its folders, and with `ending` in place of its last dot and what follows. */
char *renamed(const char *path, const char *ending);

#endif
