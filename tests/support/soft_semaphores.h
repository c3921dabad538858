/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Semaphores of the software driver, used as a graphics API would use them. */
#ifndef GR_TESTS_SOFT_SEMAPHORES_H
#define GR_TESTS_SOFT_SEMAPHORES_H

#include <stdbool.h>

#include "softcuda/driver/stream/shared_semaphore.h"

/* Functions that only the software driver exports. */
struct soft_semaphore_api {
    PFN_gr_softcuda_semaphore_create create;
    PFN_gr_softcuda_semaphore_open open;
    PFN_gr_softcuda_semaphore_close close;
    PFN_gr_softcuda_semaphore_signal signal;
    PFN_gr_softcuda_semaphore_value value;
    PFN_gr_softcuda_semaphore_wait wait;
};

extern struct soft_semaphore_api soft;

/* Looks up these functions. Returns false if another driver is in use. */
bool soft_semaphores_load(void);

#endif
