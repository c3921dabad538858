/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/names.h"

#include <string.h>

bool names_are_same(const source *s, size_t a, size_t b)
{
    const size_t length = s->tokens[a].end - s->tokens[a].begin;
    return s->tokens[b].end - s->tokens[b].begin == length &&
           memcmp(s->text + s->tokens[a].begin, s->text + s->tokens[b].begin, length) == 0;
}

void names_add(names *own, size_t token, enum name_kind kind)
{
    if (own->count == MOST_NAMES)
        return;
    own->tokens[own->count] = token;
    own->kinds[own->count++] = kind;
}

enum name_kind names_find(const source *s, size_t i, const names *own)
{
    for (size_t k = 0; k < own->count; k++)
        if (names_are_same(s, i, own->tokens[k]))
            return own->kinds[k];
    return NAME_UNKNOWN;
}
