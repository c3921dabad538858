/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/rewrite.h"

#include "softcuda/nvcc/text.h"

/* Whether the part of a declarator that follows its name begins at i. */
static bool ends_name(const source *s, size_t i)
{
    return token_is(s, i, "[") || token_is(s, i, "=") || token_is(s, i, "{") ||
           token_is(s, i, "(") || token_is(s, i, ",") || token_is(s, i, ";");
}

/*
 * Finds the name that is declared before the next , or ;. *behind is set to the token of that , or
 * ;.
 */
static size_t next_name(const source *s, size_t i, size_t last, size_t *behind)
{
    size_t name = NO_TOKEN;
    bool done = false;
    for (; i < last && !token_is(s, i, ","); i++) {
        if (token_is(s, i, "(") && token_is(s, i + 1, "*") && token_is_name(s, i + 2) && !done) {
            name = i + 2;
            done = true;
        }
        if (!done && token_is_name(s, i) && token_is(s, i + 1, "(") &&
            (token_is(s, i, "__attribute__") || token_is(s, i, "alignas") ||
             token_is(s, i, "decltype"))) {
            i = s->tokens[i + 1].match;
            continue;
        }
        if (!done && token_is_name(s, i) && ends_name(s, i + 1)) {
            name = i;
            done = true;
        }
        if (token_is(s, i, "(") || token_is(s, i, "[") || token_is(s, i, "{")) {
            i = s->tokens[i].match;
        } else if (token_is(s, i, "<") && !done) {
            size_t close = angle_match(s, i, last);
            if (close != NO_TOKEN)
                i = close;
        }
    }
    *behind = i;
    return name;
}

/* The kind of the variable, a constant of grinterop/cuhost_launch.h. */
static const char *kind_of(const declaration *v)
{
    if (v->is_managed)
        return "GR_CUHOST_MANAGED";
    return v->is_constant ? "GR_CUHOST_CONSTANT" : "GR_CUHOST_DEVICE";
}

void rewrite_variable(source *s, const declaration *v, const rewrite_options *options)
{
    if (v->is_type || v->what != DECLARED_OTHER)
        return;
    if (v->is_extern || v->in_class || v->header != NO_TOKEN)
        return;
    if (!options->separate && !v->is_static)
        token_put_before(s, v->first, "static ");
    for (size_t i = v->first; i < v->last; i++) {
        size_t behind;
        size_t name = next_name(s, i, v->last, &behind);
        if (name != NO_TOKEN)
            token_put_after(s, v->last,
                            keep_text(" static const ::gr_cuhost::known_variable gr_cuhost_has_%s("
                                      "\"%s\", %s, %s);",
                                      token_text(s, name), token_text(s, name), token_text(s, name),
                                      kind_of(v)));
        i = behind;
    }
}
