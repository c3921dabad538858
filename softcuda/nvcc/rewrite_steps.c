/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rewrites warp-synchronous code. Before CUDA 9 the lanes of a warp executed each instruction
 * together, and programs relied on this where they wrote `volatile` shared memory. Here a lane runs
 * alone until it waits for other lanes. So each such write becomes a call, in which the lanes wait
 * for each other before and after the write:
 *     s[i] += s[i + 16];  ->  ::gr_cuhost::step<1, '+'>(s[i], (s[i + 16]));
 * Without `volatile`, this is done only where the lanes of a pair read and write each other's
 * values in one statement, which has no meaning unless they run in lockstep:
 *     s[i] += s[i ^ 8];
 */
#include "softcuda/nvcc/rewrite.h"

#include <string.h>

#include "softcuda/nvcc/text.h"

static const char *const heads[] = {"if", "for", "while", "switch", NULL};
static const char *const openers[] = {";", "{", "}", "else", "do", NULL};

/* The variables of one function; writes to them are rewritten. */
typedef struct {
    words values;   /* the names of `volatile` arrays and variables */
    words pointers; /* `volatile` pointers, to which values may also be assigned */
    words plain;    /* shared arrays and parameters, where lanes may exchange values in pairs */
} targets;

static bool is_in_list(const source *s, size_t i, const words *names)
{
    return names->count > 0 && token_in(s, i, names->items);
}

static bool is_shared(const source *s, size_t i)
{
    while (i > 0 && !token_in(s, i - 1, openers) && !token_is(s, i - 1, "("))
        if (token_is(s, --i, "__shared__"))
            return true;
    return false;
}

/*
 * Whether the value after the = at i uses a parameter of the kernel: parameters point to memory
 * that all blocks share.
 */
static bool is_from_parameter(const source *s, size_t i, size_t params)
{
    if (params == NO_TOKEN || !token_is(s, i, "="))
        return false;
    for (; i < s->count && !token_is(s, i, ";"); i++)
        for (size_t p = params; token_is_name(s, i) && p < s->tokens[params].match; p++)
            if (token_is(s, p, token_text(s, i)) &&
                (token_is(s, p + 1, ",") || token_is(s, p + 1, ")")))
                return true;
    return false;
}

/*
 * Records the variable that is declared after the `volatile` at i, in a kernel with these
 * parameters.
 */
static void record_target(const source *s, size_t i, size_t end, size_t params, targets *t)
{
    bool shared = is_shared(s, i);
    bool pointer = false;
    size_t name = NO_TOKEN;
    for (; i < end; i++) {
        if (token_is(s, i, "__shared__"))
            shared = true;
        else if (token_is(s, i, "*") || token_is(s, i, "&"))
            pointer = true;
        else if (token_is_name(s, i))
            name = i;
        else if (token_is(s, i, "<") && angle_match(s, i, end) != NO_TOKEN)
            i = angle_match(s, i, end);
        else if (!token_is(s, i, "(") && !token_is(s, i, "::"))
            break;
    }
    if (name != NO_TOKEN && (shared || pointer) && !is_from_parameter(s, i, params))
        words_add(shared && !pointer ? &t->values : &t->pointers, token_text(s, name));
}

static void record_targets(const source *s, size_t first, size_t last, size_t params, targets *t)
{
    for (size_t i = first; i <= last && i < s->count; i++)
        if (token_is(s, i, "volatile"))
            record_target(s, i + 1, last, params, t);
}

/* Records the shared arrays, and the parameters unless all blocks share their memory. */
static void record_plain(const source *s, const declaration *d, targets *t)
{
    targets shared = {0};
    for (size_t i = d->params; !d->is_global && i < s->tokens[d->params].match; i++)
        if (token_is_name(s, i) &&
            (token_is(s, i + 1, ",") || token_is(s, i + 1, ")") || token_is(s, i + 1, "[")))
            words_add(&t->plain, token_text(s, i));
    for (size_t i = d->body; i < d->last; i++)
        if (token_is(s, i, "__shared__"))
            record_target(s, i + 1, d->last, NO_TOKEN, &shared);
    words_add_all(&t->plain, &shared.values);
}

