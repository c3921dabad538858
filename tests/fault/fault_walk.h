/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The public operations for test_fault_walk: each is a scenario of grinterop calls that creates
 * what it needs, uses it and destroys it, whichever call fails.
 */
#ifndef GR_TESTS_FAULT_WALK_H
#define GR_TESTS_FAULT_WALK_H

#include "fault_calls.h"
#include "tests/support/support.h"

#include <grinterop/ring.h>
#include <grinterop/tensor.h>

/*
 * The timeout of waiting calls in milliseconds. With a fault the event may never come; without one
 * it comes, however busy the machine is.
 */
extern unsigned walk_soon;
#define WALK_SOON walk_soon

struct scenario {
    const char *name;
    bool (*run)(void);            /* whether all its calls succeeded */
    const char *(*missing)(void); /* why it can't run here; NULL: it can run anywhere */
    unsigned rules;               /* a combination of the next two */

    /* What run() uses, where several scenarios share it. */
    const gr_gl_options *options;
    const char *target;  /* of images */
    unsigned flags;      /* of resources */
    gr_memory memory;    /* of tensors */
    bool (*older)(void); /* in an older OpenGL */
};

/* The one that runs. */
extern const struct scenario *scenario;

/* Buffers that the call cannot release have no owner and stay mapped, as gr.h documents. */
#define WALK_GIVES_UP 1u

/* It takes long: each place fails once with one code of each kind, and with a loss. */
#define WALK_FEW 2u

/* Lists that end with an entry without a name. */
extern const struct scenario walk_compat[], walk_gl[], walk_gl_images[], walk_older[],
    walk_memory[], walk_rings[], walk_vulkan[], walk_sharing[], walk_peers[], walk_devices[];

/* The strings and versions of an older OpenGL, for walk_start(). */
extern const struct call_stand_in walk_older_stand_ins[];

/* Must be first in main(), before grinterop loads a driver. NULL: no replacements. */
void walk_start(const struct call_stand_in *stand_ins);

/* Why lists can't be walked here; NULL if they can. */
const char *walk_missing(void);
const char *walk_missing_vulkan(void);

/* Walks through a list; the case fails if a requirement was violated. */
void walk_list(const struct scenario *list);

/*
 * For a call of a scenario: returns whether it succeeded, and keeps the error of the first that
 * failed.
 */
bool done(bool succeeded);
bool ok(gr_status status);

/* Releases the buffer, at the latest when the fault is over; true for NULL. */
bool walk_release(gr_buffer *buffer);

bool walk_a_buffer(void);
bool walk_an_image(void);
const char *walk_no_sharing(void);
bool walk_write(gr_ring *ring, CUstream stream);
bool walk_read(gr_ring *ring, CUstream stream);

/* A ring of Vulkan buffers, for another process; fails if a semaphore is NULL. */
#define WALK_SLOTS 3
gr_ring *walk_vulkan_ring(gr_semaphore *acquire, gr_semaphore *release,
                          const gr_ring_options *options);

/* Whether a call will fail in this run. */
bool walk_is_armed(void);

/* Notes whether the bytes are right; returns true. */
bool bytes_are(bool right);

/*
 * Signals what a scenario's work waits for; called when the device is lost, since it does no more
 * work. NULL: nothing.
 */
extern void (*walk_give_all)(void);

/* Reports a violated requirement. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
