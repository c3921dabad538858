/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The exit of the process, after whose begin CUDA and EGL must not be called any more. */
#ifndef GR_LIB_BASE_EXIT_H
#define GR_LIB_BASE_EXIT_H

#include <stdbool.h>

/*
 * gr_exit_watch() registers an exit handler. It is called after the driver has started, so that the
 * handler runs before that of the driver. gr_is_exiting(): the driver must not be called any more.
 */
void gr_exit_watch(void);
bool gr_is_exiting(void);

#endif
