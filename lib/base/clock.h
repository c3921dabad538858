/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The clock for deadlines and measurements. */
#ifndef GR_LIB_CLOCK_H
#define GR_LIB_CLOCK_H

/* Returns the time of a monotonic clock in milliseconds, with fractions. */
double gr_clock_ms(void);

#endif
