/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks whether another process is alive. Its PID alone is not enough, since PIDs are reused. */
#ifndef GR_SOFTCUDA_DRIVER_PROCESS_H
#define GR_SOFTCUDA_DRIVER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Start time of this process, in ticks since boot; 0 if /proc does not provide it. */
uint64_t soft_process_own_start(void);

/*
 * Whether the process with this start time has ended, even if it was not waited for. A start of 0
 * matches any. False if it cannot be determined.
 */
bool soft_process_has_ended(pid_t process, uint64_t start);

#endif
