/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/rewrite.h"

#include "softcuda/nvcc/text.h"

static size_t statement_begin(const source *s, size_t i)
{
    while (i > 0 && !token_is(s, i - 1, ";") && !token_is(s, i - 1, "{") &&
           !token_is(s, i - 1, "}") && !token_is(s, i - 1, ":"))
        i--;
    return i;
}

static size_t statement_end(const source *s, size_t i)
{
    while (i < s->count && !token_is(s, i, ";")) {
        if (token_is(s, i, "(") || token_is(s, i, "[") || token_is(s, i, "{"))
            i = s->tokens[i].match;
        i++;
    }
    return i;
}

static size_t find_word(const source *s, size_t first, size_t last, const char *word)
{
    for (size_t i = first; i <= last; i++)
        if (token_is(s, i, word))
            return i;
    return NO_TOKEN;
}

static bool is_in_function(const declarations *found, size_t i)
{
    for (size_t k = 0; k < found->count; k++) {
        const declaration *d = &found->items[k];
        if (d->what == DECLARED_FUNCTION && d->body != NO_TOKEN && i > d->body && i < d->last)
            return true;
    }
    return false;
}

/* Removes the alignment of the array itself, because its memory is aligned for any type. */
static void remove_alignment(source *s, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++)
        if ((token_is(s, i, "__attribute__") || token_is(s, i, "alignas")) &&
            token_is(s, i + 1, "("))
            tokens_remove(s, i, s->tokens[i + 1].match);
}

/*
 * Makes an array a reference to the block's memory:
 *     extern __shared__ T x[][2];  ->  T (&x)[][2] = *(T (*)[][2])shared();
 * At file scope there is no block yet, so x becomes an object that looks up the memory at each use.
 */
static void rewrite_extern(source *s, const declarations *found, size_t first, size_t last)
{
    size_t open = find_word(s, first, last, "[");
    if (open == NO_TOKEN || !token_is_name(s, open - 1))
        token_die(s, first, "an `extern __shared__` variable must be an array: T name[];");
    size_t name = open - 1;
    tokens_remove(s, find_word(s, first, last, "extern"), find_word(s, first, last, "extern"));
    tokens_remove(s, find_word(s, first, last, "__shared__"),
                  find_word(s, first, last, "__shared__"));
    remove_alignment(s, first, name);
    const char *type = tokens_text(s, first, name - 1);
    const char *extents = tokens_text(s, open, last - 1);
    if (is_in_function(found, first)) {
        token_put_before(s, name, "(&");
        token_put_after(s, name, ")");
        token_put_after(s, last - 1,
                        keep_text(" = *(%s (*)%s)::gr_cuhost::shared()", type, extents));
        return;
    }
    const char *inner = tokens_text(s, s->tokens[open].match + 1, last - 1);
    const char *named = token_text(s, name);
    tokens_remove(s, first, last - 1);
    token_put_before(s, first,
                     keep_text("[[maybe_unused]] static const ::gr_cuhost::shared_array<%s%s> "
                               "%s = {}",
                               type, inner, named));
}

void rewrite_shared(source *s, const declarations *found)
{
    for (size_t i = 0; i < s->count; i++) {
        if (!token_is(s, i, "__shared__"))
            continue;
        size_t first = statement_begin(s, i), last = statement_end(s, i);
        if (find_word(s, first, i, "extern") != NO_TOKEN ||
            (last > i && find_word(s, i, last, "extern") != NO_TOKEN))
            rewrite_extern(s, found, first, last);
        else if (find_word(s, first, last, "static") != NO_TOKEN)
            token_replace(s, i, "thread_local");
        else if (token_is(s, i + 1, "alignas") && token_is(s, i + 2, "(")) {
            /* C++ allows alignas only before or after these words. */
            token_put_after(s, s->tokens[i + 2].match, " static thread_local");
            tokens_remove(s, i, i);
        } else
            token_replace(s, i, "static thread_local");
    }
}
