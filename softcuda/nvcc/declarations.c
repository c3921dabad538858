/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/declarations.h"

#include <string.h>

#include "softcuda/nvcc/text.h"

static const char *const class_keys[] = {"class", "struct", "union", NULL};
static const char *const accesses[] = {"public", "private", "protected", NULL};
static const char *const with_arguments[] = {
    "__attribute__", "__attribute",       "__declspec",
    "alignas",       "decltype",          "__launch_bounds__",
    "noexcept",      "__cluster_dims__",  "explicit",
    "typeof",        "__typeof__",        "requires",
    "__maxnreg__",   "__local_maxnreg__", "throw",
    "asm",           "__asm__",           NULL};

/* The declaration that is being read, and what is known about it so far. */
typedef struct {
    const source *s;
    declarations *found;
    declaration d;
    size_t last_name;
    size_t class_key;
    bool is_enum;
    bool has_value; /* a = was read */
    bool has_list;  /* the : of a constructor's initialisers was read */
    size_t end;
} reader;

static void read_scope(const source *s, declarations *found, size_t at, size_t end, bool in_class);

static void record(reader *r, size_t last)
{
    declarations *f = r->found;
    if (f->count == f->room) {
        f->room = f->room ? 2 * f->room : 256;
        declaration *items = keep(f->room * sizeof(*items));
        if (f->count > 0)
            memcpy(items, f->items, f->count * sizeof(*items));
        f->items = items;
    }
    r->d.last = last;
    f->items[f->count++] = r->d;
}

static void note_word(reader *r, size_t i)
{
    const struct {
        const char *word;
        bool *flag;
    } words[] = {
        {"__global__", &r->d.is_global},   {"__device__", &r->d.is_device},
        {"__host__", &r->d.is_host},       {"__constant__", &r->d.is_constant},
        {"__managed__", &r->d.is_managed}, {"__shared__", &r->d.is_shared},
        {"extern", &r->d.is_extern},       {"static", &r->d.is_static},
        {"inline", &r->d.is_inline},       {"__inline__", &r->d.is_inline},
        {"__inline", &r->d.is_inline},     {"constexpr", &r->d.is_inline},
        {"friend", &r->d.is_friend},       {"typedef", &r->d.is_type},
        {"using", &r->d.is_type},          {"static_assert", &r->d.is_type},
    };
    for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
        if (token_is(r->s, i, words[k].word)) {
            *words[k].flag = true;
            return;
        }
    r->last_name = i;
}

/* Reads `template <...>`; returns the token after it. */
static size_t read_header(reader *r, size_t i)
{
    if (!token_is(r->s, i + 1, "<"))
        return i + 1;
    size_t close = angle_match(r->s, i + 1, r->end);
    if (close == NO_TOKEN)
        return i + 1;
    r->d.header = i + 1;
    return close + 1;
}

/* Reads `operator` and its symbol or type; returns the token of the parameters. */
static size_t read_operator(reader *r, size_t i)
{
    r->last_name = i++;
    if (token_is(r->s, i, "(")) /* operator() */
        i = r->s->tokens[i].match + 1;
    while (i < r->end && !token_is(r->s, i, "(") && !token_is(r->s, i, ";"))
        i++;
    return i;
}

/* Reads the `(` at i, which begins the parameters of a function or a part of a declarator. */
static size_t read_parentheses(reader *r, size_t i)
{
    const source *s = r->s;
    size_t close = s->tokens[i].match;
    bool pointer = token_is(s, i + 1, "*") || token_is(s, i + 1, "&");
    bool value =
        i + 1 < close && s->tokens[i + 1].kind != TOKEN_NAME && s->tokens[i + 1].kind != TOKEN_MARK;
    if (r->d.params == NO_TOKEN && r->last_name != NO_TOKEN && !pointer && !value &&
        !r->has_value) {
        r->d.params = i;
        r->d.name = r->last_name;
        r->d.is_qualified = r->last_name > 0 && token_is(s, r->last_name - 1, "::");
    }
    return close + 1;
}

/* Finds the name after the class key. Attributes may be between the class key and the name. */
static size_t class_name(const reader *r, size_t body)
{
    size_t name = NO_TOKEN;
    for (size_t i = r->class_key + 1; i < body; i++) {
        if (token_in(r->s, i, with_arguments) && token_is(r->s, i + 1, "("))
            i = r->s->tokens[i + 1].match;
        else if (token_is(r->s, i, ":") || token_is(r->s, i, "<"))
            break;
        else if (token_is_name(r->s, i) && !token_is(r->s, i, "final"))
            name = i;
    }
    return name;
}

/*
 * Reads the `{` at i. Returns true if it begins the body of a function, which ends the declaration.
 */
