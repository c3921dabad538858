/* SPDX-License-Identifier: Apache-2.0 */
/* How the library's own code records an error for gr_last_error(). */
#ifndef GR_LIB_ERROR_H
#define GR_LIB_ERROR_H

#include <stdarg.h>

#include <grinterop/gr.h>

#include "lib/printf.h"

/* A thread's last error with the texts that gr_last_error() points to. */
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
 * `return gr_fail(...)`; gr_fail_cuda() is in driver.h. `call` is the function that failed; the
 * message is a sentence. A code that means "out of memory" or "device lost" decides the class,
 * whatever `status` is.
 */
gr_status gr_fail(gr_status status, const char *call, const char *format, ...) GR_PRINTF(3, 4);
gr_status gr_fail_code(gr_status status, gr_error_domain domain, int code, const char *code_name,
                       const char *call, const char *format, ...) GR_PRINTF(6, 7);

/* Returns what the call gives, unless that is GR_OK. */
#define GR_TRY(...)                                                                                \
    do {                                                                                           \
        gr_status tried_ = (__VA_ARGS__);                                                          \
        if (tried_ != GR_OK)                                                                       \
            return tried_;                                                                         \
    } while (0)

/* Of the system: GR_ERR_SYSTEM with the errno `code`, whose text ends the message. */
gr_status gr_fail_errno(int code, const char *call, const char *format, ...) GR_PRINTF(3, 4);

/* For what takes a format itself. */
gr_status gr_fail_list(gr_status status, gr_error_domain domain, int code, const char *code_name,
                       const char *call, const char *format, va_list arguments) GR_PRINTF(6, 0);

/* Out of memory is reported without formatting, since that could fail for the same reason. */
gr_status gr_fail_memory(const char *call) __attribute__((cold));

/*
 * What fails between these two is no error yet, since there is another way: it is logged as debug.
 * Where that failed, too, gr_error_stands() makes it the last error again, as a log's error.
 */
void gr_attempt_begin(void);
void gr_attempt_end(void);
gr_status gr_error_stands(const struct gr_error_record *error);

/* Logs the last error as a warning, for a call that cannot report it. */
void gr_error_warn(const char *what);

/* Gives the last error another class, which is returned: what a call came to as a whole. */
gr_status gr_error_set_class(gr_status status);

/* Names the call of the program's which the last error ended, where what refused did not know. */
gr_status gr_error_set_call(const char *call);

/*
 * Between these two grinterop's own calls bear the name of the one that the program made, which is
 * CUDA's. They do not nest.
 */
void gr_error_call_begin(const char *call);
void gr_error_call_end(void);

/* One of two texts: for a program that called grinterop, or CUDA through grinterop/compat.h. */
const char *gr_error_choose(const char *grinterops, const char *cudas);

/*
 * Clean-up that may itself fail stands between these two, so that the cause stays the last error.
 */
void gr_error_save(struct gr_error_record *saved);
void gr_error_restore(const struct gr_error_record *saved);

#endif
