/* SPDX-License-Identifier: Apache-2.0 */
/* Whether another process is still there. Its number alone does not say so: numbers are used
 * again. */
#ifndef GR_SOFTCUDA_DRIVER_PROCESS_H
#define GR_SOFTCUDA_DRIVER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* When this process began, in ticks since the machine did; 0 if /proc does not say. */
uint64_t soft_process_own_start(void);

/* Whether the process that began then has ended, also if nobody has waited for it yet. A start of 0
 * is any. False where it cannot be known. */
bool soft_process_has_ended(pid_t process, uint64_t start);

#endif
