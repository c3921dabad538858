/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/host_calls.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/nvcc/names.h"
#include "softcuda/nvcc/text.h"

/*
 * Words that make a function callable on the device. constexpr counts because of
 * --expt-relaxed-constexpr.
 */
static const char *const for_device[] = {"__device__", "device",    "__global__",
                                         "constexpr",  "consteval", NULL};
static const char *const unevaluated[] = {"decltype",    "sizeof",     "noexcept", "alignof",
                                          "typeid",      "__typeof__", "typeof",   "static_assert",
                                          "__alignof__", NULL};
/* Keywords that may precede a call. After any other word, such as a type, a name is declared. */
static const char *const before_calls[] = {"return",    "else",     "do",  "case",   "throw",
                                           "co_return", "goto",     "not", "and",    "or",
                                           "xor",       "co_yield", "new", "delete", NULL};
static const char *const conditions[] = {"for", "if", "while", "switch", NULL};

static bool is_inside(const declaration *outer, size_t i)
{
    return outer->first <= i && i <= outer->last;
}

/* Whether the line marker, such as `# 12 "name" 3`, begins a part of a system header. */
static bool marks_system(const char *marker)
{
    char flags[16];
    return sscanf(marker, "# %*u \"%*[^\"]\"%15[^\n]", flags) == 1 && strchr(flags, '3');
}

/*
 * Whether the token follows a #pragma GCC system_header. tokens.c treats such code as a system
 * macro.
 */
static bool is_in_system_header(const source *s, size_t i)
{
    for (const char *at = s->text + s->tokens[i].begin; at > s->text; at--)
        if (at[-1] == '\n' && at[0] == '#' && at[1] == ' ')
            return marks_system(at);
    return false;
}

static bool is_for_host(const source *s, const declaration *d)
{
    if (d->is_device || d->is_global || d->in_class || d->is_friend || d->is_qualified ||
        is_in_system_header(s, d->first))
        return false;
    for (size_t i = d->first; i < d->params; i++)
        if (token_in(s, i, for_device))
            return false;
    return true;
}

/* Whether all declarations of this name in the program are host functions. */
static bool is_declared_for_host(const source *s, const declarations *found, size_t name)
{
    bool seen = false;
    for (size_t k = 0; k < found->count; k++) {
        const declaration *d = &found->items[k];
        if (d->name == NO_TOKEN || !names_are_same(s, d->name, name))
            continue;
        if (d->what != DECLARED_FUNCTION || !is_for_host(s, d))
            return false;
        seen = true;
    }
    return seen;
}

/*
 * Whether the name only appears before parentheses. A variable, parameter or template of the same
 * name would also appear without them.
 */
static bool is_only_called(const source *s, size_t name)
{
    for (size_t i = 0; i < s->count; i++)
        if (token_is_name(s, i) && names_are_same(s, i, name) && !token_is(s, i + 1, "("))
            return false;
    return true;
}

static int compare_place(const void *place, const void *item)
{
    const size_t wanted = *(const size_t *)place, begin = ((const token *)item)->begin;
    return (wanted > begin) - (wanted < begin);
}

static bool is_token_at(const source *s, size_t place)
{
    return bsearch(&place, s->tokens, s->count, sizeof(*s->tokens), compare_place) != NULL;
}

static bool is_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether a system header, such as a header of CUDA or the C++ library, also contains the word. */
static bool is_in_system(const source *s, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = s->text; (at = strstr(at, word)); at += length) {
        if ((at > s->text && is_in_word(at[-1])) || is_in_word(at[length]))
            continue;
        const char *behind = at + length;
        while (isspace((unsigned char)*behind))
            behind++;
        if (*behind && strchr("(<{:", *behind) && !is_token_at(s, (size_t)(at - s->text)))
            return true;
    }
    return false;
}

/*
 * Whether this is a declarator, `T name(...)` or `T &name(...)`. The statement `a & name(...);`
 * looks the same.
 */
static bool is_declarator(const source *s, size_t name)
{
    size_t i = name - 1;
    if (token_is_name(s, i))
        return !token_in(s, i, before_calls);
    if (!token_is(s, i, "&") && !token_is(s, i, "*") && !token_is(s, i, ">"))
        return false;
    while (token_is_name(s, i) || s->tokens[i].kind == TOKEN_NUMBER || token_is(s, i, "::") ||
           token_is(s, i, "<") || token_is(s, i, ">") || token_is(s, i, ",") ||
           token_is(s, i, "&") || token_is(s, i, "*")) {
        if (token_in(s, i, before_calls))
            return false;
        i--;
    }
    return token_is(s, i, ";") || token_is(s, i, "{") || token_is(s, i, "}") ||
           token_is(s, i, ")") || (token_is(s, i, "(") && token_in(s, i - 1, conditions));
}

static bool declares(const source *s, const declaration *function, size_t name)
{
    for (size_t i = function->params; i < function->last; i++)
        if (token_is_name(s, i) && names_are_same(s, i, name) && is_declarator(s, i))
            return true;
    return false;
}

/* Whether this is a namespace such as `namespace a::b {` that system headers do not contain. */
static bool is_own_namespace(const source *s, size_t name)
{
    for (size_t i = 0; i < s->count; i++) {
        if (!token_is(s, i, "namespace"))
            continue;
        for (size_t k = i + 1; token_is_name(s, k) || token_is(s, k, "::"); k++)
            if (names_are_same(s, k, name))
                return !is_in_system(s, keep_text("namespace %s", token_text(s, name)));
    }
    return false;
}

