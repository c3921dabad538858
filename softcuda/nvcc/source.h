/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A preprocessed program as tokens, and the changes that are made to it. What stands in headers of
 * the system's has no tokens: it is whole declarations, and stays as it is but for CUDA's
 * qualifiers.
 */
#ifndef GR_SOFTCUDA_NVCC_SOURCE_H
#define GR_SOFTCUDA_NVCC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind {
    TOKEN_NAME, /* keywords, too */
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_CHARACTER,
    TOKEN_MARK, /* one character of punctuation, but for :: and -> */
};

typedef struct token {
    enum token_kind kind;
    size_t begin, end; /* of its text */
    size_t match;      /* of a bracket ( [ {: its partner, and back; else SIZE_MAX */
    const char *file;
    unsigned line;
    const char *instead; /* NULL: its own text */
    const char *before;  /* NULL: nothing */
    const char *after;
    bool is_step; /* of a warp: rewrite_steps.c */
} token;

/* More than compilers let files include each other. */
#define MOST_FILES 1024

typedef struct source {
    char *text;
    size_t length;
    token *tokens;
    size_t count;
    size_t room;
    const char *file; /* where the reader is */
    unsigned line;
    bool system;
    size_t depth; /* of files that include one another */
    bool systems[MOST_FILES + 1];
} source;

#define NO_TOKEN ((size_t)-1)

/* Reads the file into tokens. Ends the program if it can't. */
void source_read(source *s, const char *path);

/* Writes the text with all changes. */
void source_write(const source *s, const char *path);

/* Whether the token is that text. Any index may be asked for. */
bool token_is(const source *s, size_t i, const char *text);
bool token_is_name(const source *s, size_t i);

/* Whether it and the next one are both that text, as in `++`. */
bool token_is_twice(const source *s, size_t i, const char *text);

/* Whether the token is one of the words that a NULL ends. */
bool token_in(const source *s, size_t i, const char *const *list);

/* Kept. */
char *token_text(const source *s, size_t i);

/* The texts of first to last, with a blank between each two; those that were taken out are not in.
 */
char *tokens_text(const source *s, size_t first, size_t last);

/* Changes; those at the same place come in the order in which they are asked for. */
void token_put_before(source *s, size_t i, const char *text);
void token_put_after(source *s, size_t i, const char *text);
void token_replace(source *s, size_t i, const char *text);
void tokens_remove(source *s, size_t first, size_t last);

/* The > of the < at i, or NO_TOKEN where it is a comparison. */
size_t angle_match(const source *s, size_t i, size_t end);

/* Prints a warning at the token's place, in the way of compilers. */
void token_warn(const source *s, size_t i, const char *sentence);

/* Prints an error at the token's place, in the way of compilers. */
void token_error(const source *s, size_t i, const char *sentence);

/* The same, and ends the program. */
_Noreturn void token_die(const source *s, size_t i, const char *sentence);

#endif
