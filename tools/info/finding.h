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

#include "lib/base/log.h"

enum mark {
    MARK_GOOD, /* the subject works */
    MARK_BAD,  /* the subject does not work; the text has the cause and what to do */
    MARK_NOTE, /* neither good nor bad, but useful */
    DETAIL = 4 /* say() accepts a mark | DETAIL: the finding is shown only with --verbose */
};

struct fact {
    const char *key, *value;
};

struct finding {
    const char *id; /* "opengl/0/interop": stable between versions */
    enum mark mark;
    bool detail;       /* shown only with --verbose */
    const char *label; /* a few words, which are all that is printed if the subject works */
    const char *text;  /* sentences with the details; may be empty */
    struct fact *facts;
    size_t fact_count;
};

struct findings {
    struct finding *items;
    size_t count;
    char **lines; /* the memory of the texts */
    size_t line_count;
};

/* Parses and owns `lines`, from malloc(). Ignores lines that are no findings. */
void findings_take(struct findings *findings, char *lines);

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

/* ---- The finders: each examines one subject, in its own process (child.c) -------------------- */

/* The input of a finder. */
struct find {
    const char *argument; /* the part of the finder after its name; "" if there is none */
    int device;           /* the number in `argument`; 0 if there is none */
    const char *root;     /* the folder that replaces / in file names */
};

void find_cuda(const struct find *find);           /* the CUDA driver and its devices */
void find_software(const struct find *find);       /* the software driver, if it is not that one */
void find_egl(const struct find *find);            /* the EGL drivers and devices */
void find_opengl(const struct find *find);         /* OpenGL on a CUDA device */
void find_renderer(const struct find *find);       /* OpenGL on another EGL device */
void find_glx(const struct find *find);            /* OpenGL of the display */
void find_vulkan_devices(const struct find *find); /* the Vulkan devices */
void find_vulkan(const struct find *find);         /* Vulkan on a CUDA device */
void find_way(const struct find *find);            /* tries one way (ways.c) */
void find_surroundings(const struct find *find);   /* nodes, containers, variables, versions */

/* Runs the finder "NAME", "NAME:NUMBER" or "NAME/..." (collect.c). False if none has that name. */
bool find_by_name(const char *finder, const char *root);

/* Formats a text for an id or a label, valid until eight more calls of this function. */
const char *text_of(const char *format, ...) GR_PRINTF(1, 2);

#endif
