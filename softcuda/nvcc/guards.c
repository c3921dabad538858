/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcuda/nvcc/guards.h"

#include "softcuda/nvcc/line.h"
#include "softcuda/nvcc/names.h"
#include "softcuda/nvcc/span.h"
#include "softcuda/nvcc/stride.h"
#include "softcuda/nvcc/text.h"

#define MOST_GUARDS 8

typedef struct {
    size_t open[MOST_GUARDS]; /* the ( of each condition */
    size_t count;
    bool goes;  /* the last guard is `if (condition) { rest of the kernel }` */
    bool other; /* other threads may be between the passing threads of a row */
    size_t end; /* the first token after the guards */
} found_guards;

static const char *const types[] = {
    "const",   "unsigned", "signed",   "int",      "long",     "short",     "char",
    "float",   "double",   "bool",     "auto",     "uint",     "uchar",     "ushort",
    "ulong",   "size_t",   "ssize_t",  "int8_t",   "int16_t",  "int32_t",   "int64_t",
    "uint8_t", "uint16_t", "uint32_t", "uint64_t", "intptr_t", "uintptr_t", NULL};

/* Functions whose results depend only on their arguments. */
static const char *const functions[] = {"min", "max", "__mul24", "__umul24", "sizeof", NULL};

static const char *const places[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};
static const char *const truths[] = {"true", "false", NULL};

static const char *const type_marks[] = {"*", "__restrict__", "__restrict", NULL};

/* Whether the last token is the name of a parameter: only types and stars may precede it. */
static bool is_parameter(const source *s, size_t first, size_t end)
{
    if (end < first + 2 || !token_is_name(s, end - 1) || token_in(s, end - 1, types))
        return false;
    for (size_t i = first; i + 1 < end; i++)
        if (!token_in(s, i, types) && !token_in(s, i, type_marks))
            return false;
    return true;
}

static void add_parameters(const source *s, const declaration *kernel, names *own)
{
    const size_t close = s->tokens[kernel->params].match;
    size_t first = kernel->params + 1;
    for (size_t i = first; i <= close; i++) {
        if (i < close && !token_is(s, i, ","))
            continue;
        if (is_parameter(s, first, i))
            names_add(own, i - 1, NAME_UNIFORM);
        else if (i > first)
            own->others = true;
        first = i + 1;
    }
}

static bool is_assignment(const source *s, size_t i)
{
    if (!token_is(s, i, "=") || token_is(s, i + 1, "=") || token_is(s, i - 1, "=") ||
        token_is(s, i - 1, "!"))
        return false;
    /* `<=` and `>=` are not assignments, `<<=` and `>>=` are */
    if (token_is(s, i - 1, "<") || token_is(s, i - 1, ">"))
        return token_is(s, i - 2, "<") || token_is(s, i - 2, ">");
    return true;
}

/* Whether the = at i initialises a variable that is declared in this statement. */
static bool is_initialisation(const source *s, size_t i)
{
    return is_assignment(s, i) && token_is_name(s, i - 1) &&
           (token_in(s, i - 2, types) || token_is(s, i - 2, ",")) && !token_in(s, i - 1, types);
}

/* Whether the parentheses are a cast such as `(int)`. */
static bool is_cast(const source *s, size_t open, size_t close)
{
    for (size_t i = open + 1; i < close; i++)
        if (!token_in(s, i, types) && !token_is(s, i, "*"))
            return false;
    return close > open + 1;
}

static bool is_call(const source *s, size_t i)
{
    if (!token_is(s, i, "("))
        return false;
    if (token_is_name(s, i - 1))
        return !token_in(s, i - 1, types) && !token_in(s, i - 1, functions);
    if (token_is(s, i - 1, ")"))
        return !is_cast(s, s->tokens[i - 1].match, i - 1);
    return token_is(s, i - 1, ">") || token_is(s, i - 1, "]");
}

/*
 * Whether the * at i is a dereference as in `*p` and `(int)*p`, not a product as in `a * b` or `(a
 * + b) * c`.
 */
static bool is_dereference(const source *s, size_t i)
{
    if (!token_is(s, i, "*"))
        return false;
    if (token_is(s, i - 1, ")"))
        return is_cast(s, s->tokens[i - 1].match, i - 1);
    return !token_is_name(s, i - 1) && s->tokens[i - 1].kind != TOKEN_NUMBER;
}

static bool is_step(const source *s, size_t i)
{
    return token_is_twice(s, i, "+") || token_is_twice(s, i, "-");
}

/*
 * Whether the kind of the name is known. Of members, only those of threadIdx and the like are
 * known, such as threadIdx.x.
 */
static bool is_known_name(const source *s, size_t i, const names *own)
{
    if (token_is(s, i - 1, "."))
        return token_in(s, i - 2, places);
    return token_in(s, i, types) || token_in(s, i, functions) || token_in(s, i, places) ||
           token_in(s, i, truths) || names_find(s, i, own) != NAME_UNKNOWN;
}

