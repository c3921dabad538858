/* SPDX-License-Identifier: Apache-2.0 */
/* All that is found out about the machine, by the finders in their order. */
#ifndef INFO_COLLECT_H
#define INFO_COLLECT_H

#include "tools/info/child.h"

enum section {
    SECTION_CUDA,
    SECTION_OPENGL,
    SECTION_VULKAN,
    SECTION_PROBES,
    SECTION_BENCH,
    SECTION_SURROUNDINGS,
    SECTIONS
};

/* "cuda", and what the screen calls it. */
extern const char *const section_names[SECTIONS];
extern const char *const section_titles[SECTIONS];

struct report {
    struct findings sections[SECTIONS];
    const char *driver; /* what GR_CUDA_DRIVER has to be for what was found; "": no driver starts */
    bool software;      /* that is the software driver */
    int paths, working; /* ways between graphics and CUDA that were tried, and that work */
    bool probed;        /* they were tried with bytes, too */
    int probes, right;  /* how many of these, and how many went well */
    int failed;         /* those that should have gone well and did not */
};

/* `probe`: the ways that work are tried with bytes. `bench`: they are measured. */
void collect(const struct child_rules *rules, bool probe, bool bench, struct report *report);

/* What was found by that id, the first of them; NULL: nothing. */
const struct finding *report_find(const struct report *report, enum section section,
                                  const char *id);

/* How many devices the CUDA driver has that was taken. */
int report_devices(const struct report *report);

void report_free(struct report *report);

#endif
