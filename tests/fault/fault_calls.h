/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Makes any call of grinterop fail: to the CUDA driver, OpenGL, EGL and Vulkan, and to the C
 * library. It replaces entries of grinterop's own import table, so that no other library of the
 * process sees a failure, and functions need no wrappers of their own.
 */
#ifndef GR_TESTS_FAULT_CALLS_H
#define GR_TESTS_FAULT_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/* The API whose functions fail. */
enum call_kind {
    CALL_OTHER, /* cannot fail */
    CALL_CUDA,
    CALL_MEMORY, /* malloc() and the like */
    CALL_SYSTEM, /* the rest of the C library: files, sockets, threads, loading */
    CALL_GL,
    CALL_EGL,
    CALL_VULKAN,
    CALL_KINDS
};

/* A function that replaces one that grinterop imports. */
struct call_stand_in {
    const char *name;
    void (*function)(void);
};

/*
 * Call it before grinterop loads a driver. Returns NULL, or why it cannot work in this process. The
 * list is NULL or ends with an entry without a name.
 */
const char *fault_calls_start(const struct call_stand_in *stand_ins);

/*
 * What fails: one call of that kind, another one at each arming. It is the first call of a place in
 * grinterop that has not failed yet, or the second call of a place whose first has, and so on; each
 * place gets at most `most` turns.
 */
struct call_fault {
    enum call_kind kind;
    int most;
    int code;              /* 0: the errno that the function would set */
    bool lasts;            /* all later calls fail too: the device or context is lost */
    unsigned every;        /* of the later calls, every n-th fails too; 0: none */
    bool repeat;           /* the same call as at the last arming */
    long place;            /* instead of all that: the first call of this place; or 0 */
    void (*at_loss)(void); /* called before the first of lasting failures; or NULL */
};

/* The resulting failure. */
struct call_hit {
    const char *function; /* NULL: no call was left to fail */
    long number;          /* the number of the call at its place, from 1 */
    unsigned long site;   /* its return address in grinterop's file */
    int code;             /* the code that it returned */
    bool elsewhere;       /* on another thread than the arming one */
};

/* Resets: every place gets all its turns again. */
void fault_calls_begin(void);
void fault_calls_arm(const struct call_fault *fault);
struct call_hit fault_calls_disarm(void);

/*
 * What grinterop has created and not destroyed, for each kind of thing: the number of creating
 * calls less that of destroying calls.
 */
#define CALL_BALANCES 41
struct call_balance {
    long open[CALL_BALANCES];
};
struct call_balance fault_calls_balance(void);
const char *fault_calls_balance_name(size_t index); /* the creating function; NULL: no more */

/* How many places in grinterop call something that may fail, and how many have failed. */
struct call_sites {
    size_t seen, failed;
};
struct call_sites fault_calls_sites(enum call_kind kind);

/* Writes a line for each place: its offset in the file, how often it failed, and the function. */
bool fault_calls_write_sites(const char *path);

#endif
