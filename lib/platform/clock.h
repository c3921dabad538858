/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The clock that deadlines and measurements go by. */
#ifndef GR_LIB_CLOCK_H
#define GR_LIB_CLOCK_H

/* Milliseconds, with their fractions, of a clock that only goes forward. */
double gr_clock_ms(void);

#endif
