/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The report: runs each finder in a separate process, and prints the findings of all. */
#ifndef INFO_REPORT_H
#define INFO_REPORT_H

#include "tools/info/finding.h"

enum section {
    SECTION_CUDA,
    SECTION_OPENGL,
    SECTION_VULKAN,
    SECTION_PROBES,
    SECTION_SURROUNDINGS,
    SECTIONS
};

struct report {
    /* Set by the options. */
    int limit;        /* the time limit of a finder, in seconds */
    const char *root; /* the folder that replaces / in file names; "" if none does */
    bool noisy;       /* driver output stays on the standard error stream */
    bool probed;      /* also try each working way by exchanging bytes */

    struct findings sections[SECTIONS];
    const char *driver; /* the GR_CUDA_DRIVER that the finders get; "" if no driver starts */
    bool software;      /* whether `driver` is the software driver */
    int devices;        /* the number of its devices */
    int paths, working; /* the ways between graphics and CUDA: those tried, and those that work */
    int probes, right;  /* the ways that --probe tried by exchanging bytes, and those that passed */
    int failed;         /* the probes that failed unexpectedly */
};

/* Runs all finders that apply (collect.c). */
void report_collect(struct report *report);

/* The first finding with that id, or NULL. Whether that finding is MARK_GOOD. */
const struct finding *report_find(const struct report *report, const char *id);
bool report_good(const struct report *report, const char *id);

/* Tries the ways that work according to the finders, and counts the results (ways.c). */
void report_probe(struct report *report);

/*
 * Runs a finder of this program, such as "opengl:0", in a separate process and adds its findings to
 * the section (child.c). If a driver crashes or hangs, only that process ends, and a finding with
 * the label `about` reports this. `driver` is the value of GR_CUDA_DRIVER for the process; NULL
 * leaves the variable unchanged.
 */
void report_run_finder(struct report *report, enum section section, const char *finder,
                       const char *driver, const char *about);

/* Prints the report: JSON as in grinterop-info.schema.json, or text (print.c). */
void report_print_json(const struct report *report);
void report_print_screen(const struct report *report, bool verbose);

void report_free(struct report *report);

#endif
