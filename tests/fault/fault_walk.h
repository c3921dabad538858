/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The public operations for test_fault_walk. Each operation is a scenario: grinterop calls that
 * create objects, use them and destroy them, whichever call fails.
 */
#ifndef GR_TESTS_FAULT_WALK_H
#define GR_TESTS_FAULT_WALK_H

#include "fault_calls.h"
#include "tests/support/support.h"

#include <grinterop/ring.h>
#include <grinterop/tensor.h>

/*
 * The timeout of waiting calls, in milliseconds. With a fault the event may never happen. Without a
 * fault it happens, however busy the machine is.
 */
extern unsigned walk_soon;
#define WALK_SOON walk_soon

struct scenario {
    const char *name;
    bool (*run)(void);            /* returns whether all calls of the scenario succeeded */
    const char *(*missing)(void); /* the reason why the scenario cannot run; NULL: it always can */
    unsigned rules;               /* a combination of WALK_GIVES_UP and WALK_FEW */

    /* Input of run(), for scenarios with the same run(). */
    const gr_gl_options *options;
    const char *target;  /* the target of images */
    unsigned flags;      /* the flags of resources */
    gr_memory memory;    /* the memory of tensors */
    bool (*older)(void); /* runs it in an older OpenGL */
};

/* The scenario that is running. */
extern const struct scenario *scenario;

/*
 * For gr_buffer_release_later(): a buffer that it cannot release has no owner and stays mapped, as
 * gr.h documents.
 */
#define WALK_GIVES_UP 1u

/*
 * The scenario takes long. Each place therefore fails only once with one code of each kind, and
 * once with a lost device or context.
 */
#define WALK_FEW 2u

/* Lists of scenarios, which end with an entry without a name. */
extern const struct scenario walk_compat[], walk_gl[], walk_gl_images[], walk_older[],
    walk_memory[], walk_rings[], walk_vulkan[], walk_sharing[], walk_peers[], walk_devices[];

/* Functions that report the strings and versions of an older OpenGL, for walk_start(). */
extern const struct call_stand_in walk_older_stand_ins[];

/*
 * Must be the first call in main(), before grinterop loads a driver. NULL: no function is replaced.
 */
void walk_start(const struct call_stand_in *stand_ins);

/* Returns the reason why scenarios cannot run, or NULL if they can. */
const char *walk_missing(void);
const char *walk_missing_vulkan(void);

/* Runs all scenarios of a list with all faults. The case fails if a requirement was violated. */
void walk_list(const struct scenario *list);

/*
 * The result of each call in a scenario is passed to one of these functions. They return whether
 * the call succeeded, and keep the error of the first call that failed.
 */
bool done(bool succeeded);
bool ok(gr_status status);

/* Releases the buffer, if necessary by gr_buffer_release_later(). Returns true for NULL. */
bool walk_release(gr_buffer *buffer);

/*
 * For a scenario that is about to free a resource, which may be NULL and is not mapped. If a call
 * failed, maps and closes the same resource, which must succeed: the failed call changed nothing.
 */
void walk_again(gr_resource *resource);

/* Whether a scenario should use the same objects again, since one of its calls failed. */
bool walk_has_failed(void);

bool walk_a_buffer(void);
bool walk_an_image(void);
const char *walk_no_sharing(void);
bool walk_write(gr_ring *ring, CUstream stream);
bool walk_read(gr_ring *ring, CUstream stream);

/* Creates a ring of Vulkan buffers for another process. Fails if a semaphore is NULL. */
#define WALK_SLOTS 3
gr_ring *walk_vulkan_ring(gr_semaphore *acquire, gr_semaphore *release,
                          const gr_ring_options *options);

/* Whether a call will fail in this run of the scenario. */
bool walk_is_armed(void);

/* Records whether the bytes are right. Returns true. */
bool bytes_are(bool right);

/*
 * Signals the semaphores that the work of a scenario waits for. Called when the device is lost,
 * since a lost device does no more work. NULL: no signals are needed.
 */
extern void (*walk_give_all)(void);

/* Reports that a requirement was violated. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
