/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that looks again and again whether something is done. */
#ifndef GR_LIB_HOST_WAIT_H
#define GR_LIB_HOST_WAIT_H

/*
 * Sleeps between two looks: from 20 us to 1 ms, since what takes long need not be looked at often.
 * *look counts them; it begins as 0.
 */
void gr_host_pause(unsigned *look);

#endif
