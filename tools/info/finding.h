/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Findings about the machine: each is one answer, with its facts. A finder writes each finding as a
 * line at once, so that it is not lost if the next driver call hangs. The report parses these
 * lines.
 */
#ifndef INFO_FINDING_H
#define INFO_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/printf.h"

enum mark {
    MARK_GOOD, /* it works */
    MARK_BAD,  /* it does not: the text has the cause and what to do */
    MARK_NOTE, /* neither, but worth knowing */
    DETAIL = 4 /* for say(), added to a mark: shown only with --verbose */
};

struct fact {
    char *key, *value;
};

struct finding {
    char *id; /* "opengl/0/interop": stable between versions */
    enum mark mark;
    bool detail; /* for --verbose */
    char *label; /* a few words: all that is printed if it works */
    char *text;  /* sentences; may be empty */
    struct fact *facts;
    size_t fact_count;
};

struct findings {
    struct finding *items;
    size_t count;
};

/* ---- Used by the report ---------------------------------------------------------------------- */

/* Adds a finding without facts. The texts are copied. */
struct finding *findings_add(struct findings *findings, const char *id, enum mark mark,
                             const char *label, const char *text);

/* Parses the findings in the lines, which it modifies. Ignores other lines. */
void findings_read(struct findings *findings, char *lines);

/* The first finding with that id, or NULL; and whether it exists and works. */
const struct finding *findings_find(const struct findings *findings, const char *id);
bool findings_good(const struct findings *findings, const char *id);

/* The value of the fact, "" if it is missing. */
const char *finding_fact(const struct finding *finding, const char *key);

void findings_free(struct findings *findings);

/* ---- Used by the finders --------------------------------------------------------------------- */

/* The last line of a finder that finished, and the prefix of a line of say_step(). */
#define SAY_END  "end\n"
#define SAY_STEP "step\t"

/* Call first. From here on, drivers that print do so to standard error, not between the lines. */
bool say_begin(void);
void say_end(void);

/* Names the next step, in case the driver does not return from it. */
void say_step(const char *what);

/*
 * Writes a finding. `label` names its subject, and the main result if it works. The text, a format,
 * has the details; if it does not work, the cause and what to do.
 */
void say(const char *id, unsigned mark, const char *label, const char *format, ...) GR_PRINTF(4, 5);

/* A fact about the last finding. */
void say_fact(const char *key, const char *format, ...) GR_PRINTF(2, 3);

/* Writes grinterop's last error as something that does not work. */
void say_error(const char *id, const char *label);

/* ---- Used by both ---------------------------------------------------------------------------- */

/* Formats a text for an id or a label. Valid until the eighth later call. */
const char *text_of(const char *format, ...) GR_PRINTF(1, 2);

/* Appends the word to a list of words separated by spaces. */
void list_add(char *list, size_t size, const char *word);

#endif
