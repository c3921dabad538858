/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found out about the machine: each finding is one answer, with the facts that belong to
 * it. A finder writes them as lines (say.h), the report reads them from there (child.h).
 */
#ifndef INFO_FINDING_H
#define INFO_FINDING_H

#include <stdbool.h>
#include <stddef.h>

enum mark {
    MARK_GOOD, /* it works */
    MARK_BAD,  /* it does not: the text says why, and what to do */
    MARK_NOTE  /* neither, but worth knowing */
};

struct fact {
    char *key, *value;
};

struct finding {
    char *id; /* "opengl/0/interop": stays the same from version to version */
    enum mark mark;
    bool detail; /* for --verbose */
    char *label; /* some words: all that the screen says of what works */
    char *text;  /* sentences; may be empty */
    struct fact *facts;
    size_t fact_count;
};

struct findings {
    struct finding *items;
    size_t count;
};

/* Adds one without facts, of copies of the texts. */
struct finding *findings_add(struct findings *findings, const char *id, enum mark mark,
                             const char *label, const char *text);

/* Adds those that the lines are, which are changed. What is no such line is left out. */
void findings_read(struct findings *findings, char *lines);

/* The fact's value, "" if there is none. */
const char *finding_fact(const struct finding *finding, const char *key);

void findings_free(struct findings *findings);

#endif
