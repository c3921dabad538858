/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found out about the machine: each finding is one answer, with the facts that belong to
 * it. A finder writes its findings as lines, each at once, so that they are there even if the next
 * call of a driver never returns. The report reads them from these lines.
 */
#ifndef INFO_FINDING_H
#define INFO_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/printf.h"

enum mark {
    MARK_GOOD, /* it works */
    MARK_BAD,  /* it does not: the text says why, and what to do */
    MARK_NOTE, /* neither, but worth knowing */
    DETAIL = 4 /* say() only, with one of the others: for --verbose */
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

/* ---- The report's side ----------------------------------------------------------------------- */

/* Adds a finding without facts. The texts are copied. */
struct finding *findings_add(struct findings *findings, const char *id, enum mark mark,
                             const char *label, const char *text);

/* Adds the findings in the lines, and changes the lines. Other lines are left out. */
void findings_read(struct findings *findings, char *lines);

/* The first finding with that id, or NULL; and whether it is there and works. */
const struct finding *findings_find(const struct findings *findings, const char *id);
bool findings_good(const struct findings *findings, const char *id);

/* The value of the fact, "" if there is none. */
const char *finding_fact(const struct finding *finding, const char *key);

void findings_free(struct findings *findings);

/* ---- The finder's side ----------------------------------------------------------------------- */

/* The last line of a finder that came to its end, and how a line of say_step() begins. */
#define SAY_END  "end\n"
#define SAY_STEP "step\t"

/*
 * Before anything is said: drivers print to the standard error stream from here on, not between the
 * lines.
 */
bool say_begin(void);
void say_end(void);

/* Says what comes next, in case the driver does not return from it. */
void say_step(const char *what);

/*
 * Says one finding. `label` names its subject, and what a reader wants to know if it works. The
 * text, a format, has the details. Of what does not work it says why, and what to do.
 */
void say(const char *id, unsigned mark, const char *label, const char *format, ...) GR_PRINTF(4, 5);

/* A fact about the last finding. */
void say_fact(const char *key, const char *format, ...) GR_PRINTF(2, 3);

/* The last error of grinterop, as something that does not work. */
void say_error(const char *id, const char *label);

/* ---- Both ------------------------------------------------------------------------------------ */

/* A formatted text for an id or a label. Valid until the eighth call after this one. */
const char *text_of(const char *format, ...) GR_PRINTF(1, 2);

/* Appends the word to a list of words with spaces between. */
void list_add(char *list, size_t size, const char *word);

#endif
