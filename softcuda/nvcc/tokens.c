/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The reader of source.h, which converts text to tokens. */
#include "softcuda/nvcc/source.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/nvcc/libraries.h"
#include "softcuda/nvcc/qualifiers.h"
#include "softcuda/nvcc/text.h"

static bool begins_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_in_name(char c)
{
    return begins_name(c) || isdigit((unsigned char)c);
}

/*
 * The flags of a line marker, which follow the name of its file. 1 means that the file begins, 2
 * that the including file continues, and 3 that it is a system header. A 3 without another flag
 * marks a system macro in a line of the program.
 */
static void read_flags(source *s, const char *flags)
{
    bool begins = false, goes_on = false, system = false;
    for (; *flags && *flags != '\n'; flags++) {
        begins = begins || *flags == '1';
        goes_on = goes_on || *flags == '2';
        system = system || *flags == '3';
    }
    if (begins && s->depth < MOST_FILES)
        s->systems[++s->depth] = system;
    else if (goes_on && s->depth > 0)
        s->systems[--s->depth] = system;
    s->system = s->systems[s->depth];
}

/* Refuses a line of the program that includes a system header of a GPU library. */
static void refuse_header(const source *s, const char *header, const char *from, unsigned line)
{
    const char *refusal = s->system ? header_refusal(header) : NULL;
    if (!refusal)
        return;
    fprintf(stderr, "%s:%u: error: %s\n", from, line, refusal);
    exit(1);
}

/* Reads a line marker, `# 12 "name" 1 3`: the origin of the text after it. */
static void read_marker(source *s, const char *line)
{
    line += 1 + strspn(line + 1, " \t");
    if (begins_with(line, "line"))
        line += 4;
    char *end;
    unsigned long number = strtoul(line, &end, 10);
    if (end == line)
        return;
    unsigned line_before = s->line;
    s->line = (unsigned)number - 1; /* the newline after the marker adds 1 */
    const char *open = strchr(end, '"'), *newline = strchr(end, '\n');
    if (!open || (newline && open > newline))
        return;
    const char *close = open + 1;
    while (*close && *close != '"' && *close != '\n')
        close += close[0] == '\\' && close[1] ? 2 : 1;
    const char *from = s->file;
    bool outside = s->system;
    s->file = keep_bytes(open + 1, (size_t)(close - open - 1));
    if (*close == '"')
        read_flags(s, close + 1);
    if (!outside)
        refuse_header(s, s->file, from, line_before);
}

static token *new_token(source *s, enum token_kind kind, size_t begin, size_t end)
{
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 4096;
        token *tokens = keep(s->room * sizeof(*tokens));
        if (s->count > 0)
            memcpy(tokens, s->tokens, s->count * sizeof(*tokens));
        s->tokens = tokens;
    }
    token *t = &s->tokens[s->count++];
    *t = (token){.kind = kind,
                 .begin = begin,
                 .end = end,
                 .match = NO_TOKEN,
                 .file = s->file,
                 .line = s->line};
    return t;
}

static void add(source *s, enum token_kind kind, size_t begin, size_t end)
{
    if (!s->system)
        new_token(s, kind, begin, end);
    else if (kind == TOKEN_NAME && is_qualifier(s->text + begin, end - begin))
        memset(s->text + begin, ' ', end - begin);
}

/* Skips what the preprocessor leaves: #pragma and line markers. Returns the end of the line. */
static size_t skip_directive(source *s, size_t at)
{
    read_marker(s, s->text + at);
    while (s->text[at] && s->text[at] != '\n')
        at += s->text[at] == '\\' && s->text[at + 1] == '\n' ? 2 : 1;
    return at;
}

static size_t end_of_comment(source *s, size_t at)
{
    if (s->text[at + 1] == '/')
        return at + strcspn(s->text + at, "\n");
    const char *end = strstr(s->text + at + 2, "*/");
    size_t after = end ? (size_t)(end - s->text) + 2 : s->length;
    for (; at < after; at++)
        s->line += s->text[at] == '\n';
    return after;
}

static size_t end_of_quoted(const source *s, size_t at)
{
    char quote = s->text[at++];
    while (s->text[at] && s->text[at] != quote && s->text[at] != '\n')
        at += s->text[at] == '\\' && s->text[at + 1] ? 2 : 1;
    return s->text[at] == quote ? at + 1 : at;
}

