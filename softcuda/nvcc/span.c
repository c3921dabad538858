/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/span.h"

#include "softcuda/nvcc/line.h"

bool span_is_uniform(const source *s, size_t first, size_t end, const names *own)
{
    for (size_t i = first; i < end; i++) {
        if (line_uses_x(s, i))
            return false;
        const enum name_kind kind = token_is(s, i - 1, ".") ? NAME_UNIFORM : names_find(s, i, own);
        if (kind == NAME_INDEX || kind == NAME_OTHER)
            return false;
    }
    return true;
}

static bool is_in_brackets(const source *s, size_t first, size_t end)
{
    return token_is(s, first, "(") && s->tokens[first].match + 1 == end;
}

bool span_is_index(const source *s, size_t first, size_t end, const names *own)
{
    if (line_index_end(s, first) == end)
        return true;
    if (first + 1 == end)
        return names_find(s, first, own) == NAME_INDEX;
    const size_t behind = line_cast_end(s, first);
    if (behind != first)
        return span_is_index(s, behind, end, own);
    return is_in_brackets(s, first, end) && span_is_index(s, first + 1, end - 1, own);
}

/*
 * The next token outside brackets. The <> of a cast is skipped, too, because it is not a
 * comparison.
 */
static size_t next(const source *s, size_t i)
{
    if (token_is(s, i, "static_cast"))
        i = line_cast_end(s, i);
    if (token_is(s, i, "(") || token_is(s, i, "["))
        i = s->tokens[i].match;
    return i + 1;
}

typedef struct {
    size_t sign;  /* < or >; NO_TOKEN if there is no comparison */
    size_t right; /* the token after the operator */
} comparison;

static comparison find_comparison(const source *s, size_t first, size_t end)
{
    static const char *const others[] = {"&", "|", "^", "?", "!", ",", "=", NULL};
    static const comparison none = {NO_TOKEN, NO_TOKEN};
    comparison found = none;
    for (size_t i = first; i < end; i = next(s, i)) {
        if (found.sign != NO_TOKEN && i < found.right)
            continue;
        if (token_in(s, i, others))
            return none;
        if (!token_is(s, i, "<") && !token_is(s, i, ">"))
            continue;
        if (found.sign != NO_TOKEN)
            return none;
        found = (comparison){i, token_is(s, i + 1, "=") ? i + 2 : i + 1};
    }
    return found;
}

static bool has_index_left(const source *s, size_t first, comparison c, size_t end,
                           const names *own)
{
    return span_is_index(s, first, c.sign, own) && span_is_uniform(s, c.right, end, own);
}

static bool has_index_right(const source *s, size_t first, comparison c, size_t end,
                            const names *own)
{
    return span_is_uniform(s, first, c.sign, own) && span_is_index(s, c.right, end, own);
}

/*
 * Whether this compares the index with a value. The index grows along a row, so the result changes
 * at most once.
 */
static bool is_comparison(const source *s, size_t first, size_t end, const names *own)
{
    const comparison c = find_comparison(s, first, end);
    return c.sign != NO_TOKEN &&
           (has_index_left(s, first, c, end, own) || has_index_right(s, first, c, end, own));
}

bool span_is_limit(const source *s, size_t first, size_t end, const names *own)
{
    const comparison c = find_comparison(s, first, end);
    if (c.sign == NO_TOKEN)
        return false;
    return token_is(s, c.sign, "<") ? has_index_left(s, first, c, end, own)
                                    : has_index_right(s, first, c, end, own);
}

bool span_is_condition(const source *s, size_t first, size_t end, const char *join,
                       const names *own)
{
    if (span_is_uniform(s, first, end, own))
        return true;
    if (is_in_brackets(s, first, end))
        return span_is_condition(s, first + 1, end - 1, join, own);
    for (size_t i = first; i < end; i = next(s, i)) {
        if (token_is_twice(s, i, join))
            return span_is_condition(s, first, i, join, own) &&
                   span_is_condition(s, i + 2, end, join, own);
        if (token_is_twice(s, i, "|")) /* || has a lower precedence than && */
            return false;
    }
    return is_comparison(s, first, end, own);
}