static bool read_braces(reader *r, size_t i)
{
    const source *s = r->s;
    size_t close = s->tokens[i].match;
    if (r->is_enum || r->has_value)
        return false;
    if (r->d.params == NO_TOKEN && r->class_key != NO_TOKEN) {
        declaration whole = r->d;
        r->d.what = DECLARED_CLASS;
        r->d.name = class_name(r, i);
        r->d.body = i;
        record(r, close);
        read_scope(s, r->found, i + 1, close, true);
        r->d = whole;
        r->class_key = NO_TOKEN;
        return false;
    }
    if (r->d.params == NO_TOKEN)
        return false;
    if (r->has_list && (token_is_name(s, i - 1) || token_is(s, i - 1, ">")))
        return false;
    r->d.what = DECLARED_FUNCTION;
    r->d.body = i;
    record(r, close);
    return true;
}

/*
 * Reads the inside of `namespace a::b {` or `extern "C" {`. Returns the token after the block, or
 * `i` if no block begins there.
 */
static size_t read_block(reader *r, size_t i)
{
    const source *s = r->s;
    size_t open = i + 1;
    if (token_is(s, i, "extern")) {
        if (i + 1 >= r->end || s->tokens[i + 1].kind != TOKEN_STRING)
            return i;
        r->d.is_extern_c = true;
        open = i + 2;
    } else {
        while (open < r->end && !token_is(s, open, "{") && !token_is(s, open, ";") &&
               !token_is(s, open, "="))
            open++;
    }
    if (open >= r->end || !token_is(s, open, "{"))
        return i;
    read_scope(s, r->found, open + 1, s->tokens[open].match, false);
    return s->tokens[open].match + 1;
}

static size_t read_name_token(reader *r, size_t i)
{
    const source *s = r->s;
    if (token_is(s, i, "template"))
        return read_header(r, i);
    if (token_is(s, i, "operator") && !r->has_value)
        return read_operator(r, i);
    if (token_in(s, i, with_arguments) && token_is(s, i + 1, "("))
        return s->tokens[i + 1].match + 1;
    if (token_in(s, i, class_keys) && r->d.params == NO_TOKEN)
        r->class_key = i;
    else if (token_is(s, i, "enum"))
        r->is_enum = true;
    else if (r->d.params == NO_TOKEN || !r->has_value)
        note_word(r, i);
    return i + 1;
}

/* Reads one token, or the brackets that it opens; returns the token after that. */
static size_t read_step(reader *r, size_t i)
{
    const source *s = r->s;
    if (token_is_name(s, i))
        return read_name_token(r, i);
    if (token_is(s, i, "("))
        return read_parentheses(r, i);
    if (token_is(s, i, "["))
        return s->tokens[i].match + 1;
    if (token_is(s, i, "="))
        r->has_value = true;
    else if (token_is(s, i, ":") && r->d.params != NO_TOKEN)
        r->has_list = true;
    else if (token_is(s, i, "<") && !r->has_value) {
        size_t close = angle_match(s, i, r->end);
        return close == NO_TOKEN ? i + 1 : close + 1;
    }
    return i + 1;
}

/* Reads the declaration that begins at `at`; returns the token after it. */
static size_t read_declaration(const source *s, declarations *found, size_t at, size_t end,
                               bool in_class)
{
    reader r = {.s = s, .found = found, .end = end};
    r.d = (declaration){.first = at,
                        .name = NO_TOKEN,
                        .params = NO_TOKEN,
                        .body = NO_TOKEN,
                        .header = NO_TOKEN,
                        .in_class = in_class};
    r.last_name = r.class_key = NO_TOKEN;
    for (size_t i = at; i < end;) {
        if (token_is(s, i, ";")) {
            r.d.what = r.d.params != NO_TOKEN && !r.d.is_type ? DECLARED_FUNCTION : DECLARED_OTHER;
            record(&r, i);
            return i + 1;
        }
        if (token_is(s, i, "{")) {
            size_t close = s->tokens[i].match;
            if (read_braces(&r, i))
                return close + 1;
            i = close + 1;
            continue;
        }
        if (token_is(s, i, "namespace") || token_is(s, i, "extern")) {
            size_t behind = read_block(&r, i);
            if (behind != i)
                return behind;
        }
        if (token_in(s, i, accesses) && token_is(s, i + 1, ":"))
            return i + 2;
        i = read_step(&r, i);
    }
    return end;
}

static void read_scope(const source *s, declarations *found, size_t at, size_t end, bool in_class)
{
    while (at < end)
        at = read_declaration(s, found, at, end, in_class);
}

void declarations_find(const source *s, declarations *found)
{
    *found = (declarations){0};
    read_scope(s, found, 0, s->count, false);
}