/* The end of the raw string R"delimiter( ... )delimiter", whose quote is at `at`. */
static size_t end_of_raw(source *s, size_t at)
{
    size_t length = strcspn(s->text + at + 1, "(");
    const char *close = keep_text(")%.*s\"", (int)length, s->text + at + 1);
    const char *end = strstr(s->text + at, close);
    size_t after = end ? (size_t)(end - s->text) + strlen(close) : s->length;
    for (; at < after; at++)
        s->line += s->text[at] == '\n';
    return after;
}

/* The end of a number as the preprocessor defines it, such as 1'000.5e-3f. */
static size_t end_of_number(const source *s, size_t at)
{
    for (;; at++) {
        char c = s->text[at];
        if ((c == '+' || c == '-') && strchr("eEpP", s->text[at - 1]))
            continue;
        if (c == '\'' && is_in_name(s->text[at + 1]))
            continue;
        if (!is_in_name(c) && c != '.')
            return at;
    }
}

/* Reads a name, or a string or character with a prefix, such as u8"text". */
static size_t read_name(source *s, size_t at)
{
    size_t end = at;
    while (is_in_name(s->text[end]))
        end++;
    size_t length = end - at;
    bool prefix = length <= 3 && strspn(s->text + at, "uUL8R") == length;
    if (prefix && s->text[end] == '"') {
        bool raw = s->text[end - 1] == 'R';
        end = raw ? end_of_raw(s, end) : end_of_quoted(s, end);
        add(s, TOKEN_STRING, at, end);
    } else if (prefix && s->text[end] == '\'') {
        end = end_of_quoted(s, end);
        add(s, TOKEN_CHARACTER, at, end);
    } else {
        add(s, TOKEN_NAME, at, end);
    }
    return end;
}

static size_t read_mark(source *s, size_t at)
{
    const char *text = s->text + at;
    size_t length = begins_with(text, "::") || begins_with(text, "->") ? 2 : 1;
    add(s, TOKEN_MARK, at, at + length);
    return at + length;
}

static size_t read_token(source *s, size_t at)
{
    char c = s->text[at];
    size_t end;
    if (begins_name(c))
        return read_name(s, at);
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)s->text[at + 1]))) {
        end = end_of_number(s, at + 1);
        add(s, TOKEN_NUMBER, at, end);
    } else if (c == '"' || c == '\'') {
        end = end_of_quoted(s, at);
        add(s, c == '"' ? TOKEN_STRING : TOKEN_CHARACTER, at, end);
    } else {
        end = read_mark(s, at);
    }
    return end;
}

static void read_tokens(source *s)
{
    bool fresh = true; /* there were only blanks on this line so far */
    s->line = 1;
    for (size_t at = 0; at < s->length;) {
        char c = s->text[at];
        if (c == '\n') {
            s->line++;
            fresh = true;
            at++;
        } else if (isspace((unsigned char)c) || c == '\0') {
            at++;
        } else if (c == '#' && fresh) {
            at = skip_directive(s, at);
        } else if (c == '/' && (s->text[at + 1] == '/' || s->text[at + 1] == '*')) {
            at = end_of_comment(s, at);
        } else {
            fresh = false;
            at = read_token(s, at);
        }
    }
}

static void match_brackets(source *s)
{
    size_t *open = keep((s->count + 1) * sizeof(*open)), depth = 0;
    for (size_t i = 0; i < s->count; i++) {
        const char c = s->text[s->tokens[i].begin];
        if (s->tokens[i].kind != TOKEN_MARK)
            continue;
        if (strchr("([{", c)) {
            open[depth++] = i;
        } else if (strchr(")]}", c)) {
            if (depth == 0)
                token_die(s, i, keep_text("this '%c' has no opening bracket", c));
            size_t partner = open[--depth];
            const char *pair = "()[]{}";
            if (strchr(pair, s->text[s->tokens[partner].begin])[1] != c)
                token_die(s, i, keep_text("this '%c' does not match the open bracket", c));
            s->tokens[i].match = partner;
            s->tokens[partner].match = i;
        }
    }
    if (depth > 0)
        token_die(s, open[depth - 1], "this bracket is not closed");
}

static void read_text(source *s, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        die("%s could not be read", path);
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    rewind(file);
    if (size < 0)
        die("%s could not be read", path);
    s->text = keep((size_t)size + 1);
    s->length = fread(s->text, 1, (size_t)size, file);
    fclose(file);
}

void source_read(source *s, const char *path)
{
    *s = (source){.file = path};
    read_text(s, path);
    read_tokens(s);
    match_brackets(s);
}