/*
 * Whether the name follows `.` or `->`, or is qualified by a class or by a namespace that system
 * headers also declare.
 */
static bool is_foreign(const source *s, size_t name)
{
    size_t i = name - 1;
    for (; token_is(s, i, "::"); i -= 2) {
        if (token_is(s, i - 1, ">") || token_is(s, i - 1, ")"))
            return true;
        if (!token_is_name(s, i - 1) || token_in(s, i - 1, before_calls))
            return false;
        if (!is_own_namespace(s, i - 1))
            return true;
    }
    return token_is(s, i, ".") || token_is(s, i, "->");
}

static bool is_host_call(const source *s, const declarations *found, const declaration *function,
                         size_t i)
{
    return token_is_name(s, i) && token_is(s, i + 1, "(") && is_declared_for_host(s, found, i) &&
           !is_foreign(s, i) && !declares(s, function, i) && is_only_called(s, i) &&
           !is_in_system(s, token_text(s, i));
}

/* ---- Functions compiled for the device ------------------------------------------------------- */

static bool is_in_template(const declarations *found, const declaration *d)
{
    for (size_t k = 0; d->in_class && k < found->count; k++) {
        const declaration *outer = &found->items[k];
        if (outer->what == DECLARED_CLASS && outer->header != NO_TOKEN &&
            is_inside(outer, d->first))
            return true;
    }
    return false;
}

static bool has_discarded(const source *s, const declaration *d)
{
    for (size_t i = d->body; i < d->last; i++)
        if (token_is(s, i, "if") && token_is(s, i + 1, "constexpr"))
            return true;
    return false;
}

/* Whether the function is named anywhere except in its declarations. */
static bool is_referenced(const source *s, const declarations *found, const declaration *function)
{
    size_t names = 0;
    for (size_t i = 0; i < s->count; i++)
        if (!is_inside(function, i) && token_is_name(s, i) && names_are_same(s, i, function->name))
            names++;
    for (size_t k = 0; k < found->count; k++) {
        const declaration *d = &found->items[k];
        if (d != function && d->name != NO_TOKEN && !is_inside(function, d->name) &&
            names_are_same(s, d->name, function->name))
            names--;
    }
    return names > 0;
}

static bool is_for_device(const source *s, const declarations *found, const declaration *d)
{
    return d->what == DECLARED_FUNCTION && d->body != NO_TOKEN && d->name != NO_TOKEN &&
           (d->is_device || d->is_global) && !d->is_host && !is_in_template(found, d) &&
           !(d->header != NO_TOKEN && has_discarded(s, d));
}

/* Whether nvcc would generate code for the function: nvcc checks only those functions. */
static bool is_compiled(const source *s, const declarations *found, const declaration *d)
{
    return (d->header == NO_TOKEN && !d->in_class && !d->is_static && !d->is_inline) ||
           is_referenced(s, found, d);
}

/* ---- Code that depends on __CUDA_ARCH__ ------------------------------------------------------ */

static bool file_names_architecture(const char *path)
{
    bool found = false;
    FILE *file = fopen(path, "r");
    for (char line[4096]; file && !found && fgets(line, sizeof(line), file);)
        found = strstr(line, "__CUDA_ARCH__") != NULL;
    if (file)
        fclose(file);
    return found;
}

/* Whether the line marker begins one of the program's own files: `# 1 "name" 1`. */
static bool begins_own_file(const char *marker, char path[4096])
{
    return sscanf(marker, "# 1 \"%4095[^\"]\"", path) == 1 && !marks_system(marker);
}

static bool program_names_architecture(const source *s)
{
    char path[4096];
    for (const char *line = s->text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (begins_own_file(line, path) && file_names_architecture(path))
            return true;
    }
    return false;
}

static void report(const source *s, const declaration *function, size_t call, bool refused)
{
    const char *kind = function->is_global ? "__global__" : "__device__";
    const char *text = keep_text("calling a __host__ function(\"%s\") from a %s function(\"%s\") "
                                 "is not allowed",
                                 token_text(s, call), kind, token_text(s, function->name));
    if (refused)
        token_error(s, call, text);
    else
        token_warn(
            s, call,
            keep_text(
                "%s, unless code depends on __CUDA_ARCH__, which grinterop-nvcc does not define",
                text));
}

/*
 * Reports the calls in one function and returns their number. `before` is the number of calls in
 * previous functions. The first call in the program sets *refused.
 */
static size_t report_calls(const source *s, const declarations *found, const declaration *function,
                           size_t before, bool *refused)
{
    size_t calls = 0;
    for (size_t i = function->body + 1; i < function->last; i++) {
        if (token_in(s, i, unevaluated) && token_is(s, i + 1, "("))
            i = s->tokens[i + 1].match;
        if (!is_host_call(s, found, function, i))
            continue;
        if (calls == 0 && !is_compiled(s, found, function))
            return 0;
        if (calls++ + before == 0)
            *refused = !program_names_architecture(s);
        report(s, function, i, *refused);
    }
    return calls;
}

void refuse_host_calls(const source *s, const declarations *found)
{
    size_t calls = 0;
    bool refused = false;
    for (size_t k = 0; k < found->count; k++)
        if (is_for_device(s, found, &found->items[k]))
            calls += report_calls(s, found, &found->items[k], calls, &refused);
    if (refused)
        exit(1);
}