/* Whether a label, `case 1:` or `default:`, ends before i. */
static bool is_labelled(const source *s, size_t i)
{
    if (!token_is(s, i - 1, ":"))
        return false;
    for (i--; i > 0 && !token_in(s, i - 1, openers) && !token_is(s, i - 1, ":"); i--)
        if (token_is(s, i - 1, "case") || token_is(s, i - 1, "default"))
            return true;
    return false;
}

static bool begins_statement(const source *s, size_t i)
{
    if (token_in(s, i - 1, openers) || is_labelled(s, i))
        return true;
    size_t open = token_is(s, i - 1, ")") ? s->tokens[i - 1].match : 0;
    if (open > 1 && token_is(s, open - 1, "constexpr"))
        open--;
    return open > 0 && token_in(s, open - 1, heads);
}

static bool are_joined(const source *s, size_t i)
{
    return i + 1 < s->count && s->tokens[i].end == s->tokens[i + 1].begin;
}

/*
 * The number of tokens of the assignment operator at i, and the letter for it; 0 if i is no
 * assignment operator.
 */
static size_t assignment(const source *s, size_t i, char *letter)
{
    char mark = s->text[s->tokens[i].begin];
    bool twice = are_joined(s, i) && s->text[s->tokens[i + 1].begin] == mark;
    if (s->tokens[i].kind != TOKEN_MARK || !strchr("=+-*/%&|^<>", mark))
        return 0;
    *letter = mark;
    if (mark == '=')
        return twice ? 0 : 1;
    if (strchr("<>", mark))
        return twice && are_joined(s, i + 1) && token_is(s, i + 2, "=") ? 3 : 0;
    if (strchr("+-", mark) && twice)
        return 2;
    return are_joined(s, i) && token_is(s, i + 1, "=") ? 2 : 0;
}

/*
 * Whether an index that may differ between lanes begins at i. An index that is a number does not:
 * a lock, for example, is a single word.
 */
static bool is_indexed(const source *s, size_t i)
{
    return token_is(s, i, "[") &&
           (s->tokens[i].match != i + 2 || s->tokens[i + 1].kind != TOKEN_NUMBER);
}

/* Whether the write at i is to one of the targets: p[i], *(p + i) or ((volatile int *)p)[i]. */
static bool is_target(const source *s, size_t i, const targets *t)
{
    size_t first = i;
    while (token_is(s, i, "*"))
        i++;
    while (token_is(s, i, "("))
        i++;
    return token_is(s, i, "volatile") || is_in_list(s, i, &t->values) ||
           (is_in_list(s, i, &t->pointers) &&
            (is_indexed(s, i + 1) || (i > first + 1 && !token_is(s, i + 1, ")"))));
}

/* Whether the expression at i writes x[...] and reads x[... ^ ...], the value of another lane. */
static bool is_exchange(const source *s, size_t i, size_t end, const targets *t)
{
    if (!is_in_list(s, i, &t->plain) || !token_is(s, i + 1, "["))
        return false;
    for (size_t k = s->tokens[i + 1].match; k < end; k++)
        if (token_is(s, k, token_text(s, i)) && token_is(s, k + 1, "["))
            for (size_t inner = k + 2; inner < s->tokens[k + 1].match; inner++)
                if (token_is(s, inner, "^"))
                    return true;
    return false;
}

/* The assignment operator in the statement; NO_TOKEN if there is none. */
static size_t find_assignment(const source *s, size_t i, size_t end, size_t *count, char *letter)
{
    while (token_is(s, i, "*"))
        i++;
    for (; i < end; i++) {
        *count = assignment(s, i, letter);
        if (*count > 0)
            return i;
        if (token_is(s, i, "(") || token_is(s, i, "["))
            i = s->tokens[i].match;
        else if (!token_is_name(s, i) && !token_is(s, i, ".") && !token_is(s, i, "->"))
            return NO_TOKEN;
    }
    return NO_TOKEN;
}

