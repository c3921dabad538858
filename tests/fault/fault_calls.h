/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes any call of grinterop fail: calls to the CUDA driver, OpenGL, EGL, Vulkan, and the C
 * library. It replaces entries of the import table of grinterop, so that no other library in the
 * process sees a failure, and functions need no wrappers.
 */
#ifndef GR_TESTS_FAULT_CALLS_H
#define GR_TESTS_FAULT_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/* The API whose functions fail. */
enum call_kind {
    CALL_OTHER, /* these functions cannot fail */
    CALL_CUDA,
    CALL_MEMORY, /* malloc() and similar functions */
    CALL_SYSTEM, /* the rest of the C library: files, sockets, threads, loading */
    CALL_GL,
    CALL_EGL,
    CALL_VULKAN,
    CALL_KINDS
};

/* Replaces a function that grinterop imports. */
struct call_stand_in {
    const char *name;
    void (*function)(void);
};

/*
 * Must be called before grinterop loads a driver. Returns NULL, or the reason why faults are
 * impossible in this process. `stand_ins` is NULL or ends with an entry without a name.
 */
const char *fault_calls_start(const struct call_stand_in *stand_ins);

/*
 * Selects the call that fails. The call is of this kind, and a different one each time a fault is
 * armed. The first choice is the first call of a place in grinterop that has not failed yet, then
 * the second call of a place whose first call has failed, and so on. Each place is chosen at most
 * `most` times.
 */
struct call_fault {
    enum call_kind kind;
    int most;
    int code;       /* the error code; 0: the errno that the function would set */
    bool lasts;     /* all later calls fail, too: the device or context is lost */
    unsigned every; /* every n-th of the later calls fails, too; 0: none */
    bool repeat;    /* chooses the call that failed last time */
    /* chooses the first call of the place with this number; 0: chooses as described above */
    long place;
    void (*at_loss)(void); /* called before the first failure if `lasts` is set; or NULL */
};

/*
 * A call of CUDA, OpenGL, EGL or Vulkan that is about to happen. `arguments` is for call_argument()
 * below; arguments of floating point are not among them.
 */
struct call_seen {
    const char *name;
    enum call_kind kind;
    const long *arguments;
};

/* Argument `index`, counted from 0. The upper half of an argument of 32 bits is undefined. */
unsigned long call_argument(const struct call_seen *call, unsigned index);

/*
 * Passes each such call to `watch` on the thread that makes it, until it is NULL again. The program
 * must make none meanwhile: a function of the API may have been called by grinterop at its end, so
 * that the return address is not of grinterop.
 */
void fault_calls_watch(void (*watch)(const struct call_seen *call));

/* The failure that happened. */
struct call_hit {
    const char *function; /* NULL: no call was left to fail */
    long number;          /* the number of the call at its place, from 1 */
    unsigned long site;   /* the return address of the call in the file of grinterop */
    int code;             /* the code that it returned */
    bool elsewhere;       /* the call was on a thread other than the one that armed the fault */
};

/* Starts anew: each place can be chosen `most` times again. */
void fault_calls_begin(void);
void fault_calls_arm(const struct call_fault *fault);
struct call_hit fault_calls_disarm(void);

/*
 * The number of objects that grinterop has created and not destroyed, by the creating function:
 * creating calls minus destroying calls.
 */
#define CALL_BALANCES 41
struct call_balance {
    long open[CALL_BALANCES];
};
struct call_balance fault_calls_balance(void);
/* The creating function; NULL after the last one. */
const char *fault_calls_balance_name(size_t index);

/*
 * The number of places in grinterop with a call that may fail, and of those where a call has
 * failed.
 */
struct call_sites {
    size_t seen, failed;
};
struct call_sites fault_calls_sites(enum call_kind kind);

/*
 * Writes a line for each place: its offset in the file of grinterop, how often it failed, and the
 * function.
 */
bool fault_calls_write_sites(const char *path);

#endif
