/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The software driver's semaphores, as a graphics API uses them. */
#ifndef GR_TESTS_SOFT_SEMAPHORES_H
#define GR_TESTS_SOFT_SEMAPHORES_H

#include <stdbool.h>

#include "softcuda/driver/stream/shared_semaphore.h"

/* Functions that only the software driver has. */
struct soft_semaphore_api {
    PFN_gr_softcuda_semaphore_create create;
    PFN_gr_softcuda_semaphore_open open;
    PFN_gr_softcuda_semaphore_close close;
    PFN_gr_softcuda_semaphore_signal signal;
    PFN_gr_softcuda_semaphore_value value;
    PFN_gr_softcuda_semaphore_wait wait;
};

extern struct soft_semaphore_api soft;

/* Looks them up; false if another driver is in use. */
bool soft_semaphores_load(void);

#endif
