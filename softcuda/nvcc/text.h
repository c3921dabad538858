/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Text, word lists, memory that is freed at exit, and die() for errors. */
#ifndef GR_SOFTCUDA_NVCC_TEXT_H
#define GR_SOFTCUDA_NVCC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Prints "grinterop-nvcc: " and the message to stderr, and exits with status 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Allocates memory that is freed at exit; never returns NULL. */
void *keep(size_t size);

/* Formats a text in memory from keep(). */
char *keep_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *keep_bytes(const char *bytes, size_t length);

/* A NULL-terminated list of words, as exec requires. An empty list is {0}. */
typedef struct words {
    const char **items;
    size_t count;
    size_t room;
} words;

void words_add(words *list, const char *word);
void words_add_all(words *list, const words *more);

/* Adds each part of a comma-separated text. A comma after a backslash does not separate. */
void words_add_parts(words *list, const char *text);

/* Adds each word of a text with blanks between words. Quotes and backslashes work as in a shell. */
void words_add_shell(words *list, const char *text);

/*
 * Adds options for another program, as nvcc does through a shell. A backslash is removed, and the
 * character after it stays as it is. Any other comma becomes a blank, even in quotes.
 */
void words_add_options(words *list, const char *text);

bool ends_with(const char *text, const char *end);
bool begins_with(const char *text, const char *begin);

/* Returns the part of a path after its last slash. */
const char *base_name(const char *path);

/*
 * Returns `path` without its folders. `ending` replaces the last dot of the name and all after it.
 */
char *renamed(const char *path, const char *ending);

#endif
