/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/source.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/nvcc/text.h"

bool token_is(const source *s, size_t i, const char *text)
{
    if (i >= s->count)
        return false;
    const token *t = &s->tokens[i];
    size_t length = t->end - t->begin;
    return strncmp(s->text + t->begin, text, length) == 0 && text[length] == '\0';
}

bool token_is_twice(const source *s, size_t i, const char *text)
{
    return token_is(s, i, text) && token_is(s, i + 1, text);
}

bool token_is_name(const source *s, size_t i)
{
    return i < s->count && s->tokens[i].kind == TOKEN_NAME;
}

bool token_in(const source *s, size_t i, const char *const *list)
{
    for (; *list; list++)
        if (token_is(s, i, *list))
            return true;
    return false;
}

char *token_text(const source *s, size_t i)
{
    return keep_bytes(s->text + s->tokens[i].begin, s->tokens[i].end - s->tokens[i].begin);
}

char *tokens_text(const source *s, size_t first, size_t last)
{
    size_t length = 1;
    for (size_t i = first; i <= last && i < s->count; i++)
        length += s->tokens[i].end - s->tokens[i].begin + 1;
    char *text = keep(length), *to = text;
    for (size_t i = first; i <= last && i < s->count; i++) {
        const token *t = &s->tokens[i];
        if (t->instead)
            continue;
        if (to > text)
            *to++ = ' ';
        memcpy(to, s->text + t->begin, t->end - t->begin);
        to += t->end - t->begin;
    }
    return text;
}

void token_put_before(source *s, size_t i, const char *text)
{
    const char *old = s->tokens[i].before;
    s->tokens[i].before = old ? keep_text("%s%s", old, text) : text;
}

void token_put_after(source *s, size_t i, const char *text)
{
    const char *old = s->tokens[i].after;
    s->tokens[i].after = old ? keep_text("%s%s", old, text) : text;
}

void token_replace(source *s, size_t i, const char *text)
{
    s->tokens[i].instead = text;
}

void tokens_remove(source *s, size_t first, size_t last)
{
    for (size_t i = first; i <= last && i < s->count; i++)
        token_replace(s, i, "");
}

size_t angle_match(const source *s, size_t i, size_t end)
{
    size_t depth = 0;
    for (; i < end && i < s->count; i++) {
        if (token_is(s, i, "<"))
            depth++;
        else if (token_is(s, i, ">") && --depth == 0)
            return i;
        else if (token_is(s, i, "(") || token_is(s, i, "[") || token_is(s, i, "{"))
            i = s->tokens[i].match;
        else if (token_is(s, i, ";") || token_is(s, i, ")") || token_is(s, i, "}"))
            return NO_TOKEN;
    }
    return NO_TOKEN;
}

void token_warn(const source *s, size_t i, const char *sentence)
{
    const token *t = &s->tokens[i];
    fprintf(stderr, "%s:%u: warning: %s\n", t->file, t->line, sentence);
}

void token_error(const source *s, size_t i, const char *sentence)
{
    const token *t = &s->tokens[i];
    fprintf(stderr, "%s:%u: error: %s\n", t->file, t->line, sentence);
}

void token_die(const source *s, size_t i, const char *sentence)
{
    token_error(s, i, sentence);
    exit(1);
}

static void put(FILE *file, const char *text)
{
    if (text)
        fputs(text, file);
}

void source_write(const source *s, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        die("%s could not be written", path);
    size_t at = 0;
    for (size_t i = 0; i < s->count; i++) {
        const token *t = &s->tokens[i];
        fwrite(s->text + at, 1, t->begin - at, file);
        put(file, t->before);
        if (t->instead)
            fputs(t->instead, file);
        else
            fwrite(s->text + t->begin, 1, t->end - t->begin, file);
        put(file, t->after);
        at = t->end;
    }
    fwrite(s->text + at, 1, s->length - at, file);
    bool written = !ferror(file);
    if (fclose(file) != 0 || !written)
        die("%s could not be written: is the disk full?", path);
}
