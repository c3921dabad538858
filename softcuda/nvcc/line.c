/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/line.h"

const char *const line_types[] = {"const",    "unsigned", "signed",   "int",     "long",
                                  "uint",     "ulong",    "size_t",   "ssize_t", "int32_t",
                                  "uint32_t", "int64_t",  "uint64_t", "auto",    NULL};

static bool are_types(const source *s, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (!token_in(s, i, line_types))
            return false;
    return end > first;
}

size_t line_cast_end(const source *s, size_t i)
{
    if (token_is(s, i, "(") && are_types(s, i + 1, s->tokens[i].match))
        return s->tokens[i].match + 1;
    if (token_is(s, i, "static_cast")) {
        const size_t close = angle_match(s, i + 1, s->count);
        return close != NO_TOKEN && are_types(s, i + 2, close) ? close + 1 : i;
    }
    return token_in(s, i, line_types) && token_is(s, i + 1, "(") ? i + 1 : i;
}

/* The token after `blockIdx.x`, which may have a cast or parentheses. */
static size_t place_end(const source *s, size_t i, const char *place)
{
    i = line_cast_end(s, i);
    if (token_is(s, i, "(")) {
        const size_t close = s->tokens[i].match;
        return place_end(s, i + 1, place) == close ? close + 1 : NO_TOKEN;
    }
    return token_is(s, i, place) && token_is(s, i + 1, ".") && token_is(s, i + 2, "x") ? i + 3
                                                                                       : NO_TOKEN;
}

static size_t pair_end(const source *s, size_t i, const char *first, const char *mark,
                       const char *second)
{
    i = place_end(s, i, first);
    return i != NO_TOKEN && token_is(s, i, mark) ? place_end(s, i + 1, second) : NO_TOKEN;
}

static size_t either_end(const source *s, size_t i, const char *mark)
{
    const size_t end = pair_end(s, i, "blockIdx", mark, "blockDim");
    return end != NO_TOKEN ? end : pair_end(s, i, "blockDim", mark, "blockIdx");
}

/* The token after `blockIdx.x * blockDim.x`. */
static size_t product_end(const source *s, size_t i)
{
    const size_t end = either_end(s, i, "*");
    if (end != NO_TOKEN)
        return end;
    i = line_cast_end(s, i);
    if ((token_is(s, i, "__mul24") || token_is(s, i, "__umul24")) && token_is(s, i + 1, "(")) {
        const size_t close = s->tokens[i + 1].match;
        return either_end(s, i + 2, ",") == close ? close + 1 : NO_TOKEN;
    }
    if (!token_is(s, i, "("))
        return NO_TOKEN;
    const size_t close = s->tokens[i].match;
    return product_end(s, i + 1) == close ? close + 1 : NO_TOKEN;
}

size_t line_index_end(const source *s, size_t i)
{
    size_t end = product_end(s, i);
    if (end != NO_TOKEN && token_is(s, end, "+") &&
        (end = place_end(s, end + 1, "threadIdx")) != NO_TOKEN)
        return end;
    end = place_end(s, i, "threadIdx");
    return end != NO_TOKEN && token_is(s, end, "+") ? product_end(s, end + 1) : NO_TOKEN;
}

size_t line_stride_end(const source *s, size_t i)
{
    const size_t end = pair_end(s, i, "gridDim", "*", "blockDim");
    return end != NO_TOKEN ? end : pair_end(s, i, "blockDim", "*", "gridDim");
}

/*
 * The sum is a whole expression if one of marks_before precedes it and none of marks_behind follows
 * it.
 */
static const char *const marks_before[] = {"=", "(", ",", "[",      "{", "<",
                                           ">", "?", ":", "return", NULL};
static const char *const marks_behind[] = {"*", "/", "%", ".", "->", "[", "(", NULL};

bool line_uses_x(const source *s, size_t i)
{
    return (token_is(s, i, "threadIdx") || token_is(s, i, "blockIdx")) &&
           !(token_is(s, i + 1, ".") && (token_is(s, i + 2, "y") || token_is(s, i + 2, "z")));
}

bool line_uses_index_only(const source *s, const declaration *kernel)
{
    for (size_t i = kernel->body + 1; i < kernel->last;) {
        const size_t end = token_in(s, i - 1, marks_before) ? line_index_end(s, i) : NO_TOKEN;
        if (end != NO_TOKEN && !token_in(s, end, marks_behind))
            i = end;
        else if (line_uses_x(s, i))
            return false;
        else
            i++;
    }
    return true;
}
