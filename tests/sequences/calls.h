/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that sequences are made of: one entry for each public function, and some for what a
 * program does beside them. tests/checks/check-symbols sees that no public function is missing
 * here.
 */
#ifndef GR_TESTS_FUZZ_CALLS_H
#define GR_TESTS_FUZZ_CALLS_H

#include "model.h"

/*
 * How an entry's arguments are chosen, by letter. A place that is -1 is NULL, or none.
 *
 *     r b t p q m   a resource, buffer, tensor, ring, submit, semaphore: one that is there, mostly
 *     u v y j       a resource to map, for a submit, for a ring; a mapped image
 *     R B T P Q M   a free place for a new one
 *     s e           a stream to work on; to end a mapping on, mostly that of the map
 *     S             a place of streams
 *     g i           an object of OpenGL's: a buffer, an image
 *     f F           flags of buffers, of images; some are wrong
 *     o             options of OpenGL's transports
 *     c k           a context of OpenGL's, of CUDA's
 *     n             a number below 256
 *     x X           an export by DLPack, and a free place for one
 *     z Z           a wrap of Vulkan's device, and a free place for one
 *     d             a number below 4
 */
struct entry {
    const char *name, *format;
    unsigned weight;

    /* Makes the call and compares. False: it cannot be made now, since something is not there. */
    bool (*run)(struct world *w, const int *a);
    bool software_only; /* no GPU's driver takes what it needs */
};

/* An entry for a public function, run by a function run_NAME. */
#define CALL(name, weight, format)                                                                 \
    {                                                                                              \
#name, format, weight, run_##name, false                                                   \
    }

/* One that needs the software driver. */
#define SOFTWARE_CALL(name, weight, format)                                                        \
    {                                                                                              \
#name, format, weight, run_##name, true                                                    \
    }

/* One for what a program does without grinterop. */
#define STEP(name, weight, format) CALL(name, weight, format)

/* A public function that sequences do without. */
struct left_out {
    const char *name, *reason;
};
#define LEFT_OUT(name, reason)                                                                     \
    {                                                                                              \
#name, reason                                                                              \
    }
extern const struct left_out left_out[];

/* Each file's entries, which end with one without a name. */
extern const struct entry calls_ask[], calls_device[], calls_dlpack[], calls_end[],
    calls_external[], calls_hand[], calls_image[], calls_make[], calls_map[], calls_outside[],
    calls_publish[], calls_ring[], calls_slot[], calls_tensor[], calls_vulkan[];

/* Ends what threads have handed over, and nobody has taken. */
void hand_end_all(struct world *w);

/* Makes one list of them, before anything else here. */
void entries_collect(void);

/* A wrap of Vulkan's device that lives, which is the world's own or another. */
gr_vk_device *device_for(struct world *w, int number);

/* Rings: one that a call may have here is none, or lives in the context that is current. */
struct ring *ring_at(struct world *w, int place);
bool ring_can_be_given(const struct world *w, const struct ring *ring);
unsigned ring_count(const struct ring *ring, enum slot_state state);

/* Ends a ring with the buffers of its slots; its context is current. */
void ring_free(struct world *w, struct ring *ring);

/* Calls the deleter of an export that no import has. */
void export_end(struct world *w, struct export *x);

/* By its number, which is the same in each run of one build, and by its name: -1 where none is. */
const struct entry *entry_at(int number);
int entry_named(const char *name);

/* Picks what a sequence is about. */
void theme_pick(struct world *w);

/* Picks an entry, the heavier the more often, and its arguments. */
void call_pick(struct world *w, struct call *call);

#endif
