/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A clock to time frames. */
#ifndef CLOCK_H
#define CLOCK_H

/* Seconds of a monotonic clock. */
double clock_seconds(void);

#endif
