/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A preprocessed program as tokens, and the changes to make. System headers are not read as tokens:
 * they contain whole declarations, and only the qualifiers of CUDA are removed from them.
 */
#ifndef GR_SOFTCUDA_NVCC_SOURCE_H
#define GR_SOFTCUDA_NVCC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind {
    TOKEN_NAME, /* names and keywords */
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_CHARACTER,
    TOKEN_MARK, /* one punctuation character, or :: or -> */
};

typedef struct token {
    enum token_kind kind;
    size_t begin, end; /* where its text begins and ends */
    size_t match;      /* the partner of a bracket; NO_TOKEN for other tokens */
    const char *file;
    unsigned line;
    const char *instead; /* replaces its text; NULL if the text stays */
    const char *before;  /* inserted before it, or NULL */
    const char *after;
    bool is_step; /* a write at which lanes wait: rewrite_steps.c */
} token;

/* More than the number of nested includes that compilers allow. */
#define MOST_FILES 1024

typedef struct source {
    char *text;
    size_t length;
    token *tokens;
    size_t count;
    size_t room;
    const char *file; /* the file at the reader's position */
    unsigned line;
    bool system;
    size_t depth; /* the number of nested includes */
    bool systems[MOST_FILES + 1];
} source;

#define NO_TOKEN ((size_t)-1)

/* Reads the file into tokens; exits on failure. */
void source_read(source *s, const char *path);

/* Writes the text with all changes. */
void source_write(const source *s, const char *path);

/* Whether the token has this text. Any index is valid. */
bool token_is(const source *s, size_t i, const char *text);
bool token_is_name(const source *s, size_t i);

/* Whether this token and the next token both have this text, as in `++`. */
bool token_is_twice(const source *s, size_t i, const char *text);

/* Whether the token is one of the words of a NULL-terminated list. */
bool token_in(const source *s, size_t i, const char *const *list);

/* The text of the token, in memory from keep(). */
char *token_text(const source *s, size_t i);

/* The texts of the tokens from first to last, separated by blanks. Replaced tokens are left out. */
char *tokens_text(const source *s, size_t first, size_t last);

/* Insert text at a token. Texts for the same place are inserted in the order of the calls. */
void token_put_before(source *s, size_t i, const char *text);
void token_put_after(source *s, size_t i, const char *text);
void token_replace(source *s, size_t i, const char *text);
void tokens_remove(source *s, size_t first, size_t last);

/* The > that matches the < at i; NO_TOKEN if the < is a comparison. */
size_t angle_match(const source *s, size_t i, size_t end);

/* Prints a warning at the token's position, in the format of compilers. */
void token_warn(const source *s, size_t i, const char *sentence);

/* Like token_warn(), for an error. */
void token_error(const source *s, size_t i, const char *sentence);

/* Like token_error(), then exits. */
_Noreturn void token_die(const source *s, size_t i, const char *sentence);

#endif
