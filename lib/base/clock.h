/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The clock for deadlines and measurements, and pauses for a thread that polls. */
#ifndef GR_LIB_CLOCK_H
#define GR_LIB_CLOCK_H

/* Returns the time of a monotonic clock in milliseconds, with fractions. */
double gr_clock_ms(void);

/*
 * Yields between the first polls, so that a short wait ends at once, and sleeps later, so that a
 * thread with a lower priority can run: 20 us at first, up to 1 ms, because long work needs fewer
 * polls. *polls counts the polls from 0.
 */
void gr_host_pause(unsigned *polls);

#endif
