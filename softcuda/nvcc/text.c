/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header before each piece of memory that keep() returns. */
typedef union piece {
    union piece *next;
    max_align_t align;
} piece;

static piece *pieces;

static void free_pieces(void)
{
    while (pieces) {
        piece *next = pieces->next;
        free(pieces);
        pieces = next;
    }
}

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("grinterop-nvcc: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void *keep(size_t size)
{
    if (!pieces)
        atexit(free_pieces);
    piece *p = calloc(1, sizeof(*p) + size);
    if (!p)
        die("out of memory");
    p->next = pieces;
    pieces = p;
    return p + 1;
}

char *keep_bytes(const char *bytes, size_t length)
{
    char *text = keep(length + 1);
    memcpy(text, bytes, length);
    return text;
}

char *keep_text(const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        die("formatting a text failed");
    char *text = keep((size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void words_add(words *list, const char *word)
{
    if (list->count + 2 > list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        const char **items = keep(room * sizeof(*items));
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof(*items));
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = word;
    list->items[list->count] = NULL;
}

void words_add_all(words *list, const words *more)
{
    for (size_t i = 0; i < more->count; i++)
        words_add(list, more->items[i]);
}

void words_add_parts(words *list, const char *text)
{
    char *part = keep(strlen(text) + 1);
    size_t length = 0;
    for (; *text; text++) {
        if (*text == ',') {
            words_add(list, keep_bytes(part, length));
            length = 0;
            continue;
        }
        if (*text == '\\' && text[1] == ',')
            text++;
        part[length++] = *text;
    }
    words_add(list, keep_bytes(part, length));
}

void words_add_shell(words *list, const char *text)
{
    char *word = keep(strlen(text) + 1);
    size_t length = 0;
    bool begun = false;
    char quote = '\0';
    for (; *text; text++) {
        if (quote ? *text == quote : *text == '"' || *text == '\'') {
            quote = quote ? '\0' : *text;
            begun = true;
        } else if (*text == '\\' && text[1] && quote != '\'') {
            word[length++] = *++text;
            begun = true;
        } else if (isspace((unsigned char)*text) && !quote) {
            if (begun)
                words_add(list, keep_bytes(word, length));
            begun = false;
            length = 0;
        } else {
            word[length++] = *text;
            begun = true;
        }
    }
    if (begun)
        words_add(list, keep_bytes(word, length));
}

void words_add_options(words *list, const char *text)
{
    char *line = keep(strlen(text) + 1), *to = line;
    for (; *text; text++) {
        if (*text == '\\' && text[1])
            *to++ = *++text;
        else
            *to++ = *text == ',' ? ' ' : *text;
    }
    *to = '\0';
    words_add_shell(list, line);
}

bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *renamed(const char *path, const char *ending)
{
    const char *name = base_name(path);
    const char *dot = strrchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    return keep_text("%.*s%s", (int)length, name, ending);
}
