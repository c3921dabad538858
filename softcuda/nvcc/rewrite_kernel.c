/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/rewrite.h"

#include <string.h>

#include "softcuda/nvcc/launch_flags.h"
#include "softcuda/nvcc/text.h"

static const char *const types[] = {
    "int",    "unsigned", "signed",  "char",  "short",        "long",       "float",
    "double", "bool",     "void",    "const", "class",        "typename",   "auto",
    "struct", "volatile", "wchar_t", "enum",  "__restrict__", "__restrict", "__grid_constant__",
    NULL};

/* Words in a type that are not a type by themselves. */
static const char *const additions[] = {
    "const",        "volatile",   "typename",          "struct", "class", "enum",
    "__restrict__", "__restrict", "__grid_constant__", NULL};

/* The end of the parameter that begins at i: the token of a comma, or `end`. */
static size_t end_of_part(const source *s, size_t i, size_t end)
{
    bool value = false;
    for (; i < end; i++) {
        if (token_is(s, i, ","))
            return i;
        if (token_is(s, i, "="))
            value = true;
        if (token_is(s, i, "(") || token_is(s, i, "[") || token_is(s, i, "{")) {
            i = s->tokens[i].match;
        } else if (token_is(s, i, "<") && !(value && s->tokens[i - 1].kind == TOKEN_NUMBER)) {
            size_t close = angle_match(s, i, end);
            if (close != NO_TOKEN)
                i = close;
        }
    }
    return end;
}

/*
 * The token of the name that a parameter such as `T x = value`, `T x[]`, `T (*x)(int)` or `class T`
 * declares; NO_TOKEN if there is none.
 */
static size_t declared_name(const source *s, size_t i, size_t end, bool *pack)
{
    size_t name = NO_TOKEN;
    for (; i < end && !token_is(s, i, "="); i++) {
        if (token_is(s, i, "(") && token_is(s, i + 1, "*") && token_is_name(s, i + 2))
            return i + 2;
        if (token_is(s, i, "(") || token_is(s, i, "[")) {
            i = s->tokens[i].match;
        } else if (token_is(s, i, "<")) {
            size_t close = angle_match(s, i, end);
            if (close != NO_TOKEN)
                i = close;
            name = NO_TOKEN;
        } else if (token_is(s, i, ".")) {
            *pack = true;
            name = NO_TOKEN;
        } else if (token_is(s, i, "*") || token_is(s, i, "&") || token_is(s, i, "::")) {
            name = NO_TOKEN;
        } else if (token_is_name(s, i)) {
            name = token_in(s, i, types) ? NO_TOKEN : i;
        }
    }
    return name;
}

/* Whether the parameter has a name after its type: `const T` and `A::B` are only types. */
static bool is_named(const source *s, size_t first, size_t name)
{
    if (name == NO_TOKEN || token_is(s, name - 1, "::"))
        return false;
    for (size_t i = first; i < name; i++)
        if (token_is_name(s, i) && !token_in(s, i, additions))
            return true;
    return false;
}

/* The type of an unnamed parameter; NULL if it is unknown. */
static const char *unnamed_type(const source *s, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        if (token_is(s, i, "(") || token_is(s, i, "[") || token_is(s, i, ".") ||
            token_is(s, i, "__grid_constant__"))
            return NULL;
        if (token_is(s, i, "="))
            end = i;
    }
    return end > first ? tokens_text(s, first, end - 1) : NULL;
}

/* The names of the template's parameters, separated by commas; NULL if a parameter has no name. */
static const char *arguments_of(const source *s, size_t open, size_t close)
{
    char *text = keep_text("%s", "");
    for (size_t i = open + 1, end; i < close; i = end + 1) {
        end = end_of_part(s, i, close);
        bool pack = false;
        size_t name = declared_name(s, i, end, &pack);
        if (name == NO_TOKEN)
            return NULL;
        text =
            keep_text("%s%s%s%s", text, *text ? ", " : "", token_text(s, name), pack ? "..." : "");
    }
    return text;
}

/* The types of the function's parameters, separated by commas; NULL if a type is unknown. */
static const char *types_of(const source *s, size_t open, size_t close)
{
    char *text = keep_text("%s", "");
    for (size_t i = open + 1, end; i < close; i = end + 1) {
        end = end_of_part(s, i, close);
        bool pack = false;
        size_t name = declared_name(s, i, end, &pack);
        if (end == i + 1 && token_is(s, i, "void"))
            return text;
        const char *type = is_named(s, i, name) ? keep_text("decltype(%s)", token_text(s, name))
                                                : unnamed_type(s, i, end);
        if (!type)
            return NULL;
        text = keep_text("%s%s::gr_cuhost::parameter<%s>%s", text, *text ? ", " : "", type,
                         pack ? "..." : "");
    }
    return text;
}

/*
 * The name of the kernel with its template arguments, cast to its type; "" if the type is unknown.
 */
static const char *typed_address_of(const source *s, const declaration *k)
{
    const char *name = tokens_text(s, k->name, k->params - 1);
    if (k->header != NO_TOKEN && k->params == k->name + 1) {
        size_t close = angle_match(s, k->header, k->params);
        const char *arguments = arguments_of(s, k->header, close);
        if (!arguments)
            return "";
        if (*arguments) /* the list of template <> is empty */
            name = keep_text("%s<%s>", name, arguments);
    }
    const char *params = types_of(s, k->params, s->tokens[k->params].match);
    if (!params)
        return "";
    return keep_text(", static_cast<void (*)(%s)>(&%s)", params, name);
}

/*
 * The specifiers of the function object. They depend on the compiler and its options, for which
 * grinterop_nvcc_launch.hpp declares the names below.
 */
static const char *specifiers_of(const source *s)
{
    if (strstr(s->text, "kernels_are_called"))
        return "mutable";
    return strstr(s->text, "attributes_before_mutable") ? "__attribute__((always_inline)) mutable"
                                                        : "mutable __attribute__((always_inline))";
}

/* In messages, a specialisation such as name<int> has the plain name. */
void rewrite_kernel(source *s, const declaration *k, unsigned flags)
{
    const char *name = token_text(s, k->name);
    const char *given = flags & LAUNCH_GIVEN ? "[[maybe_unused]] const ::uint3 threadIdx, "
                                               "[[maybe_unused]] const ::uint3 blockIdx, "
                                               "[[maybe_unused]] const ::dim3 blockDim, "
                                               "[[maybe_unused]] const ::dim3 gridDim"
                                             : "";
    const char *guard = flags & LAUNCH_GUARD ? ", ::gr_cuhost::guard &gr_cuhost_guard" : "";
    token_put_after(s, k->body,
                    keep_text(" struct gr_cuhost_name { static constexpr const char *text() "
                              "{ return \"%s\"; } }; ::gr_cuhost::launch<%uu, gr_cuhost_name%s>("
                              "[=](%s%s) %s {{",
                              name, flags, typed_address_of(s, k), given, guard, specifiers_of(s)));
    token_put_before(s, k->last, "}}); ");
}