/* The next ; or comma operator after i; NO_TOKEN if the statement is not an expression. */
static size_t end_of_part(const source *s, size_t i, size_t last)
{
    while (i < last && !token_is(s, i, ";") && !token_is(s, i, ",") && !token_is(s, i, "{") &&
           !token_is(s, i, "}"))
        i = token_is(s, i, "(") || token_is(s, i, "[") ? s->tokens[i].match + 1 : i + 1;
    return token_is(s, i, ";") || token_is(s, i, ",") ? i : NO_TOKEN;
}

static const char *begin_step(char letter)
{
    static unsigned count;
    return keep_text("::gr_cuhost::step<%uu, '%c'>(", ++count, letter);
}

/* Rewrites one expression. ++x and --x precede their target; all other operators follow it. */
static void rewrite_part(source *s, size_t i, size_t end, const targets *t)
{
    char letter;
    bool before = assignment(s, i, &letter) == 2 && are_joined(s, i) && !token_is(s, i + 1, "=");
    if (before && strchr("+-", letter)) {
        if (!is_target(s, i + 2, t))
            return;
        tokens_remove(s, i, i + 1);
        s->tokens[i].is_step = true;
        token_put_before(s, i, begin_step(letter));
        token_put_before(s, end, ", 1)");
        return;
    }
    size_t count, at = find_assignment(s, i, end, &count, &letter);
    if (at == NO_TOKEN || !(is_target(s, i, t) || is_exchange(s, i, end, t)))
        return;
    bool unary = count == 2 && !token_is(s, at + 1, "=");
    s->tokens[i].is_step = true;
    token_put_before(s, i, begin_step(letter));
    tokens_remove(s, at, at + count - 1);
    token_put_before(s, at, unary ? ", 1" : ", (");
    token_put_before(s, end, unary ? ")" : "))");
}

static void rewrite_statement(source *s, size_t i, size_t last, const targets *t)
{
    for (size_t end; (end = end_of_part(s, i, last)) != NO_TOKEN; i = end + 1) {
        rewrite_part(s, i, end, t);
        if (token_is(s, end, ";"))
            return;
    }
}

/* Warns about writes within other expressions, because those writes are not rewritten. */
static void warn_of_nested(const source *s, size_t first, size_t last, const targets *t)
{
    for (size_t i = first; i < last; i++) {
        size_t at = i + 1, count = 0;
        char letter;
        if (!is_in_list(s, i, &t->values) && !(is_in_list(s, i, &t->pointers) && is_indexed(s, at)))
            continue;
        while (token_is(s, at, "["))
            at = s->tokens[at].match + 1;
        count = at < last ? assignment(s, at, &letter) : 0;
        if (count > 0 && !s->tokens[at].instead && !token_is(s, i - 1, "*"))
            token_warn(
                s, i,
                keep_text(
                    "lanes do not run in step where a write to %s is part of another expression: "
                    "write it in a separate statement, or put __syncwarp() between the steps",
                    token_text(s, i)));
    }
}

/*
 * The parameters of a kernel are not targets, because they point to memory that all blocks share.
 */
static void rewrite_function(source *s, const declaration *d, const words *outside)
{
    targets t = {0};
    words_add_all(&t.values, outside);
    record_plain(s, d, &t);
    if (!d->is_global)
        record_targets(s, d->params, s->tokens[d->params].match, NO_TOKEN, &t);
    record_targets(s, d->body, d->last, d->is_global ? d->params : NO_TOKEN, &t);
    for (size_t i = d->body + 1; i < d->last; i++)
        if (begins_statement(s, i))
            rewrite_statement(s, i, d->last, &t);
    warn_of_nested(s, d->body + 1, d->last, &t);
}

void rewrite_steps(source *s, const declarations *found)
{
    targets outside = {0};
    for (size_t k = 0; k < found->count; k++) {
        const declaration *d = &found->items[k];
        if (d->what == DECLARED_OTHER && d->is_shared)
            record_targets(s, d->first, d->last, NO_TOKEN, &outside);
    }
    for (size_t k = 0; k < found->count; k++) {
        const declaration *d = &found->items[k];
        if (d->what == DECLARED_FUNCTION && d->body != NO_TOKEN && (d->is_global || d->is_device))
            rewrite_function(s, d, &outside.values);
    }
}
