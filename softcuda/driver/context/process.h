/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks whether another process is alive. PIDs are reused, so the start time is compared as well.
 */
#ifndef GR_SOFTCUDA_DRIVER_PROCESS_H
#define GR_SOFTCUDA_DRIVER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The start time of this process, in ticks since boot; 0 if /proc does not provide it. */
uint64_t soft_process_own_start(void);

/*
 * Whether the process with this PID and start time has ended. Its parent need not have waited for
 * it. A start time of 0 matches any process. Also false if /proc does not show the state of the
 * process.
 */
bool soft_process_has_ended(pid_t process, uint64_t start);

#endif
