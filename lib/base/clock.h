/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The clock for deadlines and measurements, and pauses for a thread that polls. */
#ifndef GR_LIB_CLOCK_H
#define GR_LIB_CLOCK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include <grinterop/gr.h>

/*
 * Return the time of a monotonic clock, the latter with fractions. The processes of one machine
 * share the clock, unless they are in different time namespaces.
 */
uint64_t gr_clock_ns(void);
double gr_clock_ms(void);

/* Sleeps for less than a second, on Windows for whole milliseconds. 0: only lets others run. */
void gr_sleep_us(unsigned us);

/* When a call times out. */
struct gr_deadline {
    unsigned timeout_ms; /* that of the call; 0: it looks, and does not wait */
    double at;           /* by gr_clock_ms(); INFINITY for GR_WAIT_FOREVER */
};

static inline struct gr_deadline gr_deadline_in(unsigned timeout_ms)
{
    const double at = timeout_ms == GR_WAIT_FOREVER ? INFINITY : gr_clock_ms() + timeout_ms;
    return (struct gr_deadline){timeout_ms, at};
}

/* Returns the milliseconds left: INFINITY, or a number that is not positive once it is over. */
double gr_deadline_left(const struct gr_deadline *deadline);
bool gr_deadline_is_over(const struct gr_deadline *deadline);

/*
 * Yields between the first polls, so that a short wait ends at once, and sleeps later, so that a
 * thread with a lower priority can run: 20 us at first, up to 1 ms, because long work needs fewer
 * polls. *polls counts the polls from 0.
 */
void gr_host_pause(unsigned *polls);

#endif
