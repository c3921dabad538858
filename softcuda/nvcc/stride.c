/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/stride.h"

#include "softcuda/nvcc/line.h"
#include "softcuda/nvcc/span.h"

typedef struct {
    size_t open, first, second, close; /* the parentheses and semicolons of the loop's head */
    size_t name;                       /* the loop variable */
} loop;

static const char *const keywords[] = {"if", "for", "while", "do", "switch", "return", NULL};

static size_t next_semicolon(const source *s, size_t i, size_t end)
{
    while (i < end && !token_is(s, i, ";"))
        i++;
    return i;
}

bool stride_is_rest(const source *s, size_t i, size_t last)
{
    if (token_is(s, i, "{"))
        return s->tokens[i].match + 1 == last;
    return !token_in(s, i, keywords) && next_semicolon(s, i, last) + 1 == last;
}

static bool find_loop(const source *s, size_t i, loop *l)
{
    if (!token_is(s, i, "for") || !token_is(s, i + 1, "("))
        return false;
    l->open = i + 1;
    l->close = s->tokens[l->open].match;
    l->first = next_semicolon(s, l->open, l->close);
    l->second = next_semicolon(s, l->first + 1, l->close);
    for (l->name = l->open + 1; token_in(s, l->name, line_types);)
        l->name++;
    return l->second < l->close && l->name > l->open + 1 && token_is_name(s, l->name);
}

/* Whether the loop's step is `i += gridDim.x * blockDim.x`. */
static bool is_step(const source *s, const loop *l, const names *own)
{
    const size_t i = l->second + 1;
    if (names_find(s, i, own) != NAME_INDEX || !token_is(s, i + 1, "+") || !token_is(s, i + 2, "="))
        return false;
    return line_stride_end(s, i + 3) == l->close ||
           (i + 4 == l->close && names_find(s, i + 3, own) == NAME_STRIDE);
}

/*
 * Whether the variable at i may be changed here: `x = 1`, `x += 1`, `x <<= 1`, `x++`, `--x`, `&x`.
 */
static bool is_changed(const source *s, size_t i)
{
    static const char *const marks[] = {"+", "-", "*", "/", "%", "&", "|", "^", NULL};
    if (token_is(s, i + 1, "="))
        return !token_is(s, i + 2, "=");
    if (token_in(s, i + 1, marks) && token_is(s, i + 2, "="))
        return true;
    if ((token_is_twice(s, i + 1, "<") || token_is_twice(s, i + 1, ">")) && token_is(s, i + 3, "="))
        return true;
    if (token_is_twice(s, i + 1, "+") || token_is_twice(s, i + 1, "-") ||
        token_is_twice(s, i - 2, "+") || token_is_twice(s, i - 2, "-"))
        return true;
    return token_is(s, i - 1, "&") && !token_is(s, i - 2, "&");
}

/* Functions and statements that take their arguments by value. */
static const char *const functions[] = {"min",   "max",  "fma",   "fmaf",   "fminf",  "fmaxf",
                                        "fmin",  "fmax", "powf",  "pow",    "atan2f", "hypotf",
                                        "sqrtf", "sqrt", "expf",  "rsqrtf", "sinf",   "cosf",
                                        "fabsf", "if",   "while", "switch", "sizeof", NULL};

/* Whether the name may be passed to a function by reference. */
static bool is_passed_on(const source *s, size_t i)
{
    const bool alone = (token_is(s, i - 1, "(") || token_is(s, i - 1, ",")) &&
                       (token_is(s, i + 1, ")") || token_is(s, i + 1, ","));
    if (!alone)
        return false;
    size_t open = i - 1;
    while (!token_is(s, open, "(") && !token_is(s, open, ";") && !token_is(s, open, "{"))
        open =
            token_is(s, open, ")") || token_is(s, open, "]") ? s->tokens[open].match - 1 : open - 1;
    return !token_in(s, open - 1, functions);
}

/* Whether a round may affect another round, or depend on which thread runs it. */
static bool has_dependency(const source *s, size_t first, size_t last, const loop *l,
                           const names *own)
{
    static const char *const words[] = {"break", "return", "goto", "static", NULL};
    for (size_t i = first; i < last; i++) {
        if (token_in(s, i, words) || line_uses_x(s, i))
            return true;
        if (!token_is_name(s, i) || token_is(s, i - 1, ".") || token_is(s, i - 1, "->"))
            continue;
        const enum name_kind kind = names_find(s, i, own);
        if (kind == NAME_OTHER || (kind == NAME_INDEX && !names_are_same(s, i, l->name)) ||
            (kind != NAME_UNKNOWN && (is_changed(s, i) || is_passed_on(s, i))))
            return true;
    }
    return false;
}

bool stride_rewrite(source *s, const declaration *kernel, size_t i, const names *outside)
{
    loop l;
    if (outside->others || outside->count == MOST_NAMES || !find_loop(s, i, &l) ||
        names_find(s, l.name, outside) != NAME_UNKNOWN || !token_is(s, l.name + 1, "=") ||
        !span_is_index(s, l.name + 2, l.first, outside))
        return false;
    names own = *outside;
    names_add(&own, l.name, NAME_INDEX);
    if (!span_is_limit(s, l.first + 1, l.second, &own) || !is_step(s, &l, &own) ||
        !stride_is_rest(s, l.close + 1, kernel->last) ||
        has_dependency(s, l.close + 1, kernel->last, &l, &own))
        return false;
    token_put_after(s, l.first, "gr_cuhost_guard.round(static_cast<bool>(");
    token_put_before(s, l.second, "))");
    token_put_before(s, l.close, ", gr_cuhost_guard.next()");
    return true;
}
