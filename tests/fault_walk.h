/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public operations for test_fault_walk: each is a scenario of calls of grinterop's that makes
 * what it needs, works with it, and ends it, whichever call fails.
 */
#ifndef GR_TESTS_FAULT_WALK_H
#define GR_TESTS_FAULT_WALK_H

#include "support.h"

/*
 * Milliseconds for a call that waits. With a fault what it waits for may never come; without one it
 * comes, however busy the machine is.
 */
extern unsigned walk_soon;
#define WALK_SOON walk_soon

struct scenario {
    const char *name;
    bool (*run)(void);            /* whether all its calls succeeded */
    const char *(*missing)(void); /* why it can't run here; NULL: it can anywhere */
    bool gives_up; /* what it can't release is nobody's then, and stays mapped: gr.h says so */
};

/* Lists that end with an entry without name. */
extern const struct scenario walk_gl[], walk_gl_images[], walk_memory[], walk_rings[],
    walk_vulkan[], walk_sharing[];

/*
 * A call of a scenario: gives back whether it succeeded, and keeps the error of the first that did
 * not.
 */
bool done(bool succeeded);
bool ok(gr_status status);

/* The kind of the fault that the scenario runs under is one of what OpenGL or Vulkan are. */
bool bytes_are(bool right);

#endif
