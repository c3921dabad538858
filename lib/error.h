/* SPDX-License-Identifier: Apache-2.0 */
/* How the library's own code records an error for gr_last_error(). */
#ifndef GR_LIB_ERROR_H
#define GR_LIB_ERROR_H

#include <stdarg.h>

#include <grinterop/gr.h>

#include "lib/printf.h"

/*
 * Each records the calling thread's last error and returns its class, so that a caller can write
 * `return gr_fail(...)`; gr_fail_cuda() is in driver.h. `call` is the function that failed; the
 * message is a sentence.
 */
gr_status gr_fail(gr_status status, const char *call, const char *format, ...) GR_PRINTF(3, 4);
gr_status gr_fail_code(gr_status status, int code, const char *code_name, const char *call,
                       const char *format, ...) GR_PRINTF(5, 6);

/* For what takes a format itself. */
gr_status gr_fail_list(gr_status status, int code, const char *code_name, const char *call,
                       const char *format, va_list arguments) GR_PRINTF(5, 0);

/* Out of memory is reported without formatting, since that could fail for the same reason. */
gr_status gr_fail_memory(const char *call) __attribute__((cold));

/*
 * Clean-up that may itself fail stands between these two, so that the cause stays the last error.
 */
void gr_error_save(gr_error *saved);
void gr_error_restore(const gr_error *saved);

#endif
