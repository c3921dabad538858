/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The calls of the sequences: one entry per public function, and entries for steps that a program
 * takes outside of grinterop. check-functions reports public functions that are missing here.
 */
#ifndef GR_TESTS_FUZZ_CALLS_H
#define GR_TESTS_FUZZ_CALLS_H

#include "model.h"

/*
 * How the arguments of an entry are chosen, one letter per argument. Place -1 means NULL or no
 * object.
 *
 * r b t p q m   a resource, buffer, tensor, ring, submit, semaphore; usually an existing one
 * u v y j       a resource to map, for a submit, for a ring; a mapped image
 * R B T P Q M   a free place for a new object of that kind
 * s e           a stream to work on; a stream to end a mapping on, usually that of the map
 * S             a place of streams
 * g i           an OpenGL object: a buffer, an image
 * f F           flags of buffers, of images; sometimes invalid
 * o             OpenGL transport options
 * c k           an OpenGL context, a CUDA context
 * n             a number below 256
 * x X           a DLPack export, and a free place for a new one
 * z Z           a wrapped Vulkan device, and a free place for a new one
 * d             a number below 4
 */
struct entry {
    const char *name, *format;
    unsigned weight;

    /*
     * Makes the call and compares its result with the model. Returns false if the call cannot be
     * made now because an object is missing.
     */
    bool (*run)(struct world *w, const int *a);
    bool software_only; /* GPU drivers do not accept the input of this call */
};

/*
 * calls.def has a line for each entry, which the function run_NAME runs. CALL() is a public
 * function and STEP() a step outside of grinterop; SOFTWARE_CALL() and SOFTWARE_STEP() need the
 * software driver. A theme begins with THEME().
 */
#define THEME(name)
#define CALL(name, weight, format)          bool run_##name(struct world *w, const int *a);
#define SOFTWARE_CALL(name, weight, format) CALL(name, weight, format)
#define STEP(name, weight, format)          CALL(name, weight, format)
#define SOFTWARE_STEP(name, weight, format) CALL(name, weight, format)
#include "calls.def"
#undef THEME
#undef CALL
#undef SOFTWARE_CALL
#undef STEP
#undef SOFTWARE_STEP

/* Frees the objects that one thread has handed over and that no other thread has taken. */
void hand_end_all(struct world *w);

/* Finds the themes. Call it before any other function of this header. */
void entries_collect(void);

/*
 * Returns the live wrapped device at that place or, if the place is free, the one that each world
 * has.
 */
gr_vk_device *device_for(struct world *w, int number);

/*
 * is_ring_valid(): whether a call may get the ring. It may be NULL. Otherwise it must be live, and
 * its context must be current.
 */
struct ring *ring_at(struct world *w, int place);
bool is_ring_valid(const struct world *w, const struct ring *ring);

/* A resource that stays in the ring. All slots of a ring are alike. */
struct resource *ring_resource(const struct ring *ring);

/* The number of slots in that state. */
unsigned ring_count(const struct ring *ring, enum slot_state state, bool also_leaving);

/* The slot has become free, and leaves the ring if it was leaving. */
void slot_is_free(struct ring *ring, struct slot *slot);

/* Frees a ring and the buffers of its slots. The context of the ring must be current. */
void ring_free(struct world *w, struct ring *ring);

/* Calls the deleter of an export that nobody has imported. */
void export_end(struct world *w, struct export *x);

/*
 * Look up entries by number and by name. Return NULL or -1 if there is none. Numbers are the same
 * in all runs of one build.
 */
const struct entry *entry_at(int number);
int entry_named(const char *name);

/* Picks the theme of a sequence: a table whose calls are more frequent. */
void theme_pick(struct world *w);

/* Picks an entry by its weight, and arguments for it. */
void call_pick(struct world *w, struct call *call);

#endif
