/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _GNU_SOURCE
#include "tools/info/finding.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <grinterop/gr.h>

enum { TEXT_ROOM = 2048, TEXTS = 8, FINDING_FIELDS = 6, FACT_FIELDS = 3 };

const char *text_of(const char *format, ...)
{
    static char texts[TEXTS][TEXT_ROOM];
    static unsigned next;
    char *text = texts[next++ % TEXTS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, TEXT_ROOM, format, arguments);
    va_end(arguments);
    return text;
}

/* ---- Parsing --------------------------------------------------------------------------------- */

/* Makes room for one more item. Exits if memory runs out. */
static void *grow(void *items, size_t count, size_t size)
{
    void *grown = realloc(items, (count + 1) * size);
    if (!grown) {
        fputs("grinterop-info: out of memory\n", stderr);
        exit(1);
    }
    return grown;
}

static void read_line(struct findings *findings, char *line)
{
    char *f[FINDING_FIELDS];
    int count = 0;
    for (char *field; count < FINDING_FIELDS && (field = strsep(&line, "\t"));)
        f[count++] = field;
    if (count == FINDING_FIELDS && strcmp(f[0], "finding") == 0) {
        enum mark mark = f[1][0] == '+' ? MARK_GOOD : f[1][0] == '-' ? MARK_BAD : MARK_NOTE;
        findings->items = grow(findings->items, findings->count, sizeof(*findings->items));
        findings->items[findings->count++] = (struct finding){
            .id = f[3], .mark = mark, .detail = f[2][0] == 'd', .label = f[4], .text = f[5]};
    } else if (count == FACT_FIELDS && strcmp(f[0], "fact") == 0 && findings->count) {
        struct finding *last = &findings->items[findings->count - 1];
        last->facts = grow(last->facts, last->fact_count, sizeof(*last->facts));
        last->facts[last->fact_count++] = (struct fact){f[1], f[2]};
    }
}

/* An incomplete last line is ignored: its finder was killed while writing it. */
void findings_take(struct findings *findings, char *lines)
{
    findings->lines = grow(findings->lines, findings->line_count, sizeof(*findings->lines));
    findings->lines[findings->line_count++] = lines;
    for (char *end; (end = strchr(lines, '\n')); lines = end + 1) {
        *end = '\0';
        read_line(findings, lines);
    }
}

const char *finding_fact(const struct finding *finding, const char *key)
{
    for (size_t i = 0; i < finding->fact_count; i++)
        if (strcmp(finding->facts[i].key, key) == 0)
            return finding->facts[i].value;
    return "";
}

void findings_free(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free(findings->items[i].facts);
    for (size_t i = 0; i < findings->line_count; i++)
        free(findings->lines[i]);
    free(findings->items);
    free(findings->lines);
    *findings = (struct findings){0};
}

/* ---- Writing --------------------------------------------------------------------------------- */

static FILE *lines;

bool say_begin(void)
{
    int to = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    lines = to >= 0 ? fdopen(to, "w") : NULL;
    return lines && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

void say_end(void)
{
    fputs(SAY_END, lines);
    fflush(lines);
}

void say_step(const char *what)
{
    fprintf(lines, SAY_STEP "%s\n", what);
    fflush(lines);
}

/*
 * Writes a field. Control characters in texts of drivers are replaced, since tabs separate fields
 * and newlines end lines.
 */
static void put(const char *text, char end)
{
    for (; *text; text++)
        putc((unsigned char)*text < ' ' ? ' ' : *text, lines);
    putc(end, lines);
}

static void put_line(const char *format, va_list arguments)
{
    char text[TEXT_ROOM];
    vsnprintf(text, sizeof(text), format, arguments);
    put(text, '\n');
    fflush(lines);
}

void say(const char *id, unsigned mark, const char *label, const char *format, ...)
{
    va_list arguments;
    fprintf(lines, "finding\t%c\t%c\t", "+-."[mark % DETAIL], mark & DETAIL ? 'd' : 's');
    put(id, '\t');
    put(label, '\t');
    va_start(arguments, format);
    put_line(format, arguments);
    va_end(arguments);
}

void say_fact(const char *key, const char *format, ...)
{
    va_list arguments;
    fprintf(lines, "fact\t%s\t", key);
    va_start(arguments, format);
    put_line(format, arguments);
    va_end(arguments);
}

void say_error(const char *id, const char *label)
{
    const gr_error *error = gr_last_error();
    say(id, MARK_BAD, label, "%s", error->message);
    say_fact("error", "%s", gr_status_name(error->status));
    if (error->code_name[0])
        say_fact("code", "%s", error->code_name);
}
