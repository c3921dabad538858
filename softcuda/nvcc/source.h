/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A preprocessed program as tokens, and the changes to make. System headers have no tokens: they
 * are whole declarations, and only CUDA's qualifiers are removed from them.
 */
#ifndef GR_SOFTCUDA_NVCC_SOURCE_H
#define GR_SOFTCUDA_NVCC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind {
    TOKEN_NAME, /* includes keywords */
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_CHARACTER,
    TOKEN_MARK, /* one punctuation character, or :: or -> */
};

typedef struct token {
    enum token_kind kind;
    size_t begin, end; /* offsets of its text */
    size_t match;      /* of a bracket: its partner; else NO_TOKEN */
    const char *file;
    unsigned line;
    const char *instead; /* NULL: its own text */
    const char *before;  /* NULL: nothing */
    const char *after;
    bool is_step; /* a step of a warp: rewrite_steps.c */
} token;

/* More nested includes than compilers allow. */
#define MOST_FILES 1024

typedef struct source {
    char *text;
    size_t length;
    token *tokens;
    size_t count;
    size_t room;
    const char *file; /* the reader's position */
    unsigned line;
    bool system;
    size_t depth; /* of nested includes */
    bool systems[MOST_FILES + 1];
} source;

#define NO_TOKEN ((size_t)-1)

/* Reads the file into tokens; exits on failure. */
void source_read(source *s, const char *path);

/* Writes the text with all changes. */
void source_write(const source *s, const char *path);

/* Whether the token is that text. Any index is valid. */
bool token_is(const source *s, size_t i, const char *text);
bool token_is_name(const source *s, size_t i);

/* Whether this token and the next one are both that text, as in `++`. */
bool token_is_twice(const source *s, size_t i, const char *text);

/* Whether the token is one of the words of a NULL-terminated list. */
bool token_in(const source *s, size_t i, const char *const *list);

/* Allocated by keep(). */
char *token_text(const source *s, size_t i);

/* The texts of first to last, separated by blanks, without replaced tokens. */
char *tokens_text(const source *s, size_t first, size_t last);

/* Changes. Several at the same place are applied in the order of the calls. */
void token_put_before(source *s, size_t i, const char *text);
void token_put_after(source *s, size_t i, const char *text);
void token_replace(source *s, size_t i, const char *text);
void tokens_remove(source *s, size_t first, size_t last);

/* The > that matches the < at i, or NO_TOKEN if it is a comparison. */
size_t angle_match(const source *s, size_t i, size_t end);

/* Prints a warning at the token's position, in the format of compilers. */
void token_warn(const source *s, size_t i, const char *sentence);

/* Prints an error likewise. */
void token_error(const source *s, size_t i, const char *sentence);

/* Prints an error likewise, and exits. */
_Noreturn void token_die(const source *s, size_t i, const char *sentence);

#endif
