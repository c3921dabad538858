/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finders, each in a process of its own: a driver that crashes or hangs ends that one only, and
 * becomes a line of the report.
 */
#ifndef INFO_CHILD_H
#define INFO_CHILD_H

#include "tools/info/finding.h"

/* How all of them are run. */
struct child_rules {
    int limit;        /* seconds that one may take */
    const char *root; /* the folder that stands for / when files are looked at; "": / itself */
    bool noisy;       /* what drivers print stays on the standard error stream */
};

/*
 * Runs this program's finder, which may have an argument ("opengl:0"), and adds what it found.
 * `driver` is GR_CUDA_DRIVER for it; NULL: as it is here. `about` is what the finder asks, for what
 * is said if it ends badly.
 */
void child_find(const struct child_rules *rules, const char *finder, const char *driver,
                const char *about, struct findings *findings);

#endif