/* The kind of a variable. Its declaration begins at `first` and its initialiser at i. */
static enum name_kind kind_of_value(const source *s, size_t first, size_t i, size_t end,
                                    const names *own)
{
    size_t stop = i;
    while (stop < end && !token_is(s, stop, ","))
        stop = token_is(s, stop, "(") ? s->tokens[stop].match + 1 : stop + 1;
    const bool alike = span_is_uniform(s, i, stop, own);
    for (; token_in(s, first, types); first++)
        if (!token_in(s, first, line_types))
            return alike ? NAME_UNIFORM : NAME_OTHER;
    if (alike)
        return line_stride_end(s, i) == stop ? NAME_STRIDE : NAME_UNIFORM;
    return span_is_index(s, i, stop, own) ? NAME_INDEX : NAME_OTHER;
}

/*
 * Whether the code may run twice. It must change nothing. It must not read memory, since other
 * threads may change memory. `guarded` code follows another guard and also runs for threads that
 * this guard excludes, so it must not divide.
 */
static bool is_pure(const source *s, size_t first, size_t end, bool guarded, names *own)
{
    for (size_t i = first; i < end; i++) {
        if (token_is(s, i, "static_cast")) {
            const size_t close = angle_match(s, i + 1, end);
            if (close == NO_TOKEN || !is_cast(s, i + 1, close))
                return false;
            i = close + 1;
            continue;
        }
        if (is_initialisation(s, i))
            names_add(own, i - 1, kind_of_value(s, first, i + 1, end, own));
        if ((token_is_name(s, i) && !is_known_name(s, i, own) && !is_assignment(s, i + 1)) ||
            (is_assignment(s, i) && !is_initialisation(s, i)) || is_call(s, i) ||
            is_dereference(s, i) || is_step(s, i) || token_is(s, i, "[") || token_is(s, i, "{") ||
            token_is(s, i, ";") || token_is(s, i, "->") || token_is(s, i, "::") ||
            (guarded && (token_is(s, i, "/") || token_is(s, i, "%"))))
            return false;
    }
    return true;
}

static bool declares(const source *s, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (is_assignment(s, i))
            return true;
    return false;
}

static size_t end_of_statement(const source *s, size_t i, size_t last)
{
    while (i < last && !token_is(s, i, ";"))
        i++;
    return i;
}

/* The token after `return;` or `{ return; }`; NO_TOKEN if i is neither. */
static size_t after_return(const source *s, size_t i)
{
    const bool braces = token_is(s, i, "{");
    i += braces;
    if (!token_is(s, i, "return") || !token_is(s, i + 1, ";") ||
        (braces && !token_is(s, i + 2, "}")))
        return NO_TOKEN;
    i += 2 + (braces ? 1 : 0);
    return token_is(s, i, "else") ? NO_TOKEN : i;
}

/*
 * If the `if` at *i is a guard that can be evaluated in advance, records it and moves *i past it.
 * Returns true if further guards may follow.
 */
static bool accept_if(const source *s, const declaration *kernel, size_t *i, names *own,
                      found_guards *found)
{
    const size_t open = *i + 1;
    if (!token_is(s, *i, "if") || !token_is(s, open, "("))
        return false;
    const size_t close = s->tokens[open].match;
    if (declares(s, open + 1, close) || !is_pure(s, open + 1, close, found->count > 0, own))
        return false;
    *i = after_return(s, close + 1);
    found->goes = *i == NO_TOKEN && stride_is_rest(s, close + 1, kernel->last);
    if (*i != NO_TOKEN || found->goes) {
        found->open[found->count++] = open;
        if (!span_is_condition(s, open + 1, close, found->goes ? "&" : "|", own))
            found->other = true;
    }
    return *i != NO_TOKEN;
}

static found_guards guards_find(const source *s, const declaration *kernel, names *own)
{
    found_guards found = {.count = 0};
    add_parameters(s, kernel, own);
    size_t i = kernel->body + 1;
    while (i < kernel->last && found.count < MOST_GUARDS) {
        if (token_in(s, i, types)) {
            const size_t end = end_of_statement(s, i, kernel->last);
            if (!is_pure(s, i, end, found.count > 0, own))
                break;
            i = end + 1;
        } else if (!accept_if(s, kernel, &i, own, &found)) {
            break;
        }
    }
    found.end = i;
    return found;
}

static bool multiplies_index(const source *s, const declaration *kernel, const names *own)
{
    for (size_t i = kernel->body + 1; i < kernel->last; i++)
        if (token_is_name(s, i) && !token_is(s, i - 1, ".") &&
            names_find(s, i, own) == NAME_INDEX &&
            (token_is(s, i - 1, "*") || token_is(s, i + 1, "*")))
            return true;
    return false;
}

enum guards guards_rewrite(source *s, const declaration *kernel, bool *far)
{
    names own = {.count = 0};
    const found_guards found = guards_find(s, kernel, &own);
    *far = multiplies_index(s, kernel, &own);
    for (size_t k = 0; k < found.count; k++) {
        const char *name = k + 1 < found.count ? "stop" : found.goes ? "go" : "last";
        token_put_after(s, found.open[k], keep_text("gr_cuhost_guard.%s(static_cast<bool>(", name));
        token_put_before(s, s->tokens[found.open[k]].match, "))");
    }
    if (found.count == 0)
        return stride_rewrite(s, kernel, found.end, &own) ? GUARDS_STRIDE : GUARDS_NONE;
    return found.other ? GUARDS_ANY : GUARDS_SPAN;
}
