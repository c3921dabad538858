/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes the driver calls of grinterop as text that is the same in each run: masks, flags, sizes
 * and offsets as they are; objects as numbers in the order in which they appear; no addresses.
 */
#ifndef GR_TESTS_TRACE_RECORD_H
#define GR_TESTS_TRACE_RECORD_H

#include <stdint.h>

#include "tests/fault/fault_calls.h"

/*
 * Begins the text of a kind of resource, in which all numbers start at 1. The text has a section
 * for each operation: the calls of this thread from record_operation() to record_pause(), and those
 * of other threads until the next section, so the program waits between the two for all work. Only
 * grinterop calls the drivers while the recording is on.
 */
void record_kind(void);
void record_operation(const char *operation);
void record_pause(void);

/*
 * Calls `function` before grinterop queries whether an event or a semaphore is signalled. What it
 * does next depends on the answer, so the function waits for the work, and the answer is always
 * yes.
 */
void record_before_queries(void (*function)(const struct call_seen *query));

/* Ends the recording. Returns the text, which is valid until the next call of record_kind(). */
const char *record_text(void);

/* The number of calls in that text, without those that its sections have in common. */
unsigned long record_calls(void);

/* ---- For calls.c and its parts --------------------------------------------------------------- */

/* Append to the line of the call. */
void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
void put_object(const char *kind, uint64_t handle);

/* The object, or all of the kind, end: a later one may have the same handle. */
void forget_object(const char *kind, uint64_t handle);
void forget_objects(const char *kind);

/* A value of a semaphore, relative to the first value of this kind of resource. */
void put_value(uint64_t value);

/*
 * Appends the call, or returns false: a call that only reads the state of the driver, sets state
 * that is restored, or ends no object. `here`: on the thread that records.
 */
bool put_call(const struct call_seen *call, bool here);

/* How a call is written whose arguments are structs. */
typedef void write_call(const struct call_seen *call);
write_call *cuda_writer(const char *name);
write_call *vulkan_writer(const char *name);

/* For writers: the arguments of a call by their type. */
#define ARG(index)          call_argument(call, index)
#define ARG_INT(index)      ((int)call_argument(call, index))
#define ARG_TO(type, index) ((const type *)(uintptr_t)call_argument(call, index)) /* NOLINT */

#endif
