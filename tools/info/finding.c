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

void list_add(char *list, size_t size, const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? " " : "", word);
}

/* ---- Storage --------------------------------------------------------------------------------- */

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

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(grow(NULL, 0, size), text, size);
}

struct finding *findings_add(struct findings *findings, const char *id, enum mark mark,
                             const char *label, const char *text)
{
    findings->items = grow(findings->items, findings->count, sizeof(*findings->items));
    struct finding *finding = &findings->items[findings->count++];
    *finding =
        (struct finding){.id = copy(id), .mark = mark, .label = copy(label), .text = copy(text)};
    return finding;
}

static void add_fact(struct finding *finding, const char *key, const char *value)
{
    finding->facts = grow(finding->facts, finding->fact_count, sizeof(*finding->facts));
    finding->facts[finding->fact_count++] = (struct fact){copy(key), copy(value)};
}

const struct finding *findings_find(const struct findings *findings, const char *id)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].id, id) == 0)
            return &findings->items[i];
    return NULL;
}

bool findings_good(const struct findings *findings, const char *id)
{
    const struct finding *found = findings_find(findings, id);
    return found && found->mark == MARK_GOOD;
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
    for (size_t i = 0; i < findings->count; i++) {
        struct finding *finding = &findings->items[i];
        for (size_t fact = 0; fact < finding->fact_count; fact++) {
            free(finding->facts[fact].key);
            free(finding->facts[fact].value);
        }
        free(finding->facts);
        free(finding->id);
        free(finding->label);
        free(finding->text);
    }
    free(findings->items);
    *findings = (struct findings){0};
}

/* ---- Parsing --------------------------------------------------------------------------------- */

static void read_line(struct findings *findings, char *line)
{
    char *f[FINDING_FIELDS];
    int count = 0;
    for (char *field; count < FINDING_FIELDS && (field = strsep(&line, "\t"));)
        f[count++] = field;
    if (count == FINDING_FIELDS && strcmp(f[0], "finding") == 0) {
        enum mark mark = f[1][0] == '+' ? MARK_GOOD : f[1][0] == '-' ? MARK_BAD : MARK_NOTE;
        findings_add(findings, f[3], mark, f[4], f[5])->detail = f[2][0] == 'd';
    } else if (count == FACT_FIELDS && strcmp(f[0], "fact") == 0 && findings->count) {
        add_fact(&findings->items[findings->count - 1], f[1], f[2]);
    }
}

/* An incomplete last line is ignored: its finder was killed while writing it. */
void findings_read(struct findings *findings, char *lines)
{
    for (char *end; (end = strchr(lines, '\n')); lines = end + 1) {
        *end = '\0';
        read_line(findings, lines);
    }
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

void say(const char *id, unsigned mark, const char *label, const char *format, ...)
{
    char text[TEXT_ROOM];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(lines, "finding\t%c\t%c\t", "+-."[mark % DETAIL], mark & DETAIL ? 'd' : 's');
    put(id, '\t');
    put(label, '\t');
    put(text, '\n');
    fflush(lines);
}

void say_fact(const char *key, const char *format, ...)
{
    char text[TEXT_ROOM];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(lines, "fact\t%s\t", key);
    put(text, '\n');
    fflush(lines);
}

void say_error(const char *id, const char *label)
{
    const gr_error *error = gr_last_error();
    say(id, MARK_BAD, label, "%s", error->message);
    say_fact("error", "%s", gr_status_name(error->status));
    if (error->code_name[0])
        say_fact("code", "%s", error->code_name);
}
