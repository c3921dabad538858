/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets any call that grinterop makes fail: of the CUDA driver, of OpenGL, EGL and Vulkan, and of
 * the C library. It stands in grinterop's own table of what it imports, so that no other library of
 * the process sees a failure, and no function needs a wrapper of its own.
 */
#ifndef GR_TESTS_FAULT_CALLS_H
#define GR_TESTS_FAULT_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/* Whose functions fail. */
enum call_kind {
    CALL_OTHER, /* what cannot fail */
    CALL_CUDA,
    CALL_MEMORY, /* malloc() and the like */
    CALL_SYSTEM, /* the rest of the C library: files, sockets, threads, loading */
    CALL_GL,
    CALL_EGL,
    CALL_VULKAN,
    CALL_KINDS
};

/* A function that grinterop is given in the place of the one that it imports. */
struct call_stand_in {
    const char *name;
    void (*function)(void);
};

/*
 * Before grinterop loads a driver: NULL, or why this process can't do it. The list ends with an
 * entry without name, or is NULL.
 */
const char *fault_calls_start(const struct call_stand_in *stand_ins);

/*
 * What is to fail: one call of that kind, at each arming another one. It is the first call of a
 * place in grinterop that has not failed yet, or the second of one whose first has, and so on; each
 * place has its turn `most` times at the most.
 */
struct call_fault {
    enum call_kind kind;
    int most;
    int code;              /* 0: the errno that the function would set */
    bool lasts;            /* all behind it fail, too: the device, or the context, is lost */
    unsigned every;        /* of those behind it each such one fails, too; 0: none */
    bool repeat;           /* the same call as at the last arming */
    long place;            /* in place of all that: the first call of that many-th place; or 0 */
    void (*at_loss)(void); /* called before the first that fails of those that last; or NULL */
};

/* What came of it. */
struct call_hit {
    const char *function; /* NULL: there was none left */
    long number;          /* which call of that place it was, from 1 */
    unsigned long site;   /* where in grinterop's file it returns to */
    int code;             /* that it gave */
    bool elsewhere;       /* it was on another thread than the one that armed */
};

/* Each place has all its turns before it. */
void fault_calls_begin(void);
void fault_calls_arm(const struct call_fault *fault);
struct call_hit fault_calls_disarm(void);

/*
 * What grinterop has made and not ended, of each thing: calls that make one less those that end
 * one.
 */
#define CALL_BALANCES 41
struct call_balance {
    long open[CALL_BALANCES];
};
struct call_balance fault_calls_balance(void);
const char *fault_calls_balance_name(size_t index); /* the function that makes one; NULL: no more */

/* How many places of grinterop's call something that may fail, and how many were made to. */
struct call_sites {
    size_t seen, failed;
};
struct call_sites fault_calls_sites(enum call_kind kind);

/* A line for each place: where its call is in the file, how often it failed, and the function. */
bool fault_calls_write_sites(const char *path);

#endif
