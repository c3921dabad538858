/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/rewrite.h"

#include "softcuda/nvcc/text.h"

/*
 * Whether a launch begins at i with `<<<`. An operator<< with template arguments also contains
 * these tokens.
 */
static bool begins_launch(const source *s, size_t i)
{
    return token_is(s, i, "<") && token_is(s, i + 1, "<") && token_is(s, i + 2, "<") &&
           !(i > 0 && token_is(s, i - 1, "operator"));
}

static bool ends_launch(const source *s, size_t i)
{
    return token_is(s, i, ">") && token_is(s, i + 1, ">") && token_is(s, i + 2, ">") &&
           token_is(s, i + 3, "(");
}

/* The >>> that matches the <<< at i. Brackets between the two are skipped. */
static size_t launch_end(const source *s, size_t i)
{
    for (i += 3; i < s->count; i++) {
        if (ends_launch(s, i))
            return i;
        if (token_is(s, i, "(") || token_is(s, i, "[") || token_is(s, i, "{"))
            i = s->tokens[i].match;
        else if (token_is(s, i, ";") || token_is(s, i, "}"))
            break;
    }
    return NO_TOKEN;
}

/* The < that matches the > at i. */
static size_t angle_open(const source *s, size_t i)
{
    size_t depth = 0;
    for (;; i--) {
        if (token_is(s, i, ">"))
            depth++;
        else if (token_is(s, i, "<") && --depth == 0)
            return i;
        else if (token_is(s, i, ")") || token_is(s, i, "]") || token_is(s, i, "}"))
            i = s->tokens[i].match;
        if (i == 0 || token_is(s, i, ";"))
            return NO_TOKEN;
    }
}

/*
 * The first token of the operand that ends before i, such as k, k<T>, a[i], (*f), a.b, a->b or
 * ns::k.
 */
static size_t operand_begin(const source *s, size_t i)
{
    for (;;) {
        size_t at = i - 1;
        if (token_is(s, at, ">"))
            at = angle_open(s, at) - 1; /* the name before the < */
        while (token_is(s, at, "]") || token_is(s, at, ")")) {
            at = s->tokens[at].match;
            if (at > 0 &&
                (token_is_name(s, at - 1) || token_is(s, at - 1, "]") ||
                 token_is(s, at - 1, ")")) &&
                !token_is(s, at - 1, "return"))
                at--;
            else
                break;
        }
        if (at == 0)
            return 0;
        if (token_is(s, at - 1, "template"))
            at--;
        if (token_is(s, at - 1, ".") || token_is(s, at - 1, "->")) {
            i = at - 1;
            continue;
        }
        if (!token_is(s, at - 1, "::"))
            return at;
        i = at - 1;
        if (i == 0 || !(token_is_name(s, i - 1) || token_is(s, i - 1, ">")) ||
            token_is(s, i - 1, "return") || token_is(s, i - 1, "else"))
            return i;
    }
}

/* Moves the called function after the configuration, which must be evaluated first. */
static void rewrite_one(source *s, size_t open)
{
    size_t close = launch_end(s, open);
    if (close == NO_TOKEN)
        token_die(s, open, "this <<< has no >>>( after it");
    size_t first = operand_begin(s, open);
    const char *called = tokens_text(s, first, open - 1);
    tokens_remove(s, first, open - 1);
    token_replace(s, open, "(::gr_cuhost::configure(");
    tokens_remove(s, open + 1, open + 2);
    token_replace(s, close, keep_text("), %s", called));
    tokens_remove(s, close + 1, close + 2);
    token_put_after(s, s->tokens[close + 3].match, ")");
}

void rewrite_launches(source *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (begins_launch(s, i))
            rewrite_one(s, i);
}
