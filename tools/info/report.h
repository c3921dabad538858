/* SPDX-License-Identifier: Apache-2.0 */
/* The report: what the finders found, each in a process of its own, and how it is printed. */
#ifndef INFO_REPORT_H
#define INFO_REPORT_H

#include "tools/info/finding.h"

enum section {
    SECTION_CUDA,
    SECTION_OPENGL,
    SECTION_VULKAN,
    SECTION_PROBES,
    SECTION_BENCH,
    SECTION_SURROUNDINGS,
    SECTIONS
};

struct report {
    /* What the user wants. */
    int limit;        /* seconds that a finder may take */
    const char *root; /* the folder that stands for / when files are read; "": / itself */
    bool noisy;       /* what drivers print stays on the standard error stream */
    bool probed;      /* the ways that work are tried with bytes, too */
    bool measured;    /* and measured */

    struct findings sections[SECTIONS];
    const char *driver; /* GR_CUDA_DRIVER for what was found; "": no driver starts */
    bool software;      /* that is the software driver */
    int paths, working; /* ways between graphics and CUDA that were tried, and that work */
    int probes, right;  /* ways that were tried with bytes, and that went well */
    int failed;         /* those that should have gone well and did not */
};

/* Runs all finders that there is a reason for (collect.c). */
void report_collect(struct report *report);

/* How many devices the CUDA driver has (collect.c). */
int report_devices(const struct report *report);

/* Tries the ways that the finders said to work, and counts the results (ways.c). */
void report_probe(struct report *report);

/*
 * Runs this program's finder, such as "opengl:0", and adds what it found to the section. A driver
 * that crashes or hangs ends the finder only, and becomes a finding. `driver` is GR_CUDA_DRIVER for
 * it; NULL leaves that as it is. `about` is the label if the finder ends badly (child.c).
 */
void report_ask(struct report *report, enum section section, const char *finder, const char *driver,
                const char *about);

/* For programs, in the form of grinterop-info.schema.json; and for people (print.c). */
void report_print_json(const struct report *report);
void report_print_screen(const struct report *report, bool verbose);

void report_free(struct report *report);

#endif
