/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A clock to time frames. */
#ifndef CLOCK_H
#define CLOCK_H

/* The time of a monotonic clock, in seconds. */
double clock_seconds(void);

#endif
