/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public operations for test_fault_walk: each is a scenario of calls of grinterop's that makes
 * what it needs, works with it, and ends it, whichever call fails.
 */
#ifndef GR_TESTS_FAULT_WALK_H
#define GR_TESTS_FAULT_WALK_H

#include "fault_calls.h"
#include "tests/support/support.h"

#include <grinterop/ring.h>

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
    unsigned rules;               /* of the next two */
};

/* What it can't release is nobody's then, and stays mapped: gr.h says so. */
#define WALK_GIVES_UP 1u

/* It takes long: each place fails once by one code of each kind, and by what is lost. */
#define WALK_FEW 2u

/* Lists that end with an entry without name. */
extern const struct scenario walk_compat[], walk_gl[], walk_gl_images[], walk_older[],
    walk_memory[], walk_rings[], walk_vulkan[], walk_sharing[], walk_peers[], walk_devices[];

/* What an older OpenGL says of itself, for walk_start(). */
extern const struct call_stand_in walk_older_stand_ins[];

/* First in main(), before grinterop loads a driver. NULL: nothing stands in. */
void walk_start(const struct call_stand_in *stand_ins);

/* Why a list can't be walked here; NULL: it can. */
const char *walk_missing(void);
const char *walk_missing_vulkan(void);

/* Walks through a list; the case fails where something did not hold. */
void walk_list(const struct scenario *list);

/*
 * A call of a scenario: gives back whether it succeeded, and keeps the error of the first that did
 * not.
 */
bool done(bool succeeded);
bool ok(gr_status status);

/* Operations for more than one list. */
extern const gr_gl_options walk_by_copy, walk_by_interop, walk_by_shared;
bool walk_a_buffer(const gr_gl_options *options);
bool walk_a_made_buffer(const gr_gl_options *options);
bool walk_an_image(const gr_gl_options *options, const char *target, bool surface);
const char *walk_no_sharing(void);
bool walk_write(gr_ring *ring, CUstream stream);
bool walk_read(gr_ring *ring, CUstream stream);

/* Of Vulkan's buffers, for another process; NULL as semaphores fails. */
#define WALK_SLOTS 3
gr_ring *walk_vulkan_ring(gr_semaphore *acquire, gr_semaphore *release,
                          const gr_ring_options *options);

/* Whether something is to fail in this run. */
bool walk_is_armed(void);

/* Notes whether the bytes are right, and is true. */
bool bytes_are(bool right);

/*
 * What a scenario's work waits for, given when the device is lost, since no more is done then.
 * NULL: none.
 */
extern void (*walk_give_all)(void);

/* What does not hold, whatever failed. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
