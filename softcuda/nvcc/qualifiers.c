/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/qualifiers.h"

#include <string.h>

static const char *const plain[] = {
    "__global__",      "__device__",        "__host__",    "__constant__",       "__managed__",
    "__tile_global__", "__grid_constant__", "__nv_pure__", "__device_builtin__", NULL};

static const char *const with_arguments[] = {"__launch_bounds__", "__cluster_dims__",
                                             "__block_size__",    "__maxnreg__",
                                             "__local_maxnreg__", NULL};

bool is_qualifier(const char *word, size_t length)
{
    for (const char *const *q = plain; *q; q++)
        if (strlen(*q) == length && memcmp(*q, word, length) == 0)
            return true;
    return false;
}

/*
 * Whether the word is an argument of __attribute__, as in __attribute__((__noinline__)): it then
 * belongs to the host compiler.
 */
static bool is_attribute(const source *s, size_t i)
{
    return i > 0 &&
           (token_is(s, i - 1, "(") || token_is(s, i - 1, ",") || token_is(s, i - 1, "::"));
}

void remove_qualifiers(source *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (!token_is_name(s, i))
            continue;
        if (token_in(s, i, plain))
            token_replace(s, i, "");
        else if (token_in(s, i, with_arguments) && token_is(s, i + 1, "("))
            tokens_remove(s, i, s->tokens[i + 1].match);
        else if (token_is(s, i, "__noinline__") && !is_attribute(s, i))
            token_replace(s, i, "__attribute__((noinline))");
    }
}
