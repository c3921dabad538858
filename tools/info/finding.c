/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "tools/info/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more; a report without memory can say nothing. */
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

/* ---- Lines ----------------------------------------------------------------------------------- */

enum { FINDING_FIELDS = 6, FACT_FIELDS = 3 };

/* Cuts the line at its tabs; how many fields that are, at most FINDING_FIELDS. */
static int split(char *line, char *fields[FINDING_FIELDS])
{
    int count = 0;
    for (char *field; count < FINDING_FIELDS && (field = strsep(&line, "\t"));)
        fields[count++] = field;
    return count;
}

static void read_line(struct findings *findings, char *line)
{
    char *f[FINDING_FIELDS];
    int count = split(line, f);
    if (count == FINDING_FIELDS && strcmp(f[0], "finding") == 0) {
        enum mark mark = f[1][0] == '+' ? MARK_GOOD : f[1][0] == '-' ? MARK_BAD : MARK_NOTE;
        findings_add(findings, f[3], mark, f[4], f[5])->detail = f[2][0] == 'd';
    } else if (count == FACT_FIELDS && strcmp(f[0], "fact") == 0 && findings->count) {
        add_fact(&findings->items[findings->count - 1], f[1], f[2]);
    }
}

/* A last line without its end is of a finder that was ended in the middle of it. */
void findings_read(struct findings *findings, char *lines)
{
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

static void free_one(struct finding *finding)
{
    for (size_t i = 0; i < finding->fact_count; i++) {
        free(finding->facts[i].key);
        free(finding->facts[i].value);
    }
    free(finding->facts);
    free(finding->id);
    free(finding->label);
    free(finding->text);
}

void findings_free(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        free_one(&findings->items[i]);
    free(findings->items);
    *findings = (struct findings){0};
}
