/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Findings about the machine. Each finding answers one question, and has facts. A finder writes
 * each finding as a line at once, so that the finding is not lost if the next driver call hangs.
 * The report parses these lines.
 */
#ifndef INFO_FINDING_H
#define INFO_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/printf.h"

enum mark {
    MARK_GOOD, /* the subject works */
    MARK_BAD,  /* the subject does not work; the text has the cause and what to do */
    MARK_NOTE, /* neither good nor bad, but useful */
    DETAIL = 4 /* say() accepts a mark | DETAIL: the finding is shown only with --verbose */
};

struct fact {
    char *key, *value;
};

struct finding {
    char *id; /* "opengl/0/interop": stable between versions */
    enum mark mark;
    bool detail; /* shown only with --verbose */
    char *label; /* a few words, which are all that is printed if the subject works */
    char *text;  /* sentences with the details; may be empty */
    struct fact *facts;
    size_t fact_count;
};

struct findings {
    struct finding *items;
    size_t count;
};

/* ---- Used by the report ---------------------------------------------------------------------- */

/* Adds a finding without facts. The finding has copies of the texts. */
struct finding *findings_add(struct findings *findings, const char *id, enum mark mark,
                             const char *label, const char *text);

/* Parses the findings in `lines`, and modifies `lines`. Ignores lines that are no findings. */
void findings_read(struct findings *findings, char *lines);

/*
 * findings_find(): the first finding with that id, or NULL. findings_good(): whether that finding
 * is MARK_GOOD.
 */
const struct finding *findings_find(const struct findings *findings, const char *id);
bool findings_good(const struct findings *findings, const char *id);

/* The value of the fact. "" if there is no such fact. */
const char *finding_fact(const struct finding *finding, const char *key);

void findings_free(struct findings *findings);

/* ---- Used by the finders --------------------------------------------------------------------- */

/* The line that a finder writes when it has finished, and the prefix of a line of say_step(). */
#define SAY_END  "end\n"
#define SAY_STEP "step\t"

/*
 * Must be called first. Redirects to standard error what drivers print to standard output, which is
 * for the findings only.
 */
bool say_begin(void);
void say_end(void);

/* Names the next step, for the message if the driver does not return from that step. */
void say_step(const char *what);

/*
 * Writes a finding. `label` names its subject, and the main result if the subject works. The format
 * `text` has the details, or the cause and what to do if the subject does not work.
 */
void say(const char *id, unsigned mark, const char *label, const char *format, ...) GR_PRINTF(4, 5);

/* Adds a fact to the last finding. */
void say_fact(const char *key, const char *format, ...) GR_PRINTF(2, 3);

/* Writes the last error of grinterop as a finding about something that does not work. */
void say_error(const char *id, const char *label);

/* ---- Used by both ---------------------------------------------------------------------------- */

/*
 * Formats a text for an id or a label. The text is valid until eight more calls of this function.
 */
const char *text_of(const char *format, ...) GR_PRINTF(1, 2);

/* Appends the word to a list of words separated by spaces. */
void list_add(char *list, size_t size, const char *word);

#endif
