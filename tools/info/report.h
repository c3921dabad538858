/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The report: runs each finder in its own process, and prints their findings. */
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
    /* Set by the options. */
    int limit;        /* seconds per finder */
    const char *root; /* replaces / when files are read; "": / */
    bool noisy;       /* driver output stays on the standard error stream */
    bool probed;      /* also try each working way by exchanging bytes */
    bool measured;    /* and measure */

    struct findings sections[SECTIONS];
    const char *driver; /* the GR_CUDA_DRIVER of the findings; "": no driver starts */
    bool software;      /* it is the software driver */
    int paths, working; /* ways between graphics and CUDA: tried, and working */
    int probes, right;  /* ways tried by exchanging bytes, and successful ones */
    int failed;         /* unexpected failures among them */
};

/* Runs all finders that apply (collect.c). */
void report_collect(struct report *report);

/* The number of devices of the CUDA driver (collect.c). */
int report_devices(const struct report *report);

/* Tries the ways that work according to the finders, and counts the results (ways.c). */
void report_probe(struct report *report);

/*
 * Runs a finder of this program, such as "opengl:0", in a process of its own and adds its findings
 * to the section. If a driver crashes or hangs, only that process ends, and its end becomes a
 * finding with the label `about`. `driver` is the GR_CUDA_DRIVER of the process; NULL leaves the
 * variable unchanged (child.c).
 */
void report_run_finder(struct report *report, enum section section, const char *finder,
                       const char *driver, const char *about);

/* Prints the report: JSON as in grinterop-info.schema.json, or text (print.c). */
void report_print_json(const struct report *report);
void report_print_screen(const struct report *report, bool verbose);

void report_free(struct report *report);

#endif
