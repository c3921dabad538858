/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The clock for deadlines and measurements. */
#ifndef GR_LIB_CLOCK_H
#define GR_LIB_CLOCK_H

/* Milliseconds, with fractions, of a monotonic clock. */
double gr_clock_ms(void);

#endif
