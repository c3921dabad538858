/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What frames are timed by.
 */
#ifndef CLOCK_H
#define CLOCK_H

/* Seconds of a clock that only goes forward. */
double clock_seconds(void);

#endif
