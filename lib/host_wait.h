/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Pauses for a thread that polls. */
#ifndef GR_LIB_HOST_WAIT_H
#define GR_LIB_HOST_WAIT_H

/*
 * Sleeps between two polls: 20 us at first, later up to 1 ms, because long work needs fewer polls.
 * *look counts the polls from 0.
 */
void gr_host_pause(unsigned *look);

#endif
