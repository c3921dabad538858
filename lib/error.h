/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records errors for gr_last_error(). */
#ifndef GR_LIB_ERROR_H
#define GR_LIB_ERROR_H

#include <stdarg.h>

#include <grinterop/gr.h>

#include "lib/printf.h"

/* A thread's last error, with the texts for gr_last_error(). */
struct gr_error_record {
    gr_status status;
    gr_error_domain domain;
    int code;
    char code_name[56];
    char call[56];
    char message[960];
};

/*
 * Each records the calling thread's last error and returns its class, so that a caller can write
 * `return gr_fail(...)`; gr_fail_cuda() is in driver.h. `call` is the function that failed. A code
 * that means "out of memory" or "device lost" overrides `status`.
 */
gr_status gr_fail(gr_status status, const char *call, const char *format, ...) GR_PRINTF(3, 4);
gr_status gr_fail_code(gr_status status, gr_error_domain domain, int code, const char *code_name,
                       const char *call, const char *format, ...) GR_PRINTF(6, 7);

/* Returns the status of the call from this function, unless it is GR_OK. */
#define GR_TRY(...)                                                                                \
    do {                                                                                           \
        gr_status tried_ = (__VA_ARGS__);                                                          \
        if (tried_ != GR_OK)                                                                       \
            return tried_;                                                                         \
    } while (0)

/* GR_ERR_SYSTEM with the errno `code`, whose text ends the message. */
gr_status gr_fail_errno(int code, const char *call, const char *format, ...) GR_PRINTF(3, 4);

/* With a va_list. */
gr_status gr_fail_list(gr_status status, gr_error_domain domain, int code, const char *code_name,
                       const char *call, const char *format, va_list arguments) GR_PRINTF(6, 0);

/* Reports out of memory without formatting, which could fail for the same reason. */
gr_status gr_fail_memory(const char *call) __attribute__((cold));

/*
 * Failures between these two are only attempts, because there is an alternative: they are logged at
 * debug level. If that fails, too, gr_error_stands() restores the error and logs it.
 */
void gr_attempt_begin(void);
void gr_attempt_end(void);
gr_status gr_error_stands(const struct gr_error_record *error);

/* Logs the last error as a warning, for a call that cannot report it. */
void gr_error_warn(const char *what);

/* Changes the class of the last error to the result of the whole call, and returns it. */
gr_status gr_error_set_class(gr_status status);

/* Sets the program's call in the last error, if the function that failed did not know it. */
gr_status gr_error_set_call(const char *call);

/*
 * Between these two, errors of grinterop's calls name the CUDA function that the program called.
 * They do not nest.
 */
void gr_error_call_begin(const char *call);
void gr_error_call_end(void);

/* One of two texts: for a program that called grinterop, or CUDA through grinterop/compat.h. */
const char *gr_error_choose(const char *grinterops, const char *cudas);

/* Around clean-up that may fail itself, so that the cause stays the last error. */
void gr_error_save(struct gr_error_record *saved);
void gr_error_restore(const struct gr_error_record *saved);

#endif
