/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records errors for gr_last_error(). */
#ifndef GR_LIB_BASE_ERROR_H
#define GR_LIB_BASE_ERROR_H

#include <grinterop/gr.h>

#include "lib/base/compiler.h"
#include "lib/base/log.h"

/* A thread's last error, with the texts for gr_last_error(). */
struct gr_error_record {
    gr_status status;
    gr_error_domain domain;
    int code;
    char code_name[56];
    char call[56];
    char message[960];
    bool unreceived; /* gr_error_unreceived() */
};

/* The public function that this thread is in, for errors and the log: the innermost one. */
extern _Thread_local const char *gr_call;

static inline const char *gr_call_begin(const char *name)
{
    const char *outer = gr_call;
    gr_call = name;
    return outer;
}

static inline void gr_call_end(const char *const *outer)
{
    gr_call = *outer;
}

/*
 * GR_CALL() begins each public function that can fail: until its end, errors name it. GR_CALL_AS()
 * is for other entries, such as the end of an object, and for parts with a better name.
 */
#define GR_CALL() GR_CALL_AS(__func__)
#define GR_CALL_AS(name)                                                                           \
    GR_CLEANUP(gr_call_end) const char *const gr_outer_call = gr_call_begin(name)

/*
 * Each of these functions records the calling thread's last error and returns its class, so that a
 * caller can write `return gr_fail(...)`. gr_fail_cuda() is in driver.h. gr_fail_code() and
 * gr_fail_cuda() are given the function of a driver that failed; the others name gr_call. A code
 * for "out of memory" or "device lost" overrides `status`.
 */
gr_status gr_fail(gr_status status, const char *format, ...) GR_PRINTF(2, 3);
GR_API gr_status gr_fail_code(gr_status status, gr_error_domain domain, int code,
                              const char *code_name, const char *call, const char *format, ...)
    GR_PRINTF(6, 7);

/* For functions that return an object: `return gr_null(gr_fail(...))`. */
static inline void *gr_null(gr_status status)
{
    (void)status;
    return NULL;
}

/* The plural suffix in messages: `"%zu slot%s", n, gr_s(n)`. */
static inline const char *gr_s(unsigned long long n)
{
    return n == 1 ? "" : "s";
}

/* Evaluates a status, and returns it from the calling function if it is not GR_OK. */
#define GR_TRY(...)                                                                                \
    do {                                                                                           \
        gr_status tried_ = (__VA_ARGS__);                                                          \
        if (tried_ != GR_OK)                                                                       \
            return tried_;                                                                         \
    } while (0)

/*
 * Checks an argument: if `wrong` is true, records GR_ERR_INVALID_VALUE with the message
 * that follows, and returns that status from the calling function.
 */
#define GR_REFUSE_IF(wrong, ...)                                                                   \
    do {                                                                                           \
        if (wrong)                                                                                 \
            return gr_fail(GR_ERR_INVALID_VALUE, __VA_ARGS__);                                     \
    } while (0)

/* Records GR_ERR_SYSTEM with the errno `code`. The message ends with the text of the code. */
gr_status gr_fail_errno(int code, const char *format, ...) GR_PRINTF(2, 3);

/*
 * Records GR_ERR_NO_MEMORY without formatting, because formatting could run out of memory itself.
 */
gr_status gr_fail_memory(void) GR_COLD;

/* Returns `memory`; records GR_ERR_NO_MEMORY if it is NULL. */
static inline void *gr_check_memory(void *memory)
{
    if (!memory)
        gr_fail_memory();
    return memory;
}

/*
 * Failures between gr_attempt_begin() and gr_attempt_end() are logged at debug level only, because
 * the caller has an alternative.
 */
GR_API void gr_attempt_begin(void);
GR_API void gr_attempt_end(void);

/*
 * Tries `count` ways to the same end, at least one, the best one first, until one succeeds.
 * way(of, i) records an error if it fails, and leaves nothing behind. Then goes_on(of, i, error)
 * says whether the next way may work; NULL: it may. After a success the last error is that of
 * before the call. Otherwise the last error is that of the last way that was tried, and only this
 * one is logged as an error.
 */
GR_API gr_status gr_try(size_t count, gr_status (*way)(void *of, size_t i),
                        bool (*goes_on)(void *of, size_t i, const struct gr_error_record *error),
                        void *of);

/* Logs the last error as a warning, for a call that cannot report it. */
void gr_error_warn(const char *what);

/*
 * For an error that no caller receives, such as that of a release at the end of a scope: logs it as
 * gr_error_warn() does, and to standard error unless GR_LOG chose a level. The error stays the last
 * one; an earlier error is restored only by GR_KEEP_ERROR(). gr_error_show() only prints: for calls
 * without a status that have logged the error.
 */
void gr_error_unreceived(const char *what);
void gr_error_show(const char *what);

/* Changes the class of the last error to the result of the whole call, and returns that class. */
gr_status gr_error_set_class(gr_status status);

/* Names gr_call in the last error, in place of a function of a driver. */
gr_status gr_error_set_call(void);

/*
 * Between begin and end, errors of grinterop calls name the CUDA function that the program called
 * through grinterop/compat.h. The pairs do not nest.
 */
GR_API void gr_error_call_begin(const char *call);
GR_API void gr_error_call_end(void);

/*
 * Returns the first text if the program called grinterop, the second if it called CUDA through
 * grinterop/compat.h.
 */
const char *gr_error_choose(const char *grinterops, const char *cudas);

/* Save and restore the last error around clean-up that may fail, so that the cause is kept. */
void gr_error_save(struct gr_error_record *saved);
void gr_error_restore(const struct gr_error_record *saved);

/*
 * Keeps the last error: saves it here, and restores it at the end of the block. If there was none,
 * an error that no caller receives stays.
 */
#define GR_KEEP_ERROR()                                                                            \
    GR_CLEANUP(gr_error_restore) struct gr_error_record gr_kept;                                   \
    gr_error_save(&gr_kept)

/*
 * In public functions without a status: like GR_KEEP_ERROR(), but an error that no caller receives
 * replaces an earlier one.
 */
void gr_error_hide(struct gr_error_record *saved);
void gr_error_unhide(const struct gr_error_record *saved);
#define GR_NO_STATUS()                                                                             \
    GR_CLEANUP(gr_error_unhide) struct gr_error_record gr_hidden;                                  \
    gr_error_hide(&gr_hidden)

#endif
